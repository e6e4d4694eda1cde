"""``fill``: estimate every missing cell of a node table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from graphfill import _native
from graphfill._cuda import load_libraries
from graphfill._inputs import inputs_of
from graphfill._keywords import Kind, Parameters, Path, flags_of, is_default
from graphfill._notes import warn_of
from graphfill._progress import Callback, progress_bar
from graphfill._result import FillResult, call_text, raise_interrupted

if TYPE_CHECKING:
    from graphfill._model import Model

__all__ = ["fill"]


def fill(
    nodes: Any,
    edges: Any = None,
    *,
    method: str = "auto",
    param: Parameters | None = None,
    seed: int = 0,
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
    checkpoint: Path | None = None,
    checkpoint_every: int = 100,
    device: str = "auto",
    precision: Literal["f32", "tf32", "bf16"] = "tf32",
    threads: int | None = None,
    quiet: bool = False,
    progress: bool | Callback | None = None,
) -> FillResult:
    """Estimates every missing cell of a node table from the graph and the other columns.

    Every keyword but ``progress`` equals the flag of ``graphfill fill`` of the same name.

    Args:
        nodes: One row per node: a frame of pandas, polars, pyarrow or any other library with the Arrow PyCapsule
            interface, a NumPy array or scipy sparse matrix (NaN is missing), a NetworkX or igraph graph or PyG
            ``Data`` with attributes, or the path of a file.
        edges: Two columns of ids: a frame, an ``edge_index`` (2 × m row numbers), a scipy adjacency matrix, a
            NetworkX or igraph graph, a libpysal ``Graph``, or the path of a file.
        method: See :func:`graphfill.methods`; "auto" compares methods on hidden cells for each column.
        param: Parameters that are fixed instead of chosen by validation, as ``{"svga-p.hidden": 128}``.
        seed: The seed of everything random.
        intervals: Adds columns with intervals and sets that cover the truth with this probability.
        id: The id column of the nodes; by default the column whose values the edges name.
        source: The source column of the edges.
        target: The target column of the edges.
        weight: The weight column (or edge attribute), or "none".
        label: The column of classes: methods may learn from it.
        type: Declared types of columns: number, count, boolean, category, date, unused.
        missing_values: Further words or numbers that mean "missing".
        directed: Edges point from source to target, and methods tell out-neighbours from in-neighbours. A
            directed graph of NetworkX or igraph is directed without it.
        undirected: Edges have no direction, even those of a directed graph or of a file of arcs.
        duplicate_edges: The weight of repeated edges.
        unknown_nodes: What to do with edges to nodes without a row.
        max_updates: The largest number of updates of a model.
        time_limit: Ends training after this time: seconds, a text such as "10m", or a timedelta.
        memory_limit: Bytes, or a text such as "4GiB".
        params_file: A file of parameters; with ``tune``, what was found is kept in it.
        tune: Tries so many settings on validation first.
        checkpoint: Keeps the state of training in this file; the same call goes on from it.
        device: "auto", "cpu", "cuda" or "cuda:N"; see :func:`graphfill.devices`.
        precision: How exactly a GPU multiplies matrices.
        threads: The number of threads; by default as many as the machine has.
        quiet: No progress bar and no warnings of guesses.
        progress: True for a bar in any case, False for none, or a function that is called with stage, units done,
            units in all and a message.
        types_file, delimiter, header, encoding, decimal, dates, edges_delimiter, edges_header, edges_encoding,
        checkpoint_every: How files are read and how often checkpoints are written, as on the command line.

    Returns:
        The filled table, what was chosen, and how sure the estimates are.

    Raises:
        GraphfillError: with file, line, column and id where these are known.
        Interrupted: after Ctrl-C; its ``result`` has the best so far.

    >>> import graphfill as gf
    >>> nodes = {"height": [1.9, None, 1.7, None, 1.6, 1.62]}
    >>> import polars as pl
    >>> edges = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]
    >>> result = gf.fill(pl.DataFrame(nodes), edges, method="neighbour-mean")
    >>> result.nodes["height"].to_list()
    [1.9, 1.8, 1.7, 1.61, 1.6, 1.62]
    """
    keywords = {name: value for name, value in locals().items() if name not in ("nodes", "edges", "progress")}
    return run(nodes, edges, keywords, progress)


def run(
    nodes: Any,
    edges: Any,
    keywords: dict[str, Any],
    progress: bool | Callback | None,
    model: Model | None = None,
    call: str | None = None,
) -> FillResult:
    """Fills a table with the keywords of a call, and a model where one is given."""
    given = {name: value for name, value in keywords.items() if value is not None and not is_default(name, value)}
    inputs = inputs_of(nodes, edges, keywords)
    quiet = bool(keywords.get("quiet"))
    own = {name: value for name, value in inputs.keywords.items() if name != "quiet"}
    flags = flags_of(own, keywords.get("method"))
    load_libraries(keywords.get("device", "auto"))
    callback, close = progress_bar(progress, quiet)
    try:
        native, stop = _native.fill(
            inputs.table, inputs.edges, flags, None if model is None else model._native, callback
        )
    finally:
        close()
    result = None
    if native is not None:
        result = FillResult(native, inputs, call or call_text("fill", given), quiet, progress, model)
        warn_of(native.notes, quiet)
    if stop is not None:
        raise_interrupted(stop, result)
    assert result is not None
    return result
