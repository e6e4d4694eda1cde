"""Graphs over the rows of a matrix, some of whose rows may be there: matching, and induced subgraphs.

Cross-validation hands an estimator some rows of X. :class:`RowGraph` finds which nodes of the graph
they are, by labels (ids, or the index of a frame) or by position, and gives the edges between them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from graphfill._edge_rows import check_weights
from graphfill._edges import EdgeList, edge_list_of
from graphfill._kinds import is_a, is_scipy_sparse, kind_of
from graphfill.errors import DataError

HOW_TO_MATCH = (
    "to fix it, pass X as a pandas DataFrame whose index names the nodes, or pass the nodes of the rows as "
    "metadata: fit(X, ids=…) and transform(X, ids=…) (in a Pipeline or in cross-validation with "
    "sklearn.set_config(enable_metadata_routing=True) and "
    ".set_fit_request(ids=True).set_transform_request(ids=True))"
)
END_NAMES = (("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"))


@dataclass(frozen=True)
class Rows:
    """The nodes that the rows of X are."""

    keys: list[Hashable]
    """One node per row: its id or its row number in the graph."""
    by: Literal["labels", "position"]


@dataclass(frozen=True)
class RowGraph:
    """Edges between nodes that are ids or row numbers."""

    sources: Any
    """One end per edge: a list of ids, or an array of row numbers."""
    targets: Any
    weights: Any
    """An array with one number per edge, or None where all edges weigh the same."""
    nodes: int | None
    """How many nodes there are, where the graph says so."""
    numbered: bool
    """Whether nodes are row numbers."""
    kind: str
    ids: Sequence[Hashable] = ()
    """The ids of all nodes, isolated ones included, where the graph says so."""

    def rows(self, count: int, ids: Any, index: Any = None, known: Sequence[Hashable] = ()) -> Rows:
        """The nodes of ``count`` rows: ``ids`` if given, else the labels of ``index``, else by position.

        ``known`` are further nodes that rows may be although no edge names them.

        Never guesses: what could be matched in two ways, or in none, is a :class:`DataError`.
        """
        if ids is not None:
            return self._by_ids(count, ids, known)
        labels = None if index is None else _plain(index)
        return self._numbered_rows(count, labels) if self.numbered else self._named_rows(count, labels, known)

    def _by_ids(self, count: int, ids: Any, known: Sequence[Hashable]) -> Rows:
        keys = _plain(ids)
        if len(keys) != count:
            raise DataError(f"expected one id per row of X, found {len(keys)} ids and {count} rows")
        _check_unique(keys)
        if self.numbered and not self._are_row_numbers(keys):
            wrong = next(key for key in keys if not self._are_row_numbers([key]))
            raise DataError(
                f"expected row numbers of the {self.kind} as ids, found {wrong!r}"
                + ("" if self.nodes is None else f" (it has {self.nodes} nodes)"),
                id=str(wrong),
            )
        self._check_matches(keys, known)
        return Rows(keys, "labels")

    def _numbered_rows(self, count: int, labels: list[Hashable] | None) -> Rows:
        positions: list[Hashable] = list(range(count))
        fits = self.nodes == count if self.nodes is not None else self._extent() <= count
        if labels is not None and self._are_row_numbers(labels) and not (fits and labels == positions):
            if fits:
                raise DataError(
                    f"the {self.kind} can be matched with the rows of X in two ways, by their position and "
                    "by the index of the frame, and these differ; to fix it, say which with "
                    "ids=numpy.arange(len(X)) or ids=X.index"
                )
            if len(set(labels)) == count:
                return Rows(labels, "labels")
        if fits:
            return Rows(positions, "position")
        raise self._too_few(count)

    def _too_few(self, count: int) -> DataError:
        nodes = self.nodes if self.nodes is not None else self._extent()
        return DataError(
            f"the {self.kind} has {nodes} nodes and X has {count} rows, which cannot be matched by "
            f"position; {HOW_TO_MATCH}"
        )

    def _named_rows(self, count: int, labels: list[Hashable] | None, known: Sequence[Hashable]) -> Rows:
        if labels is not None:
            _check_unique(labels)
            self._check_matches(labels, known)
            return Rows(labels, "labels")
        positions: list[Hashable] = list(range(count))
        if self.nodes is not None and self.nodes > count:
            raise self._too_few(count)
        numbers = set(positions)
        unknown = next((end for end in self._ends() if end not in numbers), None)
        if unknown is not None:
            raise DataError(
                f"the nodes of the {self.kind} are no row numbers of X ({count} rows): found {unknown!r}; "
                f"{HOW_TO_MATCH}",
                id=str(unknown),
            )
        return Rows(positions, "position")

    def edges(self, row_of: dict[Hashable, int]) -> tuple[Any, Any, Any]:
        """Sources, targets (row numbers) and weights of the edges between nodes that have a row."""
        sources = _rows_of(self.sources, row_of)
        targets = _rows_of(self.targets, row_of)
        kept = (sources >= 0) & (targets >= 0)
        weights = None if self.weights is None else self.weights[kept]
        return sources[kept], targets[kept], weights

    def _are_row_numbers(self, labels: Sequence[Hashable]) -> bool:
        end = self.nodes if self.nodes is not None else np.iinfo(np.int64).max
        return all(type(label) is int and 0 <= label < end for label in labels)

    def _extent(self) -> int:
        """One more than the largest row number in the edges."""
        sizes = [int(np.asarray(side).max()) + 1 for side in (self.sources, self.targets) if len(side)]
        return max(sizes, default=0)

    def _ends(self) -> Any:
        yield from self.sources
        yield from self.targets

    def _check_matches(self, labels: Sequence[Hashable], known: Sequence[Hashable]) -> None:
        """Labels none of which is a node are a mistake, unless there are no edges."""
        if self.numbered or not len(self.sources):
            return
        rows = set(labels)
        if rows.isdisjoint(known) and rows.isdisjoint(self.ids) and not any(end in rows for end in self._ends()):
            example = next(iter(self._ends()))
            raise DataError(
                f"no row of X is a node of the {self.kind}: rows are called {labels[0]!r} and so on, nodes "
                f"{example!r} and so on; {HOW_TO_MATCH}"
            )


def row_graph(graph: Any, ids: Any = None) -> RowGraph:
    """A graph over rows, of every kind that ``fill`` takes as edges but paths.

    Some rows of an n x n adjacency matrix (scikit-learn slices metadata so) need ``ids``, the row
    numbers of these rows.
    """
    _check_not_sliced(graph)
    if is_scipy_sparse(graph) and graph.shape[0] != graph.shape[1]:
        return _some_rows(graph, ids)
    listed = edge_list_of(graph)
    if listed is None:
        listed = _from_frame(graph)
    listed = listed.by_name()
    weights = None if listed.weights is None else np.asarray(listed.weights, dtype=np.float64)
    check_weights(weights, listed.kind)
    if listed.ends == "rows":
        sources, targets = (np.asarray(side, dtype=np.int64) for side in (listed.sources, listed.targets))
        if len(sources) and min(sources.min(), targets.min()) < 0:
            raise DataError(f"expected row numbers of at least 0 in the {listed.kind}")
        return RowGraph(sources, targets, weights, listed.nodes, True, listed.kind)
    ids = () if listed.ids is None else _plain(listed.ids)
    return RowGraph(
        _plain(listed.sources), _plain(listed.targets), weights, listed.nodes, False, listed.kind, ids
    )


def _some_rows(matrix: Any, ids: Any) -> RowGraph:
    """Some rows of an adjacency matrix: row i is the node ``ids[i]``."""
    count, nodes = matrix.shape
    keys = None if ids is None else _plain(ids)
    if keys is None or len(keys) != count or not all(type(k) is int and 0 <= k < nodes for k in keys):
        raise DataError(
            f"found {count} of the {nodes} rows of an adjacency matrix: which ones is not known; to fix it, "
            "pass the matrix to the constructor, GraphImputer(graph=…), or pass the row numbers as metadata, "
            "too: ids=numpy.arange(n)"
        )
    coo = matrix.tocoo()
    row, column = coo.coords if hasattr(coo, "coords") else (coo.row, coo.col)
    kept = coo.data != 0
    sources = np.asarray(keys, dtype=np.int64)[row[kept]]
    weights = coo.data[kept].astype(np.float64)
    return RowGraph(
        sources,
        column[kept].astype(np.int64),
        None if (weights == 1).all() else weights,
        nodes,
        True,
        "adjacency matrix",
    )


def _from_frame(frame: Any) -> EdgeList:
    """A frame of edges: two columns of ids, and weights in a column "weight"."""
    if hasattr(frame, "collect"):
        frame = frame.collect()
    # pyarrow's columns are the data.
    columns = [str(name) for name in getattr(frame, "column_names", getattr(frame, "columns", []))]
    ends = next((pair for pair in END_NAMES if set(pair) <= set(columns)), None)
    others = [name for name in columns if name != "weight"]
    if ends is None and len(others) == 2:
        ends = (others[0], others[1])
    if ends is None:
        found = f"the columns {', '.join(columns)}" if columns else kind_of(frame)
        raise DataError(
            f"expected a graph, or edges as a frame with the columns source and target, found {found}"
        )
    sources, targets = (_cells(frame[name]) for name in ends)
    weights = np.asarray(_cells(frame["weight"]), dtype=np.float64) if "weight" in columns else None
    return EdgeList(sources, targets, weights, ends="ids", kind="frame of edges")


def _cells(column: Any) -> list[Any]:
    for name in ("to_list", "tolist", "to_pylist"):
        if hasattr(column, name):
            cells: list[Any] = getattr(column, name)()
            return cells
    return list(column)


def _check_not_sliced(graph: Any) -> None:
    """scikit-learn indexes metadata with as many items as X has rows, even graphs."""
    if isinstance(graph, list) and graph and is_a(graph[0], "networkx"):
        raise DataError(
            "scikit-learn split the NetworkX graph that was passed as metadata; to fix it, pass it to the "
            "constructor, GraphImputer(graph=…), and the nodes of the rows as ids=…"
        )


def _rows_of(side: Any, row_of: dict[Hashable, int]) -> Any:
    """The row of each end of an edge; -1 for nodes that have none."""
    if not isinstance(side, np.ndarray):
        return np.fromiter((row_of.get(end, -1) for end in side), dtype=np.int64, count=len(side))
    keys = np.fromiter((key for key in row_of if type(key) is int), dtype=np.int64)
    numbers = np.fromiter((row for key, row in row_of.items() if type(key) is int), dtype=np.int64)
    rows = np.full(max(side.max(initial=-1), keys.max(initial=-1)) + 1, -1, dtype=np.int64)
    rows[keys] = numbers
    return rows[side]


def _plain(labels: Any) -> list[Hashable]:
    """Labels as Python objects, whole numbers as int."""
    values: list[Any] = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    if {type(value) for value in values} <= {int, str}:
        return values
    return [_plain_label(value) for value in values]


def _plain_label(value: Any) -> Any:
    if is_a(value, "numpy", "generic"):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _check_unique(keys: list[Hashable]) -> None:
    if len(set(keys)) != len(keys):
        seen: set[Hashable] = set()
        twice = next(key for key in keys if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise DataError(f"expected one row per node, found {twice!r} in two rows of X", id=str(twice))
