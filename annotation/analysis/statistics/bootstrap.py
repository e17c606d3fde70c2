"""Bootstrap samples as weights, and the intervals they give.

A sample of units with replacement is the same as a number for each unit: how often it was drawn. Statistics that
are made of sums over units are then matrix products, for all samples at once. Indices are drawn as
``scipy.stats.bootstrap`` draws them, so that with one seed both give the same percentile interval.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate
from annotation.analysis.statistics.matrix import Codes, Ratings, Values
from cir_core.evaluation.metrics.bootstrap import CONFIDENCE, wilson

PEOPLE = "people"
LEAST_PEOPLE = 10
"""People whom an interval over draws of people needs."""
LEAST_UNITS = 10
"""Units of any other kind below which an interval comes with a remark."""
LEAST_ITEMS = 20
LEAST_RARER = 10
"""Items, and the weight of the rarer of two answers, below which an interval of kappa or alpha comes with a remark.

Drawn studies (beta-binomial items, 300 of each size) say when: nominal 95 % intervals of alpha held the truth in 80
to 85 % where there were fewer than 20 items or the rarer answer had the weight of fewer than ten, and in 89 to 95 %
elsewhere. They missed by being too low."""
_TOO_LOW = "interval unreliable"
_MANY_PEOPLE = 30        # from whom on nothing is remarked
_MOST_UNDEFINED = 0.1    # of the draws
_AT_ONCE = 2**21         # numbers of one batch; 16 MiB
_KEPT = 2**23            # of the samples that are kept; 32 MiB
_SAME = 1e-12            # what rounding leaves between draws of one and the same number


def weights(
    units: int, draws: int, seed: int, *, groups: Codes | None = None, batch: int | None = None,
) -> Iterator[Values]:
    """How often each unit stands in each of ``draws`` samples with replacement, as matrices ``[batch, units]``.

    The same seed gives the same samples, whatever ``batch`` is.

    Args:
        groups: ``[units]``, from 0: groups are drawn whole, as many as there are.
        batch: samples at a time; unless given so many that memory stays small.

    Raises ``ValueError`` for ``groups`` of another length.
    """
    if groups is not None and len(groups) != units:
        raise ValueError(f"{units} units need as many groups, not {len(groups)}")
    drawn = units if groups is None else int(groups.max(initial=-1)) + 1
    batch = batch or max(1, _AT_ONCE // max(units, 1))
    if not draws:
        return
    samples = [_kept(drawn, draws, seed)] if drawn * draws <= _KEPT else _drawn(drawn, draws, seed, batch)
    for some in samples:
        for start in range(0, len(some), batch):
            often = some[start:start + batch].astype(np.float64)
            yield often if groups is None else often[:, groups]


@lru_cache(maxsize=2)
def _kept(units: int, draws: int, seed: int) -> NDArray[np.uint32]:
    """A report draws the same samples for each of its statistics."""
    return np.concatenate(list(_drawn(units, draws, seed, max(1, _AT_ONCE // max(units, 1)))))


def _drawn(units: int, draws: int, seed: int, batch: int) -> Iterator[NDArray[np.uint32]]:
    rng = np.random.default_rng(seed)
    for start in range(0, draws, batch):
        count = min(batch, draws - start)
        chosen = rng.integers(0, units, (count, units)) if units else np.zeros((count, 0), np.int64)
        chosen += units * np.arange(count)[:, None]
        yield np.bincount(chosen.ravel(), minlength=count * units).reshape(count, units).astype(np.uint32)


def interval(values: Values, units: int | None = None, what: str = "items") -> tuple[float | None, float | None, str]:
    """From the 2.5th to the 97.5th percentile of the draws, and a remark, "" if there is nothing to remark.

    A draw in which the statistic is undefined is nan and left out; the remark counts them. There is no interval, and
    the remark says why, without draws, where more than a tenth are undefined (what is left is a choice of the luckier
    ones), where all give the same number (samples that cannot differ know nothing of how far the number would move),
    and of few people: so few clusters have so few samples that the interval comes out far too narrow.

    Args:
        units: how many there were to draw from; without it few of them are not remarked on.
        what: what they are, in the plural. Of "people" :data:`LEAST_PEOPLE` are needed.
    """
    if not len(values):
        return None, None, "no bootstrap requested"
    if what == PEOPLE and units is not None and units < LEAST_PEOPLE:
        return None, None, f"no interval: resampling people needs at least {LEAST_PEOPLE}, not {units}"
    defined = values[~np.isnan(values)]
    missing = len(values) - len(defined)
    if missing > _MOST_UNDEFINED * len(values):
        return None, None, f"no interval: undefined in {missing:,} of {len(values):,} draws"
    if np.ptp(defined) <= _SAME * max(1.0, float(np.abs(defined).max())):
        return None, None, "no interval: all draws give the same number"
    edge = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(defined, (edge, 100 - edge))
    said = f"undefined in {missing:,} of {len(values):,} draws, excluded from the interval" if missing else ""
    return float(low), float(high), "; ".join(filter(None, (said, _few(units, what))))


def with_interval(estimate: Estimate, values: Values, units: int | None = None, what: str = "items") -> Estimate:
    """``estimate`` with the interval of its draws, and their remark after its own reason. It stays as it is where
    it has no value, or where no draws were asked for. ``units`` and ``what``: as for :func:`interval`."""
    if estimate.value is None or not len(values):
        return estimate
    low, high, said = interval(values, units, what)
    return replace(estimate, low=low, high=high, reason="; ".join(filter(None, (estimate.reason, said))))


def share_with_interval(estimate: Estimate, values: Values, units: int, what: str = "items") -> Estimate:
    """As :func:`with_interval`, of a share. One of 0 or 1 is so in every draw: it has Wilson's interval, as if each of
    the ``units`` had one answer, also without draws."""
    if estimate.value is None or 0 < estimate.value < 1:
        return with_interval(estimate, values, units, what)
    low, high = wilson(round(estimate.value * units), units)
    said = f"Wilson’s interval over {units:,} {what}"
    return replace(estimate, low=low, high=high, reason="; ".join(filter(None, (estimate.reason, said))))


def shared_with_interval(estimate: Estimate, values: Values, ratings: Ratings) -> Estimate:
    """What rests on all units with two answers or more: alpha, and the mean of all pairs' kappas."""
    return kappa_with_interval(estimate, values, ratings.codes[ratings.people_per_unit() >= 2], ratings)


def kappa_with_interval(estimate: Estimate, values: Values, codes: Codes, of: Ratings) -> Estimate:
    """As :func:`with_interval`, with a remark where few items or
    few of the rarer answers stand behind it.

    Args:
        codes: ``[units, people]`` of ``of``, what the statistic rests on. Of two categories the units' number and
            the weight of the rarer answer (its share of the answers, times the units) are looked at; of more the
            units' number alone, as everywhere.
    """
    units = len(codes)
    two_way = len(of.categories) == 2
    found = with_interval(estimate, values, None if two_way and units < LEAST_ITEMS else units, f"{of.unit}s")
    if not two_way or found.low is None:
        return found
    given = codes[codes >= 0]
    yes = float((given == 1).mean()) if len(given) else 0.0
    rarer = min(yes, 1 - yes) * units
    if units < LEAST_ITEMS:
        said = f"only {units} {of.unit}s: {_TOO_LOW}"
    elif rarer < LEAST_RARER:
        # Not the units with a rare answer among theirs: of nine people one slip is enough for that.
        said = f"rarer answer on only ≈ {rarer:.1f} of {units:,} {of.unit}s: {_TOO_LOW}"
    else:
        return found
    return replace(found, reason="; ".join(filter(None, (found.reason, said))))


def _few(units: int | None, what: str) -> str:
    few = units is not None and units < (_MANY_PEOPLE if what == PEOPLE else LEAST_UNITS)
    return f"resampled from {units} {what}: interpret the interval with care" if few else ""
