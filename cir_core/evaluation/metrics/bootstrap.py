"""Bootstrap confidence intervals of means over queries.

Queries are resampled with replacement, within each group (a category) as many as it has,
and the figure is recomputed: the unweighted mean of the groups' means. The interval is
the percentile one, from the 2.5th to the 97.5th percentile of 2,000 replicates.

Everything measured here is a mean over queries, so the paired bootstrap of a difference
between two methods is the bootstrap of the per-query differences: pass those in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
CONFIDENCE = 0.95
DRAWINGS = 2_000  # the ends of an interval vary by about a sixtieth of its width
_AT_ONCE = 2**23  # numbers in memory at a time


@dataclass(frozen=True)
class MeanEstimate:
    """A mean with its interval, in the unit of the values. Both ends are None if a group
    has fewer than two queries: there is nothing to resample."""

    value: float
    low: float | None
    high: float | None


def estimates(groups: Sequence[npt.ArrayLike], *, seed: int, drawings: int = DRAWINGS) -> tuple[MeanEstimate, ...]:
    """One estimate per measure.

    Args:
        groups: for each group ``[queries, measures]``; the number of queries may differ. All
            measures of a query are resampled together.
        seed: determines the intervals.

    Raises ``ValueError`` if there are no groups, or an empty one.
    """
    samples = [np.asarray(group, dtype=np.float64) for group in groups]
    if not samples or any(sample.ndim != 2 or not len(sample) for sample in samples):
        raise ValueError("every group needs queries, as a matrix [queries, measures]")
    means = np.mean([sample.mean(axis=0) for sample in samples], axis=0)
    if min(map(len, samples)) < 2:
        return tuple(MeanEstimate(float(mean), None, None) for mean in means)
    low, high = _interval([sample.T for sample in samples], seed, drawings)
    return tuple(MeanEstimate(*map(float, row)) for row in zip(means, low, high, strict=True))


def share_estimates(groups: Sequence[npt.ArrayLike], *, seed: int) -> tuple[MeanEstimate, ...]:
    """:func:`estimates` of values from 0 to 1 that are no differences, such as recall. Where all are 0, or all 1, every
    replicate is the same; that has Wilson's interval, of as many queries as a mean of the groups' means is worth."""
    from statsmodels.stats.proportion import proportion_confint

    samples = [np.asarray(group, dtype=np.float64) for group in groups]
    found = list(estimates(samples, seed=seed))
    worth = len(samples) ** 2 / sum(1 / len(sample) for sample in samples)
    for place, one in enumerate(found):
        if one.low is not None and one.value in (0.0, 1.0):    # then all are
            low, high = proportion_confint(one.value * worth, worth, 1 - CONFIDENCE, method="wilson")
            found[place] = MeanEstimate(one.value, 0.0 if one.value == 0 else float(low),
                                        1.0 if one.value == 1 else float(high))
    return tuple(found)


def estimates_of_many(
    groups: Sequence[npt.ArrayLike], *, seed: int, units: Sequence[Sequence[object]] | None = None
) -> tuple[MeanEstimate, ...]:
    """:func:`estimates` for hundreds of measures of the same queries, by other drawings: how often each query is drawn
    is a matrix, whose product with the values has all resampled means.

    ``units``: for each group the unit of each query. Units are drawn as a whole then, as many as the group has; a
    resampled mean is over the queries drawn. An interval needs two units in every group.
    """
    samples = [np.asarray(group, dtype=np.float64) for group in groups]
    if not samples or any(sample.ndim != 2 or not len(sample) for sample in samples):
        raise ValueError("every group needs queries, as a matrix [queries, measures]")
    means = np.mean([sample.mean(axis=0) for sample in samples], axis=0)
    sums, sizes = zip(*(_sums(sample, of) for sample, of in
                        zip(samples, units or [range(len(sample)) for sample in samples], strict=True)), strict=True)
    if min(map(len, sizes)) < 2:
        return tuple(MeanEstimate(float(mean), None, None) for mean in means)
    rng = np.random.default_rng(seed)
    drawn = np.zeros((DRAWINGS, samples[0].shape[1]))
    for total, size_of in zip(sums, sizes, strict=True):
        n = len(total)
        rows = max(1, _AT_ONCE // n)
        for start in range(0, DRAWINGS, rows):
            size = min(rows, DRAWINGS - start)
            counts = rng.multinomial(n, np.full(n, 1 / n), size=size)
            drawn[start:start + size] += counts @ total / ((counts @ size_of)[:, None] * len(samples))
    edge = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(drawn, [edge, 100 - edge], axis=0)
    return tuple(MeanEstimate(*map(float, row)) for row in zip(means, low, high, strict=True))


def _sums(sample: Values, units: Sequence[object]) -> tuple[Values, Values]:
    """Of each unit the sum of its queries' values, ``[units, measures]``, and their number."""
    number = {unit: place for place, unit in enumerate(dict.fromkeys(units))}
    of = [number[unit] for unit in units]
    sums = np.zeros((len(number), sample.shape[1]))
    np.add.at(sums, of, sample)
    return sums, np.bincount(of).astype(np.float64)


def _interval(samples: list[Values], seed: int, drawings: int) -> tuple[Values, Values]:
    """Ends of the intervals, each ``[measures]``; ``samples`` are ``[measures, queries]``."""
    from scipy.stats import bootstrap

    measures, most = len(samples[0]), max(sample.shape[1] for sample in samples)
    found = bootstrap(
        samples, _mean_of_means, axis=-1, n_resamples=drawings, confidence_level=CONFIDENCE,
        method="percentile", vectorized=True, batch=max(1, _AT_ONCE // (measures * most)),
        rng=np.random.default_rng(seed),
    )
    return np.atleast_1d(found.confidence_interval.low), np.atleast_1d(found.confidence_interval.high)


def _mean_of_means(*samples: Values, axis: int = -1) -> Values:
    """scipy resamples several samples independently of one another: that stratifies by group."""
    mean: Values = np.mean([sample.mean(axis=axis) for sample in samples], axis=0)
    return mean
