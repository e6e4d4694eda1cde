"""The rows that an imputer was fitted to, and later rows among them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphfill._row_graph import HOW_TO_MATCH, RowGraph, Rows, row_graph
from graphfill._samples import stack
from graphfill.errors import DataError


@dataclass(frozen=True)
class Job:
    """A matrix to fill, its edges, and where the rows of X are in it."""

    values: Any
    edges: Any
    rows: Any


@dataclass(frozen=True)
class Training:
    """The rows of the fit, which later rows may have as neighbours."""

    values: Any
    graph: RowGraph | None
    rows: Rows | None
    """The nodes of the rows; None without a graph."""
    separate: bool
    """Whether the graph is that of these rows alone: it was passed to ``fit``."""

    def edges(self) -> Any:
        """The edges between the rows of the fit."""
        if self.graph is None or self.rows is None:
            return native_edges([])
        return native_edges([self.graph.edges(row_numbers(self.rows.keys))])

    def job(
        self, values: Any, graph: Any, ids: Any, index: Any
    ) -> Job:
        """What to fill for rows of ``transform``."""
        everything = np.arange(len(values))
        if graph is not None:
            given = row_graph(graph, ids)
            rows = given.rows(len(values), ids, index)
            if rows.by == "position" or self.graph is None or self.rows is None:
                return Job(values, native_edges([given.edges(row_numbers(rows.keys))]), everything)
            return self._beside(values, rows, [self.graph, given])
        if self.graph is None or self.rows is None:
            return Job(values, native_edges([]), everything)
        if self.separate and self.rows.by == "position" and ids is None:
            if not _same(values, self.values):
                raise DataError(
                    "the graph that was passed to fit is that of its rows, and X has others; to fix it, pass "
                    "the graph of these rows to transform (in a Pipeline with .set_transform_request("
                    "graph=True)), or the graph of all rows to the constructor, GraphImputer(graph=…)"
                )
            return Job(values, self.edges(), everything)
        rows = self.graph.rows(len(values), ids, index, self.rows.keys)
        by_position = rows.by == self.rows.by == "position"
        if by_position and len(values) != len(self.values) and len(self.graph.sources):
            # Edges over the first rows alone fit both: rows of a fold would stand in for other nodes.
            raise DataError(
                f"X has {len(values)} rows and the fit had {len(self.values)}: which nodes they are is not known; "
                f"{HOW_TO_MATCH}"
            )
        return self._beside(values, rows, [self.graph])

    def _beside(self, values: Any, rows: Rows, graphs: list[RowGraph]) -> Job:
        """Rows in the place of the same nodes of the fit, others below them."""
        assert self.rows is not None
        row_of = row_numbers(self.rows.keys)
        for key in rows.keys:
            row_of.setdefault(key, len(row_of))
        places = np.array([row_of[key] for key in rows.keys], dtype=np.int64)
        fitted = len(self.values)
        chosen = np.arange(len(row_of))
        chosen[places] = fitted + np.arange(len(places))
        edges = native_edges([graph.edges(row_of) for graph in graphs])
        return Job(stack(self.values, values, chosen), edges, places)


def row_numbers(keys: list[Hashable]) -> dict[Hashable, int]:
    return {key: row for row, key in enumerate(keys)}


def native_edges(parts: list[tuple[Any, Any, Any]]) -> Any:
    """Native edges of several lists of sources, targets and weights."""
    from graphfill._native import Edges

    none: Any = np.empty(0, dtype=np.int64)
    sources = np.concatenate([none, *(part[0] for part in parts)])
    targets = np.concatenate([none, *(part[1] for part in parts)])
    if all(part[2] is None for part in parts):
        return Edges(sources, targets)
    weights = [np.ones(len(part[0])) if part[2] is None else part[2] for part in parts]
    return Edges(sources, targets, np.concatenate(weights))


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=True)
    return bool(a.equals(b))
