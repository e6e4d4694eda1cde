"""Tables of polars, Arrow, NumPy and SciPy as node tables, and objects that are none."""

from __future__ import annotations

import datetime
import decimal
import warnings
from typing import Any

import graphfill as gf
import numpy as np
import pytest
from frames_helper import filled, with_added
from graphfill import _native
from graphfill._frames import column_name, edge_table_of, nodes_of
from graphfill.errors import DataError, GraphfillWarning

ROWS = 12
D = decimal.Decimal


def cells(*values: Any) -> list[Any]:
    """Twelve cells, of which the second and the eighth are missing."""
    return [None if row in (1, 7) else values[row % len(values)] for row in range(ROWS)]


TIMES = cells(datetime.datetime(2020, 1, 1), datetime.datetime(2021, 6, 1, 3))

POLARS: dict[str, tuple[Any, list[Any]]] = {
    "Int8": (lambda pl: pl.Int8, cells(1, 2, 9)),
    "UInt64": (lambda pl: pl.UInt64, cells(2**60, 2**60 + 2**50)),
    "Float32": (lambda pl: pl.Float32, cells(1.5, 2.25)),
    "Float64": (lambda pl: pl.Float64, cells(1.5, 2.25)),
    "Boolean": (lambda pl: pl.Boolean, cells(True, False)),
    "String": (lambda pl: pl.String, cells("a", "b")),
    "Categorical": (lambda pl: pl.Categorical, cells("a", "b")),
    "Enum": (lambda pl: pl.Enum(["z", "b", "a"]), cells("a", "b")),
    "Date": (lambda pl: pl.Date, cells(datetime.date(2020, 1, 1), datetime.date(2020, 3, 1))),
    "Datetime": (lambda pl: pl.Datetime("ns"), TIMES),
    "Datetime with a zone": (lambda pl: pl.Datetime("ms", "Europe/Paris"), TIMES),
    "Decimal": (lambda pl: pl.Decimal(10, 2), cells(D("1.25"), D("2.50"))),
    "List": (lambda pl: pl.List(pl.Float32), cells([1.0, 2.0], [3.0, 4.0])),
    "List of ints": (lambda pl: pl.List(pl.Int16), cells([1, 2], [3, 4])),
    "Array": (lambda pl: pl.Array(pl.Float64, 2), cells([1.0, 2.0], [3.0, 4.0])),
}


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("name", POLARS)
def test_each_polars_dtype_comes_back_filled(name: str, lazy: bool) -> None:
    pl = pytest.importorskip("polars")
    dtype, values = POLARS[name]
    frame = pl.DataFrame([pl.Series("x", values, dtype=dtype(pl)), pl.Series("y", range(ROWS))])
    result = filled(frame.lazy() if lazy else frame)
    assert isinstance(result, pl.DataFrame) and result.schema == frame.schema
    known = [row for row in range(ROWS) if row not in (1, 7)]
    assert result[known].equals(frame[known])
    assert result.null_count().row(0) == (0, 0)


def test_cells_of_lists_in_polars_stay() -> None:
    pl = pytest.importorskip("polars")
    lists = cells([1.0, 2.0], [3.0, 4.0])
    lists[3] = [5.0, None]
    result = filled(pl.DataFrame({"x": lists}))
    assert result["x"][3][0] == 5.0 and result["x"][3][1] is not None


def test_polars_columns_without_estimates_come_back_with_a_warning() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {
            "struct": cells({"a": 1}, {"a": 2}),
            "ragged": cells([1.0], [1.0, 2.0]),
            "texts": cells(["a"], ["b"]),
            "duration": pl.Series(cells(1, 2)).cast(pl.Duration),
            "nothing": [None] * ROWS,
            "x": cells(1.5, 2.5),
        }
    )
    with pytest.warns(GraphfillWarning, match="was left as it is") as caught:
        nodes = nodes_of(frame)
    assert len(caught) == 5 and all(str(warning.filename) == __file__ for warning in caught)
    assert nodes.table.names == ["x"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = filled(frame)
    assert result.drop("x").equals(frame.drop("x")) and result.schema == frame.schema


@pytest.mark.parametrize("package", ["polars", "pyarrow"])
@pytest.mark.parametrize("numpy", [True, False])
def test_many_columns_of_zeros_and_ones(
    package: str, numpy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    module: Any = pytest.importorskip(package)
    make = module.DataFrame if package == "polars" else module.table
    tags = {f"tag{at}": cells(0, 1) for at in range(110)} | {"tag": list(range(ROWS))}
    frame = make(tags)
    if not numpy:
        for name in ("_base", "_polars", "_arrow_types"):
            module_name = f"graphfill._frames.{name}.is_importable"
            monkeypatch.setattr(module_name, lambda package: package != "numpy")
    result = filled(frame)
    assert result.schema == frame.schema
    for name, values in tags.items():
        after = [x if isinstance(x, int) else x.as_py() for x in result[name]]
        assert (
            None not in after
            and [a for a, v in zip(after, values, strict=True) if v is None or a == v] == after
        )


def test_added_nodes_in_polars() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {"id": [f"n{row}" for row in range(ROWS)], "x": cells(1.5, 2.5), "s": [{"a": 1}] * ROWS}
    )
    result = with_added(frame, "id", ["new"])
    assert result.schema == frame.schema and result["id"][-1] == "new"
    assert result["x"].null_count() == 0 and result["s"].null_count() == 1


def test_intervals_in_polars_and_arrow() -> None:
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    frame = pl.DataFrame({"x": cells(1.5, 2.5, 4.0), "y": range(ROWS)})
    assert filled(frame, intervals=0.9).columns[:3] == ["x", "y", "x__lower"]
    table = pa.table({"x": cells(1.5, 2.5, 4.0), "y": range(ROWS)})
    assert filled(table, intervals=0.9).column_names[:3] == ["x", "y", "x__lower"]


def test_an_arrow_table_keeps_schema_and_metadata() -> None:
    pa = pytest.importorskip("pyarrow")
    fields = {
        "i": (pa.int16(), cells(1, 2)),
        "half": (pa.float16(), [None if v is None else np.float16(v) for v in cells(1.5, 2.5)]),
        "text": (pa.string_view(), cells("a", "b")),
        "level": (pa.dictionary(pa.int8(), pa.large_string(), ordered=True), cells("a", "b")),
        "number": (pa.dictionary(pa.int32(), pa.int64()), cells(30, 4)),
        "date": (pa.date32(), cells(datetime.date(2020, 1, 1), datetime.date(2020, 3, 1))),
        "day": (pa.date64(), cells(datetime.date(2020, 1, 1), datetime.date(2020, 3, 1))),
        "time": (pa.timestamp("ms", "UTC"), TIMES),
        "decimal": (pa.decimal128(10, 2), cells(D("1.25"), D("2.50"))),
        "flag": (pa.bool_(), cells(True, False)),
        "list": (pa.large_list(pa.float32()), cells([1.0, 2.0], [3.0, 4.0])),
        "fixed": (pa.list_(pa.int32(), 2), cells([1, 2], [3, 4])),
    }
    schema = pa.schema(
        [pa.field(name, kind, metadata={"unit": name}) for name, (kind, _) in fields.items()],
        metadata={"source": "survey"},
    )
    whole = pa.table([pa.array(v, kind) for kind, v in fields.values()], schema=schema)
    # The second and the third chunk have other dictionaries.
    table = pa.concat_tables([whole.slice(0, 5), whole.slice(5, 3), whole.slice(8)])
    result = filled(table)
    assert result.schema.equals(schema, check_metadata=True)
    assert [column.null_count for column in result.columns] == [0] * len(fields)
    for name in fields:
        before, after = table[name].to_pylist(), result[name].to_pylist()
        assert [b for b in before if b is not None] == [
            a for a, b in zip(after, before, strict=True) if b is not None
        ]
    batch = whole.combine_chunks().to_batches()[0]
    assert isinstance(filled(batch), pa.RecordBatch) and filled(batch).schema.equals(schema)


def test_other_objects_with_an_arrow_stream_give_arrow_tables() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"x": cells(1.5, 2.5), "y": cells(3.5, 4.5)})
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert filled(reader, rows=ROWS)["x"].null_count == 0

    class Stream:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return table.__arrow_c_stream__(requested_schema)

    assert isinstance(filled(Stream()), pa.Table)
    assert edge_table_of(Stream()).names == ["x", "y"]


def test_duckdb_relations() -> None:
    duckdb, pa = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    rows = ", ".join(f"({row}, {'null' if row % 5 == 1 else row * 0.5})" for row in range(ROWS))
    result = filled(duckdb.sql(f"select * from (values {rows}) as t(id, x)"))
    assert isinstance(result, pa.Table) and result["x"].null_count == 0


def test_narwhals_frames_stay_narwhals() -> None:
    nw, pl = pytest.importorskip("narwhals"), pytest.importorskip("polars")
    pd = pytest.importorskip("pandas")
    for inner in (pl.DataFrame({"x": cells(1.5, 2.5)}), pd.DataFrame({"x": cells(1.5, 2.5)})):
        result = filled(nw.from_native(inner))
        assert isinstance(result, nw.DataFrame) and type(result.to_native()) is type(inner)
        assert result["x"].null_count() == 0
        ends = inner.assign(y=inner["x"]) if isinstance(inner, pd.DataFrame) else inner.with_columns(y="x")
        assert edge_table_of(nw.from_native(ends)).names == ["x", "y"]
    lazy = nw.from_native(pl.LazyFrame({"x": cells(1.5, 2.5)}))
    assert isinstance(filled(lazy), nw.DataFrame)


@pytest.mark.parametrize("width", [2, 99, 100, 130])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f8", "longdouble"])
def test_arrays_of_floats(dtype: str, width: int) -> None:
    array = np.random.default_rng(0).normal(size=(ROWS, width)).astype(dtype)
    array[1, :] = np.nan
    array[3, 1] = np.nan
    before = array.copy()
    nodes = nodes_of(array)
    assert nodes.table.names == (["x"] if width >= 100 else [f"x{at}" for at in range(width)])
    assert set(nodes.types.values()) <= {"number"}
    result = filled(array)
    known = ~np.isnan(before)
    assert type(result) is np.ndarray and result.dtype == array.dtype
    assert np.array_equal(result[known], before[known]) and not np.isnan(result).any()
    assert np.array_equal(array, before, equal_nan=True)


@pytest.mark.parametrize("dtype", ["i1", "u8", "i8", "bool"])
def test_arrays_without_missing_cells(dtype: str) -> None:
    array = np.arange(ROWS * 3).reshape(ROWS, 3).astype(dtype)
    result = filled(array)
    assert result.dtype == array.dtype and np.array_equal(result, array)


def test_masked_arrays() -> None:
    array = np.ma.masked_array(np.arange(ROWS * 2).reshape(ROWS, 2), mask=False)
    array[1, 0] = np.ma.masked
    result = filled(array)
    assert type(result) is np.ndarray and result.dtype == array.dtype
    known = ~np.ma.getmaskarray(array)
    assert np.array_equal(result[known], array.data[known])


def test_other_layouts_of_arrays() -> None:
    array = np.asfortranarray(np.random.default_rng(0).normal(size=(ROWS, 6)))[::2, ::2]
    array[1, 0] = np.nan
    result = filled(array)
    assert not np.isnan(result).any() and result.shape == (6, 3)
    assert type(filled(array.view(np.matrix))) is np.matrix


@pytest.mark.parametrize("make", ["csr_array", "csr_matrix"])
@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sparse_matrices(layout: str, make: str, dtype: str) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    random = np.random.default_rng(0)
    dense = random.normal(size=(ROWS, 6)) * (random.random((ROWS, 6)) < 0.4)
    dense[2, 3] = dense[5, 0] = np.nan
    matrix = getattr(sparse, make)(dense.astype(dtype)).asformat(layout)
    before = matrix.toarray()
    result = filled(matrix)
    assert type(result) is type(matrix) and result.dtype == matrix.dtype
    after = result.toarray()
    assert np.array_equal(after[~np.isnan(before)], before[~np.isnan(before)])
    assert not np.isnan(after).any()
    assert np.array_equal(matrix.toarray(), before, equal_nan=True)


def test_sparse_entries_that_are_stored_twice() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    rows, columns = [0, 0, 1, 2, 3], [0, 0, 1, 0, 1]
    matrix = sparse.coo_array(([1.0, 2.0, np.nan, 4.0, 5.0], (rows, columns)), shape=(4, 2))
    assert filled(matrix).toarray()[0, 0] == 3.0


def test_tables_of_array_users_come_in_pandas() -> None:
    pd = pytest.importorskip("pandas")
    nodes = nodes_of(np.zeros((3, 2)))
    frame = nodes.frame(nodes.table)
    assert isinstance(frame, pd.DataFrame) and list(frame.columns) == ["x0", "x1"]


REFUSED: dict[str, tuple[Any, str]] = {
    "1-D array": (np.zeros(3), "reshape"),
    "3-D array": (np.zeros((2, 2, 2)), "reshape"),
    "objects": (np.zeros((2, 2), object), "astype"),
    "texts": (np.array([["a"]]), "frame"),
    "complex": (np.zeros((2, 2), complex), "array.real"),
    "structured": (np.zeros(2, [("a", "f8")]), "pandas.DataFrame"),
    "no columns": (np.zeros((2, 0)), "at least one"),
    "dict": ({"a": [1.0]}, "frame"),
    "list": ([[1.0]], "frame"),
    "number": (3, "table"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_objects_name_the_way_out(name: str) -> None:
    obj, advice = REFUSED[name]
    with pytest.raises(DataError, match="to fix it, ") as error:
        nodes_of(obj)
    assert advice in str(error.value).split("to fix it")[1]


def test_single_columns_are_refused() -> None:
    pd, pl, pa = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    for obj in (pd.Series([1.0]), pl.Series([1.0]), pa.chunked_array([[1.0]])):
        with pytest.raises(DataError, match=r"make a (frame|table) of it"):
            nodes_of(obj)


def test_edges_of_polars_and_arrow() -> None:
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    edges = {"source": [1, 2], "target": [2, 3], "note": [{"a": 1}, {"a": 2}]}
    for frame in (pl.DataFrame(edges), pl.LazyFrame(edges), pa.table(edges)):
        assert edge_table_of(frame).names == ["source", "target"]
    with pytest.raises(DataError, match="table of edges"):
        edge_table_of(3)


def test_names_of_labels() -> None:
    assert column_name(3) == "3" and column_name(("a", 1)) == "a_1" and column_name("x") == "x"


def test_equal_names_in_arrow_are_an_error() -> None:
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(DataError, match="rename"):
        nodes_of(pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"]))


def test_without_pyarrow_streams_give_native_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    pl = pytest.importorskip("polars")
    from graphfill._frames import _arrow

    monkeypatch.setattr(_arrow, "is_importable", lambda package: False)

    class Stream:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return pl.DataFrame({"x": cells(1.5, 2.5)}).__arrow_c_stream__(requested_schema)

    assert isinstance(filled(Stream()), _native.Table)


def test_frames_without_edges() -> None:
    pa, pd, pl = (pytest.importorskip(name) for name in ("pyarrow", "pandas", "polars"))
    nodes = pl.DataFrame({"id": ["a", "b", "c"], "x": [1.0, None, 3.0]})
    none = {"source": [], "target": []}
    typed = pd.DataFrame({"source": ["a"], "target": ["b"]}).iloc[:0]
    for edges in (pd.DataFrame(none), typed, pl.DataFrame(none), pa.table(none), pa.table(typed)):
        with pytest.warns(GraphfillWarning, match="there are no edges"):
            assert gf.fill(nodes, edges, method="column-mean").nodes["x"].to_list() == [1.0, 2.0, 3.0]


def test_frames_that_have_not_two_columns_of_ids() -> None:
    pa, pd, pl = (pytest.importorskip(name) for name in ("pyarrow", "pandas", "polars"))
    nodes = pl.DataFrame({"id": ["a", "b", "c"], "x": [1.0, None, 3.0]})
    for edges in (pd.DataFrame(), pl.DataFrame(), pa.table({})):
        with pytest.raises(DataError, match="two columns of ids, found no column") as found:
            gf.fill(nodes, edges)
        assert found.value.keywords == ()
    one = {"source": ["a", "b"]}
    for edges in (pd.DataFrame(one), pl.DataFrame(one), pa.table(one)):
        with pytest.raises(DataError, match="two columns of ids, found the column 'source' alone"):
            gf.fill(nodes, edges)
    gone = {"source": ["a", "b"], "target": [None, None]}
    for edges in (pd.DataFrame(gone), pl.DataFrame(gone), pa.table(gone)):
        with pytest.raises(DataError, match="cannot be read from column 'target': every cell is missing") as found:
            gf.fill(nodes, edges)
        assert found.value.column == "target"
