"""scipy sparse matrices and arrays as node tables: one block, one row per node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphfill import _native
from graphfill._frames._arrays import frame_or_table
from graphfill._frames._numpy import cast
from graphfill.errors import DataError

if TYPE_CHECKING:
    from graphfill._native import Completed, Table


class SparseNodes:
    """A sparse matrix or array; a stored NaN is a missing cell."""

    def __init__(self, matrix: Any) -> None:
        import numpy as np

        if matrix.ndim != 2:
            raise DataError(
                f"expected a sparse array with one row per node, found {matrix.ndim} dimension(s); "
                "to fix it, reshape it to rows × columns"
            )
        if matrix.dtype.kind not in "fiub":
            raise DataError(
                f"expected a sparse array of numbers, found dtype {matrix.dtype}; to fix it, "
                "convert it with .astype(float)"
            )
        self.format, self.dtype = matrix.format, matrix.dtype
        self.blocksize = getattr(matrix, "blocksize", None)
        # The caller may write to the matrix later.
        self.source = matrix.tocsr(copy=True)
        self.source.sum_duplicates()
        self.index_column: str | None = None
        self.types: dict[str, str] = {}
        self.left_out: dict[str, str] = {}
        self.table = _native.Table()
        short = self.dtype.kind == "b" or self.dtype.itemsize <= 2 or self.dtype == np.float32
        values = self.source.data.astype(np.float32 if short else np.float64)
        self.table.add_sparse_block(
            "x", self.source.indptr, self.source.indices, values, matrix.shape[1]
        )

    def filled(self, filled: Completed) -> Any:
        import numpy as np

        result = self.source.copy()
        for name in filled.estimated_columns():
            estimates = filled.estimates(name)
            rows, values = np.asarray(estimates.rows), np.asarray(estimates.values)
            own = rows < result.shape[0]
            self._patch(result, rows[own], values[own])
            if filled.rows > result.shape[0]:
                result = self._with_rows(result, filled.rows, rows[~own], values[~own])
        if self.format == "bsr":
            return result.tobsr(blocksize=self.blocksize)
        return result.asformat(self.format)

    def _patch(self, result: Any, rows: Any, values: Any) -> None:
        """Replaces the stored NaN of ``rows``."""
        import numpy as np

        position = np.full(result.shape[0], -1)
        position[rows] = np.arange(len(rows))
        row: Any = np.repeat(position, np.diff(result.indptr))
        cells = (row >= 0) & np.isnan(result.data) if self.dtype.kind == "f" else row < -1
        result.data[cells] = cast(values[row[cells], result.indices[cells]], self.dtype)

    def _with_rows(self, result: Any, count: int, rows: Any, values: Any) -> Any:
        """The matrix with the rows of added nodes."""
        import numpy as np
        from scipy import sparse

        tail = np.zeros((count - result.shape[0], result.shape[1]), dtype=self.dtype)
        tail[rows - result.shape[0]] = cast(values, self.dtype)
        return sparse.vstack([result, type(result)(tail)], format="csr", dtype=self.dtype)

    def frame(self, table: Table) -> Any:
        return frame_or_table(table)
