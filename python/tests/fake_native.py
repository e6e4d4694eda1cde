"""A stand-in for graphfill._native on top of pyarrow."""
from __future__ import annotations
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def unviewed(c):
    if pa.types.is_dictionary(c.type): return pa.chunked_array([pa.DictionaryArray.from_arrays(k.indices, k.dictionary.cast(pa.string())) for k in c.chunks])
    return c.cast(pa.string()) if pa.types.is_string_view(c.type) else c


class Table:
    def __init__(self): self.columns = {}; self.blocks = {}
    @staticmethod
    def from_stream(frame):
        table = Table()
        source = pa.table(frame)
        for name, column in zip(source.column_names, source.columns): table.columns[name] = unviewed(column)
        return table
    def add_stream(self, name, column): self.columns[name] = pa.chunked_array(column) if not isinstance(column, pa.ChunkedArray) else column
    def add_numbers(self, name, values, missing=None, share=False):
        values = np.array(memoryview(values))
        missing = np.zeros(len(values), bool) if missing is None else np.asarray(missing).astype(bool)
        if values.dtype.kind == "f": missing = missing | np.isnan(values)
        self.columns[name] = pa.chunked_array([pa.array(values, mask=missing)])
    def add_datetimes(self, name, values, unit, timezone=None, missing=None, share=False):
        values = np.array(memoryview(values)); assert values.dtype == np.int64
        missing = np.zeros(len(values), bool) if missing is None else np.asarray(missing)
        self.columns[name] = pa.chunked_array([pa.array(values, mask=missing | (values == -2**63)).cast(pa.timestamp(unit, timezone))])
    def add_texts(self, name, values):
        for v in values:
            if v is not None: v.encode()
        self.columns[name] = pa.chunked_array([pa.array(values, pa.string())])
    def add_categories(self, name, codes, levels):
        assert len(set(levels)) == len(levels)
        codes = np.asarray(codes)
        self.columns[name] = pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(levels, pa.string()))])
    def add_block(self, name, values, missing=None):
        values = np.array(memoryview(values)); assert values.dtype in (np.float32, np.float64)
        if missing is not None: values[np.asarray(missing)] = np.nan
        self.columns[name] = pa.chunked_array([pa.array(list(values), pa.list_(pa.float64()))])
    def add_sparse_block(self, name, indptr, indices, values, width, missing=None):
        from scipy import sparse
        self.add_block(name, sparse.csr_array((values, indices, indptr), shape=(len(indptr) - 1, width)).toarray())
    @property
    def rows(self): return max((len(c) for c in self.columns.values()), default=0)
    @property
    def names(self): return list(self.columns)
    def __arrow_c_stream__(self, requested_schema=None): return pa.table(self.columns).__arrow_c_stream__(requested_schema)
    @property
    def kinds(self):
        def kind(t):
            if pa.types.is_timestamp(t): return f"datetime[{t.unit}]" if t.tz is None else f"datetime[{t.unit}, {t.tz}]"
            if pa.types.is_date(t): return "date"
            if pa.types.is_floating(t): return "float"
            if pa.types.is_integer(t): return "int"
            if pa.types.is_boolean(t): return "bool"
            if pa.types.is_list(t): return "block"
            return "text"
        return {n: kind(c.type) for n, c in self.columns.items()}
    def column(self, name):
        column = self.columns[name]; kind = self.kinds[name]
        if kind.startswith("date"): return column.cast(pa.int64()).to_numpy() if not column.null_count else column.cast(pa.int64()).fill_null(-2**63).to_numpy()
        if kind == "text": return column.cast(pa.string()).to_pylist()
        if kind == "float": return column.to_numpy(zero_copy_only=False)
        return column.to_pylist()


class Estimates:
    def __init__(self, rows, values): self.rows = rows; self.values = values


class Filled:
    def __init__(self, table, extra=0, ids=None, intervals=False):
        self.input = table; self.extra = extra; self.ids = ids or {}; self.intervals = intervals
        self.rows = table.rows + extra
        self._estimates = {}
        self._table = Table()
        for name, column in table.columns.items():
            if extra:
                tail = pa.array(self.ids[name], column.type) if name in self.ids else pa.nulls(extra, column.type)
                column = pa.chunked_array([*column.chunks, tail], type=column.type)
            self._table.columns[name] = unviewed(column)
            self._estimate(name, column)
    def _estimate(self, name, column):
        t = pa.types; kind = column.type
        if t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind):
            rows = column.to_pylist()
            width = len(next(r for r in rows if r is not None))
            m = np.array([[np.nan] * width if r is None else [np.nan if v is None else float(v) for v in r] for r in rows])
            bad = np.isnan(m).any(axis=1)
            mean = np.nan_to_num(np.nanmean(m, axis=0)) if len(m) else m
            m = np.where(np.isnan(m), mean, m)
            rows = np.flatnonzero(bad)
            if len(rows): self._estimates[name] = Estimates(rows.astype(np.int64), np.ascontiguousarray(m[rows]))
            return
        missing = column.is_null(nan_is_null=t.is_floating(kind))
        rows = np.flatnonzero(missing.to_numpy(zero_copy_only=False)).astype(np.int64)
        if not len(rows): return
        known = column.filter(pc.invert(missing))
        if not len(known): return
        if t.is_dictionary(kind) or t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind):
            value = pc.mode(pc.dictionary_encode(known.cast(pa.string()).combine_chunks()).indices)[0]["mode"].as_py() if False else known[0].as_py()
            self._estimates[name] = Estimates(rows, [value] * len(rows))
        elif t.is_boolean(kind): self._estimates[name] = Estimates(rows, np.full(len(rows), known[0].as_py(), np.uint8))
        elif t.is_timestamp(kind) or t.is_date(kind):
            ints = known.cast(pa.int32() if t.is_date32(kind) else pa.int64()).to_numpy().astype(np.int64)
            self._estimates[name] = Estimates(rows, np.full(len(rows), int(np.median(ints)), np.int64))
        elif t.is_decimal(kind): self._estimates[name] = Estimates(rows, np.full(len(rows), float(known[0].as_py())))
        else:
            v = known.to_numpy()
            self._estimates[name] = Estimates(rows, np.full(len(rows), np.median(v.astype(float))).astype(v.dtype))
    def estimated_columns(self): return list(self._estimates)
    def estimates(self, name): return self._estimates[name]
    def table(self): return self._table
    def added_columns(self):
        added = Table()
        if self.intervals:
            for name in self._estimates:
                low = np.full(self.rows, np.nan); low[self._estimates[name].rows] = 1.5
                added.add_numbers(name + "__lower", low)
        return added
