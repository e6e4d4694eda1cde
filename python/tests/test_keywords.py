"""Every keyword of `fill` and `evaluate` is a flag of the command line in the same spelling, and the reverse."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import graphfill as gf
from graphfill import _native
from graphfill._keywords import FillKeywords

# Flags that have no keyword, and what stands in their place.
GENERAL_FLAGS = {
    "color": "messages are warnings, and nothing is printed in colour",
    "format": "results are objects",
    "help": "help(graphfill.fill)",
    "history": "FillResult.history, Model.history; Evaluation.data",
    "verbose": "progress is a bar or a callback, and notes are in the result",
}
FLAGS_WITHOUT_KEYWORD = {
    "fill": GENERAL_FLAGS
    | {
        "output": "FillResult.nodes",
        "uncertainty": "FillResult.uncertainty",
        "draws": "FillResult.draws(n)",
        "report": "FillResult.report(path)",
        "model": "graphfill.load(path).transform(nodes, edges)",
    },
    "evaluate": GENERAL_FLAGS
    | {
        "report": "Evaluation.report(path)",
    },
}
# Keywords that have no flag.
KEYWORDS_WITHOUT_FLAG = {
    "nodes": "the first file on the command line",
    "edges": "the second file on the command line",
    "progress": "a callback; on the command line a terminal has a bar, unless --quiet",
}
FUNCTIONS: dict[str, Callable[..., Any]] = {"fill": gf.fill, "evaluate": gf.evaluate}


def keywords_of(function: Callable[..., Any]) -> set[str]:
    parameters = inspect.signature(function).parameters.values()
    assert not [parameter for parameter in parameters if parameter.kind is parameter.VAR_KEYWORD]
    return {parameter.name for parameter in parameters}


@pytest.mark.parametrize("command", FUNCTIONS)
def test_every_flag_is_a_keyword(command: str) -> None:
    flags = {flag.replace("-", "_") for flag in _native.flags(command)}
    assert {"method" if command == "fill" else "methods", "max_updates", "device", "threads"} <= flags
    without = FLAGS_WITHOUT_KEYWORD[command]
    assert flags - keywords_of(FUNCTIONS[command]) - set(without) == set()
    # An exception that has become a keyword, or whose flag is gone, is no exception.
    assert set(without) - {"help"} <= flags - keywords_of(FUNCTIONS[command])


@pytest.mark.parametrize("command", FUNCTIONS)
def test_every_keyword_is_a_flag(command: str) -> None:
    flags = {flag.replace("-", "_") for flag in _native.flags(command)}
    assert keywords_of(FUNCTIONS[command]) - flags == set(KEYWORDS_WITHOUT_FLAG)


@pytest.mark.parametrize("command", FUNCTIONS)
def test_options_are_keyword_only(command: str) -> None:
    parameters = inspect.signature(FUNCTIONS[command]).parameters
    for name, parameter in parameters.items():
        positional = parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        assert positional == (name in {"nodes", "edges"}), name


@pytest.mark.parametrize("command", FUNCTIONS)
def test_every_keyword_is_documented(command: str) -> None:
    # The documentation of `evaluate` refers to that of `fill`.
    text = f"{inspect.getdoc(FUNCTIONS[command])}{inspect.getdoc(gf.fill)}"
    for name in inspect.signature(FUNCTIONS[command]).parameters:
        assert name in text, name


def test_methods_take_the_keywords_of_fill() -> None:
    keywords = keywords_of(gf.fill) - set(KEYWORDS_WITHOUT_FLAG) - {"method"}
    assert set(FillKeywords.__annotations__) - {"method"} == keywords


def test_an_unknown_keyword_is_an_error_that_names_it() -> None:
    with pytest.raises(TypeError, match="frobnicate"):
        gf.fill([[1.0]], frobnicate=1)  # type: ignore[call-arg]
