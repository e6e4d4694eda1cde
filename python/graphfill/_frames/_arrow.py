"""Node tables of pyarrow, and of any other library with the Arrow stream interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphfill import _native
from graphfill._frames._arrow_types import crossing_array, patched_array, reason_against
from graphfill._frames._base import (
    Nodes,
    distinct_names,
    edge_columns,
    estimated_cells,
    is_importable,
    is_instance,
    warn_left_out,
)

if TYPE_CHECKING:
    from graphfill._native import Completed, Table


def arrow_nodes(frame: Any) -> Nodes:
    """The adapter of an object with ``__arrow_c_stream__``."""
    return ArrowNodes(frame) if is_importable("pyarrow") else StreamNodes(frame)


def arrow_edges(frame: Any) -> Table:
    """Edges in an object with ``__arrow_c_stream__``."""
    if not is_importable("pyarrow"):
        return edge_columns(_native.Table.from_stream(frame), {})
    import pyarrow as pa

    source = _pyarrow_table(frame)
    if source.num_rows == 0:
        # Columns without cells have no type yet.
        fields = [field.with_type(pa.string()) if pa.types.is_null(field.type) else field for field in source.schema]
        source = source.cast(pa.schema(fields))
    return edge_columns(*_crossing(source))


class StreamNodes:
    """Any Arrow table, where pyarrow is not installed. Results are native tables."""

    def __init__(self, frame: Any) -> None:
        self.table = _native.Table.from_stream(frame)
        self.index_column: str | None = None
        self.types: dict[str, str] = {}
        self.left_out: dict[str, str] = {}

    def filled(self, filled: Completed) -> Any:
        return filled.table()

    def frame(self, table: Table) -> Any:
        return table


class ArrowNodes:
    """A pyarrow Table or RecordBatch, or a stream that is read into a Table."""

    def __init__(self, frame: Any) -> None:
        self.source = _pyarrow_table(frame)
        self.is_batch = is_instance(frame, "pyarrow", "RecordBatch")
        self.index_column: str | None = None
        self.types: dict[str, str] = {}
        self.table, self.left_out = _crossing(self.source)
        for name, reason in self.left_out.items():
            warn_left_out(name, reason, self.source.column(name).null_count)

    def filled(self, filled: Completed) -> Any:
        import pyarrow as pa

        columns = dict(zip(self.source.column_names, self.source.columns, strict=True))
        if filled.rows > len(self.source):
            columns = self._lengthened(columns, filled)
        for name, rows, values in estimated_cells(filled):
            columns[name] = patched_array(columns[name], rows, values)
        table = pa.table(list(columns.values()), schema=_nullable(self.source.schema, columns))
        for field, column in _fields(pa.table(filled.added_columns())):
            table = table.append_column(field, column)
        return _batch(table) if self.is_batch else table

    def frame(self, table: Table) -> Any:
        import pyarrow as pa

        return pa.table(table)

    def _lengthened(self, columns: dict[str, Any], filled: Completed) -> dict[str, Any]:
        """The columns with the rows of added nodes: their ids, and missing cells."""
        import pyarrow as pa

        extra = filled.rows - len(self.source)
        tail = pa.table(filled.table()).slice(len(self.source))
        longer = {}
        for name, column in columns.items():
            more = pa.nulls(extra, column.type)
            if name in tail.column_names:
                more = _cast(tail.column(name), column.type, more)
            pieces = more.chunks if isinstance(more, pa.ChunkedArray) else [more]
            longer[name] = pa.chunked_array([*column.chunks, *pieces], type=column.type)
        return longer


def _pyarrow_table(frame: Any) -> Any:
    import pyarrow as pa

    return frame if isinstance(frame, pa.Table) else pa.table(frame)


def _crossing(source: Any) -> tuple[Table, dict[str, str]]:
    """The native table of the columns that take part, and why the others do not."""
    import pyarrow as pa

    names = distinct_names(source.column_names)
    left_out, columns = {}, {}
    for name, column in zip(names, source.columns, strict=True):
        reason = reason_against(column)
        if reason is None:
            columns[name] = crossing_array(column)
        else:
            left_out[name] = reason
    if not columns:
        return _native.Table(), left_out
    return _native.Table.from_stream(pa.table(columns)), left_out


def _cast(column: Any, kind: Any, missing: Any) -> Any:
    import pyarrow as pa

    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return missing


def _nullable(schema: Any, columns: dict[str, Any]) -> Any:
    """The schema; fields of added nodes may be null even if those of the source were not."""
    for at, column in enumerate(columns.values()):
        if column.null_count and not schema.field(at).nullable:
            schema = schema.set(at, schema.field(at).with_nullable(True))
    return schema


def _fields(table: Any) -> list[tuple[Any, Any]]:
    return list(zip(table.schema, table.columns, strict=True))


def _batch(table: Any) -> Any:
    import pyarrow as pa

    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)
