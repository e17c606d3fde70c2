"""Items whose right answer is known, the assignments that they are dealt to, and what people answered."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, and_, bindparam, exists, insert, select, update

from annotation.records import AuditEvent, GoldAnswer, GoldItem, PlannedAssignment, Study, name_key
from storage.accounts.audit_log import log_event
from storage.checks import check_study_texts
from storage.mapping import tables
from storage.mapping.records import assignment_values, records_from
from storage.studies.lookups import recount

_gold, _seat, _assigned = tables.gold_items.c, tables.study_seats.c, tables.assignments.c
_judged, _item = tables.judgements.c, tables.study_items.c
IS_DEALT = exists().where(_assigned.item_id == _judged.item_id, _assigned.seat == _judged.seat,
                          _assigned.dealt.is_not(None))
"""Whether a judgement is of an item that its person got only because the answer is known."""


def read_gold(connection: Connection, study_id: str) -> tuple[GoldItem, ...]:
    """By item number."""
    return records_from(GoldItem, connection.execute(
        select(tables.gold_items).join(tables.study_items, _item.item_id == _gold.item_id)
        .where(_gold.study_id == study_id).order_by(_item.number)))


def put_gold(
    connection: Connection, study: Study, gold: Sequence[GoldItem], places: Sequence[PlannedAssignment], by: str,
) -> None:
    """Save items as gold, over what they were; and the new order of open work, ``places``, of which those that a seat
    does not have are added. In a write transaction that has locked the study."""
    check_study_texts(*gold, *places)
    for one in gold:
        values = vars(one) | {"answer": dict(one.answer)}
        changed = connection.execute(update(tables.gold_items).where(_gold.item_id == one.item_id).values(
            {name: value for name, value in values.items() if name != "item_id"})).rowcount
        if not changed:
            connection.execute(insert(tables.gold_items).values(values))
    there = {(row.item_id, row.seat) for row in connection.execute(
        select(_assigned.item_id, _assigned.seat).where(_assigned.study_id == study.study_id))}
    moved = [{"of_item": one.item_id, "of_seat": one.seat, "at": one.position}
             for one in places if (one.item_id, one.seat) in there]
    if moved:
        connection.execute(update(tables.assignments).where(
            _assigned.item_id == bindparam("of_item"), _assigned.seat == bindparam("of_seat"),
            _assigned.state == "open").values(position=bindparam("at")), moved)
    added = [one for one in places if (one.item_id, one.seat) not in there]
    if added:
        connection.execute(insert(tables.assignments), [
            assignment_values(study.study_id, one.item_id, one.seat, one.position, one.extra, one.dealt)
            for one in added])
    recount(connection, study.study_id)
    log_event(connection, AuditEvent("study.gold", by, study.name, study.study_id, {"items": len(gold)}))


def read_answers(connection: Connection, study_id: str, annotator: str | None) -> tuple[GoldAnswer, ...]:
    """Of everybody, or one person, in the order in which they were given; open ones last. An answer from before its
    item was gold is none."""
    given = and_(_judged.item_id == _assigned.item_id, _judged.seat == _assigned.seat, _judged.current,
                 _judged.created_at >= _gold.created_at, _assigned.state.in_(("done", "unsure")))
    query = select(
        _gold.item_id, _seat.annotator, _gold.role, _gold.answer.label("expected"), _judged.answer,
        _judged.created_at.label("answered_at"),
    ).join(tables.assignments, _assigned.item_id == _gold.item_id).join(
        tables.study_seats, and_(_seat.study_id == _assigned.study_id, _seat.number == _assigned.seat),
    ).outerjoin(tables.judgements, given).where(
        _gold.study_id == study_id, _seat.annotator.is_not(None), _assigned.state != "handed_on",
        _judged.judgement_id.is_not(None) | (_assigned.state == "open")).order_by(
        _judged.created_at.is_(None), _judged.created_at, _assigned.position)
    if annotator is not None:
        query = query.where(_seat.annotator_key == name_key(annotator))
    return records_from(GoldAnswer, connection.execute(query))


def reopen_training(connection: Connection, study_id: str, annotator: str) -> int:
    """Ask a person the items of training again; returns how many. The answers stay, as earlier revisions."""
    seat = connection.execute(select(_seat.number).where(
        _seat.study_id == study_id, _seat.annotator_key == name_key(annotator)).with_for_update()).scalar_one()
    count = connection.execute(update(tables.assignments).where(
        _assigned.study_id == study_id, _assigned.seat == seat, _assigned.dealt == "training",
    ).values(state="open")).rowcount
    recount(connection, study_id, {seat})
    return count
