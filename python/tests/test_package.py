"""The installed package: its metadata, what importing it loads, and its command line."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import graphfill as gf

OPTIONAL = ["numpy", "pandas", "polars", "pyarrow", "scipy", "sklearn", "networkx", "igraph", "torch", "anndata", "tqdm"]


def run(*command: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, capture_output=True, encoding="utf-8", cwd=cwd, env=environment, timeout=300)


def metadata() -> importlib.metadata.PackageMetadata:
    try:
        return importlib.metadata.metadata("graphfill")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("graphfill is imported from its sources, not installed")


def test_the_version_is_that_of_the_metadata() -> None:
    assert gf.__version__ == metadata()["Version"]


def test_no_other_package_is_required() -> None:
    required = metadata().get_all("Requires-Dist") or []
    assert [line for line in required if "extra ==" not in line] == []
    extras = set(metadata().get_all("Provides-Extra") or [])
    assert {"pandas", "polars", "sklearn", "pyg", "anndata", "spatial", "cuda", "all"} <= extras


def test_importing_it_imports_no_optional_package() -> None:
    code = f"import graphfill, sys; print([name for name in {OPTIONAL!r} if name in sys.modules])"
    finished = run(sys.executable, "-c", code)
    assert finished.stdout.strip() == "[]", finished.stderr


def test_it_works_without_any_optional_package(tmp_path: Path) -> None:
    """Files in, and no other package can be imported."""
    (tmp_path / "nodes.csv").write_text("id,height\n" + "".join(f"{i},{i if i % 5 else ''}\n" for i in range(40)))
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(39)))
    code = f"""
import sys
for name in {OPTIONAL!r}:
    sys.modules[name] = None
import graphfill as gf
result = gf.fill("nodes.csv", "edges.csv", method="neighbour-mean")
print(repr(result)[:40])
"""
    finished = run(sys.executable, "-c", code, cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr


def test_it_is_typed() -> None:
    assert importlib.resources.files("graphfill").joinpath("py.typed").is_file()
    assert importlib.resources.files("graphfill").joinpath("_native.pyi").is_file()


def test_python_m_graphfill_is_the_command_line(tmp_path: Path) -> None:
    version = run(sys.executable, "-m", "graphfill", "--version")
    assert version.returncode == 0 and gf.__version__ in version.stdout
    demo = run(sys.executable, "-m", "graphfill", "demo", "--nodes", "100", "--output", tmp_path / "town")
    assert demo.returncode == 0, demo.stderr
    assert (tmp_path / "town" / "nodes.csv").is_file()


def test_exit_codes_are_those_of_the_program(tmp_path: Path) -> None:
    wrong = run(sys.executable, "-m", "graphfill", "fill", "--frobnicate")
    assert wrong.returncode == 2 and "--frobnicate" in wrong.stderr
    (tmp_path / "nodes.csv").write_text("id,height\na,1\nb,\n")
    (tmp_path / "edges.csv").write_text("source,target\na,z\n")
    command = [sys.executable, "-m", "graphfill", "fill", "nodes.csv", "edges.csv", "-o", "filled.csv"]
    failed = run(*command, cwd=tmp_path)
    assert failed.returncode == 1 and "z" in failed.stderr
    assert "Traceback" not in failed.stderr


def test_the_script_is_installed() -> None:
    metadata()
    script = shutil.which("graphfill", path=sysconfig.get_path("scripts"))
    assert script is not None
    finished = run(script, "methods")
    assert finished.returncode == 0 and "svga-p" in finished.stdout
