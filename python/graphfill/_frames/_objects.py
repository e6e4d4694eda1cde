"""Object columns of pandas frames: Python booleans, numbers, dates, texts and lists of numbers."""

from __future__ import annotations

import datetime
import decimal
import enum
import numbers
import uuid
from typing import TYPE_CHECKING, Any

from graphfill._frames._base import merged_list
from graphfill._frames._numpy import objects, pandas
from graphfill._frames._pandas_columns import Column, level_codes

if TYPE_CHECKING:
    from graphfill._native import Table

DAY = 86_400
EPOCH = datetime.datetime(1970, 1, 1)


class ObjectColumn(Column):
    """An object column whose cells are of one kind. ``missing`` is True where there is no cell."""

    def __init__(self, values: Any, owner: Any, missing: Any) -> None:
        super().__init__(values, owner)
        self.missing = missing
        self.observed = values[~missing]

    def decoded(self, estimates: Any) -> Any:
        import numpy as np

        return objects([self.cell(value) for value in _python(np.asarray(estimates))])

    def cell(self, value: Any) -> Any:
        """The Python object of one estimate."""
        raise NotImplementedError

    def _spread(self, observed: Any) -> Any:
        """A full column from its observed cells, with zeros where a cell is missing."""
        import numpy as np

        values = np.zeros(len(self.values), dtype=observed.dtype)
        values[~self.missing] = observed
        return values


class ScalarColumn(ObjectColumn):
    """Booleans, whole numbers, floats or decimals."""

    def __init__(self, values: Any, owner: Any, missing: Any, numbers: Any) -> None:
        super().__init__(values, owner, missing)
        self.numbers = numbers
        kinds = set(map(type, self.observed))
        # Cells of a NumPy type get estimates of that type.
        self.make: Any = kinds.pop() if len(kinds) == 1 else None

    def add(self, table: Table, name: str) -> None:
        table.add_numbers(name, self._spread(self.numbers), missing=self.missing)

    def cell(self, value: Any) -> Any:
        kind = self.numbers.dtype.kind
        value = bool(value) if kind == "b" else round(value) if kind in "iu" else float(value)
        return value if self.make is None else self.make(value)


class DecimalColumn(ScalarColumn):
    """Decimals; estimates have as many decimal places as the cells with the most of them."""

    def __init__(self, values: Any, owner: Any, missing: Any, numbers: Any) -> None:
        super().__init__(values, owner, missing, numbers)
        places = [cell.as_tuple().exponent for cell in self.observed if cell.is_finite()]
        self.quantum = decimal.Decimal(1).scaleb(min(places, default=0))

    def cell(self, value: Any) -> Any:
        number = decimal.Decimal(repr(float(value)))
        try:
            return number.quantize(self.quantum)
        except decimal.InvalidOperation:  # more digits than the context has
            return number


class DateColumn(ObjectColumn):
    """datetime.date."""

    def add(self, table: Table, name: str) -> None:
        import numpy as np

        first = datetime.date(1970, 1, 1)
        days = np.array([(cell - first).days for cell in self.observed], dtype=np.int64)
        table.add_datetimes(name, self._spread(days * DAY), unit="s", missing=self.missing)

    def cell(self, value: Any) -> Any:
        return datetime.date(1970, 1, 1) + datetime.timedelta(days=round(value / DAY))


class DatetimeObjectColumn(ObjectColumn):
    """datetime.datetime or pandas.Timestamp, all without a time zone or all with the same one."""

    def __init__(self, values: Any, owner: Any, missing: Any) -> None:
        super().__init__(values, owner, missing)
        self.zone = self.observed[0].tzinfo
        self.stamps = all(isinstance(cell, pandas().Timestamp) for cell in self.observed)

    def add(self, table: Table, name: str) -> None:
        import numpy as np

        epoch = EPOCH if self.zone is None else EPOCH.replace(tzinfo=datetime.timezone.utc)
        micro = datetime.timedelta(microseconds=1)
        cells = (c.to_pydatetime(warn=False) if self.stamps else c for c in self.observed)
        times = np.array([(cell - epoch) // micro for cell in cells], dtype=np.int64)
        zone = None if self.zone is None else "UTC"
        values = self._spread(times)
        table.add_datetimes(name, values, unit="us", timezone=zone, missing=self.missing)

    def cell(self, value: Any) -> Any:
        time = EPOCH + datetime.timedelta(microseconds=int(value))
        if self.zone is not None:
            time = time.replace(tzinfo=datetime.timezone.utc).astimezone(self.zone)
        return pandas().Timestamp(time) if self.stamps else time


class TextObjectColumn(ObjectColumn):
    """Python strings."""

    def add(self, table: Table, name: str) -> None:
        cells = self.values.copy()
        cells[self.missing] = None
        table.add_texts(name, cells.tolist())

    def decoded(self, estimates: Any) -> Any:
        return objects(estimates)


class LevelColumn(ObjectColumn):
    """Objects that repeat, such as members of an Enum; they cross as the text of each."""

    def __init__(self, values: Any, owner: Any, missing: Any) -> None:
        super().__init__(values, owner, missing)
        self.levels = list(dict.fromkeys(self.observed))
        self.codes = level_codes(self.levels)

    def add(self, table: Table, name: str) -> None:
        import numpy as np

        codes = {level: code for code, level in enumerate(self.levels)}
        column: Any = np.full(len(self.values), -1, dtype=np.int64)
        column[~self.missing] = [codes[cell] for cell in self.observed]
        table.add_categories(name, column, list(self.codes))

    def decoded(self, estimates: Any) -> Any:
        return objects([self._level(text) for text in estimates])

    def _level(self, text: str) -> Any:
        if text in self.codes:
            return self.levels[self.codes[text]]
        # The id of an added node.
        return uuid.UUID(text) if isinstance(self.levels[0], uuid.UUID) else text


class CarriedColumn(ObjectColumn):
    """Objects of several types without a missing cell: not estimated, but they may be ids."""

    type = "unused"

    def add(self, table: Table, name: str) -> None:
        table.add_texts(name, [str(cell) for cell in self.values])

    def decoded(self, estimates: Any) -> Any:
        return objects(estimates)


class ListColumn(ObjectColumn):
    """Lists, tuples or arrays of numbers of one length: a block."""

    def __init__(self, values: Any, owner: Any, missing: Any, matrix: Any) -> None:
        super().__init__(values, owner, missing)
        self.matrix = matrix
        self.make = type(self.observed[0])
        self.whole = all(_is_whole(entry) for cell in self.observed for entry in cell)

    def add(self, table: Table, name: str) -> None:
        import numpy as np

        values = np.full((len(self.values), self.matrix.shape[1]), np.nan)
        values[~self.missing] = self.matrix
        table.add_block(name, values)

    def patched(self, values: Any, rows: Any, estimates: Any) -> Any:
        import numpy as np

        changed = values.copy()
        for row, estimated in zip(rows.tolist(), np.asarray(estimates).tolist(), strict=True):
            if self.whole:
                estimated = [round(entry) for entry in estimated]
            cell = values[row] if isinstance(values[row], self.make) else None
            changed[row] = self._cell(merged_list(cell, estimated))
        return changed

    def _cell(self, merged: list[Any]) -> Any:
        import numpy as np

        if self.make is np.ndarray:
            return np.array(merged, dtype=self.observed[0].dtype)
        return merged if self.make is list else self.make(merged)

def object_column(values: Any, owner: Any) -> Column | str:
    """The column with these Python objects, or why it cannot take part."""
    import numpy as np

    missing = pandas().isna(values)
    observed = values[~missing]
    kinds = set(map(type, observed))
    if not kinds and len(values):
        return "every cell is missing"
    # A column without rows is text, too.
    if all(issubclass(kind, str) and not issubclass(kind, enum.Enum) for kind in kinds):
        return TextObjectColumn(values, owner, missing)
    if all(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        return ScalarColumn(values, owner, missing, observed.astype(bool))
    if all(_is_real(kind) for kind in kinds):
        numbers_ = _numbers(observed, kinds)
        if numbers_ is None:
            return "it has whole numbers of more than 64 bits"
        return ScalarColumn(values, owner, missing, numbers_)
    if all(issubclass(kind, decimal.Decimal) for kind in kinds):
        return DecimalColumn(values, owner, missing, observed.astype(float))
    if all(issubclass(kind, datetime.datetime) for kind in kinds):
        if len({cell.tzinfo for cell in observed}) == 1:
            return DatetimeObjectColumn(values, owner, missing)
        return "its times have different time zones"
    if all(issubclass(kind, datetime.date) for kind in kinds) and kinds == {datetime.date}:
        return DateColumn(values, owner, missing)
    if len(kinds) == 1 and issubclass(next(iter(kinds)), (uuid.UUID, enum.Enum)):
        return LevelColumn(values, owner, missing)
    if len(kinds) == 1 and next(iter(kinds)) in (list, tuple, np.ndarray):
        matrix = _matrix(observed)
        if matrix is None:
            return "its lists are not numbers of one length"
        return ListColumn(values, owner, missing, matrix)
    scalars = all(issubclass(kind, (str, bool, numbers.Number)) for kind in kinds)
    if scalars and not missing.any():
        return CarriedColumn(values, owner, missing)
    names = sorted(kind.__name__ for kind in kinds)
    return f"its cells are Python objects of type {' and '.join(names)}"

def _is_real(kind: type) -> bool:
    import numpy as np

    if issubclass(kind, (bool, enum.Enum)):
        return False
    return issubclass(kind, (int, float, np.integer, np.floating))

def _is_whole(entry: Any) -> bool:
    return entry is None or isinstance(entry, numbers.Integral)

def _numbers(observed: Any, kinds: set[type]) -> Any:
    """The numbers as int64, uint64 or float64; None where whole ones need more bits."""
    import numpy as np

    if not all(issubclass(kind, (int, np.integer)) for kind in kinds):
        return observed.astype(np.float64)
    low, high = min(observed), max(observed)
    if low >= -(2**63) and high < 2**63:
        return observed.astype(np.int64)
    return observed.astype(np.uint64) if low >= 0 and high < 2**64 else None

def _matrix(observed: Any) -> Any:
    """Lists as rows of a matrix with NaN where an entry is missing; None where they are none."""
    import numpy as np

    if (
        len({np.shape(cell) if isinstance(cell, np.ndarray) else len(cell) for cell in observed})
        != 1
    ):
        return None
    try:
        matrix = np.array([_entries(cell) for cell in observed], dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return matrix if matrix.ndim == 2 and matrix.shape[1] else None

def _entries(cell: Any) -> Any:
    if any(isinstance(entry, (str, bytes)) for entry in cell):
        raise TypeError("text is no number")
    return [float("nan") if entry is None else entry for entry in cell]

def _python(values: Any) -> list[Any]:
    cells: list[Any] = values.tolist()
    return cells
