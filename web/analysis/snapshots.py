"""Snapshots of studies and their reports."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.analysis.records import MetricScores
from annotation.analysis.selection import Choices
from annotation.kinds.reports import WholeReport
from annotation.records import Study


@dataclass(frozen=True)
class StudySnapshot:
    """A study read at or after its stamp. ``number``: greater than that of earlier snapshots with another stamp."""

    study: Study
    stamp: str
    number: int
    large: bool


@dataclass(frozen=True)
class Report:
    """A report with the data shown next to it. ``scores``: without values per set. ``judges``: people with a seat."""

    looked: StudySnapshot
    whole: WholeReport
    choices: Choices
    scores: tuple[MetricScores, ...]
    judges: tuple[str, ...]
