"""Insert and delete a whole study."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from annotation.records import AuditEvent, Item, Judgement, PlannedAssignment, Seat, Study, StudyImage, name_key
from cir_core.errors import StudyError
from cir_core.support.texts import quoted
from storage.accounts.audit_log import log_event
from storage.checks import check_study_texts
from storage.mapping import tables
from storage.mapping.records import Values, assignment_values, item_values, judgement_values, study_values
from storage.studies.lookups import find_study, recount

_seat = tables.study_seats.c
# What points at something comes before it: nothing that people judged goes by a cascade.
_IN_ORDER = (tables.messages, tables.first_answers, tables.gold_items, tables.webhook_calls, tables.participants,
             tables.recruitments, tables.study_scores, tables.decisions, tables.judgements, tables.study_events,
             tables.drafts, tables.assignments, tables.study_seats, tables.study_items, tables.study_images,
             tables.studies)


def check_study(
    study: Study, items: Sequence[Item], images: Sequence[StudyImage], places: Sequence[PlannedAssignment],
    seats: Sequence[Seat], judgements: Sequence[Judgement],
) -> None:
    """Refuse text that a database cannot store; a judgement without a seat is a programming error."""
    check_study_texts(*(study, *items, *images, *places, *seats, *judgements))
    if not name_key(study.name):
        raise StudyError("A study needs a name. Give it one.")
    names = {name_key(seat.annotator) for seat in seats if seat.annotator is not None}
    for judgement in judgements:
        if name_key(judgement.annotator) not in names:
            raise ValueError(f"a judgement by {quoted(judgement.annotator)}, who has no seat in the study")


def put_study(
    connection: Connection, study: Study, items: Sequence[Item], images: Sequence[StudyImage],
    places: Sequence[PlannedAssignment], seats: Sequence[Seat], judgements: Sequence[Judgement],
) -> None:
    s = tables.studies
    if connection.execute(select(s.c.study_id).where(s.c.name_key == name_key(study.name))).first():
        raise name_taken(study.name)
    connection.execute(insert(s).values(study_values(study)))
    _insert(connection, tables.study_images, [vars(image) | {"study_id": study.study_id} for image in images])
    _insert(connection, tables.study_items, [item_values(item) for item in items])
    seat_by_number = {seat.number: seat for seat in seats}
    numbers = {*range(1, study.plan.seats + 1), *seat_by_number, *(place.seat for place in places)}
    _insert(connection, tables.study_seats, [
        _seat_values(seat_by_number.get(number) or Seat(study.study_id, number, None, None, None))
        for number in sorted(numbers)])
    assigned_rows, judgement_rows = _answered(study.study_id, places, seats, judgements)
    _insert(connection, tables.assignments, assigned_rows)
    _insert(connection, tables.judgements, judgement_rows)
    recount(connection, study.study_id)
    log_event(connection, AuditEvent("study.imported" if seats else "study.made", study.created_by, study.name,
                                     study.study_id, {"kind": study.kind, "items": len(items)}))


def name_taken(name: str) -> StudyError:
    return StudyError(f"The study name {quoted(name)} is already taken. Choose another name.")


def _answered(
    study_id: str, places: Sequence[PlannedAssignment], seats: Sequence[Seat], judgements: Sequence[Judgement],
) -> tuple[list[Values], list[Values]]:
    """Rows of assignments, and of judgements with the highest revision of each marked as current."""
    assigned: dict[tuple[str, int], Values] = {}
    length: dict[int, int] = defaultdict(int)
    for place in places:
        assigned[place.item_id, place.seat] = assignment_values(
            study_id, place.item_id, place.seat, place.position, place.extra)
        length[place.seat] = max(length[place.seat], place.position + 1)
    seat_of = {name_key(seat.annotator): seat for seat in seats if seat.annotator is not None}
    latest: dict[tuple[str, int], Values] = {}
    rows = []
    for judgement in judgements:
        seat = seat_of[name_key(judgement.annotator)]
        key = (judgement.item_id, seat.number)
        if key not in assigned:
            assigned[key] = assignment_values(study_id, *key, length[seat.number])
            length[seat.number] += 1
        row = judgement_values(judgement, seat.number, current=False) | {"annotator": seat.annotator}
        rows.append(row)
        if key not in latest or latest[key]["revision"] < row["revision"]:
            latest[key] = row
    for key, row in latest.items():
        row["current"] = True
        assigned[key]["state"] = "unsure" if row["answer"].get("unsure") is True else "done"
    return list(assigned.values()), rows


def _seat_values(seat: Seat) -> Values:
    key = None if seat.annotator is None else name_key(seat.annotator)
    return vars(seat) | {"annotator_key": key, "released": False, "total": 0, "done": 0, "unsure": 0}


def _insert(connection: Connection, table: Any, rows: list[Values]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def remove_study(connection: Connection, study_id: str, by: str) -> None:
    """Delete a study, in a write transaction; its entries in the audit log stay. Raises ``UnknownStudy``, as does a
    later answer."""
    study = find_study(connection, study_id, lock=True)
    # Whoever is just saving has locked their seat.
    connection.execute(select(_seat.number).where(_seat.study_id == study_id).order_by(_seat.number)
                       .with_for_update()).all()
    for table in _IN_ORDER:
        connection.execute(delete(table).where(table.c.study_id == study_id))
    log_event(connection, AuditEvent("study.removed", by, study.name, study_id, {"kind": study.kind}))
