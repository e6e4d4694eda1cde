"""What was guessed and noticed, as warnings of Python."""

from __future__ import annotations

from collections.abc import Sequence

from graphfill._frames._base import warn
from graphfill.errors import GraphfillWarning, GuessWarning

__all__ = ["NoteParts", "note_text", "warn_of"]

#: Whether it is a warning, its text, and the keywords that would change it.
NoteParts = tuple[bool, str, list[str]]


def note_text(note: NoteParts) -> str:
    """A note with the keywords that would change what was done."""
    _, text, keywords = note
    return f"{text} ({', or '.join(keywords)})" if keywords else text


def warn_of(notes: Sequence[NoteParts], quiet: bool) -> None:
    """Warns of what may not be as wanted, and, unless ``quiet``, of guesses that a keyword would decide."""
    for note in notes:
        is_warning, _, keywords = note
        if is_warning:
            warn(note_text(note), GraphfillWarning)
        elif keywords and not quiet:
            warn(note_text(note), GuessWarning)
