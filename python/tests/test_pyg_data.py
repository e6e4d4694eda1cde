"""PyTorch Geometric Data as nodes, and tensors as edges."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")
from torch_geometric.data import Data, HeteroData  # noqa: E402

import graphfill as gf  # noqa: E402

PAIRS = torch.tensor([[0, 1, 2, 3, 4, 5, 1], [1, 2, 3, 4, 5, 0, 4]])
NAN = float("nan")
X = torch.tensor([[1.0, 8.5], [2.0, NAN], [NAN, 3.5], [4.5, 2.0], [3.5, 1.0], [NAN, NAN]])
METHOD = "neighbour-mean"


def expected(weights=None):
    edges = [tuple(pair) for pair in PAIRS.T.tolist()]
    if weights is not None:
        edges = [(a, b, w) for (a, b), w in zip(edges, weights.tolist())]
    return gf.fill(X.numpy(), edges, method=METHOD, quiet=True).nodes


def test_data_comes_back_filled():
    data = Data(x=X.clone(), edge_index=PAIRS, y=torch.arange(6))
    result = gf.fill(data, method=METHOD, quiet=True).nodes
    assert isinstance(result, Data)
    assert result.x.dtype == X.dtype
    np.testing.assert_allclose(result.x.numpy(), expected(), rtol=1e-6)
    assert result.y is data.y
    assert torch.isnan(data.x).sum() == 4
    observed = ~torch.isnan(X)
    assert torch.equal(result.x[observed], X[observed])


def test_weights_of_edges():
    weights = torch.tensor([1.0, 2, 3, 1, 4, 2, 5])
    data = Data(x=X, edge_index=PAIRS, edge_weight=weights)
    result = gf.fill(data, method=METHOD, quiet=True).nodes
    np.testing.assert_allclose(result.x.numpy(), expected(weights), rtol=1e-6)
    result = gf.fill(data, method=METHOD, weight="none", quiet=True).nodes
    np.testing.assert_allclose(result.x.numpy(), expected(), rtol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_types_of_features_stay(dtype):
    result = gf.fill(Data(x=X.to(dtype), edge_index=PAIRS), method=METHOD, quiet=True).nodes
    assert result.x.dtype == dtype
    assert not torch.isnan(result.x).any()


def test_whole_numbers_with_a_mask():
    values = torch.tensor([[1, 5], [2, 6], [0, 0], [4, 7]])
    mask = torch.tensor([False, False, True, False])
    data = Data(x=values, edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]), missing_mask=mask)
    result = gf.fill(data, method=METHOD, quiet=True).nodes
    assert result.x.dtype == torch.int64
    assert torch.equal(result.x[[0, 1, 3]], values[[0, 1, 3]])
    assert 2 <= result.x[2, 0] <= 4
    assert 6 <= result.x[2, 1] <= 7


def test_tensors_as_edges():
    adjacency = torch.sparse_coo_tensor(PAIRS, torch.ones(7), (6, 6))
    for edges in (PAIRS, adjacency, adjacency.to_sparse_csr(), Data(x=X, edge_index=PAIRS)):
        filled = gf.fill(X.numpy(), edges, method=METHOD, quiet=True).nodes
        np.testing.assert_allclose(filled, expected(), rtol=1e-6)


def test_what_cannot_be_filled_says_so():
    with pytest.raises(gf.DataError, match=r"data\.x, found NoneType"):
        gf.fill(Data(edge_index=PAIRS, num_nodes=6))
    with pytest.raises(gf.DataError, match="HeteroData"):
        gf.fill(HeteroData())
    with pytest.raises(gf.DataError, match="mask of 6 rows"):
        gf.fill(Data(x=X, edge_index=PAIRS, missing_mask=torch.zeros(5, dtype=torch.bool)))
