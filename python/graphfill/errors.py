"""Exceptions and warnings of graphfill.

Every exception is a :class:`GraphfillError` that says what was found, where, and what to do. Where the place is
known, ``file``, ``line``, ``column`` and ``id`` say it; ``keywords`` are the keywords of the call that would help,
as ``id="user_id"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphfill._result import FillResult

__all__ = [
    "CallError",
    "DataError",
    "DeviceError",
    "FileError",
    "GraphfillError",
    "GraphfillWarning",
    "GuessWarning",
    "Interrupted",
    "MethodError",
]

#: What errors name in place of a file where a table is in memory.
_IN_MEMORY = ("nodes", "edges", "record batches")


class GraphfillError(Exception):
    """Anything that graphfill refuses or fails to do."""

    #: The file, where the data is in one.
    file: str | None
    #: The line of the file or the row of the table, counted from 1.
    line: int | None
    #: The column.
    column: str | None
    #: The id of the node.
    id: str | None
    #: Keywords of the call that would help, each by itself.
    keywords: tuple[str, ...]

    def __init__(
        self,
        message: str = "",
        *,
        file: str | None = None,
        line: int | None = None,
        column: str | None = None,
        id: str | None = None,
        keywords: Sequence[str] = (),
    ) -> None:
        self.file = None if file in _IN_MEMORY else file
        self.line = line
        self.column = column
        self.id = id
        self.keywords = tuple(keywords)
        help_ = "\n  " + ", or ".join(self.keywords) if self.keywords else ""
        super().__init__(f"{message}{help_}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(
    kind: type[GraphfillError], args: tuple[object, ...], attributes: dict[str, Any]
) -> GraphfillError:
    """An exception after pickling, whose message is complete already."""
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(attributes)
    return error


class CallError(GraphfillError, ValueError):
    """The call makes no sense: an unknown value of a keyword, or keywords that exclude one another."""


class DataError(GraphfillError, ValueError):
    """The data cannot be used as it is: an unknown column or id, a cell that does not fit its column."""


class FileError(DataError, OSError):
    """A file cannot be read or written."""


class MethodError(GraphfillError, ValueError):
    """There is no such method or parameter, or the method cannot work with this table or model."""


class DeviceError(GraphfillError, RuntimeError):
    """The device cannot be used, or its memory does not suffice."""


class Interrupted(GraphfillError, KeyboardInterrupt):
    """Ctrl-C ended the training. ``result`` has the best estimates so far, or None where there are none yet."""

    #: The best so far.
    result: FillResult | Any | None

    def __init__(self, message: str = "", *, result: FillResult | Any | None = None, **place: Any) -> None:
        super().__init__(message, **place)
        self.result = result


class GraphfillWarning(UserWarning):
    """The result may not be what was wanted."""


class GuessWarning(GraphfillWarning):
    """Something was guessed that a keyword of the call would decide."""
