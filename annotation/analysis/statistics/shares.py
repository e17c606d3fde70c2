"""Shares of answers and of units: how often people say yes, and all say the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from annotation.analysis.records import Estimate
from annotation.analysis.statistics.matrix import Ratings, Values, all_same, too_few


def unanimous(ratings: Ratings) -> Estimate:
    """Share of the units with two answers or more on which all say the same."""
    paired = ratings.codes[ratings.people_per_unit() >= 2]
    if not len(paired):
        return Estimate(None, 0, reason=too_few(ratings))
    return Estimate(float(all_same(paired).mean()), len(paired))


def positive_rate(ratings: Ratings) -> Estimate:
    """Share of all answers that are the second of two categories; ``n`` counts answers."""
    if len(ratings.categories) != 2:
        raise ValueError("a positive rate needs two categories")
    if not (n := int((ratings.codes >= 0).sum())):
        return Estimate(None, 0, reason="no answers")
    return Estimate(float((ratings.codes == 1).sum() / n), n)


def positive_rate_draws(ratings: Ratings) -> Callable[[Values], Values]:
    """Share of all answers that are the second of two categories."""
    answers, yes = ((of.sum(axis=1).astype(np.float64)) for of in (ratings.codes >= 0, ratings.codes == 1))
    return lambda weight: (weight @ yes) / (weight @ answers)
