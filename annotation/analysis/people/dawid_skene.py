"""Each person's confusion of the true categories, which nobody knows, by Dawid and Skene (1979): the textbook's EM.

It begins with the shares of each unit's answers (their equation 3.1). It takes people as independent given the truth,
and categories as what most say: two people who copy each other, or a majority that is wrong, mislead it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.analysis.statistics.matrix import Ratings, Values

LEAST_UNITS = 10
"""Units with two answers or more, below which nothing is estimated."""
_TOLERANCE = 1e-9
_ROUNDS = 1000
_TINY = 1e-300


@dataclass(frozen=True)
class Confusions:
    """``rates``: ``[people, true, said]``, rows sum to 1, or to 0 where a person met no unit of that category;
    ``shares``: ``[true]``; ``units``: ``[units, true]``, the probability of each category. ``log_likelihood`` of each
    round, which never falls."""

    rates: Values
    shares: Values
    units: Values
    log_likelihood: tuple[float, ...]


def confusions(counts: Values, *, rounds: int = _ROUNDS, tolerance: float = _TOLERANCE) -> Confusions:
    """``counts``: ``[units, people, categories]``, how often a person said each of a unit; every unit has an answer.
    Ends when no rate and no share moves by ``tolerance`` or more."""
    truth = counts.sum(axis=1)
    truth = truth / truth.sum(axis=1, keepdims=True)
    before: Values | None = None
    said: list[float] = []
    for _ in range(rounds):
        shares = truth.mean(axis=0)
        rates = np.einsum("uj,upk->pjk", truth, counts)
        total = rates.sum(axis=2, keepdims=True)
        rates = np.divide(rates, total, out=np.zeros_like(rates), where=total > 0)
        joint = np.log(np.maximum(shares, _TINY)) + np.einsum("upk,pjk->uj", counts, np.log(np.maximum(rates, _TINY)))
        highest = joint.max(axis=1, keepdims=True)
        scale = np.exp(joint - highest)
        truth = scale / scale.sum(axis=1, keepdims=True)
        said.append(float((highest[:, 0] + np.log(scale.sum(axis=1))).sum()))
        now = np.concatenate([shares, rates.ravel()])
        if before is not None and np.abs(now - before).max() < tolerance:
            break
        before = now
    return Confusions(rates, shares, truth, tuple(said))


def confusions_of(ratings: Ratings) -> Confusions | None:
    """Over the units with two answers or more; None if there are fewer than :data:`LEAST_UNITS`."""
    codes = ratings.codes[ratings.people_per_unit() >= 2]
    if len(codes) < LEAST_UNITS:
        return None
    return confusions((codes[:, :, None] == np.arange(len(ratings.categories))).astype(np.float64))
