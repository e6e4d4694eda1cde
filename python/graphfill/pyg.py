"""PyTorch Geometric: transforms that fill missing node features.

`FillMissing` fills with any method of graphfill. `FeaturePropagation` is a drop-in for
``torch_geometric.transforms.FeaturePropagation`` and gives its numbers.

The module can be imported without PyTorch; constructing a transform imports it.

    >>> import torch
    >>> from torch_geometric.data import Data
    >>> import graphfill as gf
    >>> x = torch.tensor([[1.0], [float("nan")], [3.0]])
    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> data = Data(x=x, edge_index=edge_index)
    >>> fill = gf.pyg.FillMissing(method="neighbour-mean")
    >>> fill(data).x.flatten().tolist()
    [1.0, 2.0, 3.0]
    >>> gf.pyg.FeaturePropagation(missing_mask=torch.isnan(x))(data).x.flatten()
    tensor([1.0000, 2.8284, 3.0000])
"""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from graphfill._frames._base import warn
from graphfill._optional import require
from graphfill.errors import CallError, DataError, GuessWarning

if TYPE_CHECKING:
    from graphfill import Model

__all__ = ["FeaturePropagation", "FillMissing"]


def _torch() -> Any:
    return require("torch", install="torch torch_geometric", purpose="graphfill.pyg")


class _Transform:
    """A transform of PyTorch Geometric: what ``BaseTransform`` does, without importing it.

    Instances count as instances of ``BaseTransform`` (`isinstance` holds): the class is
    registered there when the first one is constructed or unpickled.
    """

    def _register(self) -> None:
        transforms = require(
            "torch_geometric.transforms", install="torch_geometric", purpose="graphfill.pyg"
        )
        transforms.BaseTransform.register(type(self))

    def __call__(self, data: Any) -> Any:
        """Transform a shallow copy of `data`; the object that was passed stays as it is."""
        return self.forward(copy.copy(data))

    def forward(self, data: Any) -> Any:
        """Transform `data` in place and return it."""
        raise NotImplementedError

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._register()


class FillMissing(_Transform):
    """Fill the missing cells of a node feature matrix with a method of graphfill.

    Observed cells come back bit for bit; dtype, shape and device of the matrix stay. As
    ``transform`` of a dataset it fits the method to each graph at each access, as
    ``pre_transform`` once; with a fitted model nothing is fitted.

    Columns are estimated one by one up to 99 of them, each by the method that suits it best where
    `method` is ``"auto"``. Wider matrices are estimated as a block; if such a block holds nothing
    but zeros and ones, so do the estimates: they are not probabilities.

    Weights of edges are ``data.edge_weight`` if there is one, else ``data.edge_attr`` if that is
    one column of floating-point numbers that are finite and not negative (with a `GuessWarning`).
    Integer attributes and attributes of several columns are not taken for weights. Both directions
    of an edge count as one edge, with the larger of its weights (see `duplicate_edges`). Without
    ``data.edge_index`` the sparse ``data.adj_t`` (PyTorch or torch_sparse) is used.

    Parameters
    ----------
    method
        Name of the method, see ``graphfill.methods()``; or a fitted model, such as
        ``graphfill.SvgaP().fit(data.x.numpy(), data.edge_index)``, which fills without training.
    missing_mask
        Which cells are missing: booleans (True is missing), one per node (whole rows) or one per
        cell, as a tensor or an array; or the name of an attribute of the data that holds them.
        NaN is missing in any case.
    attr
        Name of the attribute that holds the matrix: (nodes, columns) or (nodes,).
    edge_weight
        ``"auto"`` for the rule above, the name of an attribute of the data, or None for edges
        without weights.
    seed
        Seed of everything random.
    device
        Where to train: ``"auto"`` (a GPU if one can be used), ``"cpu"``, ``"cuda"``, ``"cuda:1"``.
        Independent of the device of the data.
    param
        Parameters of methods, such as ``{"arb.alpha": 0.98}``.
    **options
        Further keywords of `graphfill.fill`, such as ``time_limit="10m"``. For intervals use
        ``graphfill.fill(data, intervals=0.9)``, which returns them.

    Raises
    ------
    ImportError
        If PyTorch or PyTorch Geometric is not installed.
    DataError
        When called: if the data is a ``HeteroData``, has no matrix or no edges, or the mask has
        another shape.

    Examples
    --------
    >>> import torch
    >>> import torch_geometric.transforms as T
    >>> from torch_geometric.data import Data
    >>> from graphfill.pyg import FillMissing
    >>> transform = T.Compose([T.ToUndirected(), FillMissing("neighbour-mean", missing_mask="hidden")])
    >>> data = Data(
    ...     x=torch.tensor([[1.0], [9.0], [3.0]]),
    ...     edge_index=torch.tensor([[0, 1], [1, 2]]),
    ...     hidden=torch.tensor([False, True, False]),
    ... )
    >>> transform(data).x.flatten().tolist()
    [1.0, 2.0, 3.0]
    """

    def __init__(
        self,
        method: str | Model = "auto",
        *,
        missing_mask: Any = None,
        attr: str = "x",
        edge_weight: str | None = "auto",
        seed: int = 0,
        device: str = "auto",
        param: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        import graphfill

        self._register()
        if "intervals" in options:
            raise CallError(
                "intervals: a transform has no place for them; to fix it, use graphfill.fill(data, intervals=…)"
            )
        # Wrong names are refused here, not when the first graph is transformed.
        inspect.signature(graphfill.fill).bind_partial(**options)
        self.method = method
        self.missing_mask = missing_mask
        self.attr = attr
        self.edge_weight = edge_weight
        self.seed = seed
        self.device = device
        self.param = None if param is None else dict(param)
        self.options = options

    def forward(self, data: Any) -> Any:
        """Fill ``data.x`` (or the attribute `attr`) of `data` and return `data`."""
        import graphfill

        _refuse_hetero(data, type(self).__name__)
        x = _matrix(data, self.attr)
        missing = _missing(data, x, self.missing_mask, self.attr)
        if not bool(missing.any()):
            return data
        values, edges = _values(x, missing), _edges(data, x.size(0), self.edge_weight)
        keywords: dict[str, Any] = {"device": self.device, **self.options}
        if isinstance(self.method, str):
            keywords |= {"method": self.method, "seed": self.seed, "param": self.param}
            result = graphfill.fill(values, edges, **keywords)
        else:
            result = self.method.transform(values, edges, **keywords)
        data[self.attr] = _replaced(x, missing, result.nodes)
        return data

    def __repr__(self) -> str:
        shown = [repr(self.method)]
        mask = self.missing_mask
        if mask is not None:
            shown.append(f"missing_mask={mask!r}" if isinstance(mask, str) else f"missing_mask={_share(mask)}")
        defaults = {"attr": "x", "edge_weight": "auto", "seed": 0, "device": "auto", "param": None}
        for name, default in defaults.items():
            if (value := getattr(self, name)) != default:
                shown.append(f"{name}={value!r}")
        shown += [f"{name}={value!r}" for name, value in self.options.items()]
        return f"{type(self).__name__}({', '.join(shown)})"


class FeaturePropagation(_Transform):
    """Feature propagation with the numbers of ``torch_geometric.transforms.FeaturePropagation``.

        X⁰ = X with missing cells 0;   Xᵗ⁺¹ = D^-½ A D^-½ Xᵗ, known cells reset

    Missing cells begin at 0 and stay 0 where no known value arrives (isolated nodes, for one).
    The sums are not means: on the path 1 – ? – 3 the estimate is 2.83, not 2. Edges keep their
    direction, and ``data.edge_weight`` or else ``data.edge_attr`` holds their weights, as there.

    This is computed with PyTorch, on the device of the data and in the dtype of ``x`` (float32 for
    half precision), and only for rows with missing cells. It is not
    ``FillMissing(method="fp")``: that method centres columns, so that a value that nothing reaches
    is the mean of its column, takes edges as undirected, chooses the number of rounds by
    validation and rounds to the decimals of the known values. It usually estimates better.

    Differences from PyTorch Geometric's transform: the mask may be left out (NaN is missing), be
    one boolean per node, or name an attribute of the data; and a graph whose last nodes have no
    incoming edge does not fail.

    Parameters
    ----------
    missing_mask
        Which cells are missing: booleans (True is missing), one per cell or one per node, or the
        name of an attribute of the data that holds them. None: cells that are NaN.
    num_iterations
        Number of rounds.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> from graphfill.pyg import FeaturePropagation
    >>> data = Data(
    ...     x=torch.tensor([[1.0], [float("nan")], [3.0]]),
    ...     edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]),
    ... )
    >>> FeaturePropagation(torch.isnan(data.x))
    FeaturePropagation(missing_features=33.3%, num_iterations=40)
    """

    def __init__(self, missing_mask: Any = None, num_iterations: int = 40) -> None:
        self._register()
        if num_iterations < 0:
            raise ValueError(f"num_iterations: expected a number from 0 on, found {num_iterations}")
        self.missing_mask = missing_mask
        self.num_iterations = num_iterations

    def forward(self, data: Any) -> Any:
        """Propagate known values of ``data.x`` to its missing cells and return `data`."""
        torch = _torch()
        _refuse_hetero(data, type(self).__name__)
        x = _matrix(data, "x")
        # As in PyTorch Geometric: what the mask leaves is known, NaN included.
        missing = _missing(data, x, self.missing_mask, "x", with_nan=self.missing_mask is None)
        if x.dim() == 1 or not x.is_floating_point():
            raise DataError(
                f"expected a matrix of floating-point numbers in data.x, found {x.dim()} dimension(s) "
                f"of {x.dtype}; to fix it, data.x = data.x.float().view({x.size(0)}, -1)"
            )
        dtype = torch.float32 if x.element_size() < 4 else x.dtype
        known = x.masked_fill(missing, 0).to(dtype)
        rows = missing.any(dim=1).nonzero().flatten()
        operator = _normalised(data, x.size(0), dtype, x.device, rows)
        reset, cells = known[rows], missing[rows]
        current = known.clone()
        for _ in range(self.num_iterations):
            current[rows] = torch.where(cells, operator @ current, reset)
        data.x = current.to(x.dtype)
        return data

    def __repr__(self) -> str:
        mask = self.missing_mask
        if mask is None or isinstance(mask, str):
            shown = f"missing_mask={mask!r}"
        else:
            shown = f"missing_features={_share(mask)}"
        return f"{type(self).__name__}({shown}, num_iterations={self.num_iterations})"


def _refuse_hetero(data: Any, transform: str) -> None:
    hetero = require("torch_geometric.data", install="torch_geometric", purpose="graphfill.pyg").HeteroData
    if isinstance(data, hetero):
        types = ", ".join(str(kind) for kind in data.node_types)
        raise DataError(
            f"{transform}: expected Data, found HeteroData with the node types {types}, which is not yet "
            "supported; to fix it, fill one type by itself: Data(x=data[type].x, "
            "edge_index=data[type, relation, type].edge_index), or data.to_homogeneous() where all types "
            "have the same columns"
        )


def _matrix(data: Any, attr: str) -> Any:
    """The dense tensor `attr` of the data with one row per node."""
    torch = _torch()
    x: Any = getattr(data, attr, None)
    if not isinstance(x, torch.Tensor):
        found = "none" if x is None else f"a {type(x).__name__}"
        raise DataError(
            f"expected a tensor with one row per node in data.{attr}, found {found}; "
            "to fix it, set it or name another attribute with attr=",
            column=attr,
        )
    if x.layout != torch.strided:
        raise DataError(
            f"expected a dense tensor in data.{attr}, found one of layout {x.layout}; "
            f"to fix it, data.{attr} = data.{attr}.to_dense()",
            column=attr,
        )
    if x.dim() not in (1, 2):
        raise DataError(
            f"expected data.{attr} of shape (nodes, columns), found {tuple(x.shape)}; "
            f"to fix it, data.{attr} = data.{attr}.flatten(1)",
            column=attr,
        )
    return x.detach()


def _missing(data: Any, x: Any, mask: Any, attr: str, with_nan: bool = True) -> Any:
    """A boolean tensor of the shape and on the device of `x`: True where a cell is missing."""
    torch = _torch()
    nan = torch.isnan(x) if with_nan and x.is_floating_point() else torch.zeros_like(x, dtype=torch.bool)
    if mask is None:
        return nan
    name = "missing_mask"
    if isinstance(mask, str):
        name = f"data.{mask}"
        if (found := getattr(data, mask, None)) is None:
            raise DataError(f"missing_mask: the data has no attribute {mask!r}", column=mask)
        mask = found
    mask = torch.as_tensor(mask)
    if mask.dtype != torch.bool:
        raise DataError(
            f"expected booleans (True is missing) in {name}, found {mask.dtype}; to fix it, pass a comparison "
            "such as mask != 0"
        )
    if mask.shape != x.shape and mask.shape != x.shape[:1]:
        per_cell = f"{tuple(x.shape)} (one per cell) or " if x.dim() == 2 else ""
        raise DataError(
            f"expected {name} of shape {per_cell}{tuple(x.shape[:1])} (one per node), as data.{attr} has it, "
            f"found {tuple(mask.shape)}"
        )
    mask = mask.to(x.device)
    if mask.dim() < x.dim():
        mask = mask.unsqueeze(1)
    return nan | mask


def _values(x: Any, missing: Any) -> Any:
    """The matrix as a NumPy array with NaN in missing cells; float32 or float64.

    Shares the memory of a tensor on the CPU where the missing cells are NaN already.
    """
    torch = _torch()
    wide = x.dtype in (torch.float64, torch.int64, torch.int32)
    values = x.to("cpu", torch.float64 if wide else torch.float32)
    missing = missing.to("cpu")
    if not bool(torch.isnan(values)[missing].all()):
        values = values.masked_fill(missing, float("nan"))
    return (values if values.dim() == 2 else values.unsqueeze(1)).numpy()


def _replaced(x: Any, missing: Any, filled: Any) -> Any:
    """`x` with its missing cells taken from the array `filled`."""
    torch = _torch()
    estimates = torch.as_tensor(filled).reshape(x.shape)
    if x.dtype == torch.bool:
        estimates = estimates >= 0.5
    elif not x.is_floating_point():
        estimates = estimates.round()
    return torch.where(missing, estimates.to(x.device, x.dtype), x)


def _edges(data: Any, nodes: int, weight: str | None) -> Any:
    """The edges of the data between row numbers, for `graphfill.fill`."""
    from graphfill._native import Edges

    sources, targets, weights = _arcs(data, nodes, weight)
    return Edges(
        sources.cpu().numpy(),
        targets.cpu().numpy(),
        None if weights is None else weights.detach().cpu().double().numpy(),
    )


def _arcs(data: Any, nodes: int, weight: str | None) -> tuple[Any, Any, Any]:
    """Sources, targets and weights (or None) of the arcs, as tensors."""
    torch = _torch()
    edge_index = getattr(data, "edge_index", None)
    if edge_index is not None:
        sources, targets = torch.as_tensor(edge_index)
        weights = _weights(data, edge_index.size(1), weight)
    elif getattr(data, "adj_t", None) is not None:
        sources, targets, weights = _sparse_arcs(data.adj_t)
        weights = None if weight is None else weights
    else:
        raise DataError(
            "expected edges in data.edge_index or data.adj_t, found neither; to fix it, set data.edge_index"
        )
    if sources.numel() and (last := int(torch.maximum(sources.max(), targets.max()))) >= nodes:
        raise DataError(
            f"expected edges between rows 0 to {nodes - 1} of the matrix, found node {last}", id=str(last)
        )
    return sources, targets, weights


def _sparse_arcs(adj_t: Any) -> tuple[Any, Any, Any]:
    """Arcs of a transposed adjacency: rows are targets, columns are sources."""
    torch = _torch()
    if not isinstance(adj_t, torch.Tensor):  # torch_sparse.SparseTensor
        targets, sources, weights = adj_t.coo()
        return sources, targets, weights
    if adj_t.layout == torch.strided:
        raise DataError("expected a sparse tensor in data.adj_t, found a dense one; to fix it, data.adj_t.to_sparse()")
    coordinates = adj_t.to_sparse_coo().coalesce()
    targets, sources = coordinates.indices()
    weights = coordinates.values()
    return sources, targets, None if bool((weights == 1).all()) else weights


def _weights(data: Any, edges: int, weight: str | None) -> Any:
    """The weights of the edges by the rule of `FillMissing`, or None."""
    torch = _torch()
    found: Any
    if weight is None:
        return None
    if weight != "auto":
        if (found := getattr(data, weight, None)) is None:
            raise DataError(f"edge_weight: the data has no attribute {weight!r}", column=weight)
        return _column(found, edges, weight)
    if (found := getattr(data, "edge_weight", None)) is not None:
        return _column(found, edges, "edge_weight")
    found = getattr(data, "edge_attr", None)
    if not isinstance(found, torch.Tensor) or found.numel() != edges or not found.is_floating_point():
        return None
    if edges == 0 or not bool((torch.isfinite(found) & (found >= 0)).all()):
        return None
    warn(
        "data.edge_attr is one column and is taken for weights of the edges; to ignore it, edge_weight=None",
        GuessWarning,
    )
    return found.flatten()


def _column(weights: Any, edges: int, name: str) -> Any:
    weights = _torch().as_tensor(weights)
    if weights.numel() != edges:
        raise DataError(
            f"expected one weight per edge ({edges}) in data.{name}, found shape {tuple(weights.shape)}; "
            "to fix it, name another attribute, or edge_weight=None for no weights",
            column=name,
        )
    return weights.flatten()


def _normalised(data: Any, nodes: int, dtype: Any, device: Any, rows: Any) -> Any:
    """The given rows of D^-½ A D^-½ as a sparse matrix; D holds the sums of incoming weights."""
    torch = _torch()
    if getattr(data, "edge_index", None) is not None:
        sources, targets, _ = _arcs(data, nodes, None)
        weights = getattr(data, "edge_weight", None)
        weights = getattr(data, "edge_attr", None) if weights is None else weights
        if weights is not None:
            weights = _column(weights, sources.numel(), "edge_weight or data.edge_attr")
    else:
        sources, targets, weights = _arcs(data, nodes, "auto")
    sources, targets = sources.to(device), targets.to(device)
    # Repeated edges: weights are added, as there; without weights an edge counts once.
    unweighted = weights is None
    weights = torch.ones(sources.numel()) if weights is None else weights
    weights = weights.detach().to(device, dtype)
    adjacency = _sparse(torch.stack([targets, sources]), weights, (nodes, nodes)).coalesce()
    (targets, sources), weights = adjacency.indices(), adjacency.values()
    if unweighted:
        weights = torch.ones_like(weights)
    degrees = torch.zeros(nodes, dtype=dtype, device=device).scatter_add_(0, targets, weights)
    scale = degrees.pow(-0.5).masked_fill(degrees == 0, 0)
    weights = scale[targets] * weights * scale[sources]
    # Row numbers among `rows`; -1 for rows that are known throughout.
    place = torch.full((nodes,), -1, dtype=torch.int64, device=device)
    place[rows] = torch.arange(rows.numel(), device=device)
    kept = place[targets] >= 0
    indices = torch.stack([place[targets[kept]], sources[kept]])
    size = (rows.numel(), nodes)
    return _sparse(indices, weights[kept], size, is_coalesced=True, csr=True)


def _sparse(
    indices: Any, values: Any, size: tuple[int, int], is_coalesced: bool | None = None, csr: bool = False
) -> Any:
    """A sparse tensor, without PyTorch's warnings that invariants are not checked and CSR is in beta."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        tensor = _torch().sparse_coo_tensor(indices, values, size, is_coalesced=is_coalesced)
        return tensor.to_sparse_csr() if csr else tensor


def _share(mask: Any) -> str:
    mask = _torch().as_tensor(mask)
    return f"{100 * float(mask.float().mean()) if mask.numel() else 0.0:.1f}%"
