"""Events of participants between the items of a study: consent, attention checks, completion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select

from annotation.records import EventKind, StudyEvent, name_key
from storage.mapping import tables
from storage.mapping.records import event_values, record_from, records_from
from storage.studies.lookups import find_study, not_joined

_seat, _event = tables.study_seats.c, tables.study_events.c
_ORDER = (_event.created_at, _event.seat, _event.number)

# Locked, so that two windows of one person come one after the other.
_SEAT = select(_seat.number, _seat.annotator).where(
    _seat.study_id == bindparam("study_id"), _seat.annotator_key == bindparam("key")).with_for_update()
_OF_SEAT = (_event.study_id == bindparam("study_id"), _event.seat == bindparam("seat"))
_OWN = select(tables.study_events).where(*_OF_SEAT).order_by(_event.number)
_SAME = select(tables.study_events).where(*_OF_SEAT, _event.token == bindparam("token"))
_HIGHEST = select(func.max(_event.number)).where(*_OF_SEAT)


def save_event(connection: Connection, event: StudyEvent) -> StudyEvent:
    """Save an event, idempotent by its token; returns the stored one. In a write transaction. Raises ``UnknownStudy``,
    ``UnknownItem`` for a person without a seat."""
    seat = connection.execute(_SEAT, {"study_id": event.study_id, "key": name_key(event.annotator)}).first()
    if seat is None:
        raise not_joined(find_study(connection, event.study_id).name)
    of_seat = {"study_id": event.study_id, "seat": seat.number}
    before = connection.execute(_SAME, of_seat | {"token": event.token}).first()
    if before is not None:
        return record_from(StudyEvent, before)
    saved = replace(event, annotator=seat.annotator)
    number = (connection.execute(_HIGHEST, of_seat).scalar_one() or 0) + 1
    connection.execute(insert(tables.study_events).values(event_values(saved, seat.number, number)))
    return saved


def read_events(
    connection: Connection, study_id: str, annotator: str | None, kind: EventKind | None,
) -> Sequence[StudyEvent]:
    """Events, oldest first; none for an annotator without a seat."""
    find_study(connection, study_id)
    query = select(tables.study_events).where(_event.study_id == study_id).order_by(*_ORDER)
    if annotator is not None:
        query = query.join(tables.study_seats, (_seat.study_id == _event.study_id) & (_seat.number == _event.seat)
                           ).where(_seat.annotator_key == name_key(annotator))
    if kind is not None:
        query = query.where(_event.kind == kind)
    return records_from(StudyEvent, connection.execute(query))


def own_events(connection: Connection, of_seat: dict[str, Any]) -> tuple[StudyEvent, ...]:
    """Events of one seat, ``{"study_id", "seat"}``, in order of arrival."""
    return records_from(StudyEvent, connection.execute(_OWN, of_seat))
