"""Node and edge tables of polars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphfill import _native
from graphfill._frames._arrow_types import decimals, list_reason, patch_order
from graphfill._frames._base import (
    edge_columns,
    estimated_cells,
    is_importable,
    listed,
    merged_list,
    warn_left_out,
)
from graphfill._frames._numpy import cast

if TYPE_CHECKING:
    from graphfill._native import Completed, Table


class PolarsNodes:
    """A polars DataFrame, or a LazyFrame, which is collected."""

    def __init__(self, frame: Any) -> None:
        self.source = _collected(frame)
        self.names: list[str] = self.source.columns
        self.index_column: str | None = None
        self.types: dict[str, str] = {}
        self.table, self.left_out = _crossing(self.source)
        for name, reason in self.left_out.items():
            warn_left_out(name, reason, self.source[name].null_count())

    def filled(self, filled: Completed) -> Any:
        import polars as pl

        source = self.source
        if filled.rows > source.height:
            source = self._lengthened(filled)
        changed = [
            patched(source[name], rows, values)
            for name, rows, values in estimated_cells(filled)
        ]
        added = filled.added_columns()
        more = pl.DataFrame(added).get_columns() if added.names else []
        return source.with_columns(*changed, *more)

    def frame(self, table: Table) -> Any:
        import polars as pl

        return pl.DataFrame(table)

    def _lengthened(self, filled: Completed) -> Any:
        """The frame with the rows of added nodes: their ids, and missing cells."""
        import polars as pl

        extra = filled.rows - self.source.height
        tail = pl.DataFrame(filled.table()).slice(self.source.height)
        columns = []
        for column in self.source.get_columns():
            more = pl.Series(column.name, [None] * extra, dtype=column.dtype)
            if column.name in tail.columns:
                more = tail[column.name].cast(column.dtype, strict=False)
                if more.null_count() > tail[column.name].null_count():
                    # An id that the type has no room for, such as a new level of an Enum.
                    column, more = column.cast(pl.String), tail[column.name].cast(pl.String)
            columns.append(column.clone().append(more))
        return pl.DataFrame(columns)


def polars_edges(frame: Any) -> Table:
    """A polars frame of edges as a native table."""
    import polars as pl

    source = _collected(frame)
    if source.height == 0:
        # Columns without cells have no type yet.
        source = source.with_columns(pl.col(pl.Null).cast(pl.String))
    return edge_columns(*_crossing(source))


def _collected(frame: Any) -> Any:
    import polars as pl

    return frame.collect() if isinstance(frame, pl.LazyFrame) else frame


def _crossing(source: Any) -> tuple[Table, dict[str, str]]:
    """The native table of the columns that take part, and why the others do not."""
    reasons = {column.name: _reason_against(column) for column in source.get_columns()}
    names = [name for name, reason in reasons.items() if reason is None]
    left_out = {name: reason for name, reason in reasons.items() if reason is not None}
    if not names:
        return _native.Table(), left_out
    return _native.Table.from_stream(source.select(names)), left_out


def _reason_against(column: Any) -> str | None:
    import polars as pl

    kind = column.dtype
    if kind == pl.Null or (len(column) > 0 and column.null_count() == len(column)):
        return "every cell is missing"
    if isinstance(kind, (pl.List, pl.Array)):
        inner: Any = kind.inner
        number = inner == pl.Boolean or (inner.is_numeric() and not _is_wide(inner))
        if isinstance(kind, pl.Array):
            return list_reason(number, lambda: set(kind.shape) if len(kind.shape) == 1 else set())
        return list_reason(number, lambda: set(column.drop_nulls().list.len().unique().to_list()))
    if (kind.is_numeric() and not _is_wide(kind)) or kind in (pl.Boolean, pl.String, pl.Date):
        return None
    if isinstance(kind, (pl.Datetime, pl.Categorical, pl.Enum)):
        return None
    return f"there are no estimates for the type {kind}"


def _is_wide(kind: Any) -> bool:
    """Whether these whole numbers have 128 bits, which Arrow does not know."""
    return str(kind) in ("Int128", "UInt128")


def patched(column: Any, rows: Any, estimates: Any) -> Any:
    """The series with estimates at ``rows``; its dtype and its other cells are unchanged."""
    import polars as pl

    new = _cells(column, rows, estimates)
    return column.clone().append(new).gather(pl.Series(patch_order(len(column), rows)))


def _cells(column: Any, rows: Any, estimates: Any) -> Any:
    """Estimates as a series of the dtype of the column."""
    import polars as pl

    kind, name = column.dtype, column.name
    if (kind.is_integer() or kind.is_float()) and is_importable("numpy"):
        import numpy as np

        dtype = np.dtype(str(kind).lower())
        return pl.Series(name, cast(estimates, dtype), dtype=kind)
    values = listed(estimates)
    if isinstance(kind, (pl.List, pl.Array)):
        observed = column.gather(listed(rows)).to_list()
        whole = kind.inner.is_integer()
        exact = [[round(v) for v in row] for row in values] if whole else values
        merged = [merged_list(*pair) for pair in zip(observed, exact, strict=True)]
        if kind.inner == pl.Boolean:
            merged = [[bool(entry) for entry in row] for row in merged]
        return pl.Series(name, merged, dtype=kind)
    if isinstance(kind, (pl.Categorical, pl.Enum)) or kind == pl.String:
        return pl.Series(name, values, dtype=pl.String).cast(kind)
    if kind == pl.Date:
        return pl.Series(name, values, dtype=pl.Int64).cast(pl.Int32).cast(kind)
    if isinstance(kind, pl.Datetime):
        return pl.Series(name, values, dtype=pl.Int64).cast(kind)
    if kind.is_integer():
        bits, unsigned = int(str(kind).lstrip("UInt")), str(kind).startswith("U")
        low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return pl.Series(name, [min(max(round(v), low), high) for v in values], dtype=kind)
    if kind == pl.Boolean:
        return pl.Series(name, [bool(value) for value in values], dtype=kind)
    if kind.is_decimal():
        return pl.Series(name, decimals(values, kind.precision or 38, kind.scale), dtype=kind)
    return pl.Series(name, values, dtype=pl.Float64).cast(kind)
