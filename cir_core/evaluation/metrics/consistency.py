"""CIRCLED's two quality conditions on a session: ε-consistency and τ-diversity.

Paper definitions 1 and 2 (section 3.3, eq. 3 and 4); thresholds from its section 5.1 (ε = 30, τ = 0.8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cir_core.types.records import Matrix

EPSILON = 30
TAU = 0.8


@dataclass(frozen=True)
class RankSetback:
    """Turn ``turn`` worsened the target's rank by more than ε."""

    turn: int
    before: int
    after: int


@dataclass(frozen=True)
class RepeatedText:
    """The text of ``turn`` repeats the text of ``earlier``."""

    turn: int
    earlier: int
    similarity: float


def rank_setbacks(ranks: Sequence[int], epsilon: int = EPSILON) -> tuple[RankSetback, ...]:
    """Turns after which the rank grew by more than ``epsilon``; exactly ε is allowed."""
    return tuple(
        RankSetback(turn + 2, before, after)
        for turn, (before, after) in enumerate(zip(ranks, ranks[1:], strict=False))
        if after > before + epsilon
    )


def repeated_texts(features: Matrix, tau: float = TAU) -> tuple[RepeatedText, ...]:
    """Turns whose text is at cosine ≥ ``tau`` to an earlier one. ``features``: ``[turns, dim]`` unit rows."""
    found = []
    for turn in range(1, len(features)):
        similarities = features[:turn] @ features[turn]
        closest = int(np.argmax(similarities))
        if similarities[closest] >= tau:
            found.append(RepeatedText(turn + 1, closest + 1, float(similarities[closest])))
    return tuple(found)
