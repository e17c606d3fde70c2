"""JSON of reports for the analysis screen. Missing numbers are null. Snapshots of studies and their reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from math import isfinite
from typing import Any

from annotation.analysis.about import about_json
from annotation.analysis.records import Figure, Headline, MetricScores, ReportTable, Section
from annotation.analysis.selection import Choices
from annotation.kinds.reports import WholeReport
from annotation.kinds.table import KINDS
from annotation.kinds.validity.report.records import Disputed
from annotation.records import Study
from annotation.studies.creation import is_imported
from cir_core.reports.cells import PROSE, for_readers, shown_rows
from web.studies.images import Images


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


Json = dict[str, Any]


def study(found: Study, counts: Mapping[str, int], *, you_judge: bool) -> Json:
    """Row of the study list. Imported studies count as complete. ``you_judge``: whether the caller has a seat in the
    study and should not open its report by accident."""
    answered = counts["done"]
    return {
        "id": found.study_id, "name": found.name, "kind": found.kind, "words": KINDS[found.kind].words,
        "accepting": found.accepting, "items": counts["items"], "answered": answered, "people": counts["people"],
        "planned": answered if is_imported(found) else counts["assignments"], "you_judge": you_judge,
    }


def report(made: Report) -> Json:
    """JSON of a report. ``report``: output of ``cirque report --json``; ``about`` has the seed and number of draws."""
    about = made.whole.report.about
    return {
        "stamp": made.looked.stamp, "kind": made.looked.study.kind, "accepting": about.accepting,
        "about": plain(about_json(about)), "choices": _choices(made.choices), "scores": scores(made.scores),
        "sections": [_section(one) for one in made.whole.sections], "report": plain(made.whole.json),
    }


def scores(found: Sequence[MetricScores]) -> list[Json]:
    return [{"name": one.name, "description": one.description, "notes": list(one.notes)} for one in found]


def disputed(study_id: str, found: Sequence[Disputed], total: int, images: Images) -> Json:
    """JSON of disputed items, with image tokens ("" for unavailable images)."""

    def at_hand(token: str) -> str:
        return token if token in images and images[token].width else ""

    return {"total": total, "study": study_id, "items": [{
        "item": one.item_id, "key": one.key, "dataset": one.dataset, "category": one.category, "text": one.text,
        "reference": at_hand(one.reference), "target": at_hand(one.target),
        "answers": [list(answer) for answer in one.answers], "decided": one.decided,
    } for one in found]}


def plain(value: Any) -> Any:
    """Convert records, tuples, numpy numbers and non-finite values to plain JSON types."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return [plain(one) for one in value]


def _choices(found: Choices) -> Json:
    return {
        "datasets": [list(one) for one in found.datasets], "categories": [list(one) for one in found.categories],
        "people": [{"seat": one.seat, "name": one.name, "judgements": one.judgements} for one in found.people],
        "block": found.block,
    }


def _section(found: Section) -> Json:
    return {
        "key": found.key, "title": found.title, "intro": found.intro,
        "headlines": [_headline(one) for one in found.headlines], "figures": [_figure(one) for one in found.figures],
        "tables": [_table(one) for one in found.tables],
    }


def _headline(found: Headline) -> Json:
    estimate = {name: plain(getattr(found.estimate, name)) for name in ("value", "low", "high", "n", "reason")}
    return {"label": found.label, **estimate, "kind": found.kind, "unit": found.unit, "note": found.note}


def _figure(found: Figure) -> Json:
    return {"key": found.key, "title": found.title, "alt": found.alt, "spec": plain(found.spec),
            "cells": plain(found.cells), "note": found.note}


def _table(found: ReportTable) -> Json:
    found = for_readers(found)
    remarks = PROSE if len(found.columns) > 2 else ()
    return {
        "key": found.key, "title": found.title,
        "columns": [{"key": one.key, "name": one.name, "kind": "remark" if one.kind == "text" and one.key in remarks
                     and place else one.kind} for place, one in enumerate(found.columns)],
        "rows": plain(found.rows), "shown": shown_rows(found), "note": found.note, "empty": found.empty,
    }
