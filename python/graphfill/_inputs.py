"""Nodes and edges of any kind, ready for the native module."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphfill._frames import Nodes, nodes_of
from graphfill.errors import CallError

if TYPE_CHECKING:
    from graphfill._native import Edges, Filled, Table

__all__ = ["Inputs", "inputs_of"]


@dataclass
class Inputs:
    """Nodes and edges as the native module takes them, and the way back."""

    #: The adapter of the nodes.
    nodes: Nodes
    #: The nodes: a table or the path of a file.
    table: Table | str
    #: The edges: a table of ids, pairs of rows, the path of a file, or none.
    edges: Table | Edges | str | None
    #: Keywords that the nodes themselves decide: types, direction.
    keywords: dict[str, Any]


def inputs_of(nodes: Any, edges: Any, keywords: dict[str, Any]) -> Inputs:
    """Nodes and edges of any kind; ``keywords`` are those of the call."""
    if isinstance(nodes, str | os.PathLike):
        return _files(nodes, edges, keywords)
    if isinstance(edges, str | os.PathLike):
        raise CallError("the edges are a file, the nodes are not\n  give the paths of both, or read both")
    from graphfill import _edges, _graphs

    weight = keywords.get("weight")
    if _graphs.is_graph(nodes):
        if edges is not None:
            raise CallError("the nodes are a graph with edges of its own\n  leave edges out, or give the nodes as a table")
        graph = _graphs.graph_nodes(nodes, weight=weight)
        own = {"weight": None, "id": keywords.get("id") or graph.index_column}
        return _inputs(graph, graph.edges, {**keywords, **own})
    adapter = nodes_of(nodes)
    given = None if edges is None else _edges.edges_of(edges, adapter, weight=weight)
    from graphfill._native import Table

    if given is not None and not isinstance(given, Table):
        # Weights were taken from the graph: no column is named.
        keywords = {**keywords, "weight": None}
    if _edges.is_directed(edges) and not keywords.get("undirected"):
        keywords = {**keywords, "directed": True}
    return _inputs(adapter, given, keywords)


def _inputs(adapter: Nodes, edges: Any, keywords: dict[str, Any]) -> Inputs:
    from graphfill._native import Edges

    types = dict(adapter.types)
    if adapter.index_column is not None:
        types[adapter.index_column] = "unused"
    types.update(keywords.get("type") or {})
    if keywords.get("id") in types:
        # The id column is no feature, whatever its type.
        types.pop(keywords["id"])
    keywords = {**keywords, "type": types or None}
    if isinstance(edges, Edges) and edges.directed and not keywords.get("undirected"):
        keywords["directed"] = True
    return Inputs(adapter, adapter.table, edges, keywords)


def _files(nodes: Any, edges: Any, keywords: dict[str, Any]) -> Inputs:
    if edges is not None and not isinstance(edges, str | os.PathLike):
        raise CallError("the nodes are a file, the edges are not\n  give the paths of both, or read both")
    path = os.fspath(nodes)
    return Inputs(FileNodes(), path, None if edges is None else os.fspath(edges), keywords)


class FileNodes:
    """Nodes in a file: results are pandas frames where pandas is installed, else native tables."""

    table: Any = None
    index_column: str | None = None
    types: dict[str, str]
    left_out: dict[str, str]

    def __init__(self) -> None:
        self.types = {}
        self.left_out = {}

    def filled(self, filled: Filled) -> Any:
        """The filled table, text columns of numbers as numbers."""
        return self.frame(filled.table(typed=True))

    def frame(self, table: Table) -> Any:
        """A table as a pandas frame, where pandas is installed."""
        from graphfill._frames._base import is_importable

        if not is_importable("pandas"):
            return table
        from graphfill._frames._table_to_pandas import frame_of

        return frame_of(table)
