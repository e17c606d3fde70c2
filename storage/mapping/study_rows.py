"""Lossless row ↔ dataclass mapping of studies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import Row

from annotation.records import Assignment, Decision, Item, Judgement, Study, StudyEvent, StudyPlan, name_key
from storage.mapping.records import Values, record_from


def study_values(study: Study) -> Values:
    return vars(study) | {"name_key": name_key(study.name), "plan": asdict(study.plan),
                          "settings": dict(study.settings), "source": dict(study.source)}


def study_from(row: Row[Any]) -> Study:
    return record_from(Study, row, plan=StudyPlan(**row.plan))


def item_values(item: Item) -> Values:
    return vars(item) | {"shown": dict(item.shown), "hidden": dict(item.hidden)}


def assignment_values(
    study_id: str, item_id: str, seat: int, position: int, extra: Mapping[str, Any] | None = None,
) -> Values:
    return {"item_id": item_id, "seat": seat, "study_id": study_id, "position": position, "state": "open",
            "extra": dict(extra) if extra else None}


def assignment_from(row: Row[Any], annotator: str | None) -> Assignment:
    return record_from(Assignment, row, annotator=annotator, extra=row.extra or {})


def judgement_values(judgement: Judgement, seat: int, *, current: bool = True) -> Values:
    return vars(judgement) | {"seat": seat, "current": current, "answer": dict(judgement.answer),
                              "seconds": float(judgement.seconds), "extra": dict(judgement.extra)}


def decision_values(decision: Decision) -> Values:
    return vars(decision) | {"current": True, "answer": dict(decision.answer)}


def event_values(event: StudyEvent, seat: int, number: int) -> Values:
    return vars(event) | {"seat": seat, "number": number, "payload": dict(event.payload)}
