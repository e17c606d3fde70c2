"""Records common to all reports: inputs, selection, options, estimates. Records of preference rates, tests of
metrics and strengths of methods. Records of sample-size planning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from annotation.records import Assignment, Decision, GoldAnswer, Item, Judgement, Seat, Study, StudyEvent
from cir_core.reports.records import Estimate

Undefined = Literal["null", "one"]
"""Value of chance-corrected agreement if all raters used a single category, for which it is undefined: null, or 1.0 as
in CIRCUS's released report."""
Scale = Literal["nominal", "ordinal"]
Resample = Literal["items", "people"]
"""Bootstrap unit: items (questions) with all their answers, or people with all theirs."""


@dataclass(frozen=True)
class Groups:
    """Groups of items to which a report may be narrowed: the word for each, and its field of ``Item.hidden``."""

    dataset: str = "data set"
    dataset_field: str = "dataset"
    category: str = "category"
    category_field: str = "category"
    has_block: bool = True         # whether there is an agreement set, of items for everybody


@dataclass(frozen=True)
class ModelAnswer:
    """A language model's answer to an item, in canonical form. ``turned``: with the sides exchanged."""

    item_id: str
    turned: bool
    answer: Mapping[str, Any]
    reason: str
    again: bool = False                # its first answer was refused by the form


@dataclass(frozen=True)
class ModelAnswers:
    """All of one model's. ``failed``: items without an answer that the form accepts. ``card``: what they depend on."""

    model: str
    answers: tuple[ModelAnswer, ...]
    failed: int
    card: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StudyAnswers:
    """Inputs of a report, as stored. ``judgements``: current ones."""

    study: Study
    items: tuple[Item, ...]
    seats: tuple[Seat, ...]
    assignments: tuple[Assignment, ...]
    judgements: tuple[Judgement, ...]
    decisions: tuple[Decision, ...] = ()       # of validity studies
    checks: tuple[StudyEvent, ...] = ()        # of preference studies: answers to checks, for the rules
    groups: Groups = Groups()
    gold: tuple[GoldAnswer, ...] = ()          # of preference studies, for the rules
    models: tuple[ModelAnswers, ...] = ()      # apart from people's: no number of theirs rests on them


@dataclass(frozen=True)
class Selection:
    """Filter of the judgements of a report. Empty and False select all. ``people`` are seat numbers, which also work
    with hidden names."""

    datasets: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()    # hidden categories of a validity study; categories of a preference study
    people: tuple[int, ...] = ()
    block_only: bool = False            # only the agreement set of a validity study


@dataclass(frozen=True)
class Options:
    """Statistical options. ``draws`` (bootstrap replicates) 0: only closed-form intervals (Wilson), and no permutation
    tests."""

    draws: int = 1000
    seed: int = 20261121
    undefined: Undefined = "null"
    resample: Resample = "items"
    hide_names: bool = False


@dataclass(frozen=True)
class Rater:
    """An annotator. With hidden names, ``name`` is a pseudonym by seat, such as "P03"."""

    seat: int
    name: str
    judgements: int                # in a report those that count, within the selection; in choices all
    positive: int | None = None    # of them, those with verdict valid; None in a preference study


@dataclass(frozen=True)
class About:
    """Provenance of a report, to reproduce it. Plain values."""

    study: str
    study_id: str
    kind: str
    protocol: str
    accepting: bool
    planned: int                   # planned answers; of an imported study the existing ones
    answered: int                  # existing answers, before the selection
    latest: str | None             # time of the last answer within the selection, ISO 8601
    selection: Selection
    options: Options
    versions: Mapping[str, str] = field(default_factory=dict)   # of cirque and the statistical libraries
    notes: tuple[str, ...] = ()    # on missing and excluded answers
    groups: Groups = Groups()


class AnyReport(Protocol):
    """What every kind of report has."""

    title: ClassVar[str]

    @property
    def about(self) -> About: ...

    @property
    def raters(self) -> tuple[Rater, ...]: ...

    @property
    def selected_answers(self) -> int:
        """Answers within the selection, before any of them is left out."""


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
    rank: Estimate = Estimate(None, 0)   # 1 for the strongest; interval over the same draws


@dataclass(frozen=True)
class PlanPoint:
    """``width``: of the 95 % interval, upper minus lower."""

    size: int
    width: float


@dataclass(frozen=True)
class Precision:
    """Forecast of the interval width of one statistic with more items, answers, questions or people."""

    what: str                      # "Fleiss' kappa", "Krippendorff's alpha", "preference rate"
    more_of: str                   # "items", "questions", "people"; "answers per item" if people judge different items
    have: int                      # current number; minimum of answers per item
    width: float | None            # current, as in the report
    wanted: float
    needed: int | None             # approximate total, rounded up to two digits; ``have`` if already narrow enough;
                                   # None: not within ``points``, or impossible
    points: tuple[PlanPoint, ...]
    assumption: str                # a sentence
    reason: str = ""
