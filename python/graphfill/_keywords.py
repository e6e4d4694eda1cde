"""Keywords of calls as flags of the command line: one spelling, one set of defaults, one check of values."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal, TypedDict

from graphfill.errors import CallError

__all__ = ["FillKeywords", "flags_of"]

Kind = Literal["number", "count", "boolean", "category", "date", "unused"]
Path = str | os.PathLike[str]
Parameters = Mapping[str, float | int | str | bool]


class FillKeywords(TypedDict, total=False):
    """The keywords of :func:`graphfill.fill`; each equals the flag of ``graphfill fill``."""

    param: Parameters | None
    seed: int
    intervals: float | Sequence[float] | None
    id: str | None
    source: str | None
    target: str | None
    weight: str | None
    label: str | None
    type: Mapping[str, Kind] | None
    types_file: Path | None
    missing_values: str | float | Sequence[str | float] | None
    delimiter: str | None
    edges_delimiter: str | None
    header: bool | Literal["yes", "no"] | None
    edges_header: bool | Literal["yes", "no"] | None
    encoding: str | None
    edges_encoding: str | None
    decimal: Literal[".", ","] | None
    dates: Literal["day-first", "month-first"] | None
    directed: bool
    undirected: bool
    duplicate_edges: Literal["max", "sum", "mean"]
    unknown_nodes: Literal["error", "skip", "add"]
    max_updates: int | None
    time_limit: float | str | timedelta | None
    memory_limit: int | str | None
    params_file: Path | None
    tune: int | None
    checkpoint: Path | None
    checkpoint_every: int
    device: str
    precision: Literal["f32", "tf32", "bf16"]
    threads: int | None
    quiet: bool


#: Values that say nothing: the command line has the same defaults, and some of them in the environment.
_DEFAULTS: dict[str, Any] = {
    "method": "auto",
    "seed": 0,
    "directed": False,
    "undirected": False,
    "duplicate_edges": "max",
    "unknown_nodes": "error",
    "checkpoint_every": 100,
    "device": "auto",
    "precision": "tf32",
    "quiet": False,
    "label_share": 0.0,
}


def flags_of(keywords: Mapping[str, Any], method: str | None = None) -> list[str]:
    """Keywords as flags, ``max_updates=50`` as ``--max-updates=50``.

    Parameters without a method in their name are those of ``method``.
    """
    flags: list[str] = []
    for name, value in keywords.items():
        if value is None or is_default(name, value):
            continue
        flag = "--" + name.replace("_", "-")
        if name == "param":
            flags += [f"{flag}={entry}" for entry in _parameters(value, method)]
        elif name == "type":
            flags += [f"{flag}={column}={kind}" for column, kind in value.items()]
        elif isinstance(value, bool) and name not in ("header", "edges_header"):
            if value:
                flags.append(flag)
        else:
            flags.append(f"{flag}={_text(name, value)}")
    return flags


def is_default(name: str, value: Any) -> bool:
    """Whether a keyword says what its absence says, too."""
    return name in _DEFAULTS and bool(value == _DEFAULTS[name])


def _parameters(value: Any, method: str | None) -> Iterable[str]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, Mapping):
        return list(value)
    spelled = []
    for name, given in value.items():
        if "." not in name:
            if method is None or method == "auto":
                raise CallError(
                    f"param: '{name}' does not say whose parameter it is\n  write METHOD.{name}, such as svga-p.{name}"
                )
            name = f"{method}.{name}"
        if isinstance(given, bool):
            given = "yes" if given else "no"
        spelled.append(f"{name}={given}")
    return spelled


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name == "time_limit" and isinstance(value, timedelta):
        return f"{value.total_seconds()}s"
    if name == "time_limit" and isinstance(value, int | float):
        return f"{value}s"
    if name == "split" and not isinstance(value, str):
        return ":".join(str(share) for share in value)
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, Iterable) and not isinstance(value, str):
        items = [str(item) for item in value]
        if not items:
            raise CallError(f"{name}: expected at least one value, found none")
        with_comma = next((item for item in items if "," in item), None)
        if with_comma is not None:
            raise CallError(f"{name}: '{with_comma}' has a comma, which separates values")
        return ",".join(items)
    return str(value)
