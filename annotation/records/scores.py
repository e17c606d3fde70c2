"""Metric scores of the sets of a preference study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

NAME_LIMIT = 60
"""Maximum length of a metric's name."""


@dataclass(frozen=True)
class MetricScores:
    """Scores of one metric: ``scores[item_id, 1 | 2]``, without sets that have no score."""

    name: str                      # "recall@5"
    description: str               # one sentence: definition and source
    scores: Mapping[tuple[str, int], float]
    notes: tuple[str, ...] = ()
