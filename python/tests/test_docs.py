"""Runs every Python example of README.md and docs/python.md.

An example is a fenced block that starts with ```python. It runs by itself in an empty folder. If a block that
starts with ```text follows at once, that is what the example prints. Examples that import a package which is not
installed are skipped.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/python.md"]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    page: str
    line: int
    code: str
    printed: str | None

    def __str__(self) -> str:
        return f"{Path(self.page).name}:{self.line}"


def examples_of(page: str) -> list[Example]:
    path = ROOT / page
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    blocks = list(FENCE.finditer(text))
    examples = []
    for position, block in enumerate(blocks):
        if block[1] != "python":
            continue
        printed = None
        if position + 1 < len(blocks):
            following = blocks[position + 1]
            if following[1] == "text" and not text[block.end() : following.start()].strip():
                printed = following[2]
        examples.append(Example(page, text.count("\n", 0, block.start()) + 2, block[2], printed))
    return examples


EXAMPLES = [example for page in PAGES for example in examples_of(page)]


def packages(code: str) -> set[str]:
    """Names of the top-level packages that the code imports."""
    names = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.partition(".")[0])
    return names


def test_there_is_an_example_per_ecosystem() -> None:
    if not EXAMPLES:
        pytest.skip("the documents are not beside the tests")
    imported = set().union(*(packages(example.code) for example in EXAMPLES))
    ecosystems = {"pandas", "polars", "numpy", "scipy", "networkx", "igraph", "sklearn"}
    ecosystems |= {"torch_geometric", "anndata", "geopandas", "libpysal"}
    assert ecosystems <= imported


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_example_runs(example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in sorted(packages(example.code) - {"graphfill"}):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    # The eight people of the README, under the names that examples read.
    for name in ["nodes.csv", "edges.csv"]:
        shutil.copy(ROOT / "docs/example" / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    # Lines of tracebacks are those of the page.
    code = compile("\n" * (example.line - 1) + example.code, str(ROOT / example.page), "exec")
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, {"__name__": "__main__"})
    sys.stdout.write(output.getvalue())
    if example.printed is not None:
        assert output.getvalue().rstrip().splitlines() == example.printed.rstrip().splitlines()
