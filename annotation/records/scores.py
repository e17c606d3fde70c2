"""Scores of a study's items by something other than people: metrics of sets, language models of sessions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SCORES_PER_ITEM = {"preference": 2, "sessions": 5}
"""By kind of study: one for each set of an item, or for each question about a session. Other kinds have no scores."""
SESSION_SCORES = frozenset({1.0, 2.0, 3.0, 4.0, 5.0})
NAME_LIMIT = 60
"""Maximum length of a metric's name."""


@dataclass(frozen=True)
class MetricScores:
    """Scores of one metric: ``scores[item_id, 1 | 2]``, without sets that have no score. In a session study, those of a
    language model: ``scores[item_id, n]`` is its answer to question n, from 1."""

    name: str                      # "recall@5"
    description: str               # one sentence: definition and source
    scores: Mapping[tuple[str, int], float]
    notes: tuple[str, ...] = ()
