"""Agreement in many bootstrap samples of units at once.

Everything in :mod:`annotation.analysis.statistics.agreement` is made of sums over units: of answers, of agreeing
pairs, of uses of a category. Weights of a batch of samples times these contributions are the sums of each sample, so a
batch costs a few matrix products; of nominal categories the cost grows with their number, not with its square. Sums of
counts are exact in float64, so that "only one category" is decided without rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.analysis.records import Scale, Undefined
from annotation.analysis.statistics.bootstrap import Values, weights
from annotation.analysis.statistics.matrix import Codes, Ratings
from annotation.analysis.statistics.pooled_bootstrap import pooled_statistics, positive_rates

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
            rate_of = positive_rates(answered)
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
            table = _contributions(codes, np.asarray(pairs[some]), categories if kappas else 1)
            for rows, weight in batches(shared, table.shape[1]):
                kappa[rows, some], same[rows, some] = _two_by_two(weight @ table, len(pairs[some]), constant)
    if not kappas:
        kappa.fill(np.nan)
    return AgreementDraws(rate, pooled[0], pooled[1], pooled[2], kappa, same, _mean(kappa), _mean(same))


def _contributions(codes: Codes, pairs: Codes, categories: int) -> Values:
    """``[units, columns]``, a column for each pair and, one after the other: judged by both, the same answer, then
    for each category but the first its use by one and its use by the other."""
    one, other = codes[:, pairs[:, 0]], codes[:, pairs[:, 1]]
    both = (one >= 0) & (other >= 0)
    uses = [both & (of == category) for category in range(1, categories) for of in (one, other)]
    return np.concatenate([both, both & (one == other), *uses], axis=1, dtype=np.float64)


def _two_by_two(sums: Values, pairs: int, constant: float) -> tuple[Values, Values]:
    """Cohen's kappa and the share of the same answers, ``[batch, pairs]`` each."""
    columns = sums.reshape(len(sums), -1, pairs)
    n, same, one, other = columns[:, 0], columns[:, 1], columns[:, 2::2], columns[:, 3::2]
    first = (n - one.sum(axis=1)) * (n - other.sum(axis=1))   # of the first category, by both
    chance = n**2 - first - (one * other).sum(axis=1)
    kappa = 1 - n * (n - same) / chance
    return np.where((chance == 0) & (n > 0), constant, kappa), same / n


def _mean(values: Values) -> Values:
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(defined, values, 0).sum(axis=1) / defined.sum(axis=1))
