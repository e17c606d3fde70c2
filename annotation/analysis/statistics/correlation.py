"""How far a metric's scores of sets go with people's ratings of them: Spearman, Kendall, and whether values are
normal. Whether two metrics go with ratings equally well: a paired permutation test of two Spearman correlations.

p-values take rated sets as independent, though one question has two and a person rated many: the interval, whose
draws take questions (or people) whole, does not.

If it made no difference which of two metrics scored a question, their ranks could be swapped in it. So the ranks of
both are swapped question by question, both sets and all answers of a question together, and the difference of the
correlations is computed anew. Ranks, not scores: metrics have different scales.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate, MetricTest, Options
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


_TINY = 1e-10           # far above rounding errors, far below a step of a difference
_CELLS = 2_000_000      # of one block of swaps


def compare_metrics(
    pairs: Sequence[tuple[str, str]], scores: Mapping[str, NDArray[np.float64]], rating: NDArray[np.float64],
    unit: NDArray[np.int64], options: Options, *, clusters: NDArray[np.int64] | None = None,
) -> tuple[MetricTest, ...]:
    """Each pair of metrics, over the rated sets that both score; p is corrected after Holm for all pairs.

    p is the share of swaps with a difference as large as the one found or larger, on either side. All swaps are
    counted where they are no more than ``options.draws``; else so many are drawn, and the one found counts as one
    more.

    Args:
        scores: by metric, each (rows,), nan where there is none.
        rating: (rows,).
        unit: (rows,), the question of each row, as an index from 0: what is swapped whole.
        clusters: (rows,), what draws for the interval take whole, as an index from 0; without it, questions.
    """
    tests = [_test(a, b, scores[a], scores[b], rating, unit, unit if clusters is None else clusters, options)
             for a, b in pairs]
    tested = [number for number, test in enumerate(tests) if test.difference.p is not None]
    if tested:
        from statsmodels.stats.multitest import multipletests

        corrected = multipletests([tests[number].difference.p for number in tested], method="holm")[1]
        for number, p in zip(tested, corrected, strict=True):
            tests[number] = replace(tests[number], p_holm=float(p))
    return tuple(tests)


def _test(
    a: str, b: str, score_a: NDArray[np.float64], score_b: NDArray[np.float64], rating: NDArray[np.float64],
    unit: NDArray[np.int64], clusters: NDArray[np.int64], options: Options,
) -> MetricTest:
    from scipy.stats import rankdata

    both = ~np.isnan(score_a) & ~np.isnan(score_b)
    one, two, rated = score_a[both], score_b[both], rating[both]
    questions, question = np.unique(unit[both], return_inverse=True)

    def untested(reason: str) -> MetricTest:
        return MetricTest(a, b, Estimate(None, len(questions), reason=reason))

    if len(rated) < LEAST:
        return untested(f"fewer than {LEAST} rated sets have a score from both metrics")
    if rated.min() == rated.max():
        return untested("all sets have the same rating")
    if constant := [name for name, values in ((a, one), (b, two)) if values.min() == values.max()]:
        return untested(f"{' and '.join(constant)}: all sets have the same score")
    # Less their mean, so that little is lost where sums of squares are subtracted.
    ranks = [rankdata(values) - (len(rated) + 1) / 2 for values in (one, two, rated)]
    difference = _correlation(*_sums(ranks[0], ranks[2])) - _correlation(*_sums(ranks[1], ranks[2]))
    found = Estimate(float(difference), len(questions))
    if not options.draws:
        return MetricTest(a, b, replace(
            found, reason="a test and an interval need a bootstrap, and none was requested"))
    p, draws, exact = _p(ranks[0], ranks[1], ranks[2], question, len(questions), float(difference), options)
    units = int(clusters.max()) + 1
    drawn = [spearman_draws(values, rated, clusters[both], units, options.draws, options.seed) for values in (one, two)]
    found = over_draws(replace(found, p=p), drawn[0] - drawn[1], clusters[both], options)
    return MetricTest(a, b, found, None, draws, exact)


def _p(
    rank_a: NDArray[np.float64], rank_b: NDArray[np.float64], rank_y: NDArray[np.float64],
    question: NDArray[np.int64], questions: int, difference: float, options: Options,
) -> tuple[float, int, bool]:
    """p, how many swaps it rests on, and whether these are all there are. A swap moves a question's part of three sums
    from one metric to the other; so all follow from one product."""
    parts = np.stack([
        np.bincount(question, values, questions) for values in
        (rank_b - rank_a, rank_b**2 - rank_a**2, (rank_b - rank_a) * rank_y)
    ], axis=1)
    of_a, of_b, n, spread_y = _sums(rank_a, rank_y)[0], _sums(rank_b, rank_y)[0], len(rank_y), float(rank_y @ rank_y)
    exact = questions < 63 and 2**questions <= options.draws
    swaps = _all_swaps(questions) if exact else _drawn_swaps(questions, options)
    extreme = total = 0
    for swapped in swaps:
        moved = swapped @ parts
        found = _correlation(of_a + moved, n, spread_y) - _correlation(of_b - moved, n, spread_y)
        # An undefined one (all ranks alike after the swap) counts against the difference.
        extreme += int((~(np.abs(found) < abs(difference) - _TINY)).sum())
        total += len(found)
    return (extreme / total if exact else (extreme + 1) / (total + 1)), total, exact


def _sums(ranks: NDArray[np.float64], rank_y: NDArray[np.float64]) -> tuple[NDArray[np.float64], int, float]:
    """What :func:`_correlation` takes."""
    return np.array([ranks.sum(), ranks @ ranks, ranks @ rank_y]), len(ranks), float(rank_y @ rank_y)


def _correlation(sums: NDArray[np.float64], n: int, spread_y: float) -> NDArray[np.float64]:
    """Pearson's r of x and y of sums of x, of x² and of xy (..., 3); y has a mean of 0."""
    spread = sums[..., 1] - sums[..., 0] ** 2 / n
    with np.errstate(invalid="ignore", divide="ignore"):
        found: NDArray[np.float64] = sums[..., 2] / np.sqrt(spread * spread_y)
    return np.where(spread > 1e-12 * sums[..., 1], found, np.nan)    # 0, but for rounding: all ranks alike


def _all_swaps(questions: int) -> Iterator[NDArray[np.float64]]:
    step = max(1, _CELLS // max(1, questions))
    for start in range(0, 2**questions, step):
        numbers = np.arange(start, min(start + step, 2**questions), dtype=np.int64)
        yield ((numbers[:, None] >> np.arange(questions)) & 1).astype(np.float64)


def _drawn_swaps(questions: int, options: Options) -> Iterator[NDArray[np.float64]]:
    rng = np.random.default_rng(options.seed)
    step = max(1, _CELLS // questions)
    for start in range(0, options.draws, step):
        yield rng.integers(0, 2, (min(step, options.draws - start), questions)).astype(np.float64)
