"""Graphs as tables of nodes: attributes of NetworkX and igraph nodes are columns, and come back filled.

A missing attribute, None, NaN and pandas.NA are missing cells. :meth:`GraphNodes.filled` returns a copy
of the graph in which only these are set, in the type of the observed values.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from graphfill._attributes import Attribute, attribute_of, kinds_of_values
from graphfill._frames._base import estimated_cells, listed, warn_left_out
from graphfill._kinds import is_a, is_missing, is_pyg_data, kind_of
from graphfill.errors import DataError

if TYPE_CHECKING:
    from graphfill._native import Edges, Filled, Table

ID_COLUMNS = ("node", "node_id", "node_key")
"""Names for the column of ids, the first that no attribute has."""


def is_graph(obj: Any) -> bool:
    """Whether an object is a graph that has its nodes' attributes: NetworkX, igraph, PyG Data."""
    return is_a(obj, "networkx", "Graph") or is_a(obj, "igraph", "Graph") or is_pyg_data(obj)


def graph_nodes(obj: Any, *, weight: str | None = None) -> GraphNodes:
    """The nodes and edges of a graph.

    ``weight`` names the edge attribute that holds weights ("weight" if it is not given and edges have
    it; "none" ignores weights).
    """
    if is_a(obj, "networkx", "Graph"):
        return NetworkXNodes(obj, weight)
    if is_a(obj, "igraph", "Graph"):
        return IgraphNodes(obj, weight)
    if is_pyg_data(obj):
        from graphfill._pyg_data import PygNodes

        return PygNodes(obj, weight=weight)
    raise DataError(f"expected a NetworkX or igraph graph or a PyG Data, found {kind_of(obj)}")


class GraphNodes:
    """The nodes of a graph as a table, with its edges between row numbers."""

    table: Table
    edges: Edges
    index_column: str | None
    types: dict[str, str]
    left_out: dict[str, str]

    def row_numbers(self) -> Mapping[Any, int]:
        """The row of each node."""
        raise NotImplementedError

    def filled(self, filled: Filled) -> Any:
        """A copy of the graph with estimates where attributes were missing."""
        raise NotImplementedError

    def frame(self, table: Table) -> Any:
        """Another table as a pandas frame if pandas is installed; otherwise the native table."""
        from graphfill._frames._arrays import frame_or_table

        return frame_or_table(table)


class AttributedNodes(GraphNodes):
    """Nodes whose attributes are lists of Python values."""

    def __init__(
        self, ids: list[Any], columns: Mapping[Hashable, list[Any]], id_name: str | None = None
    ) -> None:
        from graphfill._native import Table

        self._ids = ids
        taken = {str(key) for key in columns}
        self.index_column = next(
            name for name in _candidates(id_name) if name not in taken
        )
        self.types = {}
        self.left_out = {}
        self.table = Table()
        attribute_of(self.index_column, _plain_ids(ids)).add_to(self.table)
        self._attributes: dict[str, Attribute] = {}
        for key, values in columns.items():
            attribute = attribute_of(key, values, _column_name(key, self._attributes))
            if attribute.kind == "other":
                reason = f"its values are Python objects of type {kinds_of_values(attribute)}"
                self.left_out[attribute.name] = reason
                warn_left_out(attribute.name, reason, sum(value is None for value in attribute.values))
                continue
            attribute.add_to(self.table)
            self._attributes[attribute.name] = attribute
        if not self._attributes:
            raise _no_attributes(columns)

    def row_numbers(self) -> Mapping[Any, int]:
        return {node: row for row, node in enumerate(self._ids)}

    def estimates(self, filled: Filled) -> Iterator[tuple[Hashable, Iterable[tuple[int, Any]]]]:
        """Per attribute with estimated cells, and per added column: the rows and their values."""
        for name, rows, cells in estimated_cells(filled):
            attribute = self._attributes[name]
            values = map(attribute.value, listed(cells))
            yield attribute.key, zip(listed(rows), values, strict=True)
        table = filled.added_columns()
        for name in table.names:
            added = enumerate(listed(table.column(name)))
            yield name, [(row, cell) for row, cell in added if not is_missing(cell)]


class NetworkXNodes(AttributedNodes):
    """The nodes of a NetworkX graph: Graph, DiGraph, MultiGraph, MultiDiGraph."""

    def __init__(self, graph: Any, weight: str | None = None) -> None:
        self._graph = graph
        nodes = list(graph)
        columns: dict[Hashable, list[Any]] = {}
        for row, (_, attributes) in enumerate(graph.nodes(data=True)):
            for key, value in attributes.items():
                if key not in columns:
                    columns[key] = [None] * len(nodes)
                columns[key][row] = value
        super().__init__(nodes, columns)
        self.edges = _edges_of_graph(graph, self, weight)

    def filled(self, filled: Filled) -> Any:
        graph = self._graph.copy()
        for key, cells in self.estimates(filled):
            for row, value in cells:
                graph.nodes[self._ids[row]][key] = value
        return graph


class IgraphNodes(AttributedNodes):
    """The vertices of an igraph graph. Unique values of the vertex attribute "name" are their ids."""

    def __init__(self, graph: Any, weight: str | None = None) -> None:
        self._graph = graph
        names = igraph_names(graph)
        keys = [key for key in graph.vs.attributes() if not (key == "name" and names)]
        ids = list(range(graph.vcount())) if names is None else names
        super().__init__(
            ids, {key: list(graph.vs[key]) for key in keys}, None if names is None else "name"
        )
        self.edges = _edges_of_graph(graph, self, weight)

    def filled(self, filled: Filled) -> Any:
        graph = self._graph.copy()
        for key, cells in self.estimates(filled):
            known = key in graph.vs.attributes()
            values = list(graph.vs[key]) if known else [None] * graph.vcount()
            for row, value in cells:
                values[row] = value
            graph.vs[key] = values
        return graph


def igraph_names(graph: Any) -> list[Any] | None:
    """The vertex attribute "name" if every vertex has one of its own."""
    if "name" not in graph.vs.attributes():
        return None
    names = list(graph.vs["name"])
    unique = len(set(names)) == len(names) and not any(is_missing(name) for name in names)
    return names if unique else None


def _edges_of_graph(graph: Any, nodes: GraphNodes, weight: str | None) -> Edges:
    from graphfill._edge_rows import resolve
    from graphfill._edges import edge_list_of

    listed = edge_list_of(graph, weight=weight)
    assert listed is not None
    edges: Any = resolve(listed, nodes)
    return edges  # type: ignore[no-any-return]


def _candidates(id_name: str | None) -> Iterable[str]:
    if id_name is not None:
        yield id_name
    yield from ID_COLUMNS
    number = 2
    while True:
        yield f"node_{number}"
        number += 1


def _plain_ids(ids: list[Any]) -> list[Any]:
    """Ids as whole numbers or texts: as they are, else as text, else (equal texts) as Python writes them."""
    if attribute_of("", ids).kind in ("integer", "text"):
        return ids
    texts = [str(node) for node in ids]
    return texts if len(set(texts)) == len(texts) else [repr(node) for node in ids]


def _column_name(key: Hashable, taken: Mapping[str, Attribute]) -> str:
    name = str(key)
    return name if name not in taken else f"{key!r} ({kind_of(key)})"


def _no_attributes(columns: Mapping[Hashable, list[Any]]) -> DataError:
    if columns:
        names = ", ".join(f"'{key}'" for key in columns)
        return DataError(
            f"expected attributes of nodes with numbers, text, booleans or dates, found only {names}, "
            "with values of other or of several types"
        )
    return DataError(
        "expected a graph whose nodes have attributes, found none; to fix it, set the known values as "
        "attributes of nodes, or pass a table as nodes and the graph as edges"
    )
