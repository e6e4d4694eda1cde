"""What ``fill`` returns: the filled table, what was chosen, and how sure the estimates are."""

from __future__ import annotations

import base64
import html
import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from graphfill._choices import Choice, Score, choices_of
from graphfill._notes import note_text, warn_of
from graphfill._progress import progress_bar
from graphfill.errors import CallError, FileError, Interrupted, MethodError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphfill._inputs import Inputs
    from graphfill._model import Model
    from graphfill._native import Filled

__all__ = ["Coverage", "FillResult", "FoundColumns"]

#: More columns than this are summed up rather than listed.
_MAX_LISTED = 12


@dataclass(frozen=True)
class FoundColumns:
    """Which columns were taken as ids and as the ends of edges."""

    #: The id column of the nodes; None where nodes are numbered from 0.
    id: str | None
    #: The column that names the source of an edge.
    source: str | None
    #: The column that names its target.
    target: str | None
    #: The column that holds its weight.
    weight: str | None
    #: The same in a sentence.
    sentence: str

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Coverage:
    """How often intervals or sets held values that were hidden to calibrate them."""

    #: The column.
    column: str
    #: The coverage that was asked for.
    nominal: float
    #: The coverage on hidden cells.
    real: float
    #: How many cells were hidden.
    cells: int


class FillResult:
    """A filled table. :attr:`nodes` is of the kind that came in; only missing cells differ."""

    def __init__(self, native: Filled, inputs: Inputs, call: str, quiet: bool, progress: Any, model: Model | None) -> None:
        self._native = native
        self._inputs = inputs
        self._call = call
        self._quiet = quiet
        self._progress = progress
        self._given_model = model

    @cached_property
    def nodes(self) -> Any:
        """The filled table: the same kind of object, rows, order and types as came in, observed cells unchanged."""
        return self._inputs.nodes.filled(self._native)

    @property
    def estimated(self) -> int:
        """How many cells were estimated."""
        return self._native.estimated

    @property
    def estimated_labels(self) -> int:
        """How many labels were estimated, where the method learns from labels."""
        return self._native.estimated_labels

    @cached_property
    def choices(self) -> list[Choice]:
        """What was chosen for each column: method, parameters, score, reason."""
        return choices_of(self._native.choices_json())

    @property
    def scores(self) -> dict[str, Score]:
        """The score of each column on cells that were hidden for validation, where there were any."""
        return {choice.column: choice.score for choice in self.choices if choice.score is not None}

    @property
    def kinds(self) -> dict[str, str]:
        """What each column was taken to hold: number, count, boolean, category, date, a block, or unused."""
        return dict(self._native.kinds)

    @property
    def notes(self) -> list[str]:
        """What was guessed and noticed, with the keywords that would change it."""
        return [note_text(note) for note in self._native.notes]

    @property
    def found(self) -> FoundColumns | None:
        """The columns that were taken as ids and as the ends of edges; None where edges name rows."""
        found = self._native.found
        return None if found is None else FoundColumns(*found)

    @property
    def seconds(self) -> float:
        """How long filling took."""
        return self._native.seconds

    @property
    def device(self) -> str:
        """The device on which it ran."""
        return self._native.device

    @property
    def stopped_early(self) -> str | None:
        """Why training ended early: "cancelled" or "time limit"; the estimates are the best so far."""
        return self._native.stopped_early

    @property
    def history(self) -> str | None:
        """Losses and validation scores of the training as CSV, where there was any."""
        return self._native.history_csv()

    @property
    def model(self) -> Model | None:
        """The fitted model, which fills later tables and can be saved; None where nothing was missing.

        It knows how sure its estimates are if ``intervals`` were asked for or :attr:`uncertainty` was looked at.
        """
        from graphfill._model import Model

        native = self._native.model()
        return self._given_model if native is None else Model(native)

    def _calibrate(self) -> None:
        if self._given_model is None and self._native.model() is None:
            # Nothing was estimated, so there is nothing to be sure of.
            return
        callback, close = progress_bar(self._progress, self._quiet)
        seen = len(self._native.notes)
        try:
            known = self._native.calibrate(callback)
        finally:
            close()
        warn_of(self._native.notes[seen:], self._quiet)
        if not known:
            raise MethodError(
                "the model does not know how sure its estimates are\n"
                "  train it with intervals, as intervals=0.9, or fill the table without a model"
            )

    @cached_property
    def uncertainty(self) -> Any:
        """One row per estimated cell: estimate, interval, probability, set of levels, method; None without any.

        The first look runs the method once more, to calibrate the intervals on cells that it hides from itself,
        unless ``intervals`` were asked for. The estimates stay as they are.
        """
        self._calibrate()
        table = self._native.uncertainty()
        return None if table is None else self._inputs.nodes.frame(table)

    @property
    def coverage(self) -> list[Coverage]:
        """How often intervals held hidden values, by column; empty before uncertainty is known."""
        return [Coverage(*row) for row in self._native.coverage()]

    def draws(self, count: int) -> list[Any]:
        """Completed tables that are drawn from the distributions of the estimates, for multiple imputation."""
        if count < 1:
            raise CallError(f"draws: expected a number of at least 1, found {count}")
        self._calibrate()
        undrawn = self._native.undrawn()
        if undrawn:
            warn_of([(True, undrawn, [])], self._quiet)
        drawn = (self._native.draw(number) for number in range(count))
        return [self._inputs.nodes.filled(self._native if table is None else table) for table in drawn]

    def report(self, path: str | os.PathLike[str] | None = None) -> str:
        """The report: one HTML page that loads nothing. Writes it to ``path``, and returns its text."""
        if self._given_model is None or self._given_model.is_calibrated:
            self._calibrate()
        page = self._native.report(self._call)
        if path is not None:
            write_page(path, page)
        return page

    def _summary(self) -> list[str]:
        native = self._native
        lines = [
            f"{native.estimated:,} cells estimated from {native.rows:,} nodes and {native.edges:,} edges in {native.seconds:.1f} s"
        ]
        if self.found is not None:
            lines.append(str(self.found))
        for choice in self.choices[:_MAX_LISTED]:
            score = "" if choice.score is None else f", {choice.score}"
            lines.append(f"  {choice.column}: {choice.method}{score}")
        if len(self.choices) > _MAX_LISTED:
            lines.append(f"  … and {len(self.choices) - _MAX_LISTED} more columns")
        if self.stopped_early:
            lines.append(f"  stopped early ({self.stopped_early}): the best estimates so far")
        return lines

    def __repr__(self) -> str:
        return "FillResult: " + "\n".join(self._summary())

    def _repr_html_(self) -> str:
        nodes = self.nodes
        table = nodes._repr_html_() if hasattr(nodes, "_repr_html_") else f"<pre>{html.escape(repr(nodes))}</pre>"
        figure = self._native.figure()
        image = ""
        if figure is not None:
            data = base64.b64encode(figure.encode()).decode()
            image = f'<img alt="observed against estimated values" src="data:image/svg+xml;base64,{data}"/>'
        summary = html.escape("\n".join(self._summary()))
        return f"<pre>{summary}</pre>{image}{table}"


def write_page(path: str | os.PathLike[str], page: str) -> None:
    """Writes a page of HTML."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
    except OSError as error:
        name = os.fspath(path)
        raise FileError(f"cannot write {name}: {error.strerror or error}", file=name) from error


def raise_interrupted(stop: BaseException, result: Any) -> NoReturn:
    """Raises what stopped a run: for Ctrl-C with the best so far."""
    if not isinstance(stop, KeyboardInterrupt):
        raise stop
    what = "stopped by Ctrl-C before there was a result"
    if result is not None:
        what = "stopped by Ctrl-C: the attribute `result` has the best so far"
    raise Interrupted(what, result=result) from None


def call_text(function: str, keywords: dict[str, Any], positional: Sequence[str] = ("nodes", "edges")) -> str:
    """A call as its user wrote it, for reports."""
    given = [f"{name}={value!r}" for name, value in keywords.items() if value is not None]
    return f"graphfill.{function}({', '.join([*positional, *given])})"
