"""A program of a user, as type checkers see it. It is checked, not run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import graphfill as gf


def fill(nodes: Any, edges: Any) -> gf.FillResult:
    result = gf.fill(nodes, edges, id="id", method="auto", seed=1, intervals=[0.5, 0.9], time_limit="10m")
    assert_type(result, gf.FillResult)
    result.report(Path("report.html"))
    return result


def fit(nodes: Any, edges: Any) -> None:
    model = gf.SvgaP(hidden=64, seed=0, device="cpu").fit(nodes, edges)
    assert_type(model, gf.Model)
    model.save("model.gf")
    loaded = gf.load("model.gf")
    assert_type(loaded.transform(nodes, edges), gf.FillResult)


def compare(nodes: Any, edges: Any) -> gf.Evaluation:
    return gf.evaluate(nodes, edges, methods=["arb", "svga-p"], seeds=range(3), hide_cells=0.2)


def careful(nodes: Any, edges: Any) -> gf.FillResult | None:
    try:
        return fill(nodes, edges)
    except gf.DataError as error:
        where: str | None = error.column
        print(where, error.file, error.line, error.id, error.keywords)
    except gf.Interrupted as stopped:
        return stopped.result
    return None
