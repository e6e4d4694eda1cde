"""Estimates as NumPy arrays of a wanted dtype, and views that keep their owner alive."""

from __future__ import annotations

from functools import cache
from typing import Any


def cast(values: Any, dtype: Any) -> Any:
    """Numbers in ``dtype``: whole and within its range where it is an integer type."""
    import numpy as np

    values = np.asarray(values)
    if dtype.kind in "iu" and values.dtype.kind == "f":
        # The largest float that is not above the largest integer.
        limits = np.iinfo(dtype)
        top = np.float64(limits.max)
        top = top if int(top) <= limits.max else np.nextafter(top, 0)
        return np.clip(np.rint(values), limits.min, top).astype(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        own = np.iinfo(values.dtype) if values.dtype.kind in "iu" else None
        if own is not None and (own.min < limits.min or own.max > limits.max):
            low, high = max(own.min, limits.min), min(own.max, limits.max)
            values = np.clip(values, low, high)
    return values.astype(dtype)


def native_numbers(values: Any) -> Any:
    """The array in a dtype of the native table: native byte order, at most 64 bits."""
    import numpy as np

    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        return values.astype(np.float64)
    if not values.dtype.isnative:
        return values.astype(values.dtype.newbyteorder("="))
    return values


@cache
def _owned_class() -> type:
    import numpy as np

    class OwnedView(np.ndarray):  # type: ignore[misc, unused-ignore]
        """A view of an array that keeps another object alive."""

        owner: Any = None

    return OwnedView


def owned_by(values: Any, owner: Any) -> Any:
    """A view of ``values`` that keeps ``owner`` alive, for as long as anyone holds its buffer.

    pandas copies a shared column before it writes to it only while the other frame that shares it
    is alive. The buffer must therefore hold that frame.
    """
    view = values.view(_owned_class())
    view.owner = owner
    return view


def objects(values: Any) -> Any:
    """A 1-D array of Python objects, whatever they are."""
    import numpy as np

    cells: Any = np.empty(len(values), dtype=object)
    for row, value in enumerate(values):
        cells[row] = value
    return cells


def pandas() -> Any:
    """pandas, which does not have type hints without a further package."""
    import pandas as pd

    return pd
