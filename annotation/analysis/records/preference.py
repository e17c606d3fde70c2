"""What a report of a preference study holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.analysis.records.common import About, Rater
from annotation.preference.quality import Proportion
from cir_core.reports.records import Estimate


@dataclass(frozen=True)
class Correlation:
    """``estimate.n`` counts rated sets."""

    estimate: Estimate
    p: float | None


@dataclass(frozen=True)
class Normality:
    """Shapiro and Wilk's test."""

    w: float | None
    p: float | None
    n: int
    reason: str = ""


@dataclass(frozen=True)
class Rate:
    """``share``: of ``n`` answers with a preference those that follow the metric, with Wilson's interval. Its p,
    against one half, is None in the one-sided forms: set 1 may be liked more often than not, whatever the metric says.

    ``drawn``: the same rate with the interval over draws of whole questions or people, which allows for what answers
    have in common.

    Beside it what the side a set stood on does to it: ``first_side``, preferences for what stood first, among the
    same answers; ``adjusted``, the mean of the rate where the set the metric favours stood first and where it
    stood second. Where nobody recorded sides both are None with the reason.
    """

    share: Proportion
    drawn: Estimate
    adjusted: Estimate
    first_side: Proportion
    reason: str = ""               # why there is no rate


@dataclass(frozen=True)
class MetricReport:
    """``ge``: P(set 1 preferred | f(set 1) >= f(set 2)), equation 8 of CIRQRS; ``gt`` with > in place of >=;
    ``symmetric``: P(preferred = the set with the higher f), over all answers where f differs.
    ``given_equal_recall``: as ``symmetric``, where recall of both sets is equal (eq. 9); ``gt_given_equal_recall``
    likewise one-sided."""

    name: str
    description: str
    scored: int                    # rated sets that have a score
    shapiro: Normality
    spearman: Correlation
    kendall: Correlation           # tau-b
    ge: Rate
    gt: Rate
    symmetric: Rate
    given_equal_recall: Rate
    gt_given_equal_recall: Rate
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class MetricTest:
    """Whether two metrics correlate equally with ratings: paired permutation test of the difference of Spearman's
    rho, over the sets that both score. ``p_holm``: corrected for all pairs of metrics."""

    a: str
    b: str
    difference: float | None       # rho of a less rho of b
    low: float | None              # bootstrap
    high: float | None
    p: float | None
    p_holm: float | None
    n: int                         # questions
    draws: int
    exact: bool                    # whether all swaps were counted, not drawn
    reason: str = ""


@dataclass(frozen=True)
class Strength:
    """Bradley and Terry's, as natural logarithms around a mean of 0; ties count half."""

    method: str
    value: Estimate                # ``n``: answers the fit rests on, 0 for a method that is not in it
    adjusted: Estimate             # with a term for what stood first; ``n`` likewise
    mean_rating: Estimate          # ``n`` counts rated sets
    win_rate: Proportion                # preferences for it, ties left out


@dataclass(frozen=True)
class MethodPair:
    """``first`` < ``second`` by name."""

    first: str
    second: str
    answers: int
    ties: int
    first_preferred: Proportion
    adjusted: Estimate             # both sides weighed alike
    first_side: Proportion              # preferences for what stood first, among these answers
    mean_difference: Estimate      # rating of the first less that of the second


@dataclass(frozen=True)
class PreferenceReport:
    """``n_questions``: questions that somebody answered, before rules; ``n_answers``: their answers; ``n_valid``:
    the answers that count, with the rules left out."""

    about: About
    raters: tuple[Rater, ...]
    n_people: int
    n_questions: int
    n_answers: int
    n_valid: int
    rules: Mapping[str, Any]               # the rules in force
    removed: Mapping[str, int]             # rule to answers it removes alone
    flagged: int | None                    # of the answers before rules; None where nobody recorded it
    ratings: tuple[int, int, int, int, int]    # rated sets with 1 to 5
    mean_rating: Estimate                  # ``n`` counts rated sets
    ratings_shapiro: Normality
    rated_equal: int                       # answers that give both sets the same rating
    contradictions: int                    # the preferred set is rated lower
    ties: int
    identical_sets: int                    # of the ``n_questions`` those whose two sets hold the same images
    first_side: Proportion                      # preferences for what stood first
    first_side_when_equal: Proportion
    stored_one: Proportion                      # preferences for stored set 1
    stored_one_when_equal: Proportion
    metrics: tuple[MetricReport, ...]
    tests: tuple[MetricTest, ...]
    methods: tuple[Strength, ...]          # the strongest first
    pairs: tuple[MethodPair, ...]
    no_methods: str                        # why there are none
    shared_questions: int                  # answered by two people or more
    ratings_alpha: Estimate                # ordinal, over the sets of shared questions; ``n`` counts sets
    preference_alpha: Estimate             # nominal, over shared questions
