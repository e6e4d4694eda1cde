"""Arrow columns: which types take part, and estimates put into a column of any of them."""

from __future__ import annotations

import decimal
from typing import Any

from graphfill._frames._base import is_importable, listed, merged_list
from graphfill._frames._numpy import cast


def reason_against(column: Any) -> str | None:
    """Why a pyarrow column cannot take part; None where it can."""
    import pyarrow as pa

    kind = column.type
    types = pa.types
    if types.is_null(kind) or (len(column) > 0 and column.null_count == len(column)):
        return "every cell is missing"
    if types.is_dictionary(kind):
        # Levels of every type that has a text.
        return None if _has_text(kind.value_type) else _unsupported(kind)
    if is_list(kind):
        number = types.is_boolean(kind.value_type) or _is_number(kind.value_type)
        return list_reason(number, lambda: _list_lengths(column))
    if _has_text(kind) or types.is_boolean(kind):
        return None
    return _unsupported(kind)


def list_reason(number: bool, lengths: Any) -> str | None:
    """Why a column of lists is no block; ``lengths`` gives their different lengths."""
    if not number:
        return "its lists are not numbers"
    found = lengths()
    return None if len(found) == 1 and 0 not in found else "its lists are not of one length"


def is_list(kind: Any) -> bool:
    """Whether this type is a list that may be a block."""
    from pyarrow import types

    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _list_lengths(column: Any) -> set[int]:
    import pyarrow.compute

    pc: Any = pyarrow.compute  # its functions are generated when it is imported
    return set(pc.unique(pc.list_value_length(column).drop_null()).to_pylist())


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _has_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(
        _is_text(kind) or _is_number(kind) or types.is_timestamp(kind) or types.is_date(kind)
    )


def _unsupported(kind: Any) -> str:
    return f"there are no estimates for the type {kind}"


def crossing_array(column: Any) -> Any:
    """The column as it crosses: levels of categories as text, the rest as it is."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type) or _is_text(column.type.value_type):
        return column
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices, _level_texts(chunk.dictionary))
        for chunk in _chunks(column)
    ]
    kind = pa.dictionary(column.type.index_type, pa.string())
    return pa.chunked_array(chunks, type=kind)


def _level_texts(levels: Any) -> Any:
    import pyarrow as pa

    return pa.array([str(level) for level in levels.to_pylist()], pa.string())


def _chunks(column: Any) -> list[Any]:
    chunks: list[Any] = column.chunks if hasattr(column, "chunks") else [column]
    return chunks


def patched_array(column: Any, rows: Any, estimates: Any) -> Any:
    """A chunked array of the same type with estimates at ``rows``, otherwise unchanged."""
    import pyarrow as pa

    if pa.types.is_string_view(column.type):
        # pyarrow cannot take from views of text.
        return patched_array(column.cast(pa.large_string()), rows, estimates).cast(column.type)
    if pa.types.is_dictionary(column.type):
        return _patched_levels(column, rows, listed(estimates))
    new = _cells(column, rows, estimates)
    joined = pa.chunked_array([*_chunks(column), new], type=column.type)
    return joined.take(pa.array(patch_order(len(column), rows), pa.int64()))


def patch_order(length: int, rows: Any) -> Any:
    """Positions in a column with estimates behind it: those of the estimates at ``rows``."""
    if not is_importable("numpy"):
        order = list(range(length))
        for position, row in enumerate(listed(rows), start=length):
            order[row] = position
        return order
    import numpy as np

    positions = np.arange(length)
    positions[np.asarray(rows)] = np.arange(length, length + len(np.asarray(rows)))
    return positions


def _cells(column: Any, rows: Any, estimates: Any) -> Any:
    """Estimates as an array of the type of the column."""
    import pyarrow as pa

    kind, types = column.type, pa.types
    if (types.is_integer(kind) or types.is_floating(kind)) and is_importable("numpy"):
        import numpy as np

        return pa.array(cast(estimates, np.dtype(kind.to_pandas_dtype())), kind)
    values = listed(estimates)
    if is_list(kind):
        observed = column.take(pa.array(listed(rows), pa.int64())).to_pylist()
        whole = types.is_integer(kind.value_type)
        exact = [[round(v) for v in row] for row in values] if whole else values
        merged = [merged_list(*pair) for pair in zip(observed, exact, strict=True)]
        if types.is_boolean(kind.value_type):
            merged = [[bool(entry) for entry in row] for row in merged]
        if types.is_decimal(kind.value_type):
            inner = kind.value_type
            merged = [decimals(row, inner.precision, inner.scale) for row in merged]
        return pa.array(merged, kind)
    if types.is_boolean(kind):
        return pa.array([bool(value) for value in values], kind)
    if types.is_integer(kind):
        low, high = _range(kind)
        return pa.array([min(max(round(value), low), high) for value in values], kind)
    if types.is_decimal(kind):
        return pa.array(decimals(values, kind.precision, kind.scale), kind)
    if types.is_date32(kind):
        return pa.array(values, pa.int32()).cast(kind)
    if types.is_timestamp(kind) or types.is_date64(kind):
        return pa.array(values, pa.int64()).cast(kind)
    if types.is_float16(kind):
        return pa.array(values, pa.float32()).cast(kind)
    return pa.array(values, kind)


def _patched_levels(column: Any, rows: Any, texts: list[str]) -> Any:
    import pyarrow as pa

    kind = column.type
    # pyarrow cannot unify dictionaries of views of text.
    stored = pa.large_string() if pa.types.is_string_view(kind.value_type) else kind.value_type
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(stored))
        for chunk in _chunks(column)
    ]
    unified = pa.chunked_array(chunks).unify_dictionaries()
    levels = unified.chunk(0).dictionary
    codes = {str(level): code for code, level in enumerate(levels.to_pylist())}
    new = pa.array([codes[text] for text in texts], kind.index_type)
    indices = pa.chunked_array([*(chunk.indices for chunk in unified.chunks), new])
    taken = indices.take(pa.array(patch_order(len(column), rows), pa.int64())).combine_chunks()
    cells = pa.DictionaryArray.from_arrays(
        taken, levels.cast(kind.value_type), ordered=kind.ordered
    )
    return pa.chunked_array([cells], type=kind)


def _range(kind: Any) -> tuple[int, int]:
    from pyarrow import types

    bits = kind.bit_width
    if types.is_unsigned_integer(kind):
        return 0, 2**bits - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def decimals(values: list[Any], precision: int, scale: int) -> list[decimal.Decimal]:
    """Numbers with ``scale`` decimal places and at most ``precision`` digits."""
    with decimal.localcontext(prec=max(precision, 28) + 10):
        quantum = decimal.Decimal(1).scaleb(-scale)
        top: decimal.Decimal = decimal.Decimal(10) ** (precision - scale) - quantum
        exact = [decimal.Decimal(str(value)).quantize(quantum) for value in values]
        return [min(max(value, -top), top) for value in exact]
