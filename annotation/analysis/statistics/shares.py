"""Shares of answers and of units: how often people say yes, and all say the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate
from annotation.analysis.statistics.bootstrap import share_with_interval, weights
from annotation.analysis.statistics.matrix import Ratings, Values, all_same, paired_units, too_few
from cir_core.evaluation.metrics.bootstrap import wilson


def unanimous(ratings: Ratings) -> Estimate:
    """Share of the units with two answers or more on which all say the same."""
    paired = ratings.codes[paired_units(ratings)]
    if not len(paired):
        return Estimate(None, 0, reason=too_few(ratings))
    return Estimate(float(all_same(paired).mean()), len(paired))


def unanimous_draws(ratings: Ratings) -> Callable[[Values], Values]:
    """Of weights of all units of ``ratings``: the same share in each draw."""
    paired = paired_units(ratings)
    same = all_same(ratings.codes)[paired].astype(np.float64)
    return lambda weight: weight[:, paired] @ same / weight[:, paired].sum(axis=1)


def unanimous_among(ratings: Ratings, units: NDArray[np.bool_], draws: int, seed: int, *, none: str) -> Estimate:
    """Share of the chosen units with two answers or more on which all say the same, with the interval over resampled
    units. The samples are those of all units with two answers or more, so that how many are chosen varies too.

    Args:
        units: ``[units]``, which to take.
        none: the reason where there is none of them.
    """
    paired = paired_units(ratings)
    chosen = units[paired].astype(np.float64)
    if not (n := int(chosen.sum())):
        return Estimate(None, 0, reason=none if paired.any() else too_few(ratings))
    same = chosen * all_same(ratings.codes[paired])
    with np.errstate(divide="ignore", invalid="ignore"):   # 0 / 0: none of them was drawn
        drawn = [(weight @ same) / (weight @ chosen) for weight in weights(len(chosen), draws, seed)]
    return share_with_interval(Estimate(float(same.sum() / n), n), np.concatenate(drawn) if drawn else np.empty(0), n)


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


def share(count: int, n: int) -> Estimate:
    """``count`` of ``n`` with Wilson's 95 % interval and the two-sided exact binomial p against one half."""
    if not n:
        return Estimate(None, n, reason="nothing to count", count=count)
    from statsmodels.stats.proportion import binom_test

    return Estimate(count / n, n, *wilson(count, n), p=float(binom_test(count, n)), count=count)
