"""Fills frames in tests of the adapters, with a path as the graph and the cheapest method."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphfill as gf
from graphfill._frames import nodes_of

METHOD = "column-mean"


def filled(frame: Any, rows: int | None = None, **options: Any) -> Any:
    """The filled frame; ``rows`` where the frame cannot be asked for their number."""
    count = rows_of(frame) if rows is None else rows
    path = np.stack([np.arange(count - 1), np.arange(1, count)])
    return gf.fill(frame, path, method=METHOD, **options).nodes


def rows_of(frame: Any) -> int:
    """The number of rows of a frame of any kind."""
    if hasattr(frame, "collect"):
        frame = frame.collect()
    shape = getattr(frame, "shape", None)
    return nodes_of(frame).table.rows if shape is None else int(shape[0])


def with_added(frame: Any, id: str, new: list[Any]) -> Any:
    """The frame filled, with rows for nodes that only edges name."""
    if hasattr(frame, "iloc"):
        import pandas

        ends = [*frame.get(id, frame.index), *new]
        edges = pandas.DataFrame({"source": ends[:-1], "target": ends[1:]})
    else:
        import polars

        ends = [*frame[id], *new]
        edges = polars.DataFrame({"source": ends[:-1], "target": ends[1:]})
    return gf.fill(frame, edges, id=id, method=METHOD, unknown_nodes="add").nodes
