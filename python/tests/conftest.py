"""Leaves out the test modules that import a package which is not installed, and says so.

Generated examples are the same in every run; `pytest --hypothesis-profile random` draws others.
"""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

try:
    from hypothesis import settings
except ImportError:
    pass
else:
    settings.register_profile("random", derandomize=False)
    settings.register_profile("same", derandomize=True)
    settings.load_profile("same")

FOLDER = Path(__file__).parent


def missing_packages(module: Path) -> set[str]:
    """Packages that the module imports at its top level and that are not installed."""
    names = set()
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.partition(".")[0])
    own = {path.stem for path in FOLDER.glob("*.py")} | {"graphfill"}
    return {name for name in names - own if importlib.util.find_spec(name) is None}


LEFT_OUT = {path.name: missing for path in sorted(FOLDER.glob("test_*.py")) if (missing := missing_packages(path))}
collect_ignore = list(LEFT_OUT)


def pytest_report_header() -> list[str]:
    return [f"left out: {name} needs {', '.join(sorted(missing))}" for name, missing in LEFT_OUT.items()]
