"""What strengths of methods say of their order: a scale like Elo's, ranks, predicted win rates, circular triads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import exp, log

import numpy as np

from annotation.analysis.records import Estimate
from annotation.analysis.statistics.matrix import Values

_BASE, _STEP = 1500.0, 400 / log(10)


def elo(strength: float) -> float:
    """1500 for the mean; 400 points are odds of 10 to 1."""
    return _BASE + _STEP * strength


def predicted(one: float, other: float) -> float:
    """The share of preferences for the first of two strengths by Bradley and Terry's model, ties counting half."""
    return 1 / (1 + exp(other - one))


def ranks(strengths: Values) -> Values:
    """``[draws, methods]``: 1 for the strongest; equal ones share the better rank. A draw without a fit stays nan."""
    stronger = (strengths[:, None, :] > strengths[:, :, None]).sum(axis=2) + 1.0
    return np.where(np.isnan(strengths), np.nan, stronger)


def rank_estimate(rank: int, drawn: Values, n: int) -> Estimate:
    """``drawn``: ``[draws]``. From the 2.5th to the 97.5th percentile, which are ranks that were drawn."""
    there = drawn[~np.isnan(drawn)]
    if not len(there):
        return Estimate(rank, n)
    low, high = np.percentile(there, (2.5, 97.5), method="closest_observation")
    return Estimate(rank, n, float(low), float(high))


def circular_triads(preferred: Mapping[tuple[str, str], float]) -> tuple[list[tuple[str, str, str]], int]:
    """Triads of which each is preferred to the next, and the last to the first; and the number of triads whose three
    pairs were compared. ``preferred``: share of preferences for the first of a pair; one half is no order."""
    share = {**preferred, **{(b, a): 1 - value for (a, b), value in preferred.items()}}
    names: Sequence[str] = sorted({name for pair in preferred for name in pair})
    compared = [triad for triad in combinations(names, 3) if all(pair in share for pair in combinations(triad, 2))]
    found = []
    for a, b, c in compared:
        for one, two, three in ((a, b, c), (a, c, b)):
            if share[one, two] > 0.5 and share[two, three] > 0.5 and share[three, one] > 0.5:
                found.append((one, two, three))
    return found, len(compared)
