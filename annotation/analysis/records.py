"""What a report holds. Numbers that cannot be had are None, with the reason in words; they are never 0 or nan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from annotation.quality import Share
from annotation.records import Assignment, Decision, Item, Judgement, Seat, Study, StudyEvent
from annotation.records import MetricScores as MetricScores

Undefined = Literal["null", "one"]
"""What an agreement is where everybody used one and the same category throughout, so that chance alone would agree
as well: no number, or 1.0 as in CIRCUS's released report."""
Scale = Literal["nominal", "ordinal"]
Resample = Literal["items", "people"]
"""What bootstrap draws take whole: items (questions) with all their answers, or people with all theirs."""


@dataclass(frozen=True)
class Estimate:
    """A statistic with its 95 % interval. ``n``: units it rests on (items, questions, sets; the field that holds it
    says which)."""

    value: float | None
    n: int
    low: float | None = None       # None as well where no interval was asked for
    high: float | None = None
    reason: str = ""               # why there is no value, or no interval; or what was left out to get one


@dataclass(frozen=True)
class StudyAnswers:
    """All that a report is made of, as the store has it. ``judgements``: the current ones."""

    study: Study
    items: tuple[Item, ...]
    seats: tuple[Seat, ...]
    assignments: tuple[Assignment, ...]
    judgements: tuple[Judgement, ...]
    decisions: tuple[Decision, ...] = ()       # of validity studies
    checks: tuple[StudyEvent, ...] = ()        # of preference studies: answers to checks, for the rules


@dataclass(frozen=True)
class Selection:
    """Which judgements a report is about. Empty and False take all.

    ``people`` are numbers of seats, which stay when names are hidden.
    """

    datasets: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()    # hidden categories of a validity study; categories of a preference study
    people: tuple[int, ...] = ()
    block_only: bool = False            # the agreement block of a validity study alone


@dataclass(frozen=True)
class Options:
    """How numbers are made. ``draws`` 0: no intervals but those in closed form (Wilson), and no tests by draws."""

    draws: int = 1000
    seed: int = 20261121
    undefined: Undefined = "null"
    resample: Resample = "items"
    hide_names: bool = False


@dataclass(frozen=True)
class Rater:
    """``name`` is a code such as "P03", made of the seat, where names are hidden."""

    seat: int
    name: str
    judgements: int                # that count, within the selection
    positive: int | None = None    # of them, those that say valid; None in a preference study


@dataclass(frozen=True)
class About:
    """What a report is of, for its head and for whoever wants to repeat it. Plain values."""

    study: str
    study_id: str
    kind: str
    protocol: str
    accepting: bool
    planned: int                   # answers the plan asks for; of an imported study those it holds
    answered: int                  # answers there are, of everybody, before the selection
    latest: str | None             # when the last answer within the selection was saved, ISO 8601
    selection: Selection
    options: Options
    versions: Mapping[str, str] = field(default_factory=dict)   # cirque and the libraries numbers come from
    notes: tuple[str, ...] = ()    # what is missing, what was left out; sentences


# --- validity ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairAgreement:
    """Two people over the items that both judged. ``a`` < ``b`` in order of seats."""

    a: str
    b: str
    a_seat: int
    b_seat: int
    n: int                         # items both judged
    kappa: Estimate                # Cohen's
    agreement: Estimate            # share of items with the same answer
    table: tuple[tuple[int, int], tuple[int, int]]   # [a says no, yes][b says no, yes]


@dataclass(frozen=True)
class PairSummary:
    """Cohen's kappa over the pairs for which it is defined; ``undefined`` pairs are left out, with the most
    frequent reason. Without a pair all but the counts are None."""

    count: int
    undefined: int
    mean: Estimate                 # its interval is that of the mean, over draws of items; ``n`` is the count
    median: float | None
    min: float | None
    max: float | None
    reason: str = ""


@dataclass(frozen=True)
class TwoWay:
    """Agreement on a yes or no: valid or not, or whether one flag is set."""

    key: str                       # "binary", or the flag's code
    label: str
    positive_rate: Estimate        # share of judgements that say yes; ``n`` counts judgements
    fleiss_kappa: Estimate         # ``n`` counts items
    krippendorff_alpha: Estimate   # nominal; ``n`` counts items that two people or more judged
    pairwise: PairSummary
    pairs: tuple[PairAgreement, ...]


@dataclass(frozen=True)
class SignaturePair:
    a: str
    b: str
    a_seat: int
    b_seat: int
    n: int
    agreement: Estimate            # share of items with the same set of flags
    table: Mapping[tuple[str, str], int]   # (signature of a, signature of b) to items; "+" between flags


@dataclass(frozen=True)
class Signatures:
    """Agreement on the whole set of flags."""

    labels: tuple[str, ...]        # signatures that were given, the most frequent first; "A+B" for two flags
    counts: tuple[int, ...]        # judgements with each
    krippendorff_alpha: Estimate   # nominal, over signatures
    exact_agreement: Estimate      # share of items on which all who judged it gave the same one
    pairwise_agreement: Estimate   # mean over the pairs of people
    pairs: tuple[SignaturePair, ...]


@dataclass(frozen=True)
class ValidityReport:
    """``n_items``: items that two people or more judged; agreement rests on these. ``judged``: all that have a
    verdict of anybody."""

    about: About
    raters: tuple[Rater, ...]
    n_items: int
    judged: int
    judgements: int
    unlabelled: int                # answers without a verdict (unsure); they count in no number
    per_item: Mapping[int, int]    # people per item to number of items
    unanimous: Estimate            # share of ``n_items`` on which all say valid, or all say not valid
    binary: TwoWay
    flags: tuple[TwoWay, ...]      # in order of severity
    signature: Signatures


@dataclass(frozen=True)
class Disputed:
    """An item on which people differ, or two given people do."""

    item_id: str
    key: str
    dataset: str
    category: str
    text: str
    reference: str                 # tokens of pictures
    target: str
    answers: tuple[tuple[str, str], ...]   # (name or code, signature), in order of seats
    decided: str | None            # the adjudicator's primary category; None: not decided


# --- preference ----------------------------------------------------------------------------------


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
    """``share``: of ``n`` answers with a preference those that follow the metric, with Wilson's interval.

    Beside it what the side a set stood on does to it: ``first_side``, preferences for what stood first, among the
    same answers; ``adjusted``, the mean of the rate where the set the metric favours stood first and where it
    stood second. Where nobody recorded sides both are None with the reason.
    """

    share: Share
    adjusted: Estimate
    first_side: Share
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
    value: Estimate                # ``n`` counts answers
    adjusted: Estimate             # with a term for what stood first
    mean_rating: Estimate          # ``n`` counts rated sets
    win_rate: Share                # preferences for it, ties left out


@dataclass(frozen=True)
class MethodPair:
    """``first`` < ``second`` by name."""

    first: str
    second: str
    answers: int
    ties: int
    first_preferred: Share
    adjusted: Estimate             # both sides weighed alike
    first_side: Share              # preferences for what stood first, among these answers
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
    first_side: Share                      # preferences for what stood first
    first_side_when_equal: Share
    stored_one: Share                      # preferences for stored set 1
    stored_one_when_equal: Share
    metrics: tuple[MetricReport, ...]
    tests: tuple[MetricTest, ...]
    methods: tuple[Strength, ...]          # the strongest first
    pairs: tuple[MethodPair, ...]
    no_methods: str                        # why there are none
    shared_questions: int                  # answered by two people or more
    ratings_alpha: Estimate                # ordinal, over the sets of shared questions; ``n`` counts sets
    preference_alpha: Estimate             # nominal, over shared questions


# --- planning ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlanPoint:
    """``width``: of the 95 % interval, upper less lower."""

    size: int
    width: float


@dataclass(frozen=True)
class Precision:
    """How wide the interval of one number would be with more of something."""

    what: str                      # "kappa", "preference rate"
    more_of: str                   # "items", "people", "questions"
    have: int
    width: float | None            # now
    wanted: float
    needed: int | None             # in all, not more of; None: not within ``points``, or not to be had
    points: tuple[PlanPoint, ...]
    assumption: str                # a sentence
    reason: str = ""


# --- documents -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReportColumn:
    """``kind`` decides how a cell is written: "text", "count", "number" (three decimals in prose), "share" (percent),
    "p"."""

    key: str
    name: str
    kind: Literal["text", "count", "number", "share", "p"]


@dataclass(frozen=True)
class ReportTable:
    """A cell is a text, a number or None. Files hold cells unrounded."""

    key: str                       # a file name without ending: "pairwise-kappa"
    title: str
    columns: tuple[ReportColumn, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""                 # under the table
    empty: str = ""                # what to say where there are no rows


@dataclass(frozen=True)
class Figure:
    """``spec``: ``{"data", "layout"}`` of plotly, plain JSON, without a theme: whoever draws it brings colours of
    text and paper. ``cells``: what a click on a cell opens, by "row,column" of a heatmap."""

    key: str
    title: str
    alt: str                       # what it shows, for who cannot see it
    spec: Mapping[str, Any] = field(repr=False)
    cells: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Headline:
    """One number that a reader looks for first. ``value`` is None where there is none; ``note`` then says why."""

    label: str
    estimate: Estimate
    kind: Literal["number", "share", "count"]
    unit: str = ""                 # what ``estimate.n`` counts: "items"
    note: str = ""


@dataclass(frozen=True)
class Section:
    """A part of a report, the same on the screen and in files."""

    key: str
    title: str
    intro: str                     # how the numbers are made and read, in two or three sentences
    headlines: tuple[Headline, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[ReportTable, ...] = ()
