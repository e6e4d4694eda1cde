"""Node and edge tables of pandas, polars, Arrow, NumPy and SciPy as native tables, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphfill._frames._base import Nodes, column_name, is_instance
from graphfill.errors import DataError

if TYPE_CHECKING:
    from graphfill._native import Table

__all__ = ["Nodes", "column_name", "edge_table_of", "nodes_of"]


def nodes_of(nodes: Any) -> Nodes:
    """The adapter of a node table, by its kind."""
    if is_instance(nodes, "pandas", "DataFrame"):
        from graphfill._frames._pandas import PandasNodes

        return PandasNodes(nodes)
    if is_instance(nodes, "polars", "DataFrame", "LazyFrame"):
        from graphfill._frames._polars import PolarsNodes

        return PolarsNodes(nodes)
    if is_instance(nodes, "narwhals", "DataFrame", "LazyFrame"):
        from graphfill._frames._narwhals import NarwhalsNodes

        return NarwhalsNodes(nodes)
    if is_instance(nodes, "numpy", "ndarray"):
        from graphfill._frames._arrays import ArrayNodes

        return ArrayNodes(nodes)
    if _is_sparse(nodes):
        from graphfill._frames._sparse import SparseNodes

        return SparseNodes(nodes)
    if _is_stream(nodes):
        from graphfill._frames._arrow import arrow_nodes

        return arrow_nodes(nodes)
    raise _unknown(nodes, "a node table")


def edge_table_of(edges: Any) -> Table:
    """A frame of edges as a native table; one row per edge."""
    if is_instance(edges, "pandas", "DataFrame", "Series"):
        from graphfill._frames._pandas import pandas_edges

        return pandas_edges(edges)
    if is_instance(edges, "polars", "DataFrame", "LazyFrame"):
        from graphfill._frames._polars import polars_edges

        return polars_edges(edges)
    if is_instance(edges, "narwhals", "DataFrame", "LazyFrame"):
        return edge_table_of(edges.to_native())
    if _is_stream(edges):
        from graphfill._frames._arrow import arrow_edges

        return arrow_edges(edges)
    raise _unknown(edges, "a table of edges")


def _is_sparse(obj: Any) -> bool:
    return any(
        base.__module__.startswith("scipy.sparse") and base.__name__ in ("sparray", "spmatrix")
        for base in type(obj).__mro__
    )


def _is_stream(obj: Any) -> bool:
    """Whether ``obj`` is a table for Arrow; single columns, too, have its stream interface."""
    return hasattr(obj, "__arrow_c_stream__") and type(obj).__name__ not in SINGLE_COLUMNS


SINGLE_COLUMNS = ("Series", "ChunkedArray")

ADVICE = {
    "ChunkedArray": "make a table of it, for example pyarrow.table({'name': column})",
    "Series": "make a frame of it with .to_frame()",
    "Tensor": "turn it into an array with .numpy()",
    "dict": "make a frame of it, for example pandas.DataFrame(…)",
    "list": "make a frame or a 2-D array of it",
    "tuple": "make a frame or a 2-D array of it",
}


def _unknown(obj: Any, wanted: str) -> DataError:
    kind = type(obj)
    advice = ADVICE.get(kind.__name__, "make a pandas, polars or Arrow table of it")
    if hasattr(obj, "compute"):
        advice = "compute it first with .compute()"
    return DataError(
        f"expected {wanted} (a frame, an array or a path), "
        f"found {kind.__module__}.{kind.__qualname__}; to fix it, {advice}"
    )
