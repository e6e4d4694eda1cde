"""Round trips of every dtype: observed cells, dtypes, order and index stay."""

from __future__ import annotations

import datetime
import decimal
import warnings
from typing import Any

import numpy as np
import pytest
from frames_helper import filled
from graphfill.errors import GraphfillWarning
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

MIN_ROWS, MAX_ROWS = 4, 30
FEW = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))

LEVELS = ["red", "green", "light blue", "é", "🟦"]
TEXTS = st.sampled_from(LEVELS)
DATES = st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1))
TIMES = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1))


def floats(width: Any) -> st.SearchStrategy[float]:
    return st.floats(-1000, 1000, width=width)


def ints(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


DECIMALS = st.integers(-(10**6), 10**6).map(lambda n: decimal.Decimal(n).scaleb(-2))

PANDAS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "float16": ("float16", floats(16)),
    "float32": ("float32", floats(32)),
    "float64": ("float64", floats(64)),
    "Float32": ("Float32", floats(32)),
    "Float64": ("Float64", floats(64)),
    "Int8": ("Int8", ints(-128, 127)),
    "Int16": ("Int16", ints(-(2**15), 2**15 - 1)),
    "Int32": ("Int32", ints(-(2**31), 2**31 - 1)),
    "Int64": ("Int64", ints(-(2**60), 2**60)),
    "UInt8": ("UInt8", ints(0, 255)),
    "UInt32": ("UInt32", ints(0, 2**32 - 1)),
    "UInt64": ("UInt64", ints(0, 2**61)),
    "boolean": ("boolean", st.booleans()),
    "datetime64[s]": ("datetime64[s]", TIMES.map(lambda t: t.replace(microsecond=0))),
    "datetime64[ms]": ("datetime64[ms]", TIMES.map(lambda t: t.replace(microsecond=0))),
    "datetime64[us]": ("datetime64[us]", TIMES),
    "datetime64[ns]": ("datetime64[ns]", TIMES),
    "datetime64[ns, America/New_York]": (
        "datetime64[ns, America/New_York]",
        TIMES.map(lambda t: t.replace(tzinfo=datetime.timezone.utc)),
    ),
    "category": (pd.CategoricalDtype(LEVELS), TEXTS),
    "ordered category": (pd.CategoricalDtype(LEVELS[::-1], ordered=True), TEXTS),
    "category of numbers": (pd.CategoricalDtype([1, 20, 3]), st.sampled_from([1, 20, 3])),
    "string[python]": ("string[python]", TEXTS),
    "string[pyarrow]": ("string[pyarrow]", TEXTS),
    "object of texts": (object, TEXTS),
    "object of bools": (object, st.booleans()),
    "object of ints": (object, ints(-(2**60), 2**60)),
    "object of floats": (object, floats(64)),
    "object of decimals": (object, DECIMALS),
    "object of dates": (object, DATES),
    "object of times": (object, TIMES),
    "arrow int32": (pd.ArrowDtype(pa.int32()), ints(-(2**31), 2**31 - 1)),
    "arrow float": (pd.ArrowDtype(pa.float32()), floats(32)),
    "arrow string": (pd.ArrowDtype(pa.string()), TEXTS),
    "arrow bool": (pd.ArrowDtype(pa.bool_()), st.booleans()),
    "arrow decimal": (pd.ArrowDtype(pa.decimal128(12, 2)), DECIMALS),
    "arrow date": (pd.ArrowDtype(pa.date32()), DATES),
    "arrow timestamp": (pd.ArrowDtype(pa.timestamp("us")), TIMES),
}

POLARS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "Float32": (pl.Float32, floats(32)),
    "Float64": (pl.Float64, floats(64)),
    "Int8": (pl.Int8, ints(-128, 127)),
    "Int32": (pl.Int32, ints(-(2**31), 2**31 - 1)),
    "Int64": (pl.Int64, ints(-(2**60), 2**60)),
    "UInt16": (pl.UInt16, ints(0, 2**16 - 1)),
    "UInt64": (pl.UInt64, ints(0, 2**61)),
    "Boolean": (pl.Boolean, st.booleans()),
    "String": (pl.String, TEXTS),
    "Categorical": (pl.Categorical, TEXTS),
    "Enum": (pl.Enum(LEVELS), TEXTS),
    "Date": (pl.Date, DATES),
    "Datetime[us]": (pl.Datetime("us"), TIMES),
    "Datetime[ns]": (pl.Datetime("ns"), TIMES),
    "Datetime[ms, zone]": (
        pl.Datetime("ms", "Asia/Tokyo"),
        TIMES.map(lambda t: t.replace(microsecond=0)),
    ),
    "Decimal": (pl.Decimal(12, 2), DECIMALS),
    "List": (pl.List(pl.Float32), st.lists(floats(32), min_size=3, max_size=3)),
    "Array": (pl.Array(pl.Float64, 2), st.lists(floats(64), min_size=2, max_size=2)),
}

ARROW: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "int16": (pa.int16(), ints(-(2**15), 2**15 - 1)),
    "int64": (pa.int64(), ints(-(2**60), 2**60)),
    "uint8": (pa.uint8(), ints(0, 255)),
    "float32": (pa.float32(), floats(32)),
    "float64": (pa.float64(), floats(64)),
    "bool": (pa.bool_(), st.booleans()),
    "string": (pa.string(), TEXTS),
    "large_string": (pa.large_string(), TEXTS),
    "string_view": (pa.string_view(), TEXTS),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), TEXTS),
    "date32": (pa.date32(), DATES),
    "date64": (pa.date64(), DATES),
    "timestamp[s]": (pa.timestamp("s"), TIMES.map(lambda t: t.replace(microsecond=0))),
    "timestamp[us, zone]": (pa.timestamp("us", "Europe/Paris"), TIMES),
    "decimal128": (pa.decimal128(12, 2), DECIMALS),
    "list": (pa.list_(pa.float64()), st.lists(floats(64), min_size=2, max_size=2)),
    "fixed_size_list": (pa.list_(pa.float32(), 3), st.lists(floats(32), min_size=3, max_size=3)),
}


@st.composite
def columns(draw: Any, values: st.SearchStrategy[Any]) -> list[Any]:
    """Cells of which some are missing, and at least one is not."""
    length = draw(st.integers(MIN_ROWS, MAX_ROWS))
    cells = draw(st.lists(st.none() | values, min_size=length, max_size=length))
    cells[draw(st.integers(0, length - 1))] = draw(values)
    return cells


@st.composite
def indices(draw: Any, length: int) -> Any:
    """Every kind of index: default, numbers, texts, times, with equal labels, with levels."""
    kind = draw(st.sampled_from(["default", "numbers", "texts", "times", "equal", "levels"]))
    numbers = pd.Index(np.arange(length)[::-1] * 3, name="number")
    return {
        "default": pd.RangeIndex(length),
        "numbers": numbers,
        "texts": pd.Index([f"n{row}" for row in range(length)]),
        "times": pd.date_range("2020-01-01", periods=length, name="day"),
        "equal": pd.Index([7] * length),
        "levels": pd.MultiIndex.from_arrays([numbers, numbers + 1]),
    }[kind]


def types_of(name: str, cells: list[Any]) -> dict[str, Any]:
    """The declared type of numbers: without one, a number far from all others is refused."""
    known = [cell for cell in cells if cell is not None]
    is_number = isinstance(known[0], int | float | decimal.Decimal)
    is_other = isinstance(known[0], bool) or "category" in name
    return {"x": "number"} if is_number and not is_other else {}


def same_bits(before: Any, after: Any) -> bool:
    """Whether two cells are the same object as far as anyone can see."""
    if isinstance(before, float):
        return np.float64(before).tobytes() == np.float64(after).tobytes()
    if isinstance(before, decimal.Decimal):
        return bool(before.as_tuple() == after.as_tuple())
    return bool(before == after) and type(before) is type(after)


def check_cells(
    before: list[Any], after: list[Any], missing: list[bool], caught: list[Any]
) -> None:
    messages = [str(w.message) for w in caught if issubclass(w.category, GraphfillWarning)]
    reported = [text for text in messages if "column 'x' was left as it is" in text]
    assert len(before) == len(after)
    for old, new, gone in zip(before, after, missing, strict=True):
        if not gone:
            assert same_bits(old, new)
        elif not reported:
            assert new is not None and new is not pd.NaT and new is not pd.NA and new == new


@pytest.mark.parametrize("name", PANDAS)
@FEW
@given(data=st.data())
def test_pandas(name: str, data: st.DataObject) -> None:
    dtype, values = PANDAS[name]
    cells = data.draw(columns(values))
    frame = pd.DataFrame({"x": pd.Series(cells, dtype=dtype), "y": np.arange(len(cells)) * 0.5})
    frame.index = data.draw(indices(len(cells)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = filled(frame, type=types_of(name, cells))
    assert list(result.columns) == ["x", "y"] and list(result.dtypes) == list(frame.dtypes)
    assert result.index.equals(frame.index) and result.index.names == frame.index.names
    assert type(result.index) is type(frame.index)
    missing = frame["x"].isna().tolist()
    check_cells(frame["x"].tolist(), result["x"].tolist(), missing, caught)
    assert result["y"].equals(frame["y"])


@pytest.mark.parametrize("name", POLARS)
@FEW
@given(data=st.data())
def test_polars(name: str, data: st.DataObject) -> None:
    dtype, values = POLARS[name]
    cells = data.draw(columns(values))
    frame = pl.DataFrame([pl.Series("x", cells, dtype=dtype), pl.Series("y", range(len(cells)))])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = filled(frame, type=types_of(name, cells))
    assert result.schema == frame.schema
    missing = [cell is None for cell in cells]
    check_cells(frame["x"].to_list(), result["x"].to_list(), missing, caught)
    assert result["y"].equals(frame["y"])


@pytest.mark.parametrize("name", ARROW)
@FEW
@given(data=st.data(), at=st.integers(1, MIN_ROWS - 1))
def test_arrow(name: str, data: st.DataObject, at: int) -> None:
    kind, values = ARROW[name]
    cells = data.draw(columns(values))
    pieces = [pa.array(cells[:at], kind), pa.array(cells[at:], kind)]
    fields = [pa.field("x", kind, metadata={"a": "b"}), pa.field("y", pa.float64())]
    schema = pa.schema(fields, metadata={"c": "d"})
    other = pa.array(np.arange(len(cells)) * 0.5)
    table = pa.table([pa.chunked_array(pieces, type=kind), other], schema=schema)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = filled(table, type=types_of(name, cells))
    assert result.schema.equals(schema, check_metadata=True)
    missing = [cell is None for cell in cells]
    check_cells(table["x"].to_pylist(), result["x"].to_pylist(), missing, caught)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@FEW
@given(data=st.data())
def test_arrays(dtype: str, data: st.DataObject) -> None:
    width = data.draw(st.sampled_from([1, 3, 120]))
    rows = data.draw(st.integers(MIN_ROWS, 10))
    seed = data.draw(st.integers(0, 1000))
    random = np.random.default_rng(seed)
    array = random.normal(size=(rows, width)).astype(dtype)
    array[random.random(array.shape) < 0.3] = np.nan
    array[:2] = [[1.0], [2.0]]
    result = filled(array)
    known = ~np.isnan(array)
    assert result.dtype == array.dtype and not np.isnan(result).any()
    assert result[known].tobytes() == array[known].tobytes()
