"""Edges in the types of other libraries: edge_index, sparse adjacency, NetworkX, igraph, PySAL, pairs.

:func:`edges_of` turns what a caller passes as ``edges`` into what the native module reads: a table of
ids, or :class:`~graphfill._native.Edges` between row numbers. Nothing is imported that the caller has
not imported already.

>>> from graphfill._edges import edge_list_of
>>> edge_list_of([("a", "b"), ("b", "c")]).ends
'ids'
>>> edge_list_of([[0, 1, 2], [1, 2, 3]]).ends
'rows'
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from graphfill._edge_rows import resolve
from graphfill._graphs import GraphNodes, graph_nodes, igraph_names, is_graph
from graphfill._kinds import is_a, is_pyg_data, is_scipy_sparse, is_tensor, kind_of, numpy_of, whole_number
from graphfill.errors import DataError

if TYPE_CHECKING:
    from graphfill._frames import Nodes
    from graphfill._native import Edges, Table

__all__ = ["EdgeList", "GraphNodes", "edge_list_of", "edges_of", "graph_nodes", "is_graph"]

IGNORED_WEIGHT = "none"
"""The value of ``weight`` that ignores the weights of a graph."""


@dataclass(frozen=True)
class EdgeList:
    """Edges between ids or row numbers, not yet matched with a table of nodes."""

    sources: Any
    """One end per edge: a sequence of ids, or a 1-D integer buffer of row numbers."""
    targets: Any
    weights: Any = None
    """One number per edge, or None where all edges weigh the same."""
    directed: bool = False
    ends: Literal["ids", "rows"] = "rows"
    nodes: int | None = None
    """How many nodes the graph has, where its type says so."""
    ids: Sequence[Any] | None = None
    """The ids of all its nodes, isolated ones included, where its type says so."""
    names: Sequence[Any] | None = None
    """Names of nodes that are numbered: they are ids for tables that have ids."""
    kind: str = "edges"
    """What was passed, for messages."""

    def by_name(self) -> EdgeList:
        """The same edges between names instead of row numbers."""
        names = self.names
        if names is None:
            return self
        ends = ([names[at] for at in side] for side in (self.sources, self.targets))
        sources, targets = ends
        return EdgeList(
            sources, targets, self.weights, self.directed, "ids", self.nodes, names, kind=self.kind
        )


def edges_of(edges: Any, nodes: Nodes, *, weight: str | None = None) -> Table | Edges | None:
    """Edges of any kind but a path, for the native module.

    Frames and graphs of ids become a table with the columns ``source``, ``target`` and, where there
    are weights, ``weight``. Edges between row numbers become ``Edges``. If ``edges`` is None, the edges
    are those of the graph that ``nodes`` is, or there are none.

    ``weight`` names the edge attribute of a NetworkX or igraph graph that holds weights ("weight" if it
    is not given; "none" ignores weights).
    """
    from graphfill import _native

    if edges is None:
        return nodes.edges if isinstance(nodes, GraphNodes) else None
    if isinstance(edges, (_native.Edges, _native.Table)):
        return edges
    listed = edge_list_of(edges, weight=weight)
    if listed is None:
        from graphfill._frames import edge_table_of

        return edge_table_of(edges)
    return resolve(listed, nodes, weight)


def is_directed(edges: Any) -> bool:
    """Whether edges are a directed graph of NetworkX or igraph. A table of its ids does not say so."""
    is_graph = is_a(edges, "networkx", "Graph") or is_a(edges, "igraph", "Graph", "GraphBase")
    return is_graph and bool(edges.is_directed())


def edge_list_of(edges: Any, *, weight: str | None = None) -> EdgeList | None:
    """The edges of every kind but frames and paths; None for those.

    - 2 x m integers (array, tensor, two lists): ``edge_index``, row numbers;
    - scipy or torch sparse matrix, n x n: adjacency, weighted unless all of its entries are 1;
    - NetworkX graph, list of tuples ``(source, target)`` or ``(source, target, weight)``: ids, or row
      numbers where the nodes have no ids;
    - igraph graph: the vertex attribute "name" is the id where there is one, otherwise row numbers;
    - libpysal Graph or W: the ids are those of the index that it was built from;
    - PyG Data: its ``edge_index`` and ``edge_weight``.
    """
    if is_a(edges, "networkx", "Graph"):
        return _from_networkx(edges, weight)
    if is_a(edges, "igraph", "Graph", "GraphBase"):
        return _from_igraph(edges, weight)
    if is_pyg_data(edges):
        return _from_pyg(edges, weight)
    if is_scipy_sparse(edges):
        return _from_scipy(edges)
    if is_a(edges, "torch_sparse", "SparseTensor"):
        row, column, value = edges.coo()
        weights = None if value is None else numpy_of(value)
        return _adjacency(numpy_of(row), numpy_of(column), weights, tuple(edges.sizes()))
    if is_tensor(edges):
        return _from_tensor(edges)
    if is_a(edges, "libpysal", "Graph"):
        return _from_libpysal_graph(edges)
    if is_a(edges, "libpysal", "W"):
        return _from_libpysal_w(edges)
    if is_a(edges, "numpy", "ndarray"):
        return _from_array(edges)
    if hasattr(edges, "__arrow_c_stream__") or is_a(edges, "pandas", "DataFrame"):
        return None
    if isinstance(edges, (list, tuple, set, frozenset, Iterator)) or is_a(edges, "networkx"):
        return _from_sequence(edges)
    return None


# Row numbers


def _from_array(values: Any, kind: str = "array") -> EdgeList:
    """An ``edge_index``: 2 x m integers."""
    shape = tuple(values.shape)
    if len(shape) == 2 and shape[0] == 2:
        if values.dtype.kind not in "iu":
            if shape[1] > 0:
                raise DataError(
                    f"expected whole numbers in edge_index, found a 2 x {shape[1]} {kind} of "
                    f"{values.dtype}; to fix it, convert it with .astype('int64')"
                )
            values = values.astype("int64")
        return EdgeList(values[0], values[1], kind="edge_index")
    found = " x ".join(str(size) for size in shape) or "a single number"
    if len(shape) == 2 and shape[1] == 2:
        advice = "if each row is an edge, transpose it: edges.T"
    elif len(shape) == 2 and shape[0] == shape[1]:
        advice = "if it is an adjacency matrix, make it sparse: scipy.sparse.csr_array(edges)"
    else:
        advice = "pass a 2 x m array of row numbers, or a list of tuples (source, target)"
    raise DataError(f"expected edge_index as 2 x m whole numbers, found {found}; to fix it, {advice}")


def _from_tensor(tensor: Any) -> EdgeList:
    layout = str(tensor.layout)
    if layout == "torch.strided":
        return _from_array(numpy_of(tensor), "tensor")
    coo = tensor.to_sparse_coo().coalesce()
    row, column = numpy_of(coo.indices())
    return _adjacency(row, column, numpy_of(coo.values()), tuple(coo.shape))


def _from_scipy(matrix: Any) -> EdgeList:
    coo = matrix.tocoo()
    if len(coo.shape) != 2:
        raise DataError(f"expected an n x n adjacency matrix, found an array of shape {coo.shape}")
    row, column = coo.coords if hasattr(coo, "coords") else (coo.row, coo.col)
    return _adjacency(row, column, coo.data, tuple(coo.shape))


def _adjacency(row: Any, column: Any, values: Any, shape: tuple[int, ...]) -> EdgeList:
    if shape[0] != shape[1]:
        raise DataError(
            f"expected an n x n adjacency matrix, found {shape[0]} x {shape[1]}; edges between row "
            "numbers can also be a 2 x m array"
        )
    if values is not None:
        # Stored zeros are no edges.
        kept = values != 0
        if not kept.all():
            row, column, values = row[kept], column[kept], values[kept]
        if values.dtype.kind == "b" or (values == 1).all():
            values = None
        elif values.dtype.kind != "f":
            values = values.astype("float64")
    return EdgeList(row, column, values, nodes=shape[0], kind="adjacency matrix")


def _from_pyg(data: Any, weight: str | None) -> EdgeList:
    from graphfill._pyg_data import edges_of_data

    sources, targets, weights = edges_of_data(data, None if weight is None else weight)
    return EdgeList(sources, targets, weights, nodes=data.num_nodes, kind="PyG Data")


# Graphs


def _from_networkx(graph: Any, weight: str | None) -> EdgeList:
    sources: list[Any] = []
    targets: list[Any] = []
    weights: list[Any] = []
    name = "weight" if weight is None else weight
    for source, target, value in graph.edges(data=name):
        sources.append(source)
        targets.append(target)
        weights.append(value)
    numbers = None if weight == IGNORED_WEIGHT else _numbers(weights, name)
    if numbers is None and weight not in (None, IGNORED_WEIGHT) and weights:
        raise DataError(f"no edge of the graph has the attribute '{weight}'", column=weight)
    return EdgeList(
        sources,
        targets,
        numbers,
        graph.is_directed(),
        "ids",
        graph.number_of_nodes(),
        list(graph),
        kind="NetworkX graph",
    )


def _from_igraph(graph: Any, weight: str | None) -> EdgeList:
    pairs = graph.get_edgelist()
    ends = array("q", chain.from_iterable(pairs))
    name = "weight" if weight is None else weight
    numbers = None
    if weight != IGNORED_WEIGHT and name in graph.es.attributes():
        numbers = _numbers(graph.es[name], name)
    elif weight not in (None, IGNORED_WEIGHT):
        raise DataError(f"the edges of the graph have no attribute '{weight}'", column=weight)
    names = igraph_names(graph)
    return EdgeList(
        ends[0::2],
        ends[1::2],
        numbers,
        graph.is_directed(),
        "rows",
        graph.vcount(),
        names=names,
        kind="igraph graph",
    )


def _from_libpysal_graph(graph: Any) -> EdgeList:
    adjacency = graph.adjacency
    # An isolated unit is stored as a self-loop of weight 0.
    adjacency = adjacency[adjacency != 0]
    sources = adjacency.index.get_level_values(0).tolist()
    targets = adjacency.index.get_level_values(1).tolist()
    weights = adjacency.to_numpy()
    ids = list(graph.unique_ids)
    numbers = None if (weights == 1).all() else weights.astype("float64")
    return EdgeList(sources, targets, numbers, False, "ids", len(ids), ids, kind="libpysal Graph")


def _from_libpysal_w(w: Any) -> EdgeList:
    sources: list[Any] = []
    targets: list[Any] = []
    weights = array("d")
    for source, neighbours in w.neighbors.items():
        sources.extend([source] * len(neighbours))
        targets.extend(neighbours)
        weights.extend(w.weights[source])
    numbers = None if all(value == 1 for value in weights) else weights
    ids = list(w.id_order)
    return EdgeList(sources, targets, numbers, False, "ids", len(ids), ids, kind="libpysal W")


# Lists


def _from_sequence(edges: Iterable[Any]) -> EdgeList:
    """Tuples are edges; two lists or arrays are ``edge_index``."""
    rows = edges if isinstance(edges, (list, tuple)) else list(edges)
    if not rows:
        return EdgeList(array("q"), array("q"), kind="list of pairs")
    if all(isinstance(row, tuple) for row in rows):
        return _from_tuples(rows)
    sides = [None if isinstance(row, (str, bytes)) else _side(row) for row in rows]
    if len(sides) == 2 and sides[0] is not None and sides[1] is not None:
        if len(sides[0]) != len(sides[1]):
            raise DataError(
                f"expected edge_index as two lists of one length, found {len(sides[0])} and "
                f"{len(sides[1])} row numbers"
            )
        return EdgeList(sides[0], sides[1], kind="edge_index")
    found = kind_of(next(row for row in rows if not isinstance(row, tuple)))
    raise DataError(
        f"expected edges as a list of tuples (source, target), or as edge_index: two lists of row "
        f"numbers, found a list of {len(rows)} with {found} in it; to fix it, make each edge a tuple: "
        "[tuple(edge) for edge in edges]"
    )


def _side(values: Any) -> Any:
    """One row of an ``edge_index`` as a 1-D integer buffer; None if it is no such row."""
    if is_tensor(values):
        values = numpy_of(values)
    if is_a(values, "numpy", "ndarray"):
        return values if values.ndim == 1 and values.dtype.kind in "iu" else None
    if not isinstance(values, (list, array)):
        return None
    try:
        return array("q", [whole_number(value) for value in values])
    except TypeError:
        return None


def _from_tuples(edges: Sequence[tuple[Any, ...]]) -> EdgeList:
    lengths = {len(edge) for edge in edges}
    if not lengths <= {2, 3}:
        wrong = next(edge for edge in edges if len(edge) not in (2, 3))
        raise DataError(
            f"expected edges as tuples (source, target) or (source, target, weight), found {wrong!r}"
        )
    sources = [edge[0] for edge in edges]
    targets = [edge[1] for edge in edges]
    weights = None
    if 3 in lengths:
        given = [edge[2] if len(edge) == 3 else None for edge in edges]
        weights = _numbers(
            [value.get("weight") if isinstance(value, Mapping) else value for value in given], "weight"
        )
    return EdgeList(sources, targets, weights, ends="ids", kind="list of pairs")


def _numbers(values: Sequence[Any], name: str) -> array[float] | None:
    """Weights as a buffer: 1 where an edge has none; None where no edge has one."""
    if all(value is None for value in values):
        return None
    numbers = array("d")
    for value in values:
        try:
            numbers.append(1.0 if value is None else float(value))
        except (TypeError, ValueError):
            raise DataError(
                f"expected numbers as weights of edges, found {value!r} ({kind_of(value)}) in '{name}'",
                column=name,
            ) from None
    return numbers
