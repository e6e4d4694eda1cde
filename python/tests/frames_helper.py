"""Fills frames in tests of the adapters."""

from __future__ import annotations

from typing import Any

import frames_setup  # noqa: F401
from graphfill import _native
from graphfill._frames import nodes_of


def filled(frame: Any, intervals: bool = False) -> Any:
    nodes = nodes_of(frame)
    return nodes.filled(_native.Filled(nodes.table, intervals=intervals))


def with_added(frame: Any, id: str, new: list[Any]) -> Any:
    """The frame filled, with rows for nodes that only edges name."""
    nodes = nodes_of(frame)
    return nodes.filled(_native.Filled(nodes.table, extra=len(new), ids={id: new}))
