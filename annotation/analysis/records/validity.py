"""What a report of a validity study holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from annotation.analysis.records.common import About, Rater
from cir_core.reports.records import Estimate


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
    """Cohen's kappa over the pairs for which it is defined; the others are left out of all numbers. Where it is defined
    for none, the mean has no value, and median, min and max are None."""

    count: int                     # pairs with a kappa
    undefined: int                 # pairs without
    mean: Estimate                 # ``n`` is ``count``; its interval is over draws of items, each draw's mean being
                                   # over the pairs that are defined in it
    median: float | None
    min: float | None
    max: float | None
    reason: str = ""               # how many pairs are undefined, and why


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
