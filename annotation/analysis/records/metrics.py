"""Records of proportions, rates and correlations."""

from __future__ import annotations

from dataclasses import dataclass

from cir_core.reports.records import Estimate


@dataclass(frozen=True)
class Proportion:
    """``count`` of ``n``, with Wilson's 95 % interval and the two-sided exact binomial p against one half.
    ``value``, ``low``, ``high`` and ``p`` are None where ``n`` is 0."""

    count: int
    n: int
    value: float | None
    low: float | None
    high: float | None
    p: float | None


@dataclass(frozen=True)
class Correlation:
    """``estimate.n`` counts rated sets."""

    estimate: Estimate
    p: float | None


@dataclass(frozen=True)
class Normality:
    """Shapiro–Wilk test."""

    w: float | None
    p: float | None
    n: int
    reason: str = ""


@dataclass(frozen=True)
class Rate:
    """Preference rate. ``share``: of ``n`` answers with a preference, those that agree with the metric, with Wilson's
    interval. Its p, against one half, is None in the one-sided forms, because set 1 may be preferred more often
    independently of the metric. ``drawn``: the same rate with the bootstrap interval over questions or people, which
    allows for dependent answers.

    Side bias: ``first_side``, preferences for the set shown first, among the same answers; ``adjusted``, the mean of
    the rates with the metric's favourite shown first and second. Both are None with a reason if sides were not
    recorded.
    """

    share: Proportion
    drawn: Estimate
    adjusted: Estimate
    first_side: Proportion
    reason: str = ""               # why there is no rate


@dataclass(frozen=True)
class MetricTest:
    """Paired permutation test of the difference of two metrics' Spearman's rho with ratings, over the sets that both
    score. ``p_holm``: corrected for all pairs of metrics."""

    a: str
    b: str
    difference: float | None       # rho of a minus rho of b
    low: float | None              # bootstrap
    high: float | None
    p: float | None
    p_holm: float | None
    n: int                         # questions
    draws: int
    exact: bool                    # whether all permutations were enumerated
    reason: str = ""


@dataclass(frozen=True)
class Strength:
    """Bradley–Terry strength, as natural logarithm, centred at 0; ties count half."""

    method: str
    value: Estimate                # ``n``: answers in the fit, 0 for a method that is not in it
    adjusted: Estimate             # with a term for the side; ``n`` likewise
    mean_rating: Estimate          # ``n`` counts rated sets
    win_rate: Proportion                # preferences for it, without ties
