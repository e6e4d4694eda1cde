"""``evaluate``: hide known values, estimate them, and score methods side by side."""

from __future__ import annotations

import html
import json
import os
from array import array
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from graphfill import _native
from graphfill._cuda import load_libraries
from graphfill._inputs import FileNodes, inputs_of
from graphfill._keywords import Kind, Parameters, Path, flags_of
from graphfill._notes import note_text, warn_of
from graphfill._progress import Callback, progress_bar
from graphfill._result import call_text, write_page

if TYPE_CHECKING:
    from graphfill._frames import Nodes

__all__ = ["Evaluation", "evaluate"]


def evaluate(
    nodes: Any = None,
    edges: Any = None,
    *,
    dataset: str | None = None,
    data_dir: Path | None = None,
    methods: Sequence[str] | str | None = None,
    param: Parameters | None = None,
    seeds: int | Iterable[int] | str = 0,
    splits_file: Path | None = None,
    split: str | Sequence[float] | None = None,
    hide_cells: float | None = None,
    top_k: int | Sequence[int] | None = None,
    label_share: float = 0.0,
    intervals: float | Sequence[float] | None = None,
    id: str | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    label: str | None = None,
    type: Mapping[str, Kind] | None = None,
    types_file: Path | None = None,
    missing_values: str | float | Sequence[str | float] | None = None,
    delimiter: str | None = None,
    edges_delimiter: str | None = None,
    header: bool | Literal["yes", "no"] | None = None,
    edges_header: bool | Literal["yes", "no"] | None = None,
    encoding: str | None = None,
    edges_encoding: str | None = None,
    decimal: Literal[".", ","] | None = None,
    dates: Literal["day-first", "month-first"] | None = None,
    directed: bool = False,
    undirected: bool = False,
    duplicate_edges: Literal["max", "sum", "mean"] = "max",
    unknown_nodes: Literal["error", "skip", "add"] = "error",
    max_updates: int | None = None,
    time_limit: float | str | timedelta | None = None,
    memory_limit: int | str | None = None,
    params_file: Path | None = None,
    tune: int | None = None,
    device: str = "auto",
    precision: Literal["f32", "tf32", "bf16"] = "tf32",
    threads: int | None = None,
    quiet: bool = False,
    progress: bool | Callback | None = None,
) -> Evaluation:
    """Hides known values, estimates them, and scores methods side by side.

    Every keyword but ``progress`` equals the flag of ``graphfill evaluate`` of the same name; those that are not
    described here are as for :func:`graphfill.fill`.

    Args:
        nodes: As for :func:`graphfill.fill`.
        edges: As for :func:`graphfill.fill`.
        dataset: A prepared data set in ``data_dir``, in place of nodes and edges.
        methods: The methods to compare; by default propagation and svga-p.
        seeds: Seeds of splits and methods: ``range(10)``, a list, one number, or a text such as "0..9".
        splits_file: A file of splits.
        split: Shares of rows to observe, validate on and test, as "4:1:5" or ``(4, 1, 5)``.
        hide_cells: Hides single cells at this rate instead of whole rows.
        top_k: The k of recall@k and nDCG@k; the first one selects.
        label_share: The share of nodes whose labels methods may learn from.
        intervals: Also scores intervals of these coverages; takes twice the time.

    >>> import graphfill as gf
    >>> import polars as pl
    >>> nodes = pl.DataFrame({"height": [1.9, 1.8, 1.7, 1.5, 1.6, 1.62] * 5})
    >>> edges = [(row, row + 6) for row in range(24)]
    >>> scores = gf.evaluate(nodes, edges, methods=["column-mean", "neighbour-mean"], hide_cells=0.2)
    >>> sorted(scores.means)
    ['column-mean', 'neighbour-mean']
    """
    keywords = {name: value for name, value in locals().items() if name not in ("nodes", "edges", "progress")}
    if not isinstance(seeds, int | str):
        keywords["seeds"] = [int(seed) for seed in seeds]
    inputs = None if nodes is None else inputs_of(nodes, edges, keywords)
    own = dict(keywords if inputs is None else inputs.keywords)
    own.pop("quiet")
    load_libraries(device)
    callback, close = progress_bar(progress, quiet)
    given = {name: value for name, value in keywords.items() if flags_of({name: value}, "auto-is-not-used")}
    command = call_text("evaluate", given, () if inputs is None else ("nodes", "edges"))
    try:
        native = _native.evaluate(
            None if inputs is None else inputs.table,
            None if inputs is None else inputs.edges,
            flags_of(own),
            command,
            callback,
        )
    finally:
        close()
    warn_of(native.notes, quiet)
    return Evaluation(native, FileNodes() if inputs is None else inputs.nodes)


class Evaluation:
    """The scores of methods on hidden values."""

    def __init__(self, native: _native.Scores, nodes: Nodes) -> None:
        self._native = native
        self._nodes = nodes
        #: Everything that was measured, as ``graphfill evaluate --format json`` writes it.
        self.data: dict[str, Any] = json.loads(native.json())

    @property
    def primary(self) -> str:
        """The metric by which methods are compared."""
        return str(self.data["primary"])

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """The mean of every metric over the seeds, by method."""
        return {method["method"]: _of_table(method["mean"]) for method in self.data["methods"]}

    @property
    def deviations(self) -> dict[str, dict[str, float]]:
        """The standard deviation of every metric over the seeds, by method; empty with one seed."""
        return {method["method"]: _of_table(method["sd"]) for method in self.data["methods"]}

    @property
    def columns(self) -> dict[str, dict[str, dict[str, float]]]:
        """The mean of every metric, by method and column; empty where the table is one block."""
        return {method["method"]: dict(method["mean"].get("columns", {})) for method in self.data["methods"]}

    @property
    def comparisons(self) -> list[dict[str, Any]]:
        """Whether the best method is really better than each of the others."""
        return list(self.data["comparisons"])

    @property
    def notes(self) -> list[str]:
        """What was guessed and noticed."""
        return [note_text(note) for note in self._native.notes]

    def _metrics(self) -> list[str]:
        found: dict[str, None] = {}
        for scores in self.means.values():
            found.update(dict.fromkeys(scores))
        return list(found)

    @cached_property
    def scores(self) -> Any:
        """One row per method and seed with every metric and the seconds, in the library of the nodes."""
        runs = [(method["method"], seed) for method in self.data["methods"] for seed in method["seeds"]]
        table = _native.Table()
        table.add_texts("method", [method for method, _ in runs])
        table.add_numbers("seed", array("q", [seed["seed"] for _, seed in runs]))
        for metric in self._metrics():
            values = [seed["test"].get(metric, float("nan")) for _, seed in runs]
            table.add_numbers(metric, array("d", values))
        table.add_numbers("seconds", array("d", [seed["seconds"] for _, seed in runs]))
        return self._nodes.frame(table)

    def report(self, path: str | os.PathLike[str] | None = None) -> str:
        """The report: one HTML page that loads nothing. Writes it to ``path``, and returns its text."""
        if path is not None:
            write_page(path, self._native.page)
        return self._native.page

    def _rows(self) -> list[list[str]]:
        metrics = self._metrics()
        rows = [["method", *metrics]]
        for method, scores in self.means.items():
            spread = self.deviations[method]
            row = [method]
            for metric in metrics:
                if metric not in scores:
                    row.append("–")
                    continue
                deviation = f" ±{spread[metric]:.3g}" if metric in spread else ""
                row.append(f"{scores[metric]:.4g}{deviation}")
            rows.append(row)
        return rows

    def __repr__(self) -> str:
        rows = self._rows()
        widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        title = f"Evaluation: {self.data['nodes']:,} nodes, {self.data['edges']:,} edges; hidden: {self.data['hidden']}"
        return "\n".join([title, *lines])

    def _repr_html_(self) -> str:
        header, *body = self._rows()
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in body)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _of_table(metrics: dict[str, Any]) -> dict[str, float]:
    """The metrics of the table as a whole."""
    return {name: value for name, value in metrics.items() if name != "columns"}
