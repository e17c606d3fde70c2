"""Bootstrap samples as weights, and the intervals they give.

A sample of units with replacement is the same as a number for each unit: how often it was drawn. Statistics that
are made of sums over units are then matrix products, for all samples at once. Indices are drawn as
``scipy.stats.bootstrap`` draws them, so that with one seed both give the same percentile interval.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.matrix import Codes
from annotation.analysis.records import Estimate

Values = NDArray[np.float64]
CONFIDENCE = 0.95
_AT_ONCE = 2**21   # numbers of one batch; 16 MiB
_SAME = 1e-12      # what rounding leaves between draws of one and the same number


def weights(
    units: int, draws: int, seed: int, *, size: int | None = None, groups: Codes | None = None,
    batch: int | None = None,
) -> Iterator[Values]:
    """How often each unit stands in each of ``draws`` samples with replacement, as matrices ``[batch, units]``.

    The same seed gives the same samples, whatever ``batch`` is.

    Args:
        size: units in one sample; as many as there are unless given (m out of n).
        groups: ``[units]``, from 0: groups are drawn whole, and ``size`` counts them.
        batch: samples at a time; unless given so many that memory stays small.

    Raises ``ValueError`` for ``groups`` of another length.
    """
    if groups is not None and len(groups) != units:
        raise ValueError(f"{units} units need as many groups, not {len(groups)}")
    drawn = units if groups is None else int(groups.max(initial=-1)) + 1
    size = drawn if size is None else size
    batch = batch or max(1, _AT_ONCE // max(units, size, 1))
    rng = np.random.default_rng(seed)
    for start in range(0, draws, batch):
        count = min(batch, draws - start)
        if not drawn:
            yield np.zeros((count, units))
            continue
        chosen = rng.integers(0, drawn, (count, size))
        chosen += drawn * np.arange(count)[:, None]
        often = np.bincount(chosen.ravel(), minlength=count * drawn).reshape(count, drawn).astype(np.float64)
        yield often if groups is None else often[:, groups]


def interval(values: Values) -> tuple[float | None, float | None, str]:
    """From the 2.5th to the 97.5th percentile of the draws, and a remark, "" if there is nothing to remark.

    A draw in which the statistic is undefined is nan and left out; the remark counts them. Without draws, where
    fewer than half are defined, and where all give the same number there is no interval, and the remark says why:
    samples that cannot differ know nothing of how far the number would move.
    """
    if not len(values):
        return None, None, "no draws were made"
    defined = values[~np.isnan(values)]
    missing = len(values) - len(defined)
    if 2 * len(defined) < len(values):
        return None, None, f"no interval: undefined in {missing:,} of {len(values):,} draws"
    if np.ptp(defined) <= _SAME * max(1.0, float(np.abs(defined).max())):
        return None, None, "no interval: all draws give the same number"
    edge = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(defined, (edge, 100 - edge))
    said = f"undefined in {missing:,} of {len(values):,} draws, which the interval leaves out" if missing else ""
    return float(low), float(high), said


def with_interval(estimate: Estimate, values: Values) -> Estimate:
    """``estimate`` with the interval of its draws, and their remark after its own reason. It stays as it is where
    it has no value, or where no draws were asked for."""
    if estimate.value is None or not len(values):
        return estimate
    low, high, said = interval(values)
    return replace(estimate, low=low, high=high, reason="; ".join(filter(None, (estimate.reason, said))))
