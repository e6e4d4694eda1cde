"""Node and edge tables of pandas. pyarrow is not needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphfill import _native
from graphfill._frames._base import column_name, distinct_names, edge_columns, estimated_cells, warn_left_out
from graphfill._frames._numpy import pandas
from graphfill._frames._pandas_columns import Column, column_of
from graphfill._frames._table_to_pandas import frame_of, native_column

if TYPE_CHECKING:
    from graphfill._native import Completed, Table


class PandasNodes:
    """A pandas DataFrame with one row per node."""

    def __init__(self, frame: Any) -> None:
        # Nobody but this adapter writes to this frame: its arrays are safe to share.
        self.source = private_copy(frame)
        self.table = _native.Table()
        self.index_column: str | None = None
        self.types: dict[str, str] = {}
        self.left_out: dict[str, str] = {}
        self.columns: dict[str, Column] = {}
        self.names = distinct_names(frame.columns)
        for position, name in enumerate(self.names):
            values = array_of(self.source.iloc[:, position])
            column = added_column(self.table, name, values, self.source)
            if isinstance(column, str):
                self.left_out[name] = column
                warn_left_out(name, column, int(pandas().isna(values).sum()))
                continue
            self.columns[name] = column
            if column.type is not None:
                self.types[name] = column.type
        self._add_index()

    def _add_index(self) -> None:
        """Adds the index as a further column, unless it numbers the rows."""
        index, pd = self.source.index, pandas()
        if is_default(index):
            return
        if isinstance(index, pd.MultiIndex):
            for name in index.names:
                if name is not None:
                    reason = "it is a level of an index with several levels"
                    self.left_out.setdefault(column_name(name), reason)
            return
        name = "index" if index.name is None else column_name(index.name)
        stem, number = name, 2
        while name in self.names:
            name, number = f"{stem}_{number}", number + 1
        column = added_column(self.table, name, array_of(index), self.source)
        if isinstance(column, str):
            self.left_out[name] = column
        else:
            self.index_column, self.columns[name] = name, column

    def filled(self, filled: Completed) -> Any:
        import numpy as np

        estimated = {
            name: (np.asarray(rows), cells if isinstance(cells, list) else np.asarray(cells))
            for name, rows, cells in estimated_cells(filled)
        }
        if filled.rows > len(self.source):
            result = self._lengthened(filled, estimated)
        else:
            result = self._patched(estimated)
        added = filled.added_columns()
        if not added.names:
            return result
        return join(result, frame_of(added, result.index))

    def _patched(self, estimated: dict[str, tuple[Any, Any]]) -> Any:
        """The frame with estimates; its other columns share no memory that a write would change."""
        result = self.source.copy(deep=False)
        for position, name in enumerate(self.names):
            values = array_of(self.source.iloc[:, position])
            if name in estimated:
                values = self.columns[name].patched(values, *estimated[name])
            elif not copies_on_write():
                values = values.copy()
            else:
                continue
            result.isetitem(position, series(values, result.index))
        return result

    def _lengthened(self, filled: Completed, estimated: dict[str, tuple[Any, Any]]) -> Any:
        """The frame with the rows of added nodes: their ids, their estimates, and missing cells."""
        import numpy as np

        pd, table = pandas(), filled.table()
        rows, index = len(self.source), self.source.index
        if is_default(index):
            index = pd.RangeIndex(filled.rows)
        elif isinstance(index, pd.MultiIndex):
            unknown = [(None,) * index.nlevels] * (filled.rows - rows)
            index = index.append(pd.MultiIndex.from_tuples(unknown, names=index.names))
        else:
            values = longer(array_of(index), filled.rows - rows)
            known, cells = self._ids(self.index_column, table)
            if self.index_column is not None and len(known):
                values = self.columns[self.index_column].patched(values, known, cells)
            missing = np.setdiff1d(np.arange(rows, filled.rows), known)
            values = with_missing(values, missing)
            index = pd.Index(values, name=index.name, dtype=values.dtype)
        empty = self.source.iloc[:0].reset_index(drop=True)
        result = empty.reindex(range(filled.rows)).set_axis(index)
        for position, name in enumerate(self.names):
            values = longer(array_of(self.source.iloc[:, position]), filled.rows - rows)
            known, cells = estimated[name] if name in estimated else self._ids(name, table)
            if len(known):
                values = self.columns[name].patched(values, known, cells)
            missing = np.setdiff1d(np.arange(rows, filled.rows), known)
            result.isetitem(position, series(with_missing(values, missing), index))
        return result

    def _ids(self, name: str | None, table: Table) -> tuple[Any, Any]:
        """The rows of added nodes for which the native table has a cell, and those cells."""
        import numpy as np

        if name not in self.columns or name not in table.names:
            return np.arange(0), []
        cells, missing = native_column(table, name)
        rows = np.flatnonzero(~missing)
        rows = rows[rows >= len(self.source)]
        chosen = [cells[row] for row in rows] if isinstance(cells, list) else cells[rows]
        return rows, chosen

    def frame(self, table: Table) -> Any:
        return frame_of(table)


def pandas_edges(frame: Any) -> Table:
    """Edges as a native table: the columns, and levels of the index where they are the ends."""
    pd = pandas()
    if isinstance(frame, pd.Series):
        frame = frame.to_frame("weight" if frame.name is None else frame.name)
    levels = isinstance(frame.index, pd.MultiIndex) and None not in frame.index.names
    if levels or (frame.shape[1] < 2 and not is_default(frame.index)):
        frame = frame.reset_index()
    source, table = private_copy(frame), _native.Table()
    left_out = {}
    for position, name in enumerate(distinct_names(source.columns)):
        column = added_column(table, name, array_of(source.iloc[:, position]), source)
        if isinstance(column, str):
            left_out[name] = column
    return edge_columns(table, left_out)


def added_column(table: Table, name: str, values: Any, owner: Any) -> Column | str:
    """Adds a column to the table; or says why it cannot take part."""
    column = column_of(values, owner)
    if isinstance(column, str):
        return column
    try:
        column.add(table, name)
    except UnicodeEncodeError:
        return "it has text that is not valid Unicode"
    return column


def private_copy(frame: Any) -> Any:
    """A copy that no write to ``frame`` reaches: without data where pandas copies on write."""
    return frame.copy(deep=not copies_on_write())


def copies_on_write() -> bool:
    """Whether pandas copies a column that two frames share before it writes to one of them."""
    pd = pandas()
    return int(pd.__version__.split(".")[0]) >= 3 or pd.options.mode.copy_on_write is True


def array_of(column: Any) -> Any:
    """The extension array or the NumPy array of a column or an index."""
    values = column.array
    return column.to_numpy() if type(values) is pandas().arrays.NumpyExtensionArray else values


def is_default(index: Any) -> bool:
    """Whether an index only numbers the rows."""
    if not isinstance(index, pandas().RangeIndex) or index.name is not None:
        return False
    return bool(index.start == 0 and index.step == 1)


def series(values: Any, index: Any) -> Any:
    """A column that keeps the dtype of its values."""
    return pandas().Series(values, index=index, dtype=values.dtype, copy=False)


def longer(values: Any, extra: int) -> Any:
    """The values with missing ones behind them; zeros where an array has no missing value."""
    import numpy as np

    if isinstance(values, np.ndarray) and values.dtype.kind in "iub":
        return np.append(values, np.zeros(extra, values.dtype))
    order: Any = np.append(np.arange(len(values)), np.full(extra, -1))
    return pandas().api.extensions.take(values, order, allow_fill=True)


def with_missing(values: Any, rows: Any) -> Any:
    """The values, in a nullable dtype where cells are missing that the array cannot mark."""
    import numpy as np

    if len(rows) == 0 or not isinstance(values, np.ndarray) or values.dtype.kind not in "iub":
        return values
    nullable = pandas().array(values, dtype=_nullable(values.dtype))
    nullable[rows] = pandas().NA
    return nullable


def _nullable(dtype: Any) -> str:
    if dtype.kind == "b":
        return "boolean"
    return str(dtype).replace("uint", "UInt").replace("int", "Int")


def join(frame: Any, more: Any) -> Any:
    """The frame with further columns; its own dtype, flags and attributes."""
    joined = pandas().concat([frame, more], axis=1)
    return joined.__finalize__(frame)
