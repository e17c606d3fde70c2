"""Records of a preference report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from annotation.analysis.people.profiles import People
from annotation.analysis.people.times import Times
from annotation.analysis.records import About, MetricTest, Rate, Rater, Strength
from annotation.analysis.statistics.coefficients.krippendorff import ALPHA
from cir_core.reports.records import Estimate


@dataclass(frozen=True)
class MetricReport:
    """Results of one metric. ``rates``: by key of a row of :data:`annotation.analysis.statistics.rates.RATES`."""

    name: str
    description: str
    scored: int                    # rated sets with a score
    shapiro: Estimate
    spearman: Estimate
    kendall: Estimate              # tau-b
    rates: Mapping[str, Rate]
    notes: tuple[str, ...] = ()
    ratings: tuple[tuple[float, float, tuple[int, ...]], ...] = ()   # least and greatest value of a fifth of the rated
                                                                     # sets, and how many of them got 1 to 5


@dataclass(frozen=True)
class MethodPair:
    """Comparison of two methods. ``first`` < ``second`` by name."""

    first: str
    second: str
    answers: int
    ties: int
    first_preferred: Estimate
    adjusted: Estimate             # both sides weighted equally
    first_side: Estimate           # preferences for the set shown first, among these answers
    mean_difference: Estimate      # rating of the first minus that of the second
    predicted: float | None = None # share of preferences for the first by the strengths, ties counting half
    p_holm: float | None = None    # of ``first_preferred`` against one half, corrected for all pairs
    needed: int | None = None      # answers with which the next study finds a difference of this size


@dataclass(frozen=True)
class PreferenceReport:
    """Report of a preference study. ``n_questions``: answered questions, before rules; ``n_answers``: their answers;
    ``n_valid``: answers that are not excluded by rules."""

    title: ClassVar[str] = "Preference report"

    about: About
    raters: tuple[Rater, ...]
    n_people: int
    n_questions: int
    n_answers: int
    n_valid: int
    rules: Mapping[str, Any]               # active rules
    removed: Mapping[str, int]             # rule to the number of answers it excludes alone
    flagged: int | None                    # of the answers before rules; None if not recorded
    ratings: tuple[int, int, int, int, int]    # rated sets with 1 to 5
    mean_rating: Estimate                  # ``n`` counts rated sets
    ratings_shapiro: Estimate
    rated_equal: int                       # answers with equal ratings
    contradictions: int                    # the preferred set is rated lower
    ties: int
    identical_sets: int                    # of ``n_questions``, those whose two sets have the same images
    first_side: Estimate                   # preferences for the set shown first
    first_side_when_equal: Estimate
    stored_one: Estimate                   # preferences for stored set 1
    stored_one_when_equal: Estimate
    metrics: tuple[MetricReport, ...]
    tests: tuple[MetricTest, ...]
    methods: tuple[Strength, ...]          # strongest first
    pairs: tuple[MethodPair, ...]
    no_methods: str                        # reason if there are none
    shared_questions: int                  # answered by two people or more
    ratings_agreement: Mapping[str, Estimate]      # by key of STATISTICS, over the sets of shared questions; ``n``:
                                                   # sets
    preference_agreement: Mapping[str, Estimate]   # likewise, over shared questions
    people: People | None = None                   # by preferences on shared questions; None without such
    sides: tuple[Estimate, ...] = ()               # of each rater: preferences for the set shown first
    method_ratings: Mapping[str, tuple[int, ...]] = field(default_factory=dict)    # sets of it with 1 to 5
    times: Times | None = None                     # over time: the mean of an answer's two ratings
    asked: str = ""                                # own survey, in words; "": one of cirque's

    @property
    def ratings_alpha(self) -> Estimate:
        """Krippendorff's, ordinal."""
        return self.ratings_agreement[ALPHA.key]

    @property
    def preference_alpha(self) -> Estimate:
        """Krippendorff's, nominal."""
        return self.preference_agreement[ALPHA.key]

    @property
    def selected_answers(self) -> int:
        return self.n_answers
