"""Narwhals frames: the frame inside is adapted, and results are wrapped again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphfill._frames._base import Nodes, is_instance

if TYPE_CHECKING:
    from graphfill._native import Completed, Table


class NarwhalsNodes:
    """A narwhals DataFrame, or a LazyFrame, which is collected."""

    def __init__(self, frame: Any) -> None:
        from graphfill._frames import nodes_of

        if is_instance(frame, "narwhals", "LazyFrame"):
            frame = frame.collect()
        self.inner: Nodes = nodes_of(frame.to_native())
        self.table = self.inner.table
        self.index_column = self.inner.index_column
        self.types = self.inner.types
        self.left_out = self.inner.left_out

    def filled(self, filled: Completed) -> Any:
        return _wrapped(self.inner.filled(filled))

    def frame(self, table: Table) -> Any:
        return _wrapped(self.inner.frame(table))


def _wrapped(frame: Any) -> Any:
    import narwhals

    return narwhals.from_native(frame, eager_only=True)
