"""PyTorch Geometric ``Data`` as a table of nodes: the columns of its feature matrix.

Both torch and PyG are used through the objects that the caller passes; neither is imported here.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from graphfill._graphs import GraphNodes
from graphfill._kinds import is_tensor, kind_of, numpy_of
from graphfill.errors import DataError

if TYPE_CHECKING:
    from graphfill._native import Filled


class PygNodes(GraphNodes):
    """The feature matrix of a ``Data`` (``attr``, by default ``data.x``) with its edges.

    Missing are NaN and, where ``missing_mask`` is given, the cells that are True in it: one flag per
    node, or a matrix of the shape of the features. A ``data.missing_mask`` is used if none is given.
    """

    def __init__(
        self, data: Any, attr: str = "x", missing_mask: Any = None, weight: str | None = None
    ) -> None:
        from graphfill._frames._arrays import ArrayNodes
        from graphfill._native import Edges

        if not hasattr(data, "edge_index") or kind_of(data) == "HeteroData":
            raise DataError(
                f"expected a Data with one type of nodes and an edge_index, found {kind_of(data)}; to fix "
                "it, convert it with data.to_homogeneous(), or fill one type of nodes at a time"
            )
        features: Any = getattr(data, attr, None)
        if not is_tensor(features) or features.dim() not in (1, 2):
            raise DataError(
                f"expected a tensor with one row per node in data.{attr}, found {kind_of(features)}; to "
                "fix it, set the known features there, with NaN where they are missing",
                column=attr,
            )
        if missing_mask is None:
            missing_mask = getattr(data, "missing_mask", None)
        self._data = data
        self._attr = attr
        self._features = features
        self.index_column = None
        self.left_out = {}
        self._array = ArrayNodes(masked(block_of(features), missing_mask))
        self.table, self.types = self._array.table, self._array.types
        sources, targets, weights = edges_of_data(data, weight)
        self.edges = Edges(sources, targets, weights)

    def row_numbers(self) -> Mapping[Any, int]:
        return {row: row for row in range(len(self._features))}

    def filled(self, filled: Filled) -> Any:
        """A shallow copy of the Data with a new feature matrix, in its type and on its device."""
        data = copy.copy(self._data)
        setattr(data, self._attr, self.filled_features(filled))
        return data

    def filled_features(self, filled: Filled) -> Any:
        """The feature matrix with estimates in place of what was missing."""
        import numpy

        features = self._features.detach().clone()
        known = self._array.source
        missing = numpy.isnan(known)
        if self._array.mask is not None:
            missing |= self._array.mask
        estimates = numpy.ma.filled(self._array.filled(filled), numpy.nan)
        rows, columns = numpy.nonzero(missing & ~numpy.isnan(estimates))
        values = estimates[rows, columns]
        if not features.is_floating_point():
            values = values.round()
        at = (rows,) if features.dim() == 1 else (rows, columns)
        features[at] = features.new_tensor(values.tolist())
        return features


def masked(values: Any, missing_mask: Any) -> Any:
    """A matrix whose cells are missing where ``missing_mask`` says so."""
    import numpy

    mask = mask_of(missing_mask, values.shape)
    if mask is None:
        return values
    if mask.ndim == 1:
        mask = numpy.repeat(mask[:, None], values.shape[1], axis=1)
    return numpy.ma.MaskedArray(values, mask)


def block_of(features: Any) -> Any:
    """A feature matrix as 2-D float32 or float64; without a copy where it has one of these types."""
    exact = str(features.dtype) in ("torch.float32", "torch.float64")
    values = numpy_of(features if exact else features.float())
    return values.reshape(-1, 1) if values.ndim == 1 else values


def mask_of(missing_mask: Any, shape: tuple[int, int]) -> Any:
    """A mask of missing cells as a boolean array: one flag per row, or one per cell; None for none."""
    if missing_mask is None:
        return None
    import numpy

    mask = numpy_of(missing_mask) if is_tensor(missing_mask) else numpy.asarray(missing_mask)
    mask = mask.astype(bool)
    if mask.ndim == 2 and mask.shape[1] == 1 and shape[1] != 1:
        mask = mask[:, 0]
    if mask.shape not in (shape, shape[:1]):
        raise DataError(
            f"expected a mask of {shape[0]} rows or of {shape[0]} x {shape[1]} cells, found shape {mask.shape}"
        )
    return mask


def edges_of_data(data: Any, weight: str | None = None) -> tuple[Any, Any, Any]:
    """Sources, targets and weights (None where there are none) of a Data.

    Weights are ``data.edge_weight``, or the attribute that ``weight`` names; "none" ignores them.
    """
    index = getattr(data, "edge_index", None)
    if index is None:
        adjacency = getattr(data, "adj_t", None)
        if adjacency is None:
            raise DataError("expected a Data with an edge_index, found one without edges")
        from graphfill._edges import edge_list_of

        # A transposed adjacency matrix: its columns are the sources.
        listed = edge_list_of(adjacency)
        assert listed is not None
        return listed.targets, listed.sources, listed.weights
    sources, targets = numpy_of(index)
    values = None if weight == "none" else getattr(data, weight or "edge_weight", None)
    if values is None:
        if weight not in (None, "none"):
            raise DataError(f"the Data has no attribute '{weight}'", column=weight)
        return sources, targets, None
    weights = numpy_of(values.float()).reshape(-1)
    if len(weights) != len(sources):
        raise DataError(
            f"expected one weight per edge, found {len(weights)} weights of {len(sources)} edges"
        )
    return sources, targets, weights
