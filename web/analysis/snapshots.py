"""A report of a study as it was at one moment."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.analysis.compose import WholeReport
from annotation.analysis.records import MetricScores
from annotation.analysis.selection import Choices
from annotation.records import Study


@dataclass(frozen=True)
class StudySnapshot:
    """A study as it was when its stamp was asked for, or later. ``number``: greater than that of every look before
    that saw another stamp."""

    study: Study
    stamp: str
    number: int
    large: bool


@dataclass(frozen=True)
class Report:
    """A report with all that is shown beside it. ``scores``: without what sets have. ``judges``: who has a seat."""

    looked: StudySnapshot
    whole: WholeReport
    choices: Choices
    scores: tuple[MetricScores, ...]
    judges: tuple[str, ...]
