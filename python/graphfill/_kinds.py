"""Kinds of objects, told without importing the libraries that define them."""

from __future__ import annotations

import operator
from typing import Any


def is_a(value: Any, package: str, *names: str) -> bool:
    """Whether the type of a value, or a base of it, comes from a package (and has one of the names)."""
    return any(
        base.__module__.partition(".")[0] == package and (not names or base.__name__ in names)
        for base in type(value).__mro__
    )


def kind_of(value: Any) -> str:
    """The name of a value's type, for messages."""
    return type(value).__name__


def is_scipy_sparse(value: Any) -> bool:
    """Whether a value is a sparse matrix or a sparse array of scipy."""
    return is_a(value, "scipy") and hasattr(value, "tocoo")


def is_tensor(value: Any) -> bool:
    """Whether a value is a torch tensor."""
    return is_a(value, "torch", "Tensor")


def is_pyg_data(value: Any) -> bool:
    """Whether a value is a ``Data`` or ``HeteroData`` of PyTorch Geometric."""
    return is_a(value, "torch_geometric", "BaseData")


def numpy_of(tensor: Any) -> Any:
    """A tensor as a NumPy array; on the CPU both share memory."""
    return tensor.detach().cpu().numpy()


def is_missing(value: Any) -> bool:
    """Whether a single value means "missing": None, NaN, NaT, pandas.NA."""
    if value is None:
        return True
    if kind_of(value) in ("NAType", "NaTType"):
        return True
    if hasattr(value, "__len__"):
        return False
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


def whole_number(value: Any) -> int:
    """A whole number of any type; TypeError for everything else."""
    if isinstance(value, bool):
        raise TypeError
    if isinstance(value, float):
        if not value.is_integer():
            raise TypeError
        return int(value)
    return operator.index(value)
