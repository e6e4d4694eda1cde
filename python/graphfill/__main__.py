"""The command line: ``python -m graphfill`` and the script ``graphfill``."""

from __future__ import annotations

import signal
import sys

from graphfill import _native
from graphfill._cuda import load_libraries


def main() -> int:
    """Runs the command line with the arguments of this process; returns its exit code."""
    # The program handles Ctrl-C by itself; Python's handler would never run.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    load_libraries("auto")
    return _native.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
