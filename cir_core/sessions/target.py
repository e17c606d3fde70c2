"""Find-a-target mode: challenges, and how an attempt went."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cir_core.errors import SearchError
from cir_core.evaluation.metrics.consistency import RankSetback, RepeatedText
from cir_core.search.searcher import Searcher
from cir_core.support.texts import quoted
from cir_core.types.records import SearchSession, Turn

# The start is ranked beyond the first page around the target but within its
# neighbourhood: near enough to describe the difference, too far to see the target at once.
NEAREST, FARTHEST = 40, 600


@dataclass(frozen=True)
class Challenge:
    target_id: str
    reference_id: str


@dataclass(frozen=True)
class TargetTrace:
    """``ranks[i]`` is the target's rank after turn i + 1 of the branch."""

    target_id: str
    ranks: tuple[int, ...]
    setbacks: tuple[RankSetback, ...]
    repeats: tuple[RepeatedText, ...]

    @property
    def best(self) -> int | None:
        return min(self.ranks, default=None)


def deal_challenge(searcher: Searcher, seed: int | None = None) -> Challenge:
    """Draw a target, and a reference from its wider neighbourhood."""
    ids = searcher.gallery.ids
    if len(ids) < 2:
        raise SearchError(f"Gallery {quoted(searcher.gallery.name)} needs at least two images for a target.")
    rng = random.Random(seed)
    row = rng.randrange(len(ids))
    order = np.argsort(-(searcher.gallery.features @ searcher.gallery.features[row]), kind="stable")
    order = order[order != row]
    nearest = min(NEAREST, len(order) - 1)
    pool = order[nearest:FARTHEST] if nearest < FARTHEST else order
    return Challenge(ids[row], ids[int(rng.choice(list(pool)))])


def ranked_turns(path: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns of ``path`` that count towards the target: those before its end."""
    return tuple(turn for turn in path if turn.target_rank is not None)


def attempt(session: SearchSession) -> tuple[Turn, ...]:
    """The path to the last turn that counts."""
    counted = ranked_turns(session.turns)
    return ranked_turns(session.path_to(counted[-1].turn_id)) if counted else ()


