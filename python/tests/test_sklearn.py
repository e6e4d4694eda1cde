"""GraphImputer: scikit-learn's checks, graphs, matching of rows, pipelines and cross-validation."""

from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import graphfill as gf
from graphfill.sklearn import GraphImputer

VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
needs_routed_scores = pytest.mark.skipif(
    VERSION < (1, 8), reason="scikit-learn 1.7 routes no metadata to Pipeline.score"
)
ROWS = 120
FAST = "fp"
pytestmark = pytest.mark.filterwarnings("ignore:GraphImputer has no graph")

# Checks of check_estimator that cannot pass, and why: there are none.
EXPECTED_FAILED_CHECKS: dict[str, str] = {}


def places():
    """A geometric graph whose coordinates are the features: smooth, so that neighbours tell."""
    graph = nx.random_geometric_graph(ROWS, 0.22, seed=3)
    X = np.array([graph.nodes[node].pop("pos") for node in range(ROWS)])
    y = X @ [1.0, 2.0]
    missing = X.copy()
    missing[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    return graph, X, missing, y


GRAPH, TRUTH, X, Y = places()
ADJACENCY = nx.to_scipy_sparse_array(GRAPH, nodelist=range(ROWS), format="csr")


def imputer(graph=ADJACENCY, **keywords):
    return GraphImputer(graph, **{"method": FAST, **keywords})


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def check(estimator):
    if VERSION < (1, 6):
        check_estimator(estimator)
    else:
        check_estimator(estimator, expected_failed_checks=EXPECTED_FAILED_CHECKS)


@pytest.mark.parametrize("method", ["column-mean", FAST, "auto"])
def test_check_estimator(method):
    check(GraphImputer(method=method))


def test_check_estimator_with_options():
    check(GraphImputer([], method="column-mean", add_indicator=True, keep_empty_features=True))


@pytest.mark.parametrize(
    "graph",
    [
        ADJACENCY,
        sp.coo_matrix(ADJACENCY),
        np.array(ADJACENCY.nonzero()),
        GRAPH,
        list(GRAPH.edges()),
        pd.DataFrame(GRAPH.edges(), columns=["source", "target"]),
        pd.DataFrame(GRAPH.edges(), columns=["a", "b"]),
    ],
    ids=["csr", "coo", "edge_index", "networkx", "pairs", "frame", "frame with other names"],
)
def test_every_kind_of_graph(graph):
    expected = gf.fill(X, ADJACENCY, method=FAST, quiet=True).nodes
    np.testing.assert_allclose(imputer(graph).fit_transform(X), expected, rtol=1e-5)
    np.testing.assert_allclose(imputer(None).fit_transform(X, graph=graph), expected, rtol=1e-5)
    observed = ~np.isnan(X)
    assert (expected[observed] == X[observed]).all()


def test_the_graph_helps():
    missing = np.isnan(X)

    def error(filled):
        return np.abs(filled - TRUTH)[missing].mean()

    assert error(imputer().fit_transform(X)) < 0.5 * error(SimpleImputer().fit_transform(X))


def test_weights_of_the_graph_count():
    weights = ADJACENCY * np.random.default_rng(1).random(ROWS)[None, :]
    weighted = sp.csr_array(weights + weights.T)
    expected = gf.fill(X, weighted, method=FAST, quiet=True).nodes
    np.testing.assert_allclose(imputer(weighted).fit_transform(X), expected, rtol=1e-5)
    assert not np.allclose(expected, imputer().fit_transform(X))
    frame = pd.DataFrame(nx.to_pandas_edgelist(nx.from_scipy_sparse_array(weighted)))
    np.testing.assert_allclose(imputer(frame).fit_transform(X), expected, rtol=1e-5)


def test_without_a_graph_it_warns():
    with pytest.warns(gf.GraphfillWarning, match="has no graph"):
        filled = GraphImputer(method="column-mean").fit_transform(X)
    np.testing.assert_allclose(filled, SimpleImputer().fit_transform(X), rtol=1e-5)


@pytest.mark.filterwarnings("error")
def test_other_rows_do_not_warn():
    frame = pd.DataFrame(X)
    fitted = imputer().fit(frame.iloc[:100])
    assert not np.isnan(fitted.transform(frame.iloc[100:])).any()


@pytest.mark.filterwarnings("error")
def test_no_edges_do_not_warn():
    assert not np.isnan(GraphImputer([], method="column-mean").fit_transform(X)).any()


# Rows of the fit, and others


def test_rows_of_the_fit_get_the_estimates_of_the_fit():
    frame = pd.DataFrame(X)
    fitted = imputer().fit(frame)
    everything = fitted.transform(frame)
    np.testing.assert_allclose(everything, imputer().fit_transform(frame), rtol=1e-6)
    some = fitted.transform(frame.iloc[[7, 3, 40]])
    np.testing.assert_allclose(some, everything[[7, 3, 40]], rtol=1e-6)


def test_other_rows_are_estimated_from_rows_of_the_fit():
    frame = pd.DataFrame(X)
    train, test = frame.iloc[:100], frame.iloc[100:].copy()
    test[:] = np.nan
    filled = imputer().fit(train).transform(test)
    error = np.abs(filled - TRUTH[100:]).mean()
    assert error < 0.5 * np.abs(TRUTH[100:] - TRUTH[:100].mean(axis=0)).mean()


def test_values_of_transform_replace_those_of_the_fit():
    path = [(0, 1), (1, 2)]
    fit = pd.DataFrame({"x": [1.5, np.nan, 3.5]})
    fitted = GraphImputer(path, method="neighbour-mean").fit(fit)
    assert fitted.transform(fit)[1, 0] == pytest.approx(2.5)
    changed = pd.DataFrame({"x": [np.nan, 5.5]}, index=[1, 2])
    np.testing.assert_allclose(fitted.transform(changed), [[3.5], [5.5]])


def test_ids_name_rows_of_an_array():
    fitted = imputer().fit(X[:90], ids=np.arange(90))
    frame = imputer().fit(pd.DataFrame(X[:90]))
    np.testing.assert_allclose(
        fitted.transform(X[80:], ids=range(80, ROWS)), frame.transform(pd.DataFrame(X).iloc[80:]), rtol=1e-6
    )


def test_a_column_of_ids():
    names = [f"n{node}" for node in range(ROWS)]
    graph = nx.relabel_nodes(GRAPH, dict(enumerate(names)))
    frame = pd.DataFrame(X, columns=["east", "north"]).assign(person=names)
    fitted = imputer(graph, id="person").set_output(transform="pandas").fit(frame.iloc[20:])
    assert list(fitted.get_feature_names_out()) == ["east", "north"]
    assert fitted.n_features_in_ == 2
    result = fitted.transform(frame.iloc[:30])
    expected = imputer(graph).fit(frame.set_index("person").iloc[20:])
    np.testing.assert_allclose(result, expected.transform(frame.set_index("person").iloc[:30]), rtol=1e-6)
    with pytest.raises(gf.DataError, match="expected a frame with the column 'person'"):
        fitted.transform(X)


def test_subset_of_an_array_cannot_be_matched():
    for graph in (ADJACENCY, np.array(ADJACENCY.nonzero()), GRAPH):
        with pytest.raises(gf.DataError, match="DataFrame whose index names the nodes"):
            imputer(graph).fit(X[:90])
        fitted = imputer(graph).fit(X)
        with pytest.raises(gf.DataError, match="ids="):
            fitted.transform(X[:90])


def test_isolated_last_nodes_do_not_make_folds_match_by_position():
    ends = np.array([[0, 1, 2], [1, 2, 3]])
    sparse_graph = nx.from_edgelist(ends.T.tolist())
    sparse_graph.add_nodes_from(range(ROWS))
    for graph in (ends, sparse_graph, [(0, 1), (1, 2), (2, 3)], pd.DataFrame(ends.T, columns=["source", "target"])):
        fitted = imputer(graph).fit(X)
        with pytest.raises(gf.DataError, match="DataFrame whose index names the nodes"):
            fitted.transform(X[90:])
        np.testing.assert_array_equal(fitted.transform(X), fitted.transform(X, ids=np.arange(ROWS)))
        assert not np.isnan(fitted.transform(X[90:], ids=np.arange(90, ROWS))).any()
    with pytest.raises(gf.DataError, match="has 120 nodes and X has 90 rows"):
        imputer(sparse_graph).fit(X[:90])


def test_rows_that_are_isolated_nodes():
    pairs = [(0, 1), (1, 2)]
    graph = nx.Graph(pairs)
    graph.add_node(3)
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 5.0], "y": [4.0, np.nan, 6.0, np.nan]})
    for known in (graph, pairs):
        fitted = GraphImputer(known, method="neighbour-mean").fit(frame)
        np.testing.assert_array_equal(fitted.transform(frame.loc[[3]]), fitted.transform(frame)[[3]])
    fitted = GraphImputer(graph, method="neighbour-mean").fit(frame.iloc[:3])
    assert not np.isnan(fitted.transform(frame.loc[[3]])).any()


def test_two_ways_to_match_are_an_error():
    shuffled = pd.DataFrame(X).sample(frac=1, random_state=0)
    with pytest.raises(gf.DataError, match="in two ways"):
        imputer().fit(shuffled)
    by_index = imputer().fit_transform(shuffled, ids=shuffled.index)
    np.testing.assert_allclose(by_index, imputer().fit_transform(X)[shuffled.index], rtol=0.02)
    # A text index does not name rows of a matrix: position is the only way.
    named = pd.DataFrame(X, index=[f"n{row}" for row in range(ROWS)])
    np.testing.assert_allclose(imputer().fit_transform(named), imputer().fit_transform(X), rtol=1e-6)
    # So with row numbers that the matrix does not have.
    gappy = pd.DataFrame(X, index=np.arange(ROWS) * 2)
    np.testing.assert_allclose(imputer().fit_transform(gappy), imputer().fit_transform(X), rtol=1e-6)


def test_wrong_ids_are_errors():
    with pytest.raises(gf.DataError, match="found 3 ids and 120 rows"):
        imputer().fit(X, ids=[0, 1, 2])
    with pytest.raises(gf.DataError, match="found 1 in two rows"):
        imputer().fit(X[:2], ids=[1, 1])
    with pytest.raises(gf.DataError, match="found 120"):
        imputer().fit(X[:2], ids=[0, ROWS])
    with pytest.raises(gf.DataError, match="no row of X is a node"):
        imputer(GRAPH).fit(X, ids=[f"n{row}" for row in range(ROWS)])
    with pytest.raises(gf.DataError, match="expected a graph, or edges as a frame"):
        imputer(3).fit(X)


def test_graph_of_fit_alone_needs_one_in_transform():
    fitted = imputer(None).fit(X[:50], graph=ADJACENCY[:50, :50])
    np.testing.assert_array_equal(
        fitted.transform(X[:50]), fitted.transform(X[:50], graph=ADJACENCY[:50, :50])
    )
    with pytest.raises(gf.DataError, match="pass the graph of these rows to transform"):
        fitted.transform(X[50:])
    assert not np.isnan(fitted.transform(X[50:], graph=ADJACENCY[50:, 50:])).any()


def test_methods_that_cannot_transform_other_rows_say_so():
    frame = pd.DataFrame(X)
    fitted = GraphImputer(ADJACENCY, method="svga", options={"max_updates": 2}).fit(frame.iloc[:100])
    assert not np.isnan(fitted.transform(frame.iloc[:100])).any()
    with pytest.raises(gf.GraphfillError):
        fitted.transform(frame)


# Options


def test_add_indicator_and_names():
    frame = pd.DataFrame(X, columns=["east", "north"]).assign(full=1.0 + np.arange(ROWS), empty=np.nan)
    fitted = imputer(add_indicator=True).set_output(transform="pandas").fit(frame)
    result = fitted.transform(frame)
    assert list(result.columns) == [
        "east", "north", "full", "missingindicator_east", "missingindicator_north", "missingindicator_empty",
    ]
    assert list(result.columns) == list(fitted.get_feature_names_out())
    np.testing.assert_array_equal(result["missingindicator_east"], frame["east"].isna())
    kept = imputer(keep_empty_features=True).set_output(transform="pandas").fit_transform(frame)
    assert list(kept.columns) == ["east", "north", "full", "empty"]
    assert (kept["empty"] == 0).all()


def test_polars_in_and_out():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"east": X[:, 0], "north": X[:, 1]})
    result = imputer().set_output(transform="polars").fit_transform(frame)
    assert isinstance(result, pl.DataFrame)
    # scikit-learn 1.8 reads no names of polars 2.
    assert VERSION < (1, 9) or result.columns == ["east", "north"]
    np.testing.assert_allclose(result.to_numpy(), imputer().fit_transform(X), rtol=1e-6)


def test_another_mark_for_missing():
    marked = np.where(np.isnan(X), -1.0, X)
    np.testing.assert_allclose(
        imputer(missing_values=-1).fit_transform(marked), imputer().fit_transform(X), rtol=1e-6
    )
    with pytest.raises(ValueError, match="NaN"):
        imputer(missing_values=-1).fit(X)


def test_constant_empty_and_complete_columns():
    table = np.column_stack([X, np.where(np.arange(ROWS) % 2, 7.0, np.nan), np.full(ROWS, np.nan)])
    filled = imputer().fit_transform(table)
    assert filled.shape == (ROWS, 3)
    assert (filled[:, 2] == 7.0).all()
    complete = imputer().fit(TRUTH)
    np.testing.assert_array_equal(complete.transform(TRUTH), TRUTH)
    assert not np.isnan(complete.transform(X)).any()
    assert imputer().fit_transform(np.full((ROWS, 2), np.nan)).shape == (ROWS, 0)


def test_float32_stays():
    assert imputer().fit_transform(X.astype(np.float32)).dtype == np.float32


def test_types_of_columns():
    counts = pd.DataFrame({"visits": np.round(X[:, 0] * 10), "east": X[:, 1]})
    filled = imputer(type={"visits": "count"}).set_output(transform="pandas").fit_transform(counts)
    assert (filled["visits"] % 1 == 0).all()
    free = imputer().set_output(transform="pandas").fit_transform(counts)
    assert (free["visits"] % 1 != 0).any()
    with pytest.raises(gf.DataError, match="no feature 'vists'"):
        imputer(type={"vists": "count"}).fit(counts)


def test_many_features():
    rng = np.random.default_rng(0)
    wide = np.hstack([X, np.where(rng.random((ROWS, 120)) < 0.1, np.nan, TRUTH[:, :1] * 10)])
    wide[:, 7] = np.nan
    wide[:60, 9] = np.nan
    fitted = imputer(type={"x3": "count"}).fit(pd.DataFrame(wide, columns=[f"x{at}" for at in range(122)]).iloc[:100])
    filled = fitted.transform(pd.DataFrame(wide, columns=[f"x{at}" for at in range(122)]))
    assert filled.shape == (ROWS, 121)
    assert not np.isnan(filled).any()
    estimated = np.isnan(wide[:, 3])
    assert estimated.any()
    assert (filled[estimated, 3] % 1 == 0).all()
    with pytest.raises(gf.DataError, match="number or count"):
        imputer(type={"x3": "boolean"}).fit(pd.DataFrame(wide, columns=[f"x{at}" for at in range(122)]))


def test_distinct_numbers_are_features_not_ids():
    code = np.arange(ROWS) * 1.5
    frame = mixed().assign(id=code)
    fitted = imputer().fit(frame)
    assert "id" in fitted.model_.columns
    frame.loc[3, "id"] = np.nan
    assert not fitted.transform(frame)["id"].isna().any()


def test_bad_methods_and_parameters_say_so():
    with pytest.raises(gf.GraphfillError, match="colum-mean"):
        imputer(method="colum-mean").fit(X)
    with pytest.raises(gf.GraphfillError):
        imputer(param={"no.such": 1}).fit(X)


def test_errors_name_features():
    frame = pd.DataFrame({"empty": np.nan, "east": X[:, 0], "wealth": X[:, 1]})
    frame.loc[5, "wealth"] = 1e30
    with pytest.raises(gf.DataError, match="so far from the other values") as found:
        imputer().fit(frame)
    assert found.value.__notes__ == ["column 'x1' is the feature 'wealth'"]


def test_clone_and_pickle():
    fitted = imputer(add_indicator=True).fit(X)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.transform(X), fitted.transform(X))
    fresh = clone(fitted)
    assert not hasattr(fresh, "model_")
    np.testing.assert_array_equal(fresh.fit(X).transform(X), fitted.transform(X))


# Frames with text and categories


def mixed(kind="pandas"):
    side = np.where(TRUTH[:, 0] > 0.5, "east", "west").astype(object)
    side[::4] = None
    frame = pd.DataFrame({"north": X[:, 1], "side": side, "big": pd.array(TRUTH[:, 1] > 0.5, dtype="boolean")})
    if kind == "pandas":
        return frame.astype({"side": "category"})
    import polars as pl

    return pl.DataFrame({"north": X[:, 1], "side": list(side), "big": TRUTH[:, 1] > 0.5}, nan_to_null=True)


def test_categories_of_a_frame():
    frame = mixed()
    result = imputer(add_indicator=True).fit_transform(frame)
    assert isinstance(result, pd.DataFrame)
    assert result.index.equals(frame.index)
    assert result["side"].dtype == frame["side"].dtype
    assert not result.isna().any(axis=None)
    truth = np.where(TRUTH[:, 0] > 0.5, "east", "west")
    assert (result["side"] == truth).mean() > 0.9
    observed = frame["side"].notna()
    assert (result["side"][observed] == frame["side"][observed]).all()
    assert "missingindicator_side" in result


def test_categories_of_other_rows():
    frame = mixed()
    train, test = frame.iloc[:90], frame.iloc[90:].copy()
    test["side"] = pd.Categorical([None] * 29 + ["north"], categories=["north", "west"])
    result = imputer().fit(train).transform(test)
    assert list(result.index) == list(test.index)
    assert result["side"].iloc[-1] == "north"
    assert not result.isna().any(axis=None)
    assert set(result["side"].iloc[:-1]) <= {"east", "west"}


def test_mixed_polars_frame():
    pl = pytest.importorskip("polars")
    frame = mixed("polars")
    result = imputer().fit_transform(frame)
    assert isinstance(result, pl.DataFrame)
    assert result.schema == frame.schema
    assert result.null_count().sum_horizontal().item() == 0
    fitted = imputer().fit(frame)
    assert fitted.transform(frame).equals(result)


def test_mixed_columns_in_a_pipeline():
    columns = ColumnTransformer([("onehot", OneHotEncoder(), ["side"])], remainder="passthrough")
    model = make_pipeline(imputer(), columns.set_output(transform="default"), Ridge())
    scores = cross_validate(model, mixed(), Y, cv=KFold(3, shuffle=True, random_state=0), error_score="raise")
    assert scores["test_score"].min() > 0.5


# Pipelines and cross-validation


def pipeline(**keywords):
    return make_pipeline(imputer(**keywords), StandardScaler(), Ridge(alpha=1e-3))


def test_cross_validation_with_the_index_of_a_frame():
    frame = pd.DataFrame(X, columns=["east", "north"])
    folds = KFold(4, shuffle=True, random_state=0)
    with_graph = cross_validate(pipeline(), frame, Y, cv=folds, error_score="raise")["test_score"]
    plain = make_pipeline(SimpleImputer(), StandardScaler(), Ridge(alpha=1e-3))
    without = cross_validate(plain, frame, Y, cv=folds)["test_score"]
    assert with_graph.mean() > without.mean()


@needs_routed_scores
def test_cross_validation_of_arrays_with_routed_ids(routing):
    model = make_pipeline(
        imputer().set_fit_request(ids=True).set_transform_request(ids=True), StandardScaler(), Ridge(alpha=1e-3)
    )
    folds = KFold(4, shuffle=True, random_state=0)
    params = {"ids": np.arange(ROWS)}
    routed = cross_validate(model, X, Y, cv=folds, params=params, error_score="raise")["test_score"]
    frame = cross_validate(pipeline(), pd.DataFrame(X), Y, cv=folds, error_score="raise")["test_score"]
    np.testing.assert_allclose(routed, frame, rtol=1e-6)


@needs_routed_scores
def test_routed_adjacency_is_sliced_by_rows(routing):
    request = imputer(None).set_fit_request(ids=True, graph=True).set_transform_request(ids=True, graph=True)
    model = make_pipeline(request, Ridge(alpha=1e-3))
    folds = KFold(4, shuffle=True, random_state=0)
    params = {"ids": np.arange(ROWS), "graph": ADJACENCY}
    routed = cross_validate(model, X, Y, cv=folds, params=params, error_score="raise")["test_score"]
    whole = make_pipeline(imputer(), Ridge(alpha=1e-3))
    frame = cross_validate(whole, pd.DataFrame(X), Y, cv=folds, error_score="raise")["test_score"]
    np.testing.assert_allclose(routed, frame, rtol=1e-6)
    only_graph = make_pipeline(
        imputer(None).set_fit_request(graph=True).set_transform_request(graph=True), Ridge()
    )
    with pytest.raises(gf.DataError, match="90 of the 120 rows of an adjacency matrix"):
        cross_validate(only_graph, X, Y, cv=4, params={"graph": ADJACENCY}, error_score="raise")
    with pytest.raises(gf.DataError, match="scikit-learn split the NetworkX graph"):
        cross_validate(only_graph, X, Y, cv=4, params={"graph": GRAPH}, error_score="raise")


def test_graph_as_metadata_of_a_pipeline(routing):
    model = make_pipeline(
        imputer(None).set_fit_request(graph=True).set_transform_request(graph=True), Ridge(alpha=1e-3)
    )
    model.fit(X, Y, graph=ADJACENCY)
    expected = make_pipeline(imputer(), Ridge(alpha=1e-3)).fit(X, Y).predict(X)
    np.testing.assert_allclose(model.predict(X, graph=ADJACENCY), expected, rtol=1e-6)


def test_grid_search_over_methods():
    grid = {
        "graphimputer__method": ["column-mean", FAST],
        "graphimputer__param": [None],
        "graphimputer__seed": [0, 1],
    }
    search = GridSearchCV(pipeline(), grid, cv=KFold(3, shuffle=True, random_state=0), error_score="raise")
    search.fit(pd.DataFrame(X), Y)
    assert search.best_params_["graphimputer__method"] == FAST
    assert search.predict(pd.DataFrame(X)).shape == (ROWS,)


def test_column_transformer():
    frame = pd.DataFrame(X, columns=["east", "north"]).assign(colour=["red", "blue"] * (ROWS // 2))
    columns = ColumnTransformer(
        [("fill", imputer(), ["east", "north"]), ("colour", OneHotEncoder(sparse_output=False), ["colour"])]
    ).set_output(transform="pandas")
    result = columns.fit_transform(frame)
    assert list(result.columns)[:2] == ["fill__east", "fill__north"]
    assert not result.isna().any(axis=None)
