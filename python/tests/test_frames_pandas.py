"""pandas frames as node tables: what comes back is the frame that went in, with its gaps filled."""

from __future__ import annotations

import datetime
import decimal
import enum
import subprocess
import sys
import textwrap
import uuid
import warnings
from typing import Any

import numpy as np
import pytest
from frames_helper import filled, with_added

from graphfill._frames import edge_table_of, nodes_of
from graphfill.errors import DataError, GraphfillWarning

pd = pytest.importorskip("pandas")
IS_THREE = int(pd.__version__.split(".")[0]) >= 3
D = decimal.Decimal
ROWS = 12


def column(cells: list[Any], dtype: Any = object) -> Any:
    """Twelve cells, of which the second and the eighth are missing."""
    values = [cells[row % len(cells)] for row in range(ROWS)]
    values[1] = values[7] = None
    return pd.Series(values, dtype=dtype)


def check(frame: Any, **options: Any) -> Any:
    """Fills the frame; everything but its missing cells must be unchanged."""
    before = frame.copy(deep=True)
    result = filled(frame, **options)
    pd.testing.assert_frame_equal(frame, before)
    own = result.iloc[:, : frame.shape[1]]
    assert type(result) is type(frame)
    assert list(own.dtypes) == list(frame.dtypes)
    assert own.columns.equals(frame.columns) and result.index.equals(frame.index)
    assert result.index.dtype == frame.index.dtype and result.index.names == frame.index.names
    for at in range(frame.shape[1]):
        known = frame.iloc[:, at].notna().to_numpy()
        pd.testing.assert_series_equal(own.iloc[known, at], frame.iloc[known, at], check_exact=True)
    return result


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


DTYPES = {
    "float64": column([1.25, 2.5, 4.0], "float64"),
    "float32": column([1.25, 2.5, 4.0], "float32"),
    "float16": column([1.25, 2.5, 4.0], "float16"),
    "Float64": column([1.25, 2.5, 4.0], "Float64"),
    "Float32": column([1.25, 2.5, 4.0], "Float32"),
    "Int8": column([1, 2, 9], "Int8"),
    "Int64": column([2**53 + 1, 2**53 + 3, 2**53 + 5], "Int64"),
    "UInt16": column([50_000, 55_000, 60_000], "UInt16"),
    "boolean": column([True, False, True], "boolean"),
    "datetime64[ns]": column(["2020-01-01", "2021-06-01"], "datetime64[ns]"),
    "datetime64[s]": column(["2020-01-01", "2021-06-01"], "datetime64[s]"),
    "datetime64[us, Europe/Paris]": column(
        ["2020-01-01T00:00Z", "2021-06-01T00:00Z"], "datetime64[us, Europe/Paris]"
    ),
    "category": column(["a", "b", "a"], "category"),
    "ordered": column(["a", "b", "a"], pd.CategoricalDtype(["c", "b", "a"], ordered=True)),
    "category of ints": column([10, 2, 10], pd.CategoricalDtype([10, 2])),
    "category of mixed levels": column([1, "1", 1], pd.CategoricalDtype([1, "1"])),
    "string[python]": column(["a", "b", "a"], "string[python]"),
    "text": column(["a", "b", "a"]),
    "bool objects": column([True, False, True]),
    "int objects": column([2**40, 2**41]),
    "float objects": column([1.5, 2.5]),
    "numpy objects": column([np.float32(1.5), np.float32(2.5)]),
    "decimals": column([D("1.25"), D("2.5")]),
    "dates": column([datetime.date(2020, 1, 1), datetime.date(2020, 3, 1)]),
    "datetimes": column([datetime.datetime(2020, 1, 1, 5), datetime.datetime(2020, 3, 1)]),
    "times with a zone": column(
        [datetime.datetime(2020, 1, day, tzinfo=datetime.timezone.utc) for day in (1, 9)]
    ),
    "timestamps": column([pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-09")]),
    "uuids": column([uuid.UUID(int=1), uuid.UUID(int=2)]),
    "enum members": column([Colour.RED, Colour.BLUE]),
    "Sparse": column([0.0, 2.0, 0.0], "float64").astype(pd.SparseDtype("float64", 0.0)),
}


@pytest.mark.parametrize("name", DTYPES)
def test_each_dtype_comes_back_filled(name: str) -> None:
    frame = pd.DataFrame({"x": DTYPES[name], "other": np.arange(ROWS) * 0.5})
    with warnings.catch_warnings():
        warnings.simplefilter("error", GraphfillWarning)
        result = check(frame)
    assert result["x"].notna().all()
    kinds = set(map(type, frame["x"].dropna()))
    assert set(map(type, result["x"])) == kinds


ARROW_TYPES: dict[str, tuple[Any, list[Any]]] = {
    "int16": (lambda pa: pa.int16(), [1, 2, 300]),
    "uint64": (lambda pa: pa.uint64(), [2**63, 2**63 + 2**40]),
    "float": (lambda pa: pa.float32(), [1.5, 2.5]),
    "bool": (lambda pa: pa.bool_(), [True, False]),
    "string": (lambda pa: pa.string(), ["a", "b"]),
    "large_string": (lambda pa: pa.large_string(), ["a", "b"]),
    "decimal": (lambda pa: pa.decimal128(10, 2), [D("1.25"), D("2.50")]),
    "date": (lambda pa: pa.date32(), [datetime.date(2020, 1, 1), datetime.date(2020, 3, 1)]),
    "timestamp": (
        lambda pa: pa.timestamp("ms", "UTC"),
        [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 3, 1)],
    ),
    "dictionary": (lambda pa: pa.dictionary(pa.int32(), pa.string()), ["a", "b"]),
    "dictionary of ints": (lambda pa: pa.dictionary(pa.int32(), pa.int64()), [3, 4]),
    "list": (lambda pa: pa.list_(pa.float32()), [[1.0, 2.0], [3.0, 4.0]]),
}


@pytest.mark.parametrize("name", ARROW_TYPES)
def test_each_arrow_dtype_comes_back_filled(name: str) -> None:
    pa = pytest.importorskip("pyarrow")
    kind, cells = ARROW_TYPES[name]
    values = [None if row in (1, 7) else cells[row % len(cells)] for row in range(ROWS)]
    array = pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(values, kind(pa))]))
    result = check(pd.DataFrame({"x": array}))
    assert result["x"].notna().all()


@pytest.mark.parametrize("storage", ["string[pyarrow]", "str"])
def test_texts_in_arrow_memory(storage: str) -> None:
    pytest.importorskip("pyarrow")
    if storage == "str" and not IS_THREE:
        pytest.skip("a dtype of pandas 3")
    result = check(pd.DataFrame({"x": column(["a", "b", "a"], storage)}))
    assert result["x"].notna().all()


def test_lists_of_numbers_are_a_block() -> None:
    lists = column([[1.0, 2.0], [3.0, 4.0]])
    lists[3] = [5.0, None]
    arrays = column([np.array([1.0, 2.0], "f4"), np.array([3.0, 4.0], "f4")])
    tuples = column([(1, 2), (3, 4)])
    result = filled(pd.DataFrame({"lists": lists, "arrays": arrays, "tuples": tuples}))
    assert result["lists"][0] is lists[0] and len(result["lists"][1]) == 2
    assert result["lists"][3][0] == 5.0 and result["lists"][3][1] is not None
    assert lists[3] == [5.0, None], "the list of the caller is unchanged"
    assert result["arrays"][1].dtype == np.float32
    assert isinstance(result["tuples"][1], tuple) and isinstance(result["tuples"][1][0], int)


CARRIED = {
    "mixed": column([1, "a", 2.5]),
    "timedelta": column([pd.Timedelta(1, "s"), pd.Timedelta(2, "s")], "timedelta64[ns]"),
    "period": column([pd.Period("2020-01"), pd.Period("2020-02")], "period[M]"),
    "interval": pd.Series(pd.arrays.IntervalArray.from_tuples([(0, 1), None, (1, 2)] * 4)),
    "complex": column([1 + 2j, 3 + 4j]).astype(complex),
    "lists of two lengths": column([[1.0], [1.0, 2.0]]),
    "lists of texts": column([["a"], ["b"]]),
    "dicts": column([{"a": 1}, {"b": 2}]),
    "large ints": column([2**70, 2**71]),
    "nothing": pd.Series([None] * ROWS, dtype=object),
    "zones": column(
        [
            datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=hour)))
            for hour in (1, 2)
        ]
    ),
    "invalid text": column(["a\ud800", "b"]),
}


@pytest.mark.parametrize("name", CARRIED)
def test_columns_without_estimates_come_back_with_a_warning(name: str) -> None:
    frame = pd.DataFrame({"x": CARRIED[name], "other": np.arange(ROWS) * 0.5})
    with pytest.warns(GraphfillWarning, match="column 'x' was left as it is") as caught:
        nodes = nodes_of(frame)
    assert caught[0].filename == __file__
    assert list(nodes.left_out) == ["x"] and nodes.table.names == ["other"]
    pd.testing.assert_series_equal(filled(frame)["x"], frame["x"])


def test_a_complete_column_without_estimates_is_carried_silently() -> None:
    frame = pd.DataFrame({"x": pd.period_range("2020", periods=3, freq="D"), "y": [1.0, 2.0, 3.0]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nodes = nodes_of(frame)
    assert "period" in nodes.left_out["x"]


def test_mixed_ids_cross_as_text() -> None:
    nodes = nodes_of(pd.DataFrame({"id": pd.Series([1, "a", 2], dtype=object)}))
    assert nodes.table.names == ["id"] and nodes.types == {"id": "unused"}


def test_index_attributes_and_flags_stay() -> None:
    frame = pd.DataFrame({"x": column([1.5, 2.5], float)})
    frame.index = pd.Index(list("abcdefghijkl"), name="key")
    frame.attrs["source"] = "survey"
    frame = frame.set_flags(allows_duplicate_labels=False)
    result = check(frame)
    assert result.attrs == frame.attrs and not result.flags.allows_duplicate_labels
    nodes = nodes_of(frame)
    assert nodes.index_column == "key" and nodes.table.names == ["x", "key"]


def test_how_an_index_crosses() -> None:
    x = {"x": [1.0, 2.0]}
    assert nodes_of(pd.DataFrame(x)).index_column is None
    assert nodes_of(pd.DataFrame(x, index=[5, 7])).index_column == "index"
    assert nodes_of(pd.DataFrame(x, index=pd.RangeIndex(1, 3))).index_column == "index"
    named = pd.DataFrame(x, index=pd.Index(["a", "b"], name="x"))
    assert nodes_of(named).index_column == "x_2"
    levels = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["one", "two"])
    nodes = nodes_of(pd.DataFrame(x, index=levels))
    assert nodes.index_column is None and set(nodes.left_out) == {"one", "two"}
    repeated = pd.DataFrame({"x": column([1.5, 2.5], float)}).set_axis([0] * ROWS)
    assert check(repeated)["x"].notna().all()


def test_column_labels_of_any_type() -> None:
    frame = pd.DataFrame({3: column([1.5, 2.5], float), ("a", "b"): column([1.0, 2.0], float)})
    frame.columns = pd.Index([3, ("a", "b")], dtype=object, tupleize_cols=False)
    assert nodes_of(frame).table.names == ["3", "a_b"]
    assert check(frame).notna().all().all()
    levels = pd.DataFrame({("a", "x"): column([1.5, 2.5], float), ("a", "y"): range(ROWS)})
    assert isinstance(levels.columns, pd.MultiIndex)
    assert check(levels).notna().all().all()


@pytest.mark.parametrize("labels", [["a", "a"], [1, "1"], [("a", "b"), "a_b"]])
def test_equal_names_are_an_error(labels: list[Any]) -> None:
    frame = pd.DataFrame([[1.0, 2.0]])
    frame.columns = pd.Index(labels, dtype=object, tupleize_cols=False)
    with pytest.raises(DataError, match="rename") as error:
        nodes_of(frame)
    assert error.value.column == str(labels[1]) and isinstance(error.value, ValueError)


def test_later_writes_reach_neither_the_table_nor_the_result() -> None:
    frame = pd.DataFrame({"x": column([1.5, 2.5], float), "y": np.arange(ROWS) * 1.0})
    nodes = nodes_of(frame)
    result = filled(frame)
    frame.iloc[0, 1] = 99.0
    result.iloc[2, 1] = 77.0
    assert nodes.frame(nodes.table)["y"].tolist() == list(range(ROWS))
    assert result.iloc[0, 1] == 0.0 and frame.iloc[2, 1] == 2.0


def test_a_buffer_protects_itself_when_the_adapter_is_gone() -> None:
    frame = pd.DataFrame({"x": np.arange(4) * 1.0})
    nodes = nodes_of(frame)
    view = nodes.columns["x"].values  # type: ignore[attr-defined]
    from graphfill._frames._numpy import owned_by

    held = memoryview(owned_by(view, nodes.source))  # type: ignore[attr-defined]
    del nodes, view
    frame.iloc[0, 0] = 99.0
    assert held.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_subclasses_stay() -> None:
    class Survey(pd.DataFrame):  # type: ignore[misc]
        @property
        def _constructor(self) -> Any:
            return Survey

    assert type(filled(Survey({"x": column([1.5, 2.5], float)}))) is Survey


def test_many_columns_of_one_block_of_memory() -> None:
    values = np.random.default_rng(0).normal(size=(50, 60))
    values[3] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check(pd.DataFrame(values)).notna().all().all()


def test_intervals_are_further_columns() -> None:
    random = np.random.default_rng(0)
    days = pd.date_range("2020-01-01", periods=80, tz="Europe/Paris", unit="ms")
    frame = pd.DataFrame({"x": random.normal(size=80), "day": days}, index=range(5, 85))
    frame.iloc[::7] = None
    lists = frame.assign(lists=pd.Series(random.normal(size=(80, 2)).tolist(), index=frame.index))
    lists["lists"] = lists["lists"].where(frame["x"].notna(), None)
    assert isinstance(filled(lists, intervals=0.9)["lists__lower"].iloc[0][0], float)
    result = check(frame, intervals=0.9)
    for name in frame.columns:
        lower = result[f"{name}__lower"]
        assert lower.dtype == frame[name].dtype
        assert lower.notna().tolist() == frame[name].isna().tolist()
        assert (lower.dropna() < result[name][lower.notna()]).all()


def test_added_nodes_are_further_rows() -> None:
    large = 2**53 + 1
    frame = pd.DataFrame(
        {
            "id": np.arange(large, large + ROWS),
            "x": column([1.5, 2.5], float),
            "c": column(["a", "b"], "category"),
            "when": pd.period_range("2020", periods=ROWS, freq="D"),
        }
    )
    result = with_added(frame, "id", [large + 100])
    assert len(result) == ROWS + 1 and isinstance(result.index, pd.RangeIndex)
    assert list(result.dtypes) == list(frame.dtypes)
    assert result["id"].iloc[-1] == large + 100 and result["id"].iloc[0] == large
    assert result[["x", "c"]].notna().all().all() and result["when"].isna().sum() == 1


def test_added_nodes_in_an_index() -> None:
    index = pd.Index([f"n{row}" for row in range(ROWS)], name="id")
    frame = pd.DataFrame({"x": column([1.5, 2.5], float).to_numpy()}, index=index)
    result = with_added(frame, "id", ["new"])
    assert result.index[-1] == "new" and result.index.name == "id"
    assert result.index.dtype == index.dtype


def test_added_nodes_below_an_index_with_levels() -> None:
    levels = pd.MultiIndex.from_product([range(ROWS), ["a"]], names=["one", "two"])
    frame = pd.DataFrame({"id": range(ROWS), "x": column([1.5, 2.5], float)}).set_axis(levels)
    result = with_added(frame, "id", [ROWS])
    assert result.index[:ROWS].equals(levels) and result.index.names == levels.names
    assert result["id"].tolist() == list(range(ROWS + 1))


def test_edges() -> None:
    frame = pd.DataFrame({"source": [1, 2], "target": [2, 3]}, index=["a", "b"])
    assert edge_table_of(frame).names == ["source", "target"]
    levels = pd.MultiIndex.from_tuples([("a", "b"), ("b", "c")], names=["focal", "neighbor"])
    weights = pd.Series([1.0, 0.5], index=levels, name="weight")
    assert edge_table_of(weights).names == ["focal", "neighbor", "weight"]
    assert edge_table_of(weights.to_frame()).names == ["focal", "neighbor", "weight"]
    targets = pd.Series(["b", "c"], index=pd.Index(["a", "b"], name="source"), name="target")
    assert edge_table_of(targets).names == ["source", "target"]
    periods = pd.DataFrame({"a": pd.period_range("2020", periods=2, freq="D"), "b": [1, 2]})
    with pytest.raises(DataError, match="ends of edges"):
        edge_table_of(periods)


def test_other_tables_come_in_pandas() -> None:
    frame = pd.DataFrame(
        {
            "float": column([1.5, 2.5], float),
            "int": range(ROWS),
            "bool": column([True, False], "boolean"),
            "text": column(["a", "b"]),
            "time": column(["2020-01-01", "2021-06-01"], "datetime64[ms, Europe/Paris]"),
        }
    )
    nodes = nodes_of(frame)
    other = nodes.frame(nodes.table)
    assert list(other.columns) == list(frame.columns)
    assert other["time"].equals(frame["time"])
    assert other["float"].equals(frame["float"])
    assert other["int"].tolist() == list(range(ROWS))
    assert other.isna().equals(frame.isna())


def test_without_pyarrow() -> None:
    code = """
    import sys
    class Block:
        def find_spec(self, name, path=None, target=None):
            if name.split(".")[0] == "pyarrow":
                raise ImportError(name)
    sys.meta_path.insert(0, Block())
    import pandas as pd
    from graphfill._frames import nodes_of
    frame = pd.DataFrame({
        "number": [1.0, None, 3.0], "text": ["a", None, "a"],
        "count": pd.array([1, None, 2], "Int64"),
        "time": pd.to_datetime(["2020-01-01", None, "2020-01-03"]),
        "level": pd.Categorical(["a", None, "b"]), "flag": pd.array([True, None, False], "boolean"),
    })
    nodes = nodes_of(frame)
    assert nodes.table.names == list(frame.columns) and nodes.left_out == {}
    import graphfill
    result = graphfill.fill(frame, [(0, 1), (1, 2)], method="column-mean", quiet=True)
    assert (result.nodes.dtypes == frame.dtypes).all()
    assert result.nodes[["number", "count", "time", "flag"]].notna().all().all()
    assert "pyarrow" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


@pytest.mark.skipif(IS_THREE, reason="pandas 3 always copies on write")
def test_pandas_2_that_copies_on_write() -> None:
    with pd.option_context("mode.copy_on_write", True):
        test_later_writes_reach_neither_the_table_nor_the_result()
        test_a_buffer_protects_itself_when_the_adapter_is_gone()
        for name in ("float64", "Int64", "datetime64[ns]", "category", "text"):
            test_each_dtype_comes_back_filled(name)


def test_geometries_stay() -> None:
    geopandas = pytest.importorskip("geopandas")
    points = geopandas.points_from_xy(range(ROWS), range(ROWS))
    frame = geopandas.GeoDataFrame(
        {"x": column([1.5, 2.5], float)}, geometry=points, crs="EPSG:4326"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = filled(frame)
    assert type(result) is type(frame) and result.crs == frame.crs
    assert result.geometry.equals(frame.geometry) and result["x"].notna().all()
    longer = with_added(frame.assign(id=range(ROWS)), "id", [ROWS])
    assert type(longer) is type(frame) and longer.crs == frame.crs and len(longer) == ROWS + 1


@pytest.mark.parametrize("dtype", ["float64", "float32", "Int8", "boolean"])
def test_many_columns_of_zeros_and_ones(dtype: str) -> None:
    values = np.random.default_rng(0).random((ROWS, 120)) < 0.3
    frame = pd.DataFrame(values, columns=[f"tag{at}" for at in range(120)]).astype(dtype)
    frame["tag"] = np.arange(ROWS) * 0.5
    frame.iloc[3, :120] = np.nan if "float" in dtype else pd.NA
    frame.iloc[5, 7] = np.nan if "float" in dtype else pd.NA
    assert check(frame).notna().all().all()
