"""Columns of pandas frames: how each dtype crosses into a native table, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphfill._frames._arrow_types import crossing_array, patched_array, reason_against
from graphfill._frames._base import column_name
from graphfill._frames._numpy import cast, native_numbers, objects, owned_by, pandas

if TYPE_CHECKING:
    from graphfill._native import Table


class Column:
    """A column of a pandas frame. ``values`` is its array, which ``owner`` keeps alive."""

    type: str | None = None
    """The column type to declare; None: it is inferred."""
    """Whether the cells are lists."""

    def __init__(self, values: Any, owner: Any) -> None:
        self.values = values
        self.owner = owner

    def add(self, table: Table, name: str) -> None:
        """Adds the column to a native table."""
        raise NotImplementedError

    def decoded(self, estimates: Any) -> Any:
        """Estimates as values that the array takes."""
        raise NotImplementedError

    def patched(self, values: Any, rows: Any, estimates: Any) -> Any:
        """A copy of ``values`` (the column's own, or longer ones) with estimates at ``rows``."""
        changed = values.copy()
        changed[rows] = self.decoded(estimates)
        return changed


class NumberColumn(Column):
    """Numbers and booleans in a NumPy array; NaN is missing."""

    def add(self, table: Table, name: str) -> None:
        values = native_numbers(self.values)
        table.add_numbers(name, owned_by(values, self.owner), share=True)

    def decoded(self, estimates: Any) -> Any:
        return cast(estimates, self.values.dtype)


class MaskedColumn(Column):
    """The nullable dtypes: Int64, Float32, boolean and the like."""

    def add(self, table: Table, name: str) -> None:
        values = owned_by(self.values._data, self.owner)
        table.add_numbers(name, values, missing=owned_by(self.values._mask, self.owner), share=True)

    def decoded(self, estimates: Any) -> Any:
        return cast(estimates, self.values._data.dtype)


class DatetimeColumn(Column):
    """datetime64 of any unit, with or without a time zone."""

    def add(self, table: Table, name: str) -> None:
        zone = getattr(self.values, "tz", None)
        table.add_datetimes(
            name,
            owned_by(self.values.asi8, self.owner),
            unit=self.values.unit,
            timezone=None if zone is None else str(zone),
            share=True,
        )

    def decoded(self, estimates: Any) -> Any:
        import numpy as np

        instants = np.asarray(estimates).astype(np.int64).view(f"M8[{self.values.unit}]")
        times, zone = pandas().DatetimeIndex(instants), self.values.tz
        return (times if zone is None else times.tz_localize("UTC").tz_convert(zone)).array


class CategoricalColumn(Column):
    """Categories with levels of any type; a level crosses as its text."""

    def __init__(self, values: Any, owner: Any) -> None:
        super().__init__(values, owner)
        self.codes = level_codes(values.categories)

    def add(self, table: Table, name: str) -> None:
        table.add_categories(name, self.values.codes, list(self.codes))

    def patched(self, values: Any, rows: Any, estimates: Any) -> Any:
        # Ids of added nodes may be new levels; estimates never are.
        new = [level for level in dict.fromkeys(estimates) if level not in self.codes]
        if new:
            values = values.add_categories(new)
        codes = self.codes | {level: len(self.codes) + at for at, level in enumerate(new)}
        changed = values.copy()
        known = [codes[level] for level in estimates]
        changed[rows] = pandas().Categorical.from_codes(known, dtype=values.dtype)
        return changed


def level_codes(levels: Any) -> dict[str, int]:
    """The text of every level, and its code; levels with the same text are numbered."""
    codes: dict[str, int] = {}
    for code, level in enumerate(levels):
        text, number = column_name(level), 2
        while text in codes:
            text, number = f"{column_name(level)} ({number})", number + 1
        codes[text] = code
    return codes


class TextColumn(Column):
    """The string dtypes, stored as Python objects or in Arrow."""

    def add(self, table: Table, name: str) -> None:
        if getattr(self.values.dtype, "storage", None) == "pyarrow":
            table.add_stream(name, self.values.__arrow_array__())
        else:
            cells = self.values.to_numpy(dtype=object, na_value=None)
            table.add_texts(name, cells.tolist())

    def decoded(self, estimates: Any) -> Any:
        return objects(estimates)


class ArrowColumn(Column):
    """ArrowDtype of the types that Arrow tables may have, too."""

    def __init__(self, values: Any, owner: Any) -> None:
        super().__init__(values, owner)

    def add(self, table: Table, name: str) -> None:
        table.add_stream(name, crossing_array(self.values.__arrow_array__()))

    def patched(self, values: Any, rows: Any, estimates: Any) -> Any:
        return type(values)(patched_array(values.__arrow_array__(), rows, estimates))


class SparseColumn(Column):
    """SparseDtype: it crosses as a dense column."""

    def __init__(self, values: Any, owner: Any) -> None:
        super().__init__(values, owner)
        self.subtype = values.dtype.subtype

    def add(self, table: Table, name: str) -> None:
        table.add_numbers(name, native_numbers(self.values.to_dense()))

    def patched(self, values: Any, rows: Any, estimates: Any) -> Any:
        dense = values.to_dense()
        dense[rows] = cast(estimates, self.subtype)
        return type(values)(dense, dtype=values.dtype, kind=values.kind)


def column_of(values: Any, owner: Any) -> Column | str:
    """The column with these values, or why it cannot take part."""
    pd, dtype = pandas(), values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return CategoricalColumn(values, owner)
    if isinstance(dtype, pd.StringDtype):
        return TextColumn(values, owner)
    if isinstance(dtype, pd.ArrowDtype):
        reason = reason_against(values.__arrow_array__())
        return ArrowColumn(values, owner) if reason is None else reason
    if isinstance(dtype, pd.SparseDtype):
        if dtype.subtype.kind in "fiub":
            return SparseColumn(values, owner)
        return _unsupported(dtype)
    if hasattr(values, "_mask") and hasattr(values, "_data"):
        return MaskedColumn(values, owner)
    if isinstance(values, pd.arrays.DatetimeArray):
        return DatetimeColumn(values, owner)
    if getattr(dtype, "kind", "") in "fiub" and type(values).__module__.startswith("numpy"):
        return NumberColumn(values, owner)
    if getattr(dtype, "kind", "") == "O" and type(values).__module__.startswith("numpy"):
        from graphfill._frames._objects import object_column

        return object_column(values, owner)
    return _unsupported(dtype)


def _unsupported(dtype: Any) -> str:
    return f"there are no estimates for the type {dtype}"
