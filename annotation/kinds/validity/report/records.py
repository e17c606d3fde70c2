"""Records of a validity report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from annotation.analysis.people.profiles import People
from annotation.analysis.people.times import Times
from annotation.analysis.records.common import About, Rater
from cir_core.reports.records import Estimate


@dataclass(frozen=True)
class PairAgreement:
    """Agreement of two people on the items that both judged. ``a`` < ``b`` by seat."""

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
    """Summary of Cohen's kappa over the pairs for which it is defined. If there are none, the mean has no value, and
    median, min and max are None."""

    count: int                     # pairs with a kappa
    undefined: int                 # pairs without
    mean: Estimate                 # ``n`` is ``count``; bootstrap interval over items, where each replicate's mean is
                                   # over the pairs defined in it
    median: float | None
    min: float | None
    max: float | None
    reason: str = ""               # how many pairs are undefined, and why


@dataclass(frozen=True)
class TwoWay:
    """Agreement on a binary label: valid or not, or whether one flag is set."""

    key: str                       # "binary", or the flag's code
    label: str
    positive_rate: Estimate        # share of positive judgements; ``n`` counts judgements
    agreement: Mapping[str, Estimate]   # by key of annotation.analysis.statistics.agreement.STATISTICS; ``n``: items
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

    labels: tuple[str, ...]        # observed signatures, most frequent first; "A+B" for two flags
    counts: tuple[int, ...]        # judgements with each
    krippendorff_alpha: Estimate   # nominal, over signatures
    exact_agreement: Estimate      # share of items with identical signatures
    exact_invalid: Estimate        # the same among items that all call invalid; ``n`` counts those
    pairwise_agreement: Estimate   # mean over the pairs of people
    pairs: tuple[SignaturePair, ...]


@dataclass(frozen=True)
class ValidityReport:
    """Report of a validity study. ``n_items``: items with two or more judgements, used for agreement. ``judged``: items
    with any verdict."""

    title: ClassVar[str] = "Agreement report"

    about: About
    raters: tuple[Rater, ...]
    n_items: int
    judged: int
    judgements: int
    unlabelled: int                # answers without a verdict (unsure), which are not counted
    per_item: Mapping[int, int]    # people per item to number of items
    unanimous: Estimate            # share of ``n_items`` that are unanimously valid or invalid
    binary: TwoWay
    flags: tuple[TwoWay, ...]      # in order of severity
    signature: Signatures
    people: People | None = None   # None without a verdict
    times: Times | None = None     # likewise; over time: the share judged valid

    @property
    def selected_answers(self) -> int:
        return self.judgements + self.unlabelled


@dataclass(frozen=True)
class Disputed:
    """An item on which people, or two given people, disagree."""

    item_id: str
    key: str
    dataset: str
    category: str
    text: str
    reference: str                 # image tokens
    target: str
    answers: tuple[tuple[str, str], ...]   # (name or pseudonym, signature), by seat
    decided: str | None            # the adjudicator's primary category; None: not decided
