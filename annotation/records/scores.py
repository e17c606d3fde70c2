"""What metrics give the sets of a preference study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

NAME_LIMIT = 60
"""Characters of a metric's name."""


@dataclass(frozen=True)
class MetricScores:
    """What a metric gives each set: ``scores[item_id, 1 | 2]``. Sets without a score are not in it."""

    name: str                      # "recall@5"
    description: str               # one sentence: what it is and where it comes from
    scores: Mapping[tuple[str, int], float]
    notes: tuple[str, ...] = ()
