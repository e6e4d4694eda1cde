"""Runs the notebook docs/tour.ipynb from the first cell to the last."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

TOUR = Path(__file__).resolve().parents[2] / "docs" / "tour.ipynb"


def test_the_tour_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    kernel = pytest.importorskip("jupyter_client.manager")
    pytest.importorskip("ipykernel")
    pytest.importorskip("sklearn")
    if not TOUR.exists():
        pytest.skip("the documents are not beside the tests")

    # The kernel is this interpreter, whatever kernels are registered on this machine.
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]

    class Manager(kernel.AsyncKernelManager):  # type: ignore[misc, name-defined]
        @property
        def kernel_spec(self) -> object:
            from jupyter_client.kernelspec import KernelSpec

            return KernelSpec(argv=command, display_name="Python", language="python")

    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    notebook = nbformat.read(TOUR, as_version=4)
    nbformat.validate(notebook)
    client = nbclient.NotebookClient(
        notebook,
        timeout=300,
        kernel_manager_class=Manager,
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    # A result shows the first plot of its report.
    shown = [output for cell in cells for output in cell.outputs if output.output_type == "execute_result"]
    assert any("data:image/svg+xml" in output.data.get("text/html", "") for output in shown)


def test_the_tour_is_stored_without_output() -> None:
    nbformat = pytest.importorskip("nbformat")
    if not TOUR.exists():
        pytest.skip("the documents are not beside the tests")
    for cell in nbformat.read(TOUR, as_version=4).cells:
        if cell.cell_type == "code":
            assert not cell.outputs and cell.execution_count is None, "clear the output before you commit"
