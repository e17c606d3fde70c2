"""Lossless row ↔ dataclass mapping of studies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import Row

from annotation.records import (
    Assignment,
    Decision,
    Draft,
    Item,
    Judgement,
    Seat,
    Study,
    StudyEvent,
    StudyImage,
    StudyPlan,
    name_key,
)

Values = dict[str, Any]


def study_values(study: Study) -> Values:
    return {
        "study_id": study.study_id,
        "name_key": name_key(study.name),
        "name": study.name,
        "kind": study.kind,
        "protocol": study.protocol,
        "plan": asdict(study.plan),
        "accepting": study.accepting,
        "settings": dict(study.settings),
        "source": dict(study.source),
        "created_by": study.created_by,
        "created_at": study.created_at,
    }


def study_from(row: Row[Any]) -> Study:
    return Study(
        study_id=row.study_id, name=row.name, kind=row.kind, protocol=row.protocol, plan=StudyPlan(**row.plan),
        accepting=row.accepting, settings=row.settings, source=row.source, created_by=row.created_by,
        created_at=row.created_at,
    )


def item_values(item: Item) -> Values:
    return {
        "item_id": item.item_id,
        "study_id": item.study_id,
        "number": item.number,
        "key": item.key,
        "stratum": item.stratum,
        "in_block": item.in_block,
        "shown": dict(item.shown),
        "hidden": dict(item.hidden),
    }


def item_from(row: Row[Any]) -> Item:
    return Item(
        item_id=row.item_id, study_id=row.study_id, number=row.number, key=row.key, stratum=row.stratum,
        in_block=row.in_block, shown=row.shown, hidden=row.hidden,
    )


def image_from(row: Row[Any]) -> StudyImage:
    return StudyImage(row.token, row.image_id, row.width, row.height)


def seat_from(row: Row[Any]) -> Seat:
    return Seat(row.study_id, row.number, row.annotator, row.joined_at, row.seen_at)


def assignment_values(
    study_id: str, item_id: str, seat: int, position: int, extra: Mapping[str, Any] | None = None,
) -> Values:
    return {"item_id": item_id, "seat": seat, "study_id": study_id, "position": position, "state": "open",
            "extra": dict(extra) if extra else None}


def assignment_from(row: Row[Any], annotator: str | None) -> Assignment:
    return Assignment(row.item_id, row.seat, row.position, row.state, annotator, row.extra or {})


def judgement_values(judgement: Judgement, seat: int, *, current: bool = True) -> Values:
    return {
        "judgement_id": judgement.judgement_id,
        "study_id": judgement.study_id,
        "item_id": judgement.item_id,
        "seat": seat,
        "annotator": judgement.annotator,
        "revision": judgement.revision,
        "current": current,
        "token": judgement.token,
        "protocol": judgement.protocol,
        "answer": dict(judgement.answer),
        "seconds": float(judgement.seconds),
        "created_at": judgement.created_at,
        "extra": dict(judgement.extra),
    }


def judgement_from(row: Row[Any]) -> Judgement:
    return Judgement(
        judgement_id=row.judgement_id, study_id=row.study_id, item_id=row.item_id, annotator=row.annotator,
        revision=row.revision, token=row.token, protocol=row.protocol, answer=row.answer, seconds=row.seconds,
        created_at=row.created_at, extra=row.extra,
    )


def draft_from(row: Row[Any]) -> Draft:
    return Draft(row.item_id, row.annotator, row.answer, row.seconds, row.updated_at)


def decision_values(decision: Decision) -> Values:
    return {
        "decision_id": decision.decision_id,
        "study_id": decision.study_id,
        "item_id": decision.item_id,
        "adjudicator": decision.adjudicator,
        "revision": decision.revision,
        "current": True,
        "token": decision.token,
        "answer": dict(decision.answer),
        "reason": decision.reason,
        "created_at": decision.created_at,
    }


def decision_from(row: Row[Any]) -> Decision:
    return Decision(
        decision_id=row.decision_id, study_id=row.study_id, item_id=row.item_id, adjudicator=row.adjudicator,
        revision=row.revision, token=row.token, answer=row.answer, reason=row.reason, created_at=row.created_at,
    )


def event_values(event: StudyEvent, seat: int, number: int) -> Values:
    return {
        "event_id": event.event_id,
        "study_id": event.study_id,
        "seat": seat,
        "number": number,
        "annotator": event.annotator,
        "kind": event.kind,
        "token": event.token,
        "payload": dict(event.payload),
        "created_at": event.created_at,
    }


def event_from(row: Row[Any]) -> StudyEvent:
    return StudyEvent(
        event_id=row.event_id, study_id=row.study_id, annotator=row.annotator, kind=row.kind, token=row.token,
        payload=row.payload, created_at=row.created_at,
    )
