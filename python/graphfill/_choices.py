"""What was chosen for each column: the method, its parameters, its score and the reason."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

__all__ = ["Choice", "Score", "choices_of"]


@dataclass(frozen=True)
class Score:
    """How good estimates were on cells that were hidden for validation."""

    #: What was measured: "rmse" (less is better), "hit rate" or "recall@k" (more is better). The hit rate of a
    #: boolean or category is the share of the hidden cells whose level was estimated right.
    measure: str
    #: The value.
    value: float
    #: The share that the most frequent level would have got right, beside a hit rate.
    most_frequent: float | None = None

    def __str__(self) -> str:
        if self.most_frequent is not None:
            return f"{self.measure} {self.value:.3g} (most frequent level: {self.most_frequent:.3g})"
        return f"{self.measure} {self.value:.4g}"


@dataclass(frozen=True)
class Choice:
    """What was chosen for one column."""

    #: The column.
    column: str
    #: The method that estimates it.
    method: str
    #: The method's parameters.
    parameters: dict[str, Any]
    #: The score on hidden cells, where there were any.
    score: Score | None
    #: Why this method, in words, where there was something to weigh.
    reason: str | None


def choices_of(text: str) -> list[Choice]:
    """Choices from the JSON of the native module."""
    return [
        Choice(
            column=choice["group"],
            method=choice["method"],
            parameters=dict(choice["parameters"]),
            score=_score(choice["validation"]),
            reason=choice["reason"],
        )
        for choice in json.loads(text)
    ]


def _score(score: dict[str, Any] | None) -> Score | None:
    if score is None:
        return None
    rate = score["hit_rate"]
    if rate is not None:
        return Score("hit rate", rate["value"], rate["most_frequent"])
    measure = score["measure"]
    if isinstance(measure, dict):
        return Score(f"recall@{measure['Recall']['at']}", score["value"])
    return Score("rmse", score["value"])
