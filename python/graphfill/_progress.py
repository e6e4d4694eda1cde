"""Progress bars: tqdm's in a notebook or where it is installed, one line of text in a terminal otherwise."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

#: What the native module calls: stage, units done, units in all (None where they are not known), state.
Callback = Callable[[str, int, "int | None", str], None]

#: A stage gets a bar after this many seconds.
_MIN_SECONDS = 1.0
#: The width of a bar in characters.
_WIDTH = 30


def progress_bar(progress: bool | Callback | None, quiet: bool) -> tuple[Callback | None, Callable[[], None]]:
    """The callback that shows progress, and a function that ends it.

    ``progress`` may be a callback of the caller, True for a bar in any case, False for none; None shows a bar in
    terminals and notebooks alone.
    """
    if callable(progress):
        return progress, lambda: None
    if progress is False or quiet:
        return None, lambda: None
    in_notebook = _in_notebook()
    if progress is None and not in_notebook and not sys.stderr.isatty():
        return None, lambda: None
    bar = _Bar(in_notebook)
    return bar, bar.close


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    return type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


class _Bar:
    """Shows one stage after the other."""

    def __init__(self, in_notebook: bool) -> None:
        self._stage = ""
        self._started = 0.0
        self._bar: Any = None
        self._shown = False
        try:
            if in_notebook:
                from tqdm.auto import tqdm
            else:
                from tqdm import tqdm
            self._tqdm: Any = tqdm
        except ImportError:
            self._tqdm = None

    def __call__(self, stage: str, done: int, total: int | None, message: str) -> None:
        now = time.monotonic()
        if stage != self._stage:
            self.close()
            self._stage, self._started = stage, now
        if not stage or now - self._started < _MIN_SECONDS:
            return
        if self._tqdm is not None:
            if self._bar is None:
                self._bar = self._tqdm(total=total, desc=stage, leave=False)
            self._bar.update(done - self._bar.n)
            if message:
                self._bar.set_postfix_str(message, refresh=False)
            return
        self._shown = True
        if total:
            filled = min(_WIDTH, _WIDTH * done // total)
            bar = "█" * filled + "·" * (_WIDTH - filled)
            text = f"{stage} {bar} {100 * done // total}%  {message}"
        else:
            text = f"{stage} {done}  {message}"
        sys.stderr.write(f"\r\x1b[2K{text[:120]}")
        sys.stderr.flush()

    def close(self) -> None:
        """Ends the bar of the current stage."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        if self._shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
            self._shown = False
