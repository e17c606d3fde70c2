"""All agreement statistics of one table of answers, in the same bootstrap samples of units.

Statistics of all people are rows of :data:`STATISTICS`; a further one is a module like
:mod:`~annotation.analysis.statistics.coefficients.fleiss` and a row. Those of two people are in
:mod:`~annotation.analysis.statistics.cohen`, shares in :mod:`~annotation.analysis.statistics.shares`. Where a number
means nothing their libraries give nan, 1.0 or an exception; there it is None with the reason. All are made of sums over
units: weights of a batch of samples times what each unit contributes are the sums of each sample. Sums of counts are
exact in float64, so that "only one category" is decided without rounding. 0 / 0 means that nothing was drawn that a
statistic rests on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate, Options, Scale, Undefined
from annotation.analysis.statistics.bootstrap import kappa_with_interval, weights, with_interval
from annotation.analysis.statistics.coefficients.brennan_prediger import BRENNAN_PREDIGER
from annotation.analysis.statistics.coefficients.fleiss import FLEISS
from annotation.analysis.statistics.coefficients.gwet import AC1, AC2
from annotation.analysis.statistics.coefficients.icc import ICC_ONE_WAY, ICC_TWO_WAY
from annotation.analysis.statistics.coefficients.krippendorff import ALPHA
from annotation.analysis.statistics.coefficients.weighted_kappa import WEIGHTED_KAPPA
from annotation.analysis.statistics.cohen import contributions, mean_of_pairs, two_by_two
from annotation.analysis.statistics.matrix import Codes, Ratings, Statistic, Values, paired_units
from annotation.analysis.statistics.shares import positive_rate_draws, unanimous_draws

STATISTICS: tuple[Statistic, ...] = (
    ALPHA, FLEISS, AC1, AC2, BRENNAN_PREDIGER, WEIGHTED_KAPPA, ICC_ONE_WAY, ICC_TWO_WAY)
"""In the order of reports."""
_UNANIMOUS = "unanimous"
_AT_ONCE = 2**22   # numbers of the largest matrix; 32 MiB


@dataclass(frozen=True)
class AgreementDraws:
    """``[draws]`` or ``[draws, pairs]``. nan where a draw leaves a statistic undefined, 1.0 instead where there is
    but one category and that was asked for. Means are over the pairs that are defined in a draw."""

    positive_rate: Values          # nan throughout unless there are two categories
    pooled: Mapping[str, Values]   # by key of a statistic, over the units of its point estimate that are drawn
    unanimous: Values
    kappas: Values
    agreements: Values
    mean_kappa: Values
    mean_agreement: Values


def statistics_of(scale: Scale) -> tuple[Statistic, ...]:
    return tuple(one for one in STATISTICS if scale in one.scales)


def agreement_estimates(
    ratings: Ratings, drawn: AgreementDraws, options: Options, scale: Scale = "nominal",
) -> dict[str, Estimate]:
    """Every statistic of ``scale`` by key, with the interval of its draws."""
    found = {}
    for one in statistics_of(scale):
        estimate, codes = one.estimate(ratings, scale, options.undefined), ratings.codes[one.units(ratings)]
        found[one.key] = (kappa_with_interval(estimate, drawn.pooled[one.key], codes, ratings) if one.rarity else
                          with_interval(estimate, drawn.pooled[one.key], len(codes), f"{ratings.unit}s"))
    return found


def agreement_draws(
    ratings: Ratings, pairs: Sequence[tuple[int, int]], draws: int, seed: int, *, scale: Scale = "nominal",
    undefined: Undefined = "null", kappas: bool = True, groups: Codes | None = None,
) -> AgreementDraws:
    """All statistics over ``draws`` samples of units, each as its library gives it.

    Agreement is drawn from the units with two answers or more, so that each sample has as many of them as there are;
    the positive rate, and a statistic that takes single answers, from all units with an answer.

    Args:
        pairs: columns of the ratings' codes, two and two.
        seed: the same for all ratings of one report, so that their samples are the same.
        kappas: whether Cohen's are wanted; they stay nan otherwise.
        groups: ``[units]``, numbers of what is drawn whole; without it, units are.
    """
    constant = 1.0 if undefined == "one" else np.nan
    categories = len(ratings.categories)
    answered, paired = ratings.people_per_unit() >= 1, paired_units(ratings)
    shared = Ratings(ratings.codes[paired], ratings.categories)
    of_all = Ratings(ratings.codes[answered], ratings.categories)

    def batches(chosen: NDArray[np.bool_], columns: int) -> Iterator[tuple[slice, Values]]:
        units, start = int(chosen.sum()), 0
        whole = None if groups is None else np.unique(groups[chosen], return_inverse=True)[1]
        for weight in weights(units, draws, seed, groups=whole, batch=max(1, _AT_ONCE // 2 // max(units, columns, 1))):
            yield slice(start, start := start + len(weight)), weight

    rate = np.full(draws, np.nan)
    taken = statistics_of(scale)
    singles = {one.key: one.draws(of_all, scale, constant) for one in taken if one.single_answers}
    pooled = {one.key: one.draws(shared, scale, constant) for one in taken if not one.single_answers} | {
        _UNANIMOUS: unanimous_draws(shared)}
    found = {key: np.full(draws, np.nan) for key in (*singles, *pooled)}
    with np.errstate(divide="ignore", invalid="ignore"):   # 0 / 0: nothing was drawn that a statistic rests on
        rate_of = positive_rate_draws(of_all)
        for rows, weight in batches(answered, categories):
            if categories == 2:
                rate[rows] = rate_of(weight)
            for key, statistic in singles.items():
                found[key][rows] = statistic(weight)
        for rows, weight in batches(paired, categories):
            for key, statistic in pooled.items():
                found[key][rows] = statistic(weight)
        kappa, same = np.full((2, draws, len(pairs)), np.nan)
        codes, columns = shared.codes, 2 + 2 * (categories - 1) * kappas
        block = max(1, _AT_ONCE // max(1, columns * len(codes)))
        for first in range(0, len(pairs), block):
            some = slice(first, first + block)
            table = contributions(codes, np.asarray(pairs[some]), categories if kappas else 1)
            for rows, weight in batches(paired, table.shape[1]):
                kappa[rows, some], same[rows, some] = two_by_two(weight @ table, len(pairs[some]), constant)
    if not kappas:
        kappa.fill(np.nan)
    return AgreementDraws(rate, found, found.pop(_UNANIMOUS), kappa, same, mean_of_pairs(kappa), mean_of_pairs(same))
