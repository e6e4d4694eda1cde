"""What all adapters of node tables share: their interface, names, warnings and buffers."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from graphfill.errors import DataError, GraphfillWarning

if TYPE_CHECKING:
    from graphfill._native import Completed, Table


class Nodes(Protocol):
    """A node table of another library: its columns as a native table, and the way back."""

    table: Table
    """The columns that take part."""
    index_column: str | None
    """The name under which the index of a pandas frame is a column of ``table``."""
    types: dict[str, str]
    """Column types that the adapter declares."""
    left_out: dict[str, str]
    """Columns that are not in ``table`` (they come back unchanged), and why."""

    def filled(self, filled: Any) -> Any:
        """An object of the kind that came in, with the estimated cells replaced and no others.

        ``filled`` is a ``Filled`` or a ``Completed`` table of the native module.
        """
        ...

    def frame(self, table: Table) -> Any:
        """Another table in the same library."""
        ...


def is_instance(obj: Any, package: str, *names: str) -> bool:
    """Whether ``obj`` is an instance of a class of ``package``, which is not imported for it."""
    return any(
        base.__module__.split(".")[0] == package and base.__name__ in names
        for base in type(obj).__mro__
    )


def is_importable(package: str) -> bool:
    """Whether ``package`` can be imported."""
    if package in sys.modules:
        module: Any = sys.modules[package]
        return module is not None
    try:
        __import__(package)
    except ImportError:
        return False
    return True


def column_name(label: Any) -> str:
    """The name of a column whose label need not be text: 3 → "3", ("a", "b") → "a_b"."""
    if isinstance(label, tuple):
        return "_".join(column_name(part) for part in label)
    return str(label)


def distinct_names(labels: Iterable[Any]) -> list[str]:
    """The names of all columns; two equal ones are an error."""
    seen: dict[str, Any] = {}
    for label in labels:
        name = column_name(label)
        if name in seen:
            same = type(label) is type(seen[name]) and label == seen[name]
            found = f"two columns are called {label!r}"
            if not same:
                found = f"the columns {seen[name]!r} and {label!r} have the same name as text"
            raise DataError(
                f"expected different column names, but {found}; to fix it, rename one of them",
                column=name,
            )
        seen[name] = label
    return list(seen)


def edge_columns(table: Table, left_out: Mapping[str, str]) -> Table:
    """The table of edges, which has at least two columns; ``left_out`` are those that did not cross, and why."""
    if len(table.names) >= 2:
        return table
    for name, reason in left_out.items():
        raise DataError(
            f"the ends of edges cannot be read from column {name!r}: {reason}; "
            "to fix it, give ids as text or whole numbers",
            column=name,
        )
    found = f"the column {table.names[0]!r} alone" if table.names else "no column"
    raise DataError(
        f"expected edges as a frame with two columns of ids, found {found}; to fix it, pass the source and the "
        "target of each edge, or edges=None if there are none"
    )


def warn_left_out(name: str, reason: str, missing: int) -> None:
    """Says that a column with missing cells comes back unchanged."""
    if missing:
        cells = "1 cell" if missing == 1 else f"{missing:,} cells"
        warn(f"column '{name}' was left as it is, {cells} missing: {reason}")


def warn(message: str, category: type[Warning] = GraphfillWarning) -> None:
    """A warning that points at the first caller outside this package."""
    frame, level = sys._getframe(1), 2
    # functools: the caller of a cached property.
    while frame.f_back is not None and _is_own(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_own(module: str) -> bool:
    return module in ("graphfill", "functools") or module.startswith("graphfill.")


def listed(values: Any) -> list[Any]:
    """The values of a buffer or list as Python objects."""
    if isinstance(values, list):
        return values
    cells: list[Any] = values.tolist() if hasattr(values, "tolist") else memoryview(values).tolist()
    return cells


def merged_list(observed: Sequence[Any] | None, estimated: Sequence[Any]) -> list[Any]:
    """The estimates of one row of a block, with the observed cells of that row in their place."""
    if observed is None:
        return list(estimated)
    return [
        new if old is None or old != old else old
        for old, new in zip(observed, estimated, strict=True)
    ]


def estimated_cells(filled: Completed) -> Iterator[tuple[str, Any, Any]]:
    """Column, rows and values of all estimated cells; a column of lists has a matrix of values."""
    for name in filled.estimated_columns():
        estimates = filled.estimates(name)
        yield name, estimates.rows, estimates.values
