"""Weighted kappa (Cohen 1968) with quadratic weights: of two people, and its mean over all pairs (Light 1971)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from annotation.analysis.records import Estimate, Scale, Undefined
from annotation.analysis.statistics.cohen import mean_of_pairs
from annotation.analysis.statistics.matrix import Ratings, Statistic, Values, paired_units, sums_of, too_few

_CONSTANT = "both raters used a single category"


def weighted_kappa(ratings: Ratings, scale: Scale, undefined: Undefined = "null") -> Estimate:
    """Mean over the pairs of people for whom it is defined; ``n``: units with two answers or more."""
    if not (n := int(paired_units(ratings).sum())):
        return Estimate(None, 0, reason=too_few(ratings))
    kappas = _of_pairs(np.ones((1, len(ratings.codes))), *_sums(ratings), 1.0 if undefined == "one" else np.nan)[0]
    undefined_pairs = int(np.isnan(kappas).sum())
    if undefined_pairs == len(kappas):
        return Estimate(None, n, reason=f"undefined for all pairs: {_CONSTANT}")
    return Estimate(float(np.nanmean(kappas)), n, reason="" if not undefined_pairs else
                    f"{undefined_pairs:,} of {len(kappas):,} pairs left out: {_CONSTANT}")


def weighted_kappa_draws(ratings: Ratings, scale: Scale, constant: float = np.nan) -> Callable[[Values], Values]:
    """Of weights of all units of ``ratings``, see :class:`~annotation.analysis.statistics.matrix.Statistic`; over the
    pairs that are defined in a draw."""
    sums = _sums(ratings)
    return lambda weight: mean_of_pairs(_of_pairs(weight, *sums, constant))


def _sums(ratings: Ratings) -> tuple[Any, int]:
    """What each unit contributes to each pair that shares one, and the number of such pairs: ``[units, 5 pairs]``,
    sparse, since of many people two share few units. Judged by both, squared distance, both squares, each rating."""
    from scipy.sparse import csr_array

    rows, found = [], []
    for a, b in combinations(range(ratings.codes.shape[1]), 2):
        units = np.flatnonzero((ratings.codes[:, a] >= 0) & (ratings.codes[:, b] >= 0))
        if len(units):
            one, other = ratings.codes[units][:, [a, b]].T.astype(np.float64)
            rows.append(units)
            found.append(np.stack([np.ones(len(units)), (one - other)**2, one**2 + other**2, one, other]))
    pairs = len(rows)
    if not pairs:
        return csr_array((len(ratings.codes), 0)), 0
    place = np.repeat(np.arange(pairs), [len(units) for units in rows])
    column = np.arange(5)[:, None] * pairs + place
    row = np.broadcast_to(np.concatenate(rows), column.shape)
    return csr_array((np.concatenate(found, axis=1).ravel(), (row.ravel(), column.ravel())),
                     shape=(len(ratings.codes), 5 * pairs)), pairs


def _of_pairs(weight: Values, table: Any, pairs: int, constant: float) -> Values:
    """``[batch, pairs]``. The expected squared distance is the sum of squares less twice the product of the means."""
    n, apart, squares, one, other = sums_of(weight, table).reshape(len(weight), 5, pairs).transpose(1, 0, 2)
    chance = n * squares - 2 * one * other           # whole numbers: 0 is exact
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((chance == 0) & (n > 0), constant, 1 - n * apart / chance)


WEIGHTED_KAPPA = Statistic(
    "weighted_kappa", "weighted_kappa", "Weighted κ, mean of pairs", "κ, weighted", ("ordinal",),
    "Own code, equal to scikit-learn’s; quadratic weights; for each pair of people over the {unit}s that both rated; "
    "mean over pairs.",
    "Cohen 1968, Weighted kappa: nominal scale agreement with provision for scaled disagreement or partial credit",
    weighted_kappa, paired_units, weighted_kappa_draws,
    when="Use it to compare with papers on two raters. People who use the scale differently lower it.")
