"""A native table as a pandas frame, without pyarrow."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from graphfill._frames._numpy import pandas

if TYPE_CHECKING:
    from graphfill._native import Table

NAT = -(2**63)


def frame_of(table: Table, index: Any = None) -> Any:
    """The table as a pandas frame."""
    pd = pandas()
    if index is None:
        index = pd.RangeIndex(table.rows)
    names = table.names
    columns = [_series(table, name, index) for name in names]
    if not columns:
        return pd.DataFrame(index=index)
    frame = pd.concat(columns, axis=1, keys=range(len(columns)))
    frame.columns = pd.Index(names)
    return frame


def native_column(table: Table, name: str) -> tuple[Any, Any]:
    """The cells of a native column (an array, or a list of texts), and which are missing."""
    import numpy as np

    cells: Any = table.column(name)
    if isinstance(cells, list):
        return cells, np.array([cell is None or cell != cell for cell in cells], dtype=bool)
    cells = np.asarray(cells)
    if cells.dtype.kind == "f":
        return cells, np.isnan(cells)
    if table.kinds[name].startswith("date"):
        return cells, cells == NAT
    return cells, np.zeros(len(cells), dtype=bool)


def _series(table: Table, name: str, index: Any) -> Any:
    import numpy as np

    pd = pandas()
    cells, missing = native_column(table, name)
    kind = table.kinds[name]
    if kind.startswith("date"):
        return pd.Series(_times(cells, kind), index=index)
    if kind == "bool":
        return _numbers(cells, missing, "bool", "boolean", index)
    if kind == "int":
        return _numbers(cells, missing, None, "Int64", index)
    if kind == "float" and isinstance(cells, list):
        cells = np.array([np.nan if cell is None else cell for cell in cells], dtype=float)
    if kind == "text":
        return pd.Series(list(cells), index=index, dtype="str" if _is_three() else object)
    if kind == "other":
        return pd.Series([_list(cell) for cell in cells], index=index, dtype=object)
    return pd.Series(cells, index=index)


def _list(cell: str | None) -> Any:
    """A cell of a column of lists, whose text is that of JSON."""
    try:
        return None if cell is None else json.loads(cell)
    except ValueError:
        return cell


def _numbers(cells: Any, missing: Any, dtype: str | None, nullable: str, index: Any) -> Any:
    import numpy as np

    if not missing.any():
        return pandas().Series(np.asarray(cells, dtype=dtype), index=index)
    known = [None if gone else cell for cell, gone in zip(cells, missing, strict=True)]
    return pandas().Series(known, index=index, dtype=nullable)


def _times(cells: Any, kind: str) -> Any:
    """Times of a kind such as "datetime[us, Europe/Paris]"; nanoseconds of the kind "datetime"."""
    import numpy as np

    pd = pandas()
    if isinstance(cells, list):
        cells = np.array([NAT if cell is None else cell for cell in cells], dtype=np.int64)
    unit, _, zone = kind.partition("[")[2].rstrip("]").partition(", ")
    index = pd.DatetimeIndex(cells.astype(np.int64).view(f"M8[{unit or 'ns'}]"))
    return index.tz_localize("UTC").tz_convert(zone) if zone else index


def _is_three() -> bool:
    return int(pandas().__version__.split(".")[0]) >= 3
