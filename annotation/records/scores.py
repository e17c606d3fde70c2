"""Scores of a study's items by something other than people: metrics of sets, language models of sessions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

NAME_LIMIT = 60
"""Maximum length of a metric's name."""


@dataclass(frozen=True)
class Scored:
    """What of an item has a score: ``each`` of them, ``what`` in words. ``values``: those allowed; None: any number."""

    what: str
    each: int
    values: frozenset[float] | None = None


SCORED = {"preference": Scored("set", 2), "sessions": Scored("question", 5, frozenset({1.0, 2.0, 3.0, 4.0, 5.0}))}
"""By kind of study. Other kinds have no scores."""


@dataclass(frozen=True)
class MetricScores:
    """Scores of one metric: ``scores[item_id, 1 | 2]``, without sets that have no score. In a session study, those of a
    language model: ``scores[item_id, n]`` is its answer to question n, from 1."""

    name: str                      # "recall@5"
    description: str               # one sentence: definition and source
    scores: Mapping[tuple[str, int], float]
    notes: tuple[str, ...] = ()
