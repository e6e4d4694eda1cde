"""Attributes of nodes (lists of Python values) as columns of a table, and estimates as values again.

A column has one of these kinds: booleans, whole numbers, numbers, texts, dates, timestamps, or vectors
of numbers of one length. An estimate has the type of the observed values.

>>> from graphfill._attributes import attribute_of
>>> ages = attribute_of("age", [31, None, 45])
>>> ages.kind, ages.value(38.0)
('integer', 38)
"""

from __future__ import annotations

import datetime as dt
import math
import numbers
from array import array
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from graphfill._kinds import is_a, is_missing, is_tensor, kind_of, numpy_of

Kind = Literal["boolean", "integer", "float", "text", "date", "datetime", "vector", "empty", "other"]

MAX_INTEGER = 2**63 - 1
EPOCH = dt.datetime(1970, 1, 1)
DAY = dt.timedelta(days=1)
MICROSECOND = dt.timedelta(microseconds=1)


@dataclass(frozen=True)
class Attribute:
    """The values of one attribute, one per node, with None where it is missing."""

    key: Hashable
    """What the graph calls it."""
    name: str
    """The name of its column."""
    values: Sequence[Any]
    kind: Kind
    type: type | None
    """The type of every observed value, where they share one."""

    def add_to(self, table: Any) -> None:
        """Adds the attribute to a native table. Not for ``kind`` "other"."""
        values = self.values
        if self.kind in ("text", "empty"):
            table.add_texts(self.name, [None if value is None else str(value) for value in values])
        elif self.kind == "vector":
            width = next(len(value) for value in values if value is not None)
            cells = array("d")
            for value in values:
                cells.extend(_vector(value) if value is not None else [math.nan] * width)
            shaped = memoryview(cells).cast("B").cast("d", (len(values), width))
            table.add_block(self.name, shaped)
        else:
            numbers_, missing = self._numbers()
            if self.kind in ("date", "datetime"):
                zone = "UTC" if self._timezone() is not None else None
                table.add_datetimes(self.name, numbers_, "us", zone, missing)
            else:
                table.add_numbers(self.name, numbers_, missing)

    def _numbers(self) -> tuple[Any, Any]:
        missing = memoryview(bytearray(value is None for value in self.values)).cast("?")
        if self.kind == "boolean":
            flags = memoryview(bytearray(bool(value) for value in self.values)).cast("?")
            return flags, missing
        if self.kind == "float":
            cells = [math.nan if value is None else float(value) for value in self.values]
            return array("d", cells), missing
        number: Callable[[Any], int] = int if self.kind == "integer" else _microseconds
        return array("q", [0 if value is None else number(value) for value in self.values]), missing

    def _timezone(self) -> dt.tzinfo | None:
        known = next(value for value in self.values if value is not None)
        return known.tzinfo if isinstance(known, dt.datetime) else None

    def value(self, estimate: Any) -> Any:
        """An estimate in the type of the observed values."""
        if self.kind == "date":
            return (EPOCH + estimate * MICROSECOND).date()
        if self.kind == "datetime":
            moment = EPOCH + estimate * MICROSECOND
            zone = self._timezone()
            return moment if zone is None else moment.replace(tzinfo=dt.UTC).astimezone(zone)
        if self.kind == "vector":
            return self._vector_value(estimate)
        if self.kind == "boolean":
            return (self.type or bool)(bool(estimate))
        if self.kind == "integer":
            return (self.type or int)(round(estimate))
        if self.kind == "float":
            if self.type is Decimal:
                return Decimal(repr(float(estimate)))
            return (self.type or float)(estimate)
        return str(estimate)

    def _vector_value(self, estimate: Sequence[float]) -> Any:
        known = next(value for value in self.values if value is not None)
        whole = all(isinstance(cell, numbers.Integral) for cell in known)
        cells = [round(cell) for cell in estimate] if whole else [float(cell) for cell in estimate]
        if is_a(known, "numpy", "ndarray"):
            import numpy

            return numpy.asarray(cells, dtype=known.dtype)
        if is_tensor(known):
            return known.new_tensor(cells)
        if isinstance(known, array):
            return array(known.typecode, cells)
        return tuple(cells) if isinstance(known, tuple) else cells


def attribute_of(key: Hashable, values: Sequence[Any], name: str | None = None) -> Attribute:
    """An attribute with the kind that all of its observed values have; "other" where there is none."""
    cells = [None if is_missing(value) else value for value in values]
    types = {type(value) for value in cells if value is not None}
    kind = _kind(cells, types)
    return Attribute(
        key=key,
        name=str(key) if name is None else name,
        values=cells,
        kind=kind,
        type=next(iter(types)) if len(types) == 1 else None,
    )


def _kind(cells: Sequence[Any], types: set[type]) -> Kind:
    if not types:
        return "empty"
    if all(_is_boolean(one) for one in types):
        return "boolean"
    if all(issubclass(one, numbers.Integral) and not _is_boolean(one) for one in types):
        small = all(abs(value) <= MAX_INTEGER for value in cells if value is not None)
        return "integer" if small else "float"
    if all(issubclass(one, (numbers.Real, Decimal)) or _is_boolean(one) for one in types):
        return "float"
    if all(issubclass(one, str) for one in types):
        return "text"
    if all(issubclass(one, dt.datetime) for one in types):
        aware = {value.tzinfo is not None for value in cells if value is not None}
        return "datetime" if len(aware) == 1 else "other"
    if all(issubclass(one, dt.date) and not issubclass(one, dt.datetime) for one in types):
        return "date"
    known = [value for value in cells if value is not None]
    if all(_is_vector(value) for value in known) and len({len(value) for value in known}) == 1:
        return "vector"
    return "other"


def _is_boolean(one: type) -> bool:
    return issubclass(one, bool) or (one.__module__ == "numpy" and one.__name__ in ("bool", "bool_"))


def _is_vector(value: Any) -> bool:
    if is_a(value, "numpy", "ndarray") or is_tensor(value):
        return len(value.shape) == 1 and value.shape[0] > 0
    if not isinstance(value, (list, tuple, array)) or not value:
        return False
    return all(cell is None or isinstance(cell, numbers.Real) for cell in value)


def _vector(value: Any) -> Sequence[float]:
    if is_tensor(value):
        value = numpy_of(value)
    return [math.nan if cell is None else float(cell) for cell in value]


def _microseconds(value: dt.date) -> int:
    """Microseconds since 1970; of UTC where the value has a time zone."""
    if not isinstance(value, dt.datetime):
        return (dt.datetime(value.year, value.month, value.day) - EPOCH) // MICROSECOND
    if value.tzinfo is not None:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    return (value - EPOCH) // MICROSECOND


def kinds_of_values(attribute: Attribute) -> str:
    """The types of the observed values, for messages."""
    return ", ".join(sorted({kind_of(value) for value in attribute.values if value is not None}))
