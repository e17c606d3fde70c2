"""All agreement statistics of one table of answers, in the same bootstrap samples of units.

Each statistic has a module of its own: :mod:`~annotation.analysis.statistics.cohen`,
:mod:`~annotation.analysis.statistics.fleiss`, :mod:`~annotation.analysis.statistics.krippendorff` and
:mod:`~annotation.analysis.statistics.shares`. Where a number means nothing their libraries give nan, 1.0 or an
exception; there it is None with the reason. All are made of sums over units: weights of a batch of samples times what
each unit contributes are the sums of each sample. Sums of counts are exact in float64, so that "only one category" is
decided without rounding. 0 / 0 means that nothing was drawn that a statistic rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.analysis.records import Scale, Undefined
from annotation.analysis.statistics.bootstrap import weights
from annotation.analysis.statistics.cohen import contributions, mean_of_pairs, two_by_two
from annotation.analysis.statistics.fleiss import fleiss_draws, fleiss_units
from annotation.analysis.statistics.krippendorff import alpha_draws
from annotation.analysis.statistics.matrix import Ratings, Values, all_same, uses_of
from annotation.analysis.statistics.shares import positive_rate_draws

FLEISS, ALPHA = 0, 1
"""Rows of :func:`pooled_statistics`."""
_AT_ONCE = 2**22   # numbers of the largest matrix; 32 MiB


@dataclass(frozen=True)
class AgreementDraws:
    """``[draws]`` or ``[draws, pairs]``. nan where a draw leaves a statistic undefined, 1.0 instead where there is
    but one category and that was asked for. Means are over the pairs that are defined in a draw."""

    positive_rate: Values          # nan throughout unless there are two categories
    fleiss: Values                 # over the units of the point estimate, so far as they are drawn
    alpha: Values
    unanimous: Values
    kappas: Values
    agreements: Values
    mean_kappa: Values
    mean_agreement: Values


def agreement_draws(
    ratings: Ratings, pairs: Sequence[tuple[int, int]], draws: int, seed: int, *, scale: Scale = "nominal",
    undefined: Undefined = "null", kappas: bool = True,
) -> AgreementDraws:
    """All statistics over ``draws`` samples of units, each as its library gives it.

    Agreement is drawn from the units with two answers or more, so that each sample has as many of them as there are;
    the positive rate from all units with an answer.

    Args:
        pairs: columns of the ratings' codes, two and two.
        seed: the same for all ratings of one report, so that their samples are the same.
        kappas: whether Cohen's are wanted; they stay nan otherwise.
    """
    constant = 1.0 if undefined == "one" else np.nan
    categories = len(ratings.categories)
    people = ratings.people_per_unit()
    answered, shared = (Ratings(ratings.codes[people >= least], ratings.categories) for least in (1, 2))

    def batches(of: Ratings, columns: int) -> Iterator[tuple[slice, Values]]:
        start, widest = 0, max(len(of.codes), columns, 1)
        for weight in weights(len(of.codes), draws, seed, batch=max(1, _AT_ONCE // 2 // widest)):
            yield slice(start, start := start + len(weight)), weight

    rate, pooled = np.full(draws, np.nan), np.full((3, draws), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):   # 0 / 0: nothing was drawn that a statistic rests on
        if categories == 2:
            rate_of = positive_rate_draws(answered)
            for rows, weight in batches(answered, categories):
                rate[rows] = rate_of(weight)
        statistics = pooled_statistics(shared, scale, constant)
        for rows, weight in batches(shared, categories):
            pooled[:, rows] = statistics(weight)
        kappa, same = np.full((2, draws, len(pairs)), np.nan)
        codes, columns = shared.codes, 2 + 2 * (categories - 1) * kappas
        block = max(1, _AT_ONCE // max(1, columns * len(codes)))
        for first in range(0, len(pairs), block):
            some = slice(first, first + block)
            table = contributions(codes, np.asarray(pairs[some]), categories if kappas else 1)
            for rows, weight in batches(shared, table.shape[1]):
                kappa[rows, some], same[rows, some] = two_by_two(weight @ table, len(pairs[some]), constant)
    if not kappas:
        kappa.fill(np.nan)
    return AgreementDraws(rate, pooled[0], pooled[1], pooled[2], kappa, same, mean_of_pairs(kappa), mean_of_pairs(same))


def pooled_statistics(ratings: Ratings, scale: Scale, constant: float) -> Callable[[Values], Values]:
    """Fleiss' kappa, Krippendorff's alpha and unanimous share, ``[3, batch]``, see :data:`FLEISS` and
    :data:`ALPHA`. ``constant``: what kappa and alpha are of a sample with one category."""
    people, chosen = ratings.people_per_unit(), fleiss_units(ratings)
    paired = people >= 2
    uses = uses_of(ratings)
    same = all_same(ratings.codes)[paired].astype(np.float64)
    fleiss = fleiss_draws(uses[chosen], int(people[chosen][0]) if chosen.any() else 2, constant)
    alpha = alpha_draws(uses[paired], scale, constant)

    def statistics(weight: Values) -> Values:
        some = weight[:, paired]
        return np.stack([fleiss(weight[:, chosen]), alpha(some), some @ same / some.sum(axis=1)])

    return statistics
