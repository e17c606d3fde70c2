"""Records of preference rates, tests of metrics and strengths of methods."""

from __future__ import annotations

from dataclasses import dataclass

from cir_core.reports.records import Estimate


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

    share: Estimate
    drawn: Estimate
    adjusted: Estimate
    first_side: Estimate


@dataclass(frozen=True)
class MetricTest:
    """Paired permutation test of the difference of two metrics' Spearman's rho with ratings, over the sets that both
    score. ``p_holm``: corrected for all pairs of metrics."""

    a: str
    b: str
    difference: Estimate           # rho of a minus rho of b, with the p of the test; ``n`` counts questions
    p_holm: float | None = None
    draws: int = 0
    exact: bool = False            # whether all permutations were enumerated


@dataclass(frozen=True)
class Strength:
    """Bradley–Terry strength, as natural logarithm, centred at 0; ties count half."""

    method: str
    value: Estimate                # ``n``: answers in the fit, 0 for a method that is not in it
    adjusted: Estimate             # with a term for the side; ``n`` likewise
    mean_rating: Estimate          # ``n`` counts rated sets
    win_rate: Estimate             # preferences for it, without ties
