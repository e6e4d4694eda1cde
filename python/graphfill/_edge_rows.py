"""Edges matched with a table of nodes: by row number, by the index of a frame, or by ids in a column."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphfill._graphs import GraphNodes
from graphfill._kinds import kind_of, whole_number
from graphfill.errors import DataError

if TYPE_CHECKING:
    from graphfill._edges import EdgeList
    from graphfill._frames import Nodes
    from graphfill._native import Edges, Table


def resolve(edges: EdgeList, nodes: Nodes, weight: str | None = None) -> Table | Edges:
    """Matches edges with a table: by row number, by an index that is known, or by ids in a column.

    ``weight`` is the name of the column of weights if the result is a table.
    """
    rows: int = nodes.table.rows
    known = row_numbers_of(nodes)
    if edges.ends == "rows" and edges.names is not None and _names_decide(edges.names, known):
        edges = edges.by_name()
    if edges.ends == "rows":
        if edges.nodes is not None and edges.nodes != rows:
            raise DataError(
                f"expected one row per node of the {edges.kind}, found {edges.nodes:,} nodes and "
                f"{rows:,} rows; to fix it, pass edges between ids, or a graph of these rows"
            )
        return _between_rows(edges.sources, edges.targets, edges, rows)
    if known is None and edges.kind.startswith("libpysal") and edges.ids is not None:
        known = _index_rows(nodes, edges.ids)
    if known is not None:
        return _between_rows(*_rows_of_ends(edges, known), edges, rows)
    return _id_table(edges, weight or "weight")


def _names_decide(names: Sequence[Any], known: Mapping[Any, int] | None) -> bool:
    """Whether the names of an igraph graph say which row a vertex is; else its number does."""
    if known is None:
        return True
    return all(_lookup(known, name) is not None for name in names)


def row_numbers_of(nodes: Nodes) -> Mapping[Any, int] | None:
    """The row of each id where the nodes are a graph or have no ids; None where a column has them."""
    if isinstance(nodes, GraphNodes):
        return nodes.row_numbers()
    if kind_of(nodes) in ("ArrayNodes", "SparseNodes"):
        return _RowNumbers(nodes.table.rows)
    return None


class _RowNumbers(Mapping[Any, int]):
    """Whole numbers below the number of rows, each its own row."""

    def __init__(self, rows: int) -> None:
        self._rows = range(rows)

    def __getitem__(self, key: Any) -> int:
        try:
            number = whole_number(key)
        except TypeError:
            raise KeyError(key) from None
        if number not in self._rows:
            raise KeyError(key)
        return number

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _index_rows(nodes: Nodes, ids: Sequence[Any]) -> Mapping[Any, int] | None:
    """Rows by the index of a pandas frame, if it has all of these ids and none twice."""
    index = getattr(getattr(nodes, "source", None), "index", None)
    if index is None:
        return None
    rows = {label: row for row, label in enumerate(index)}
    return rows if len(rows) == len(index) and all(label in rows for label in ids) else None


def _rows_of_ends(edges: EdgeList, known: Mapping[Any, int]) -> tuple[array[int], array[int]]:
    return _rows_of_side(edges.sources, edges, known), _rows_of_side(edges.targets, edges, known)


def _rows_of_side(ends: Any, edges: EdgeList, known: Mapping[Any, int]) -> array[int]:
    try:
        if isinstance(known, _RowNumbers) and {type(end) for end in ends} <= {int}:
            numbers = array("q", ends)
            if not numbers or 0 <= min(numbers) <= max(numbers) < len(known):
                return numbers
        return array("q", map(known.__getitem__, ends))
    except (KeyError, TypeError, OverflowError):
        unknown = next(end for end in ends if _lookup(known, end) is None)
        raise _unknown_end(unknown, edges, known) from None


def _lookup(known: Mapping[Any, int], end: Any) -> int | None:
    try:
        return known.get(end)
    except TypeError:  # not hashable
        return None


def _unknown_end(end: Any, edges: EdgeList, known: Mapping[Any, int]) -> DataError:
    if isinstance(known, _RowNumbers):
        return DataError(
            f"expected row numbers below {len(known):,} as the nodes of the {edges.kind}, because the "
            f"table has no ids, found {end!r}; to fix it, number the nodes as the rows are, or pass the "
            "table as a frame with a column of ids",
            id=str(end),
        )
    return DataError(f"the edges name {end!r}, which is no node", id=str(end))


def _between_rows(sources: Any, targets: Any, edges: EdgeList, rows: int) -> Edges:
    from graphfill._native import Edges

    for side in (sources, targets):
        if len(side) == 0:
            continue
        for number in (int(min_of(side)), int(max_of(side))):
            if not 0 <= number < rows:
                raise DataError(
                    f"expected row numbers from 0 to {rows - 1:,} in the {edges.kind}, found {number:,}; to fix "
                    "it, number nodes from 0 as the rows are",
                    id=str(number),
                )
    check_weights(edges.weights, edges.kind)
    return Edges(sources, targets, edges.weights, edges.directed)


def min_of(values: Any) -> Any:
    """The smallest value of an array."""
    return values.min() if hasattr(values, "min") else min(values)


def max_of(values: Any) -> Any:
    """The largest value of an array."""
    return values.max() if hasattr(values, "max") else max(values)


def check_weights(weights: Any, kind: str) -> None:
    """Weights of edges must be finite and not negative."""
    if weights is None or len(weights) == 0:
        return
    # NaN fails every comparison; the sum finds it where the extremes do not.
    low, high, total = min_of(weights), max_of(weights), sum_of(weights)
    if low >= 0 and high < math.inf and total == total:
        return
    wrong = next(float(weight) for weight in weights if not 0 <= weight < math.inf)
    raise DataError(
        f"expected weights of at least 0 in the {kind}, found {wrong:g}; to fix it, leave such edges out, or "
        "ignore weights with weight='none'",
        column="weight",
    )


def sum_of(values: Any) -> Any:
    """The sum of an array."""
    return values.sum() if hasattr(values, "sum") else sum(values)


def _id_table(edges: EdgeList, weight: str) -> Table:
    from graphfill._native import Table

    check_weights(edges.weights, edges.kind)
    table = Table()
    for name, side in (("source", edges.sources), ("target", edges.targets)):
        ids = [plain_id(end) for end in side]
        numbers = [end for end in ids if isinstance(end, int)]
        if numbers and len(numbers) == len(ids):
            table.add_numbers(name, array("q", numbers))
        else:
            table.add_texts(name, [str(end) for end in ids])
    if edges.weights is not None:
        table.add_numbers(weight, edges.weights)
    return table


def plain_id(value: Any) -> int | str:
    """An id as an int or a str, as a column of ids would have it."""
    if isinstance(value, str):
        return str(value)
    try:
        return whole_number(value)
    except TypeError:
        pass
    if kind_of(value) in ("UUID", "bytes"):
        return value.decode() if isinstance(value, bytes) else str(value)
    raise DataError(
        f"expected text or whole numbers as ids of nodes, found {value!r} ({kind_of(value)}); to fix it, "
        "relabel the nodes of the graph as the column of ids names them",
        id=str(value),
    )
