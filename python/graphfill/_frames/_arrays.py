"""2-D NumPy arrays as node tables: one row per node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphfill import _native
from graphfill._frames._base import is_importable
from graphfill._frames._numpy import cast, native_numbers
from graphfill.errors import DataError

if TYPE_CHECKING:
    from graphfill._native import Completed, Table

MIN_BLOCK_WIDTH = 100
"""An array with this many columns is one block."""


def column_names(width: int) -> list[str]:
    """The names of the columns of an array."""
    return [f"x{at}" for at in range(width)]


def frame_or_table(table: Table) -> Any:
    """A native table as a pandas frame where pandas is installed."""
    if not is_importable("pandas"):
        return table
    from graphfill._frames._table_to_pandas import frame_of

    return frame_of(table)


class ArrayNodes:
    """A 2-D array of numbers: NaN is missing, and so are masked cells of a masked array."""

    def __init__(self, array: Any) -> None:
        import numpy as np

        _check(array)
        masked = isinstance(array, np.ma.MaskedArray)
        self.mask = np.ma.getmaskarray(array).copy() if masked else None
        # The caller may write to the array later.
        self.original = np.array(array.data if masked else array, subok=not masked)
        self.source = np.asarray(self.original)
        self.index_column: str | None = None
        self.left_out: dict[str, str] = {}
        self.types: dict[str, str] = {}
        self.table = _native.Table()
        self.names: list[str] | None = None
        if array.shape[1] >= MIN_BLOCK_WIDTH:
            self.table.add_block("x", _block_numbers(self.source), missing=self.mask)
            return
        self.names = column_names(array.shape[1])
        self.types = dict.fromkeys(self.names, "number")
        numbers = native_numbers(self.source)
        for at, name in enumerate(self.names):
            missing = None if self.mask is None else self.mask[:, at]
            self.table.add_numbers(name, numbers[:, at], missing=missing, share=True, exact=True)

    def filled(self, filled: Completed) -> Any:
        import numpy as np

        source, extra = self.source, filled.rows - len(self.source)
        left = _missing(source) if self.mask is None else self.mask | _missing(source)
        if extra:
            empty = np.nan if source.dtype.kind == "f" else 0
            source = np.vstack([source, np.full((extra, source.shape[1]), empty, source.dtype)])
            left = np.vstack([left, np.ones((extra, source.shape[1]), dtype=bool)])
        whole = source.copy() if extra else self.original.copy()
        result = np.asarray(whole)
        for name in filled.estimated_columns():
            estimates = filled.estimates(name)
            rows, values = np.asarray(estimates.rows), np.asarray(estimates.values)
            if self.names is None:
                cells = left[rows]
                result[rows] = np.where(cells, cast(values, result.dtype), result[rows])
                left[rows] = False
            else:
                at = self.names.index(name)
                result[rows, at] = cast(values, result.dtype)
                left[rows, at] = False
        if self.mask is not None and left.any():
            return np.ma.MaskedArray(result, mask=left)
        return whole

    def frame(self, table: Table) -> Any:
        return frame_or_table(table)


def _check(array: Any) -> None:
    if array.dtype.names is not None:
        raise DataError(
            "expected an array of numbers, found a structured one; to fix it, make a "
            "frame of it with pandas.DataFrame(array)"
        )
    if array.ndim != 2:
        raise DataError(
            f"expected a 2-D array with one row per node, found {array.ndim} dimension(s); to fix "
            "it, reshape it, for example array.reshape(-1, 1) for a single column"
        )
    if array.dtype.kind not in "fiub":
        advice = "convert it with array.astype(float), or give a frame with one type per column"
        if array.dtype.kind == "c":
            advice = "give its parts: numpy.hstack([array.real, array.imag])"
        raise DataError(
            f"expected an array of numbers, found dtype {array.dtype}; to fix it, {advice}"
        )
    if array.shape[1] == 0:
        raise DataError("expected an array with columns, found none; to fix it, give at least one")


def _missing(array: Any) -> Any:
    import numpy as np

    return np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, dtype=bool)


def _block_numbers(array: Any) -> Any:
    """The array as 32-bit floats where they hold its values, as 64-bit floats otherwise."""
    import numpy as np

    short = array.dtype.kind == "b" or array.dtype.itemsize <= 2 or array.dtype == np.float32
    return np.ascontiguousarray(array, dtype=np.float32 if short else np.float64)
