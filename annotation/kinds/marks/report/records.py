"""Records of a report on candidates that people marked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from annotation.analysis.people.profiles import People
from annotation.analysis.people.times import Times
from annotation.analysis.records.common import About, Rater
from annotation.kinds.marks.answers import Marking
from cir_core.reports.records import Estimate


@dataclass(frozen=True)
class MarkAgreement:
    """Agreement of people on yes and no, image by image; an image that somebody was unsure of has no answer of them.
    ``n`` counts images with a yes or no of two people or more. Intervals draw queries with all their images."""

    kappa: Estimate                # Cohen's, mean over the pairs of people for whom it is defined
    pooled: Mapping[str, Estimate] # by key of annotation.analysis.statistics.agreement.STATISTICS
    agreement: Estimate            # share of images on which a pair says the same, mean over pairs
    unanimous: Estimate
    unsure: Estimate               # share of all marks; ``n`` counts marks


@dataclass(frozen=True)
class PairMarks:
    """Two people. ``n``: images to which both say yes or no."""

    a: str
    b: str
    n: int
    kappa: Estimate
    agreement: Estimate


@dataclass(frozen=True)
class PersonMarks:
    """``marks``: images by mark. ``kappa``: mean over the others with whom it is defined; None without any."""

    seat: int
    name: str
    answers: int
    marks: Mapping[str, int]
    kappa: float | None


@dataclass(frozen=True)
class ThresholdPoint:
    """A threshold on the model's confidence beside people's majority, over all images with both. Shares are None where
    they are 0 / 0."""

    threshold: float
    both: int                      # people say yes, and the confidence is at least the threshold
    model_only: int
    people_only: int
    neither: int
    kappa: float | None
    agreement: float | None
    precision: float | None
    recall: float | None           # among the candidates: what no search found is not counted
    f1: float | None


@dataclass(frozen=True)
class ModelAgreement:
    """The model at a threshold beside people's majority. ``n`` counts images."""

    kappa: Estimate
    agreement: Estimate
    precision: Estimate
    recall: Estimate
    f1: Estimate


@dataclass(frozen=True)
class ThresholdChoice:
    """``best``: where kappa is highest, with the interval of that choice over draws of queries. ``held_out``: each
    query at the threshold that is best for the other queries, so that nothing is measured on what it was chosen on.
    ``difference``: its kappa less that at ``used``."""

    best: Estimate
    held_out: ModelAgreement
    used: ModelAgreement
    difference: Estimate


@dataclass(frozen=True)
class TargetReport:
    """``marked``: queries with an answer; ``shared``: with those of two people or more. ``decided``: images with more
    yes than no or the reverse, ``targets`` of them with more yes; ``undecided``: other images of marked queries.
    ``without_confidence``: decided images of which the model was not asked. ``threshold``: that of stage 1."""

    title: ClassVar[str] = "Target report"

    about: About
    marking: Marking               # what people were asked
    raters: tuple[Rater, ...]
    n_queries: int
    marked: int
    shared: int
    answers: int
    decided: int
    targets: int
    undecided: int
    without_confidence: int
    threshold: float
    agreement: MarkAgreement
    pairs: tuple[PairMarks, ...]
    curve: tuple[ThresholdPoint, ...]
    choice: ThresholdChoice
    people: tuple[PersonMarks, ...]
    others: People | None = None   # None without an answer
    times: Times | None = None     # over time: the share of a query's images marked yes

    @property
    def selected_answers(self) -> int:
        return self.answers
