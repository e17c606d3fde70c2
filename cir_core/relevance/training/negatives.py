"""The two ways to choose training negatives from the scores of the current model."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Rule = Literal["top", "drops", "random"]
"""``top``: CIRQRS; ``drops``: QuRe; ``random``: all images but the target, for comparison."""

_APART = 1   # QuRe's consecutive_threshold: ranks between the two drops


def top_below_target(scores: npt.NDArray[np.float32], target: int, n: int) -> npt.NDArray[np.int64]:
    """Rows of the ``n`` highest scores strictly below the target's, best first; equal scores by row.

    CIRQRS, section 3.3: images above the target may fit as well and are never negatives. Fewer than ``n`` below: what
    exists; none: all other rows (T-20).
    """
    below = np.flatnonzero(scores < scores[target])
    if not len(below):
        return np.delete(np.arange(len(scores)), target)
    return below[np.argsort(-scores[below], kind="stable")[:n]]


def between_drops(scores: npt.NDArray[np.float32], target: int) -> npt.NDArray[np.int64]:
    """Rows ranked between the two steepest drops below the target, best first (QuRe).

    Below the target's rank, drops between neighbours are ordered by steepness; the first two neighbours in that order
    whose ranks are more than one apart enclose the negatives. What is before the first drop may be a false negative,
    what is after the second is too easy. No such pair: all rows below the target; none below: all other rows.
    """
    order = np.argsort(-scores, kind="stable")
    place = int(np.flatnonzero(order == target)[0])
    below = order[place + 1 :]
    drops = scores[order[place:-1]] - scores[below]           # drops[i]: from rank place + i to the next
    steepest = np.argsort(-drops, kind="stable")
    for one, other in zip(steepest[:-1], steepest[1:], strict=True):
        if abs(int(one) - int(other)) > _APART:
            first, last = sorted((int(one), int(other)))
            return below[first : last]
    return below if len(below) else np.delete(np.arange(len(scores)), target)


@dataclass(frozen=True)
class Schedule:
    """When negatives are chosen anew, and how many (CIRQRS, Algorithm 1 as read in T-20).

    ``epochs // stages`` epochs are the warm-up, with all images but the target; at every multiple of that the current
    model chooses ``n``, which is halved each time.
    """

    epochs: int
    stages: int
    n: int

    def __post_init__(self) -> None:
        if not 1 <= self.stages <= self.epochs or self.n < 1:
            raise ValueError(f"{self.epochs} epochs cannot have {self.stages} stages of {self.n} negatives. Give one "
                             "stage at least, as many as epochs at most, and one negative at least.")

    @property
    def interval(self) -> int:
        return self.epochs // self.stages

    def rebuild(self, epoch: int) -> int | None:
        """How many negatives are chosen before ``epoch`` (from 0); ``None``: those of before stay."""
        if epoch == 0 or epoch % self.interval:
            return None
        return max(self.n >> (epoch // self.interval - 1), 1)

    @property
    def rebuilds(self) -> tuple[tuple[int, int], ...]:
        """All (epoch, number of negatives)."""
        found = ((epoch, self.rebuild(epoch)) for epoch in range(self.epochs))
        return tuple((epoch, n) for epoch, n in found if n is not None)


def drawn(
    chosen: npt.NDArray[np.int64], target: int, rng: random.Random, *, since: int, query: int, seed: int, repeated: bool
) -> int:
    """One of ``chosen`` but the target. ``repeated`` False: each once before any again, by a shuffle that depends on
    ``seed`` and ``query`` and is gone through by ``since``, the epochs since they were chosen."""
    if not repeated and len(chosen) > 1:
        others = chosen[chosen != target]
        return int(random.Random(f"{seed}/{query}/{since // len(others)}").sample(others.tolist(), len(others))[
            since % len(others)])
    while True:
        found = int(chosen[rng.randrange(len(chosen))])
        if found != target or len(chosen) == 1:
            return found
