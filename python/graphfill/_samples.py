"""The X of scikit-learn: a matrix of numbers, or a pandas or polars frame with text and categories.

One function per thing that an imputer does with X, whatever it is.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeAlias

import numpy as np

from graphfill._kinds import is_a, is_missing

Matrix: TypeAlias = Any
"""A NumPy array of two dimensions, or one with a value per column."""


def is_mixed_frame(X: Any) -> bool:
    """Whether X is a pandas or polars frame with a column that is neither numeric nor boolean."""
    if is_a(X, "pandas", "DataFrame"):
        return not all(_is_number(dtype) for dtype in X.dtypes)
    if is_a(X, "polars", "DataFrame"):
        return not all(dtype.is_numeric() or str(dtype) in ("Boolean", "Null") for dtype in X.dtypes)
    return False


def _is_number(dtype: Any) -> bool:
    kind = getattr(dtype, "kind", "O")
    return kind in "iufb" and not is_a(dtype, "pandas", "CategoricalDtype")


def number_columns(frame: Any) -> list[str]:
    """Names of the numeric columns of a frame; booleans are not among them."""
    if is_a(frame, "pandas", "DataFrame"):
        numeric = [_is_number(dtype) and dtype.kind != "b" for dtype in frame.dtypes]
    else:
        numeric = [dtype.is_numeric() for dtype in frame.dtypes]
    return [str(name) for name, is_one in zip(frame.columns, numeric, strict=True) if is_one]


def missing_cells(X: Any) -> Matrix:
    """One flag per cell: whether it is missing."""
    if isinstance(X, np.ndarray):
        return np.isnan(X)
    if is_a(X, "pandas", "DataFrame"):
        return X.isna().to_numpy(dtype=bool)
    columns = []
    for column in X.get_columns():
        missing = column.is_null()
        if column.dtype.is_float():
            missing = missing | column.is_nan().fill_null(True)
        columns.append(missing.to_numpy())
    return np.column_stack(columns)


def without_mark(frame: Any, mark: Any) -> Any:
    """A frame with missing cells in place of every cell that is ``mark``."""
    if is_a(frame, "pandas", "DataFrame"):
        return frame.mask(frame == mark)
    import polars

    same = polars.all().cast(polars.String, strict=False) == str(mark)
    return frame.with_columns(polars.when(same).then(None).otherwise(polars.all()).name.keep())


def select(X: Any, kept: Matrix) -> Any:
    """Some columns, by a flag per column."""
    if is_a(X, "pandas", "DataFrame"):
        return X.loc[:, kept]
    return X[:, np.flatnonzero(kept)] if isinstance(X, np.ndarray) else X[:, np.flatnonzero(kept).tolist()]


def stack(upper: Any, lower: Any, rows: Matrix) -> Any:
    """Some rows of two tables with the same columns, one below the other."""
    if isinstance(upper, np.ndarray):
        return np.concatenate([upper, lower])[rows]
    if is_a(upper, "pandas", "DataFrame"):
        import pandas  # type: ignore[import-untyped, unused-ignore]

        together = {
            at: pandas.concat(_one_type(upper.iloc[:, at], lower.iloc[:, at]), ignore_index=True)
            for at in range(upper.shape[1])
        }
        frame = pandas.DataFrame(together)
        frame.columns = upper.columns
        return frame.take(rows).reset_index(drop=True)
    import polars

    return polars.concat([upper, lower], how="vertical_relaxed")[rows.tolist()]


def _one_type(upper: Any, lower: Any) -> list[Any]:
    """Two categorical columns with the categories of both; other columns as they are."""
    if str(upper.dtype) != "category" or str(lower.dtype) != "category" or upper.dtype == lower.dtype:
        return [upper, lower]
    new = lower.cat.categories.difference(upper.cat.categories, sort=False)
    both = upper.cat.add_categories(new)
    return [both, lower.astype(both.dtype)]


def take(X: Any, rows: Any, like: Any) -> Any:
    """Some rows of a table; a pandas frame gets the index of ``like``."""
    if isinstance(X, np.ndarray):
        return X[rows]
    if is_a(X, "pandas", "DataFrame"):
        return X.take(rows).set_axis(like.index)
    return X[rows.tolist()]


def statistics(X: Any, missing: Matrix) -> Matrix:
    """The mean of each numeric column and the most frequent value of others; NaN for empty columns."""
    if isinstance(X, np.ndarray):
        counts = (~missing).sum(axis=0)
        sums = np.where(missing, 0.0, X).sum(axis=0, dtype=np.float64)
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    numeric = set(number_columns(X))
    found = np.full(X.shape[1], np.nan, dtype=object)
    for at, name in enumerate(X.columns):
        cells = [cell for cell in list(X[name]) if not is_missing(cell)]
        if cells and str(name) in numeric:
            found[at] = float(np.mean(cells))
        elif cells:
            found[at] = Counter(cells).most_common(1)[0][0]
    return found


def varies(X: Any) -> bool:
    """Whether any column has more than one value."""
    if X.shape[1] == 0:
        return False
    if isinstance(X, np.ndarray):
        known = ~np.isnan(X)
        low = np.where(known, X, np.inf).min(axis=0, initial=np.inf)
        high = np.where(known, X, -np.inf).max(axis=0, initial=-np.inf)
        return bool((low < high).any())
    if is_a(X, "pandas", "DataFrame"):
        return bool((X.nunique() > 1).any())
    return any(column.drop_nulls().n_unique() > 1 for column in X.get_columns())


def fill_rest(X: Any, values: Matrix) -> Any:
    """The table with one value per column in place of cells that are still missing."""
    missing = missing_cells(X)
    if not missing.any():
        return X
    if isinstance(X, np.ndarray):
        return np.where(missing, values, X).astype(X.dtype, copy=False)
    is_pandas = is_a(X, "pandas", "DataFrame")
    filled = X.copy() if is_pandas else X
    for at, name in enumerate(X.columns):
        if not missing[:, at].any() or is_missing(values[at]):
            continue
        if is_pandas:
            column = X.iloc[:, at]
            if str(column.dtype) == "category" and values[at] not in column.cat.categories:
                column = column.cat.add_categories([values[at]])
            filled.isetitem(at, column.fillna(values[at]))
        else:
            column = X[name].fill_nan(None) if X[name].dtype.is_float() else X[name]
            filled = filled.with_columns(column.fill_null(values[at]))
    return filled


def append(X: Any, flags: Matrix, names: list[str]) -> Any:
    """The table with further columns."""
    if isinstance(X, np.ndarray):
        return np.hstack([X, flags])
    if is_a(X, "pandas", "DataFrame"):
        return X.assign(**{name: flags[:, at] for at, name in enumerate(names)})
    import polars

    return X.with_columns(*(polars.Series(name, flags[:, at]) for at, name in enumerate(names)))
