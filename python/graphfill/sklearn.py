"""scikit-learn: an imputer that uses a graph over the rows of X.

>>> import numpy as np, scipy.sparse as sp
>>> from graphfill.sklearn import GraphImputer
>>> X = np.array([[1.0, 5.0], [np.nan, 6.0], [3.0, 7.0]])
>>> path = sp.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
>>> GraphImputer(path, method="neighbour-mean").fit_transform(X)
array([[1., 5.],
       [2., 6.],
       [3., 7.]])
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Generator, Mapping
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin  # type: ignore[import-untyped, unused-ignore]
from sklearn.impute import MissingIndicator  # type: ignore[import-untyped, unused-ignore]
from sklearn.utils import validation  # type: ignore[import-untyped, unused-ignore]
from sklearn.utils.validation import (  # type: ignore[import-untyped, unused-ignore]
    FLOAT_DTYPES,
    _check_feature_names_in,
    check_is_fitted,
)

from graphfill._frames._arrays import MIN_BLOCK_WIDTH
from graphfill._kinds import is_a, is_missing, kind_of
from graphfill._model import _OF_TRAINING, Method
from graphfill._row_graph import row_graph
from graphfill._samples import (
    Matrix,
    append,
    fill_rest,
    is_mixed_frame,
    missing_cells,
    number_columns,
    select,
    statistics,
    take,
    varies,
    without_mark,
)
from graphfill._training_rows import Job, Training
from graphfill.errors import DataError, GraphfillError, GraphfillWarning

__all__ = ["GraphImputer"]

EXPECTED_WARNINGS = (
    "there are no edges",
    r"\d+ nodes? arrived since",
    "the graph is not the one",
    # Its only value fills such a column.
    "column .* was left as it is.*every value is the same",
)


class GraphImputer(TransformerMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Estimates missing values of X with a graph over its rows.

    Rows that the imputer was fitted to stay known to it: ``transform`` of other rows estimates them
    from their neighbours among the rows of the fit and among themselves (as ``KNNImputer`` does with
    the rows of its fit), with the fitted model. ``transform`` of the rows of the fit gives the
    estimates of the fit.

    Which node of the graph a row of X is:

    1. metadata ``ids``, one per row, or the column that ``id`` names: ids of nodes, or row numbers of
       an adjacency matrix or edge_index;
    2. the index of a pandas frame, if it has ids of nodes;
    3. otherwise row i is node i, if X has all rows of the graph.

    Anything else is an error: rows are never matched by a guess. In cross-validation, where X is split,
    use a pandas frame with its own index (``reset_index`` makes its rows other nodes), or route
    ``ids=numpy.arange(len(X))`` (scikit-learn 1.8 or later; earlier ones do not pass metadata to the
    score of a pipeline).

    X of numbers gives an array, as other imputers do (see ``set_output``). A pandas or polars frame with
    text or categories gives a frame with the same types of columns.

    Parameters
    ----------
    graph
        Edges over the rows of X: sparse adjacency matrix (n x n), edge_index (2 x m), NetworkX or igraph
        graph, libpysal Graph or W, list of tuples, frame with columns source and target (and weight).
        None: it is passed to ``fit`` as metadata. An empty list: no edges; estimates come from the
        other columns of a row.
    method
        Name of the method; see ``graphfill.methods()``. Methods that have parameters for every node
        (svga, sat, gcn, …) cannot transform other rows.
    param
        Parameters of methods, such as ``{"arb.alpha": 0.98}``.
    seed
        Seed of everything random.
    id
        Name of a column of X that holds ids. It is not a feature: it is left out of the result.
    type
        Types of columns by name (``{"visits": "count"}``): "number", "count", "boolean", "category" or
        "date"; a column that is not named is a number.
    missing_values
        The number that means "missing".
    add_indicator
        Whether to append a column per feature with missing values that says where they were.
    keep_empty_features
        Whether features that are always missing in ``fit`` are kept, as zeros, or left out.
    device
        Where to train: "auto", "cpu", "cuda", "cuda:1".
    options
        Further keywords of ``graphfill.fill``, such as ``{"time_limit": "10m"}``.

    Attributes
    ----------
    model_
        The fitted model; None where every feature has at most one value.
    statistics_
        Mean of each feature in ``fit``; it stands in for features that have only one value.
    indicator_
        The ``MissingIndicator``, None without ``add_indicator``.
    n_features_in_, feature_names_in_
        Features seen in ``fit``.

    Examples
    --------
    Cross-validation of a pipeline: the index of the frame names the nodes.

    >>> import numpy as np, networkx as nx, pandas as pd
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.pipeline import make_pipeline
    >>> from graphfill.sklearn import GraphImputer
    >>> town = nx.random_geometric_graph(100, 0.2, seed=0)
    >>> X = pd.DataFrame.from_dict(nx.get_node_attributes(town, "pos"), orient="index")
    >>> X.columns = ["east", "north"]
    >>> y = X["east"] + X["north"]
    >>> X.iloc[::3, 0] = np.nan
    >>> imputer = GraphImputer(town, method="fp")
    >>> scores = cross_val_score(make_pipeline(imputer, LinearRegression()), X, y, cv=3)
    >>> bool(scores.min() > 0.8)
    True
    """

    def __init__(
        self,
        graph: Any = None,
        *,
        method: str = "auto",
        param: Mapping[str, Any] | None = None,
        seed: int = 0,
        id: str | None = None,
        type: Mapping[str, str] | None = None,
        missing_values: Any = np.nan,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
        device: str = "auto",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.graph = graph
        self.method = method
        self.param = param
        self.seed = seed
        self.id = id
        self.type = type
        self.missing_values = missing_values
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
        self.device = device
        self.options = options

    def fit(self, X: Any, y: Any = None, graph: Any = None, ids: Any = None) -> GraphImputer:
        """Fits the method to the known cells of X.

        Parameters
        ----------
        X
            One row per node, with missing cells.
        y
            Not used.
        graph
            Edges over the rows of X, instead of the graph of the constructor.
        ids
            One per row: the node of the graph that it is.
        """
        given = self.graph if graph is None else graph
        if given is None:
            warnings.warn(
                "GraphImputer has no graph, estimates come from the other columns of a row alone; pass "
                "graph to the constructor or to fit, or graph=[] if there are no edges",
                GraphfillWarning,
                stacklevel=2,
            )
        features, ids, index = self._labels(X, ids)
        values = self._validate(features, reset=True)
        found = None if given is None else row_graph(given, ids)
        rows = None if found is None else found.rows(len(values), ids, index)
        missing = missing_cells(values)
        self._empty: Matrix = np.asarray(missing.all(axis=0))
        self.statistics_ = statistics(values, missing)
        if self.keep_empty_features:
            self.statistics_[self._empty] = 0.0
        self.indicator_ = None
        if self.add_indicator:
            self.indicator_ = MissingIndicator(error_on_new=False).fit(_marked(missing))
        # The caller may write to X later.
        values = values.copy() if hasattr(values, "copy") else values
        self._training = Training(values, found, rows, separate=graph is not None)
        self.model_ = self._fit_model(values, self._training.edges())
        return self

    def transform(self, X: Any, graph: Any = None, ids: Any = None) -> Any:
        """Fills the missing cells of X, which has the features of the fit.

        Parameters
        ----------
        X
            Rows of the fit or others.
        graph
            Edges over the rows of X, in addition to those of the fit if rows are matched by ``ids`` or
            by the index of a frame; alone if they are matched by position.
        ids
            One per row: the node of the graph that it is.
        """
        check_is_fitted(self)
        features, ids, index = self._labels(X, ids)
        values = self._validate(features, reset=False)
        missing = missing_cells(values)
        job = self._training.job(values, graph, ids, index)
        kept: Matrix = np.ones_like(self._empty) if self.keep_empty_features else ~self._empty
        result = fill_rest(select(self._fill(job, values), kept), self.statistics_[kept])
        if self.indicator_ is None:
            return result
        names = self.get_feature_names_out()[int(kept.sum()) :]
        return append(result, self.indicator_.transform(_marked(missing)), list(names))

    def fit_transform(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, X: Any, y: Any = None, graph: Any = None, ids: Any = None
    ) -> Any:
        """Fits the method to X and fills it."""
        return self.fit(X, y, graph=graph, ids=ids).transform(X, graph=graph, ids=ids)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns of the result."""
        check_is_fitted(self)
        if input_features is not None and self.id is not None:
            input_features = [name for name in input_features if name != self.id]
        names = self._feature_names(input_features)
        kept = names if self.keep_empty_features else names[~self._empty]
        if self.indicator_ is None:
            return kept
        return np.concatenate([kept, self.indicator_.get_feature_names_out(names)])

    # Input

    def _feature_names(self, input_features: Any = None) -> Any:
        return _check_feature_names_in(self, input_features)

    def _labels(self, X: Any, ids: Any) -> tuple[Any, Any, Any]:
        """X without the column of ids, the ids, and the index of a pandas frame."""
        is_pandas = is_a(X, "pandas", "DataFrame")
        index = X.index if is_pandas else None
        if self.id is None:
            return X, ids, index
        names = [str(name) for name in getattr(X, "columns", [])]
        if self.id not in names:
            found = f"the columns {', '.join(names)}" if names else kind_of(X)
            raise DataError(f"expected a frame with the column '{self.id}', found {found}", column=self.id)
        ids = list(X[self.id]) if ids is None else ids
        return X.drop(columns=self.id) if is_pandas else X.drop(self.id), ids, index

    def _validate(self, X: Any, *, reset: bool) -> Any:
        """X as a matrix of float32 or float64, or as the frame that it is if it has other columns.

        Missing cells are NaN, or null in a frame.
        """
        mark = self.missing_values
        marked = not is_missing(mark)
        if reset:
            self._is_frame = is_mixed_frame(X)
        if self._is_frame:
            if not hasattr(X, "columns"):
                raise DataError(f"expected a frame as in fit, found {kind_of(X)}")
            _check_features(self, X, reset)
            return without_mark(X, mark) if marked else X
        if marked and not isinstance(mark, Real):
            raise ValueError(f"missing_values must be a number or NaN for X of numbers, found {mark!r}")
        values = _checked(self, X, reset, finite=True if marked else "allow-nan")
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float32)
        return np.where(values == mark, np.nan, values) if marked else values

    # Estimates

    def _fit_model(self, values: Any, edges: Any) -> Any:
        kept = select(values, ~self._empty)
        if not varies(kept):
            return None
        method = _named(self.method)({}, self._keywords(kept))
        with _without_expected_warnings(), self._named_features():
            return method.fit(kept, edges)

    def _keywords(self, kept: Any) -> dict[str, Any]:
        keywords: dict[str, Any] = {"seed": self.seed, "device": self.device, "quiet": True}
        if self.param is not None:
            keywords["param"] = self.param
        if types := self._types(kept):
            keywords["type"] = types
        return keywords | dict(self.options or {})

    def _types(self, kept: Any) -> dict[str, str]:
        """Declared types by the names that graphfill gives the columns."""
        types = dict(self.type or {})
        names = [str(name) for name in self._feature_names()]
        unknown = [name for name in types if name not in names]
        if unknown:
            raise DataError(f"X has no feature '{unknown[0]}'", column=unknown[0])
        left = [name for name, empty in zip(names, self._empty, strict=True) if not empty]
        types = {name: kind for name, kind in types.items() if name in left}
        if self._is_frame:
            return dict.fromkeys(number_columns(kept), "number") | types
        if kept.shape[1] >= MIN_BLOCK_WIDTH:
            # So many columns are one block of numbers. Counts are rounded afterwards.
            other = next((n for n, kind in types.items() if kind not in ("number", "count")), None)
            if other is None:
                return {}
            raise DataError(
                f"expected the type number or count in X of {MIN_BLOCK_WIDTH} or more features, found "
                f"'{types[other]}'; to fix it, estimate this column with another imputer",
                column=other,
            )
        return {f"x{left.index(name)}": kind for name, kind in types.items()}

    @contextlib.contextmanager
    def _named_features(self) -> Generator[None]:
        """Adds the name of the feature to an error about a column of the array: x0 is the first kept."""
        try:
            yield
        except GraphfillError as error:
            names = self._feature_names()[~self._empty]
            columns = {} if self._is_frame else {f"x{at}": name for at, name in enumerate(names)}
            name = columns.get(error.column or "", error.column)
            if name != error.column:
                error.add_note(f"column '{error.column}' is the feature '{name}'")
            raise

    def _fill(self, job: Job, values: Any) -> Any:
        """The rows of X with estimates; cells that cannot be estimated stay missing."""
        if self.model_ is None:
            return values
        kept = select(job.values, ~self._empty)
        keywords = {k: v for k, v in self._keywords(kept).items() if k not in _OF_TRAINING}
        with _without_expected_warnings(), self._named_features():
            filled = self.model_.transform(kept, job.edges, **keywords).nodes
        if self._is_frame:
            rows = take(filled, job.rows, values)
            return _with_empty(rows, values, self._empty)
        result = values.copy()
        estimates = np.full(values.shape, np.nan, dtype=values.dtype)
        estimates[:, ~self._empty] = filled[job.rows]
        for at, name in enumerate(self._feature_names()):
            if (self.type or {}).get(str(name)) == "count":
                estimates[:, at] = np.maximum(np.rint(estimates[:, at]), 0)
        missing = np.isnan(values)
        result[missing] = estimates[missing]
        return result

    # What scikit-learn asks for

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = is_missing(self.missing_values)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn 1.5
        return {"allow_nan": is_missing(self.missing_values), "preserves_dtype": [np.float64, np.float32]}


def _named(method: str) -> type[Method]:
    """The method with this name; whether there is one is checked when it is fitted."""
    return type("NamedMethod", (Method,), {"name": method})


@contextlib.contextmanager
def _without_expected_warnings() -> Generator[None]:
    """Silences warnings of what an imputer is for, or has said itself: other rows, and no edges."""
    with warnings.catch_warnings():
        for message in EXPECTED_WARNINGS:
            warnings.filterwarnings("ignore", message, GraphfillWarning)
        yield


def _marked(missing: Matrix) -> Matrix:
    """A matrix with NaN where a cell is missing."""
    return np.where(missing, np.nan, 0.0)


def _with_empty(rows: Any, values: Any, empty: Matrix) -> Any:
    """Filled rows of a frame with the columns that were left out put back."""
    if not empty.any():
        return rows
    names = list(values.columns)
    gone = [name for name, is_empty in zip(names, empty, strict=True) if is_empty]
    if is_a(values, "pandas", "DataFrame"):
        return rows.join(values[gone])[names]
    return rows.hstack(values.select(gone)).select(names)


def _checked(estimator: Any, X: Any, reset: bool, finite: Any) -> Any:
    """X as scikit-learn checks it: a 2-D array of floats."""
    if hasattr(validation, "validate_data"):
        return validation.validate_data(
            estimator, X, reset=reset, dtype=FLOAT_DTYPES, ensure_all_finite=finite
        )
    # scikit-learn 1.5
    return estimator._validate_data(X, reset=reset, dtype=FLOAT_DTYPES, force_all_finite=finite)


def _check_features(estimator: Any, X: Any, reset: bool) -> None:
    """Number and names of the columns of a frame, which is not made an array."""
    if hasattr(validation, "validate_data"):
        validation.validate_data(estimator, X, reset=reset, skip_check_array=True)
    else:  # scikit-learn 1.5
        estimator._validate_data(X, reset=reset, cast_to_ndarray=False)
