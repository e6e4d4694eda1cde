"""Fitted models, and the base class of methods: parameters first, then ``fit``."""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from graphfill import _native
from graphfill._choices import Choice, Score, choices_of
from graphfill._cuda import load_libraries
from graphfill._fill import run
from graphfill._inputs import inputs_of
from graphfill._keywords import FillKeywords, flags_of
from graphfill._notes import warn_of
from graphfill._progress import Callback, progress_bar
from graphfill._result import FillResult, call_text, raise_interrupted
from graphfill.errors import CallError, DeviceError, FileError

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Method", "Model", "load"]

#: Keywords that belong to training, which a model has behind it.
_OF_TRAINING = frozenset(
    ["method", "param", "seed", "max_updates", "time_limit", "params_file", "tune", "checkpoint", "checkpoint_every"]
)


class Model:
    """A fitted method: fills tables with the same columns, can be saved, pickled and copied."""

    def __init__(self, native: _native.Model) -> None:
        self._native = native

    @property
    def method(self) -> str:
        """The name of its method."""
        return self._native.method

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of its method; those that were chosen by column are in :attr:`choices`."""
        return dict(json.loads(self._native.parameters_json()))

    @property
    def columns(self) -> list[str]:
        """The columns that it was trained on."""
        return self._native.columns

    @property
    def choices(self) -> list[Choice]:
        """What was chosen for each column: method, parameters, score, reason."""
        return choices_of(self._native.choices_json())

    @property
    def scores(self) -> dict[str, Score]:
        """The score of each column on cells that were hidden for validation, where there were any."""
        return {choice.column: choice.score for choice in self.choices if choice.score is not None}

    @property
    def is_calibrated(self) -> bool:
        """Whether it knows how sure its estimates are: ``intervals`` were asked for where it was trained."""
        return self._native.is_calibrated

    @property
    def history(self) -> str | None:
        """Losses and validation scores of the training as CSV, where there was any."""
        return self._native.history_csv()

    def transform(
        self,
        nodes: Any,
        edges: Any = None,
        *,
        progress: bool | Callback | None = None,
        **keywords: Unpack[FillKeywords],
    ) -> FillResult:
        """Fills a table with the same columns, of the same or of new nodes, without training.

        Takes the keywords of :func:`graphfill.fill` but those of training.
        """
        wrong = sorted(_OF_TRAINING.intersection(keywords))
        if wrong:
            raise CallError(f"{', '.join(wrong)}: the model is trained already\n  leave it out, or fit again")
        call = call_text("Model.transform", dict(keywords))
        return run(nodes, edges, dict(keywords), progress, self, call)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file, which appears whole or not at all. ``graphfill fill --model`` reads it, too."""
        self._native.save(path)

    def __repr__(self) -> str:
        calibrated = ", calibrated" if self.is_calibrated else ""
        return f"Model({self.method} of {len(self.columns)} columns{calibrated})"

    def __reduce__(self) -> tuple[Any, ...]:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            self.save(path)
            with open(path, "rb") as file:
                return _from_bytes, (file.read(),)

    def __copy__(self) -> Self:
        return type(self)(self._native)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # A fitted model never changes.
        return type(self)(self._native)


def load(path: str | os.PathLike[str]) -> Model:
    """Reads a model that :meth:`Model.save` or ``graphfill fill --checkpoint`` wrote."""
    try:
        return Model(_native.Model.load(path))
    except DeviceError as error:
        # The reader of tensors belongs to the engine; what it refuses is the file.
        raise FileError(str(error), file=os.fspath(path)) from None


def _from_bytes(data: bytes) -> Model:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        with open(path, "wb") as file:
            file.write(data)
        return load(path)


class Method:
    """A method with its parameters. Parameters that are not given are chosen by validation or have defaults.

    Beside its parameters, a method takes the keywords of :func:`graphfill.fill`.
    """

    #: Its name on the command line.
    name: ClassVar[str]

    def __init__(self, parameters: dict[str, Any], keywords: dict[str, Any]) -> None:
        self.parameters: dict[str, Any] = {name: value for name, value in parameters.items() if value is not None}
        self.keywords: dict[str, Any] = keywords
        # Wrong names are refused here, not after hours of other work.
        for name in keywords:
            if name not in FillKeywords.__annotations__:
                raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument {name!r}")
        flags_of(self._keywords(), self.name)

    def _keywords(self) -> dict[str, Any]:
        fixed = {f"{self.name}.{name}": value for name, value in self.parameters.items()}
        others = self.keywords.get("param") or {}
        return {**self.keywords, "method": self.name, "param": {**fixed, **others} or None}

    def fit(self, nodes: Any, edges: Any = None, *, progress: bool | Callback | None = None) -> Model:
        """Fits the method to the known cells of a table. ``nodes`` and ``edges`` are as for ``fill``."""
        keywords = self._keywords()
        inputs = inputs_of(nodes, edges, keywords)
        quiet = bool(keywords.get("quiet"))
        flags = flags_of({name: value for name, value in inputs.keywords.items() if name != "quiet"}, self.name)
        load_libraries(keywords.get("device", "auto"))
        callback, close = progress_bar(progress, quiet)
        try:
            native, notes, stop = _native.fit(inputs.table, inputs.edges, flags, callback)
        finally:
            close()
        warn_of(notes, quiet)
        model = None if native is None else Model(native)
        if stop is not None:
            raise_interrupted(stop, model)
        assert model is not None
        return model

    def fill(self, nodes: Any, edges: Any = None, *, progress: bool | Callback | None = None) -> FillResult:
        """Fits the method and fills the table, as :func:`graphfill.fill` with ``method`` does."""
        return run(nodes, edges, self._keywords(), progress, call=call_text(f"{self!r}.fill", {}))

    def __repr__(self) -> str:
        given = [f"{name}={value!r}" for name, value in {**self.parameters, **self.keywords}.items()]
        return f"{type(self).__name__}({', '.join(given)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Method):
            return NotImplemented
        return (self.name, self.parameters, self.keywords) == (other.name, other.parameters, other.keywords)

    __hash__ = None  # type: ignore[assignment]
