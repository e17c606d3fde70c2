"""How far a metric's scores of sets go with people's ratings of them: Spearman, Kendall, and whether values are normal.

p-values take rated sets as independent, though one question has two and a person rated many: the interval, whose
draws take questions (or people) whole, does not.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate, Options
from annotation.analysis.statistics.answer_rows import over_draws
from annotation.analysis.statistics.bootstrap import weights

LEAST = 3
"""Rated sets without which a correlation says nothing: two always lie on a line."""
_SHAPIRO_LIMIT = 5000
_AT_ONCE = 2**18        # numbers of one array, of which there are some: 2 MiB each, which a cache holds


@dataclass(frozen=True)
class RatedSets:
    """A row for each rating of a set. All three are (rows,). ``unit``: what draws take whole, the question or the
    person, as an index from 0; ``score`` is nan where the metric gives the set none."""

    unit: NDArray[np.int64]
    rating: NDArray[np.float64]
    score: NDArray[np.float64]

    @property
    def scored(self) -> RatedSets:
        """Those that have a score."""
        there = ~np.isnan(self.score)
        return RatedSets(self.unit[there], self.rating[there], self.score[there])


def spearman(sets: RatedSets, options: Options, units: int) -> Estimate:
    """Spearman's rho of scores and ratings, pooled over all sets (CIRQRS, Table 2), with its two-sided p.

    Args:
        units: how many there are to draw from, those without a score included.
    """
    from scipy.stats import spearmanr

    sets = sets.scored
    if why := _undefined(sets):
        return Estimate(None, len(sets.score), reason=why)
    found = spearmanr(sets.score, sets.rating)
    estimate = Estimate(float(found.statistic), len(sets.score), p=float(found.pvalue))
    if not options.draws:
        return estimate
    drawn = spearman_draws(sets.score, sets.rating, sets.unit, units, options.draws, options.seed)
    return over_draws(estimate, drawn, sets.unit, options)


def spearman_draws(
    x: NDArray[np.float64], y: NDArray[np.float64], unit: NDArray[np.int64], units: int, draws: int, seed: int,
) -> NDArray[np.float64]:
    """Spearman's rho of ``x`` and ``y`` in each of ``draws`` draws of units: (draws,), nan where it is undefined.

    Ranks and moments of a sample with repeated rows follow from the weights alone, so no sample is ever written out.
    Values are those of scipy on the repeated rows.

    Args:
        x, y: (rows,), finite.
        unit: (rows,), whose each row is, from 0 up to ``units``; all rows of a unit are drawn together.
        units: how many are drawn from; some may have no row.
    """
    from scipy.sparse import csr_array

    xs, x_code = np.unique(x, return_inverse=True)
    ys, y_code = np.unique(y, return_inverse=True)
    # Rows with the same x and y have the same ranks in every draw. Cells are sorted by x, then by y.
    cells, cell_of = np.unique(x_code * len(ys) + y_code, return_inverse=True)
    held = csr_array((np.ones(len(x)), (unit, cell_of)), shape=(units, len(cells)))
    of_x, of_y = cells // len(ys), cells % len(ys)
    by_y = np.argsort(of_y, kind="stable")
    starts_x, starts_y = (np.searchsorted(codes, np.arange(len(values)))
                          for codes, values in ((of_x, xs), (of_y[by_y], ys)))
    found = []
    for drawn in weights(units, draws, seed, batch=max(1, _AT_ONCE // max(units, len(cells)))):
        weight = drawn @ held
        total = weight.sum(axis=1, keepdims=True)
        rank_x = _mid_ranks(np.add.reduceat(weight, starts_x, axis=1), total)[:, of_x]
        rank_y = _mid_ranks(np.add.reduceat(weight[:, by_y], starts_y, axis=1), total)[:, of_y]
        weighted = weight * rank_x
        covariance = np.einsum("bc,bc->b", weighted, rank_y)
        spread_x = np.einsum("bc,bc->b", weighted, rank_x)
        spread_y = np.einsum("bc,bc,bc->b", weight, rank_y, rank_y)
        with np.errstate(invalid="ignore"):     # 0 / 0: one value only in that draw
            found.append(covariance / np.sqrt(spread_x * spread_y))
    return np.clip(np.concatenate(found), -1.0, 1.0) if found else np.empty(0)


def kendall(sets: RatedSets) -> Estimate:
    """Kendall's tau-b of scores and ratings, with its two-sided p and no interval."""
    from scipy.stats import kendalltau

    sets = sets.scored
    if why := _undefined(sets):
        return Estimate(None, len(sets.score), reason=why)
    found = kendalltau(sets.score, sets.rating)
    return Estimate(float(found.statistic), len(sets.score), p=float(found.pvalue))


def shapiro(values: NDArray[np.float64]) -> Estimate:
    """Shapiro and Wilk's W of ``values``, with its p; nan stands for a missing one."""
    from scipy import stats

    values = np.asarray(values, float)
    values = values[~np.isnan(values)]
    if len(values) < LEAST:
        return Estimate(None, len(values), reason=_few(len(values), "value", "values"))
    if values.min() == values.max():
        return Estimate(None, len(values), reason="all values are the same")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)     # what it warns of, the reason says
        found = stats.shapiro(values)
    if not isfinite(found.statistic):
        return Estimate(None, len(values), reason="values too close together for the test")
    many = len(values) > _SHAPIRO_LIMIT
    return Estimate(float(found.statistic), len(values), p=float(found.pvalue),
                    reason=f"p is approximate for more than {_SHAPIRO_LIMIT:,} values" if many else "")


def _undefined(sets: RatedSets) -> str:
    if len(sets.score) < LEAST:
        return _few(len(sets.score), "rated set has a score", "rated sets have a score")
    if sets.score.min() == sets.score.max():
        return "all rated sets have the same score"
    if sets.rating.min() == sets.rating.max():
        return "all sets have the same rating"
    return ""


def _few(n: int, one: str, many: str) -> str:
    return f"only {n} {one if n == 1 else many}; {LEAST} are needed" if n else f"no {one}"


def _mid_ranks(weight: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean rank of each value, less the mean of all ranks, ``(total + 1) / 2``.

    Args:
        weight: (draws, values), how often each stands in the sample, values ascending.
        total: (draws, 1), the size of the sample.
    """
    return np.cumsum(weight, axis=1) - weight / 2 - total / 2
