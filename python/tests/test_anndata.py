"""graphfill.anndata.fill: matrices, layers and obs columns of an AnnData over a graph of cells."""

from __future__ import annotations

import doctest
import os
import warnings
from pathlib import Path
from typing import Any

import pytest

anndata = pytest.importorskip("anndata", reason="anndata is not installed")
np = pytest.importorskip("numpy", reason="numpy is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")
sp = pytest.importorskip("scipy.sparse", reason="scipy is not installed")

from graphfill import anndata as adapter  # noqa: E402
from graphfill.anndata import fill  # noqa: E402
from graphfill.errors import CallError, DataError, GuessWarning  # noqa: E402

MEAN = {"method": "neighbour-mean"}


def ring(count: int) -> Any:
    """Every cell linked with the next, in both directions."""
    rows = np.arange(count)
    graph = sp.coo_array((np.ones(count), (rows, (rows + 1) % count)), shape=(count, count)).tocsr()
    return graph + graph.T


def cells(count: int = 12, genes: int = 4, seed: int = 0, sparse: bool = False) -> Any:
    """An AnnData of positive numbers; sparse: about half of them are zeros that are not stored."""
    generator = np.random.default_rng(seed)
    X = generator.gamma(2.0, size=(count, genes)).astype(np.float32)
    if sparse:
        X[generator.random(X.shape) < 0.5] = 0
    adata = anndata.AnnData(sp.csr_matrix(X) if sparse else X, obsp={"connectivities": ring(count)})
    adata.var["highly_variable"] = [gene < 2 for gene in range(genes)]
    return adata


def dense(matrix: Any) -> Any:
    return matrix.toarray() if hasattr(matrix, "tocsr") else np.asarray(matrix)


def test_nan_is_filled_into_a_layer_and_X_stays() -> None:
    adata = cells()
    adata.X[3, 1] = np.nan
    before = adata.X.copy()
    assert fill(adata, **MEAN) is None
    np.testing.assert_array_equal(adata.X, before)
    filled = adata.layers["graphfill"]
    assert filled.dtype == np.float32
    assert filled[3, 1] == pytest.approx((before[2, 1] + before[4, 1]) / 2, rel=1e-3)
    known = ~np.isnan(before)
    np.testing.assert_array_equal(filled[known], before[known])


def test_copy_leaves_the_argument_as_it_is() -> None:
    adata = cells()
    adata.X[3, 1] = np.nan
    filled = fill(adata, copy=True, key_added="full", **MEAN)
    assert list(adata.layers) == [] and "full" not in adata.uns
    assert not np.isnan(filled.layers["full"]).any()
    assert filled.uns["full"]["params"]["method"] == "neighbour-mean"


def test_a_layer_is_read() -> None:
    adata = cells()
    layer = adata.X + 100
    layer[5] = np.nan
    adata.layers["logged"] = layer
    fill(adata, layer="logged", **MEAN)
    assert (adata.layers["graphfill"] >= 100).all()
    assert adata.uns["graphfill"]["params"]["layer"] == "logged"


@pytest.mark.parametrize("sparse", [False, True])
def test_zeros_are_values_unless_asked(sparse: bool) -> None:
    adata = cells(sparse=sparse)
    before = dense(adata.X)
    fill(adata, **MEAN)
    np.testing.assert_array_equal(dense(adata.layers["graphfill"]), before)
    fill(adata, missing="zeros", **MEAN)
    filled = adata.layers["graphfill"]
    assert (dense(filled)[before == 0] > 0).all()
    np.testing.assert_array_equal(dense(filled)[before > 0], before[before > 0])


def test_a_sparse_matrix_stays_sparse() -> None:
    adata = cells(40, 30, sparse=True)
    stored = adata.X.nnz
    adata.X.data[7] = np.nan
    before = adata.X.copy()
    fill(adata, **MEAN)
    filled = adata.layers["graphfill"]
    assert sp.issparse(filled) and filled.format == "csr" and filled.nnz == stored
    assert not np.isnan(filled.data).any()
    known = ~np.isnan(before.data)
    np.testing.assert_array_equal(filled.data[known], before.data[known])


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array])
def test_kinds_of_sparse_matrices(kind: Any) -> None:
    before = cells(sparse=True).X.toarray()
    adata = anndata.AnnData(kind(before), obsp={"connectivities": ring(12)})
    fill(adata, missing=np.arange(12) == 4, **MEAN)
    filled = adata.layers["graphfill"]
    assert type(filled) is kind
    np.testing.assert_allclose(filled.toarray()[4], (before[3] + before[5]) / 2, rtol=1e-3, atol=1e-6)


def test_unsorted_indices() -> None:
    stored = (np.array([1.5, np.nan, 3.25, 4.75]), np.array([1, 0, 0, 0]), np.array([0, 2, 3, 4]))
    X = sp.csr_matrix(stored, shape=(3, 2))
    adata = anndata.AnnData(X, obsp={"connectivities": ring(3)})
    fill(adata, **MEAN)
    np.testing.assert_allclose(adata.layers["graphfill"].toarray(), [[4, 1.5], [3.25, 0], [4.75, 0]])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("form", ["cells", "rows", "sparse", "frame"])
def test_masks(sparse: bool, form: str) -> None:
    adata = cells(sparse=sparse)
    before = dense(adata.X)
    mask = np.zeros(adata.shape, dtype=bool)
    mask[4] = True
    given = {"cells": mask, "rows": mask[:, 0], "sparse": sp.csr_array(mask), "frame": pd.DataFrame(mask)}[form]
    fill(adata, missing=given, **MEAN)
    filled = dense(adata.layers["graphfill"])
    np.testing.assert_allclose(filled[4], (before[3] + before[5]) / 2, rtol=1e-3, atol=1e-6)
    np.testing.assert_array_equal(filled[~mask], before[~mask])
    assert sp.issparse(adata.layers["graphfill"]) == sparse


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("form", ["names", "booleans", "column", "name"])
def test_genes_that_are_not_chosen_stay(sparse: bool, form: str) -> None:
    adata = cells(sparse=sparse)
    mask = np.zeros(adata.shape, dtype=bool)
    mask[4] = True
    chosen = {"names": ["0", "1"], "booleans": [True, True, False, False], "column": "highly_variable", "name": "1"}
    before = dense(adata.X).copy()
    fill(adata, missing=mask, var_names=chosen[form], **MEAN)
    filled = dense(adata.layers["graphfill"])
    np.testing.assert_array_equal(filled[:, 2:], before[:, 2:])
    assert filled[4, 1] == pytest.approx((before[3, 1] + before[5, 1]) / 2, rel=1e-3, abs=1e-6)


def test_nan_of_other_genes_stays_nan() -> None:
    adata = cells()
    adata.X[3] = np.nan
    fill(adata, var_names=["1"], **MEAN)
    assert np.isnan(adata.layers["graphfill"][3]).tolist() == [True, False, True, True]


def test_whole_numbers() -> None:
    adata = cells()
    adata.layers["counts"] = np.random.default_rng(0).poisson(3, size=adata.shape)
    fill(adata, layer="counts", missing=np.arange(12) == 2, **MEAN)
    filled = adata.layers["graphfill"]
    assert filled.dtype.kind == "f"
    kept = np.arange(12) != 2
    np.testing.assert_array_equal(filled[kept], adata.layers["counts"][kept])


def test_columns_of_obs_are_filled_beside_the_originals() -> None:
    adata = cells()
    adata.obs["cell_type"] = pd.Categorical(["B"] * 5 + [None] + ["B"] * 1 + ["T"] * 5, categories=["T", "B", "NK"])
    adata.obs["age"] = [20.0, np.nan] + [30.0] * 10
    fill(adata, obs=["cell_type", "age"], **MEAN)
    assert adata.obs["cell_type"].isna().sum() == 1
    filled = adata.obs["cell_type_graphfill"]
    assert filled.iloc[5] == "B"
    assert list(filled.cat.categories) == ["T", "B", "NK"]
    assert adata.obs["age_graphfill"].iloc[1] == pytest.approx(25)
    assert "graphfill" not in adata.layers
    assert list(adata.uns["graphfill"]["params"]["obs"]) == ["cell_type", "age"]


def test_intervals_of_obs_columns() -> None:
    adata = cells(100)
    adata.obs["age"] = np.where(np.arange(100) % 5, np.sin(np.arange(100) / 9) + 30, np.nan)
    fill(adata, obs="age", method="arb", intervals=0.9)
    assert {"age_graphfill", "age__lower_graphfill", "age__upper_graphfill"} <= set(adata.obs)
    missing = adata.obs["age"].isna()
    assert (adata.obs["age__lower_graphfill"] <= adata.obs["age_graphfill"])[missing].all()


def test_weights_of_the_graph_count() -> None:
    adata = anndata.AnnData(np.array([[0.0], [np.nan], [4.0]]))
    adata.obsp["connectivities"] = sp.csr_matrix(np.array([[0, 1, 0], [1, 0, 3], [0, 3, 0]], dtype=float))
    fill(adata, **MEAN)
    assert adata.layers["graphfill"][1, 0] == pytest.approx(3)


def test_a_graph_by_name_and_as_a_matrix() -> None:
    adata = cells()
    adata.X[3, 1] = np.nan
    adata.obsp["mine"] = adata.obsp["connectivities"]
    fill(adata, graph="mine", key_added="a", **MEAN)
    fill(adata, graph=adata.obsp["mine"], key_added="b", **MEAN)
    fill(adata, key_added="c", **MEAN)
    np.testing.assert_array_equal(adata.layers["a"], adata.layers["b"])
    np.testing.assert_array_equal(adata.layers["a"], adata.layers["c"])


def test_distances_are_questioned() -> None:
    adata = cells()
    adata.X[3, 1] = np.nan
    adata.obsp["distances"] = adata.obsp["connectivities"]
    with pytest.warns(GuessWarning, match="holds distances"):
        fill(adata, graph="distances", **MEAN)


def test_a_view_becomes_an_anndata() -> None:
    adata = cells()
    adata.X[3, 1] = np.nan
    view = adata[:8]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fill(view, **MEAN)
    assert not view.is_view
    assert not np.isnan(view.layers["graphfill"]).any()
    assert list(adata.layers) == []


def test_results_can_be_written(tmp_path: Path) -> None:
    adata = cells(sparse=True)
    adata.obs["age"] = [20.0, np.nan] + [30.0] * 10
    fill(adata, missing=np.arange(12) == 2, param={"arb.alpha": 0.9}, method="arb")
    fill(adata, obs="age", key_added="again", **MEAN)
    adata.write_h5ad(tmp_path / "a.h5ad")
    again = anndata.read_h5ad(tmp_path / "a.h5ad")
    np.testing.assert_array_equal(dense(again.layers["graphfill"]), dense(adata.layers["graphfill"]))
    assert again.uns["graphfill"]["params"]["param"] == {"arb.alpha": 0.9}
    assert again.uns["graphfill"]["params"]["graph"] == "connectivities"
    assert again.uns["graphfill"]["version"]
    assert set(again.uns["graphfill"]["choices"]["method"]) == {"arb"}
    assert again.uns["again"]["choices"]["column"].tolist() == ["age"]


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    adata = cells()
    with pytest.raises(DataError, match="obsp has no 'knn'; it has 'connectivities'; to fix it"):
        fill(adata, graph="knn")
    with pytest.raises(DataError, match=r"expected a matrix of shape \(12, 12\)"):
        fill(adata, graph=ring(5))
    with pytest.raises(DataError, match="finite and not negative"):
        fill(adata, graph=-1 * ring(12))
    with pytest.raises(DataError, match="layers has no 'raw'; it has none"):
        fill(adata, layer="raw")
    with pytest.raises(DataError, match="no column 'donor'"):
        fill(adata, obs=["donor"])
    with pytest.raises(CallError, match="for columns of obs"):
        fill(adata, intervals=0.9)
    with pytest.raises(CallError, match="without a matrix"):
        fill(adata, obs=["donor"], layer="raw")
    with pytest.raises(DataError, match="has no 'GATA1'"):
        fill(adata, var_names=["GATA1"])
    with pytest.raises(DataError, match="expected 4 booleans"):
        fill(adata, var_names=[True])
    with pytest.raises(CallError, match='expected "nan", "zeros" or booleans'):
        fill(adata, missing="zero")
    with pytest.raises(DataError, match=r"expected shape \(12, 4\)"):
        fill(adata, missing=np.ones(5, dtype=bool))
    with pytest.raises(DataError, match="expected booleans"):
        fill(adata, missing=np.ones(12))
    with pytest.raises(DataError, match="expected an AnnData"):
        fill(adata.to_df())
    adata.write_h5ad(tmp_path / "a.h5ad")
    backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
    with pytest.raises(DataError, match="to_memory"):
        fill(backed)
    backed.file.close()


@pytest.mark.skipif("GRAPHFILL_DATA" not in os.environ, reason="GRAPHFILL_DATA is not set")
def test_real_rows_are_estimated_better_than_by_the_mean() -> None:
    """Pubmed's tf-idf features as genes: sparse, with a tenth of the rows hidden."""
    file = np.load(Path(os.environ["GRAPHFILL_DATA"]) / "pubmed" / "pubmed.npz")
    X = sp.csr_matrix((file["x_data"], file["x_indices"], file["x_indptr"]), shape=tuple(file["x_shape"]))
    X = X.astype(np.float32)[:, :50]
    count = X.shape[0]
    graph = sp.coo_array((np.ones(len(file["edge_src"])), (file["edge_src"], file["edge_dst"])), shape=(count, count))
    adata = anndata.AnnData(X, obsp={"connectivities": sp.csr_matrix(graph + graph.T)})
    hidden = np.random.default_rng(0).random(count) < 0.1
    fill(adata, missing=hidden, method="arb")
    filled = adata.layers["graphfill"]
    assert sp.issparse(filled)
    truth = X[hidden].toarray()
    error = np.sqrt(((filled[hidden].toarray() - truth) ** 2).mean())
    assert error < np.sqrt(((X[~hidden].toarray().mean(axis=0) - truth) ** 2).mean())


def test_examples() -> None:
    assert doctest.testmod(adapter).failed == 0
