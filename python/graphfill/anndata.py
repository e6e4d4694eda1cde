"""scverse: fill missing values of an AnnData over its graph of cells.

    >>> import anndata, numpy as np, scipy.sparse as sp
    >>> import graphfill as gf
    >>> X = np.array([[1.0, 4.0], [np.nan, 5.0], [3.0, 6.0]], dtype=np.float32)
    >>> graph = sp.csr_matrix(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=float))
    >>> adata = anndata.AnnData(X, obsp={"connectivities": graph})
    >>> gf.anndata.fill(adata, method="neighbour-mean")
    >>> adata.layers["graphfill"]
    array([[1., 4.],
           [2., 5.],
           [3., 6.]], dtype=float32)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphfill._frames._base import warn
from graphfill._optional import require
from graphfill.errors import CallError, DataError, GuessWarning

__all__ = ["fill"]

DEFAULT_KEY = "graphfill"


def fill(
    adata: Any,
    *,
    graph: Any = "connectivities",
    layer: str | None = None,
    obs: str | Sequence[str] | None = None,
    var_names: Any = None,
    missing: Any = "nan",
    key_added: str | None = None,
    copy: bool = False,
    method: str = "auto",
    param: Mapping[str, Any] | None = None,
    seed: int = 0,
    device: str = "auto",
    **options: Any,
) -> Any:
    """Fill missing values of a matrix, or of columns of ``obs``, over a graph of the cells.

    ``X``, the layer and the columns that are read stay as they are. The filled matrix goes to
    ``adata.layers[key_added]``; filled columns of ``obs`` go to ``adata.obs[f"{name}_{key_added}"]``.
    ``adata.uns[key_added]`` holds the parameters and the method that was chosen. A sparse matrix
    stays sparse unless ``missing="zeros"``, which leaves no zero to omit.

    Parameters
    ----------
    adata
        The AnnData, in memory.
    graph
        Name of a matrix in ``adata.obsp`` or a sparse matrix (cells × cells). Its entries are
        weights: a larger one means nearer. Both directions count as one edge.
    layer
        The layer that is read; None is ``X``.
    obs
        Columns of ``adata.obs`` to fill instead of a matrix, such as ``["cell_type", "age"]``.
        They are each other's evidence, with the graph; the matrix is not read.
    var_names
        The genes that are filled: names, booleans or a boolean column of ``adata.var`` such as
        ``"highly_variable"``. The other genes are evidence, and are written as they are. None:
        all genes.
    missing
        Which cells of the matrix are missing. ``"nan"``: NaN. ``"zeros"``: NaN and zeros of the
        genes to fill; a zero is usually a low count rather than a missing value, so this must be
        asked for. Or booleans (True is missing) beside NaN: one per cell of the matrix (array or
        sparse matrix), or one per observation for whole rows.
    key_added
        The key under which results are written; ``"graphfill"`` if None.
    copy
        Return a copy with the results and leave `adata` as it is.
    method, param, seed, device, **options
        As in `graphfill.fill`. ``intervals`` are for columns of ``obs``.

    Returns
    -------
    AnnData or None
        None, or the copy if `copy` is set.

    Raises
    ------
    DataError
        If the graph, the layer, a column or a gene is not there, or a shape does not fit.

    Examples
    --------
    Cell types of cells that were not annotated, from their neighbours:

    >>> import anndata, numpy as np, pandas as pd, scipy.sparse as sp
    >>> from graphfill.anndata import fill
    >>> path = sp.diags_array([np.ones(5), np.ones(5)], offsets=[-1, 1]).tocsr()
    >>> types = pd.Categorical(["B", "B", None, "T", "T", "T"])
    >>> adata = anndata.AnnData(np.ones((6, 1)), obs=pd.DataFrame({"cell_type": types}, index=list("abcdef")))
    >>> filled = fill(adata, graph=path, obs="cell_type", method="neighbour-mean", copy=True)
    >>> filled.obs["cell_type_graphfill"].isna().sum().item()
    0
    """
    anndata = require("anndata", install="anndata", purpose="graphfill.anndata")
    if not isinstance(adata, anndata.AnnData):
        raise DataError(f"expected an AnnData, found {type(adata).__module__}.{type(adata).__name__}")
    if adata.isbacked:
        raise DataError("expected an AnnData in memory, found a backed one; to fix it, adata.to_memory()")
    if copy:
        adata = adata.copy()
    elif adata.is_view:
        # A view cannot hold results of its own: it becomes an AnnData, as with any assignment.
        adata._init_as_actual(adata.copy())
    key = DEFAULT_KEY if key_added is None else key_added
    adjacency = _graph(adata, graph)
    options = {"method": method, "param": param, "seed": seed, "device": device, **options}

    if obs is not None:
        if layer is not None or var_names is not None or not _is_word(missing, "nan"):
            raise CallError(
                "obs fills columns of adata.obs, without a matrix; to fix it, leave out layer, var_names and "
                "missing, or call fill once for the columns and once for the matrix"
            )
        columns = [obs] if isinstance(obs, str) else list(obs)
        result = _fill_columns(adata, columns, adjacency, key, options)
        read: dict[str, Any] = {"obs": columns}
    else:
        result = _fill_matrix(adata, layer, var_names, missing, adjacency, key, options)
        read = {"layer": layer or "X", "missing": missing if isinstance(missing, str) else "mask"}
    if isinstance(graph, str):
        read["graph"] = graph
    adata.uns[key] = _record(result, {**read, **options})
    return adata if copy else None


def _fill_columns(adata: Any, columns: list[str], graph: Any, key: str, options: dict[str, Any]) -> Any:
    """Fill columns of ``adata.obs`` and write them beside the originals."""
    import graphfill

    for name in columns:
        if name not in adata.obs:
            raise DataError(f"obs: adata.obs has no column {name!r}; its columns are {_names(adata.obs)}", column=name)
    frame = adata.obs[columns].reset_index(drop=True)
    if not frame.isna().to_numpy().any():
        return None
    result = graphfill.fill(frame, graph, **options)
    for name in result.nodes.columns:  # with the columns of intervals, if they were asked for
        adata.obs[f"{name}_{key}"] = result.nodes[name].set_axis(adata.obs_names)
    return result


def _fill_matrix(
    adata: Any,
    layer: str | None,
    var_names: Any,
    missing: Any,
    graph: Any,
    key: str,
    options: dict[str, Any],
) -> Any:
    """Fill ``X`` or a layer and write the filled matrix to ``adata.layers``."""
    import graphfill

    if options.get("intervals") is not None:
        raise CallError("intervals: they are for columns of obs; to fix it, leave them out for a matrix")
    if layer is not None and layer not in adata.layers:
        raise DataError(f"layer: adata.layers has no {layer!r}; it has {_names(adata.layers)}", column=layer)
    matrix = adata.X if layer is None else adata.layers[layer]
    if matrix is None:
        raise DataError("adata.X is None; to fix it, name a layer: layer=…")
    genes = _genes(adata, var_names)
    prepare = _sparse_values if hasattr(matrix, "tocsr") else _dense_values
    values, cells = prepare(matrix, missing, genes)
    if cells is None:
        adata.layers[key] = matrix.copy()
        return None
    result = graphfill.fill(values, graph, **options)
    if hasattr(values, "tocsr"):
        adata.layers[key] = _sparse_written(values, result.nodes, cells).asformat(matrix.format)
    else:
        adata.layers[key] = _dense_written(values, result.nodes, cells)
    return result


def _dense_values(matrix: Any, missing: Any, genes: Any) -> tuple[Any, Any]:
    """The matrix with NaN in its missing cells, and the cells to write (booleans; None if there are none)."""
    import numpy as np

    values: Any = np.asarray(matrix)
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64 if values.dtype.itemsize > 2 else np.float32)
    nan = np.isnan(values)
    if _is_word(missing, "nan"):
        hidden = None
    elif _is_word(missing, "zeros"):
        hidden = (values == 0) & genes
    else:
        hidden = _mask(missing, values.shape)
        hidden = hidden.toarray() if hasattr(hidden, "tocsr") else np.broadcast_to(hidden, values.shape)
        hidden = hidden & genes
    if hidden is not None and hidden.any():
        values = np.where(hidden, np.nan, values)
        nan |= hidden
    cells = nan & genes
    return values, cells if cells.any() else None


def _dense_written(values: Any, filled: Any, cells: Any) -> Any:
    import numpy as np

    return np.where(cells, filled, values).astype(values.dtype, copy=False)


def _sparse_values(matrix: Any, missing: Any, genes: Any) -> tuple[Any, Any]:
    """The matrix (CSR) with stored NaN in its missing cells, and which stored entries to write.

    A dense matrix and its cells for ``missing="zeros"``.
    """
    import numpy as np

    if _is_word(missing, "zeros"):
        return _dense_values(matrix.toarray(), missing, genes)
    values = matrix.tocsr()
    if not values.has_canonical_format:
        values = values.copy()
        values.sum_duplicates()
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64 if values.dtype.itemsize > 2 else np.float32)
    if not _is_word(missing, "nan"):
        values = _with_nan(values, _mask(missing, values.shape), genes)
    cells = np.isnan(values.data) & genes[values.indices]
    return values, cells if cells.any() else None


def _with_nan(values: Any, mask: Any, genes: Any) -> Any:
    """A copy of a CSR matrix that stores NaN wherever `mask` is True, in the given genes."""
    import numpy as np
    import scipy.sparse as sp

    if hasattr(mask, "tocsr"):
        mask = mask.tocoo()
        kept = mask.data & genes[mask.col]
        rows, columns = mask.row[kept], mask.col[kept]
    elif mask.shape[1] == 1:
        rows, columns = np.flatnonzero(mask), np.flatnonzero(genes)
        rows, columns = np.repeat(rows, len(columns)), np.tile(columns, len(rows))
    else:
        rows, columns = np.nonzero(mask & genes)
    # NaN + anything is NaN: the sum stores NaN in each of these cells.
    nan = sp.coo_array((np.full(len(rows), np.nan, values.dtype), (rows, columns)), shape=values.shape)
    return values + type(values)(nan)


def _sparse_written(values: Any, filled: Any, cells: Any) -> Any:
    """The matrix with the entries `cells` taken from the filled matrix."""
    written = values.copy()
    # Both store the same cells in the same order: estimates replace stored NaN.
    written.data[cells] = filled.tocsr().data[cells]
    return written


def _mask(missing: Any, shape: tuple[int, int]) -> Any:
    """Booleans of a mask: sparse or dense (cells × genes), or dense (cells × 1) for whole rows."""
    import numpy as np

    if isinstance(missing, str):
        raise CallError(f'missing: expected "nan", "zeros" or booleans, found {missing!r}')
    if hasattr(missing, "to_numpy"):
        missing = missing.to_numpy()
    mask = missing if hasattr(missing, "tocsr") else np.asarray(missing)
    if mask.dtype != np.bool_:
        raise DataError(f"missing: expected booleans (True is missing), found {mask.dtype}")
    if mask.shape == shape[:1]:
        return mask[:, None]
    if mask.shape != shape:
        raise DataError(
            f"missing: expected shape {shape} (one per cell of the matrix) or {shape[:1]} (one per observation), "
            f"found {mask.shape}"
        )
    return mask


def _genes(adata: Any, var_names: Any) -> Any:
    """Which genes to fill: one boolean per column of the matrix."""
    import numpy as np

    count = adata.n_vars
    if var_names is None:
        return np.ones(count, dtype=bool)
    if isinstance(var_names, str):
        if var_names in adata.var and adata.var[var_names].dtype == bool:
            return adata.var[var_names].to_numpy()
        var_names = [var_names]
    chosen = np.asarray(var_names)
    if chosen.dtype == np.bool_:
        if chosen.shape != (count,):
            raise DataError(f"var_names: expected {count} booleans, one per gene, found shape {chosen.shape}")
        return chosen
    places = adata.var_names.get_indexer_for(chosen)
    if (places < 0).any():
        unknown = [str(name) for name in chosen if name not in adata.var_names]
        raise DataError(
            f"var_names: adata.var_names has no {_some(unknown)}; to fix it, use names of genes, booleans or a "
            "boolean column of adata.var"
        )
    genes = np.zeros(count, dtype=bool)
    genes[places] = True
    return genes


def _graph(adata: Any, graph: Any) -> Any:
    """The adjacency of the cells as a sparse matrix without stored zeros and self-loops."""
    import numpy as np
    import scipy.sparse as sp

    if isinstance(graph, str):
        if graph not in adata.obsp:
            raise DataError(
                f"graph: adata.obsp has no {graph!r}; it has {_names(adata.obsp)}; to fix it, compute the graph "
                "with scanpy.pp.neighbors(adata), or pass a sparse matrix",
                column=graph,
            )
        if graph == "distances" or graph.endswith("_distances"):
            warn(
                f"obsp[{graph!r}] is taken for weights, where a larger one means nearer; its name says that it "
                'holds distances, so that "connectivities" may be meant',
                GuessWarning,
            )
        graph = adata.obsp[graph]
    adjacency = sp.csr_array(graph)
    if adjacency.shape != (adata.n_obs, adata.n_obs):
        raise DataError(
            f"graph: expected a matrix of shape {(adata.n_obs, adata.n_obs)} (cells × cells), "
            f"found {adjacency.shape}"
        )
    if not np.isfinite(adjacency.data).all() or (adjacency.data < 0).any():
        raise DataError("graph: expected weights that are finite and not negative")
    if (adjacency.data == 0).any():
        adjacency = adjacency.copy()
        adjacency.eliminate_zeros()
    return adjacency


def _record(result: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What ``adata.uns`` keeps: values that h5ad and zarr files can hold."""
    import graphfill

    params = {name: _plain(value) for name, value in parameters.items() if value is not None}
    record: dict[str, Any] = {"params": params, "version": str(graphfill.__version__)}
    if result is not None:
        record["choices"] = _choices(result.choices)
    return record


def _choices(choices: Sequence[Any]) -> Any:
    """What was chosen for each column, as a frame: column, method, parameters, measure, score, reason."""
    pandas = require("pandas", install="pandas", purpose="graphfill.anndata")
    rows = [
        {
            "column": choice.column,
            "method": choice.method,
            "parameters": ", ".join(f"{name}={value}" for name, value in choice.parameters.items()),
            "measure": "" if choice.score is None else choice.score.measure,
            "score": float("nan") if choice.score is None else choice.score.value,
            "reason": choice.reason or "",
        }
        for choice in choices
    ]
    frame = pandas.DataFrame(rows)
    frame.index = frame.index.astype(str)
    return frame


def _plain(value: Any) -> Any:
    """Numbers, words, lists of words and mappings of them; anything else as text."""
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [str(item) for item in value]
    return str(value)


def _is_word(missing: Any, word: str) -> bool:
    return isinstance(missing, str) and missing == word


def _names(mapping: Any) -> str:
    names = [repr(name) for name in mapping.keys()]
    return ", ".join(names) if names else "none"


def _some(names: list[str], most: int = 5) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
