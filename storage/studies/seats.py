"""Seats of a study: taking one, and reassigning open work between seats."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, case, delete, func, insert, select, update

from annotation.records import AuditEvent, OpenAssignments, Reassign, Reassignment, Released, Seat, Study, name_key
from cir_core.errors import StudyClosed, StudyError
from storage.accounts.audit_log import log_event
from storage.checks import check_study_texts
from storage.mapping import tables
from storage.mapping.records import assignment_from, assignment_values, record_from
from storage.studies.gold import read_gold
from storage.studies.lookups import find_seat, find_study, known_seat, recount

_seat, _assigned, _item = tables.study_seats.c, tables.assignments.c, tables.study_items.c
_judged, _draft, _event = tables.judgements.c, tables.drafts.c, tables.study_events.c
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def take_seat(
    connection: Connection, study_id: str, annotator: str, at: datetime, reassign: Reassign, first: Sequence[str] = (),
) -> Seat:
    """The person's seat, else the lowest free one, else a new one, where the items ``first`` come first. In a write
    transaction."""
    check_study_texts(annotator)
    if not name_key(annotator):
        raise StudyError("You need a name to take part in a study.")
    study = find_study(connection, study_id, lock=True)
    seat = find_seat(connection, study_id, annotator)
    if seat is not None:
        return record_from(Seat, seat)
    if not study.accepting:
        raise closed(study.name)
    name = annotator.strip()
    values = {"annotator": name, "annotator_key": name_key(name), "joined_at": at, "seen_at": at}
    t = tables.study_seats
    free = connection.execute(select(_seat.number).where(   # seats whose work went to others come last
        _seat.study_id == study_id, _seat.annotator_key.is_(None),
    ).order_by(case((_seat.total > 0, 0), else_=1), _seat.number).limit(1)).scalar_one_or_none()
    if free is not None:
        connection.execute(update(t).where(_seat.study_id == study_id, _seat.number == free).values(**values))
        put_first(connection, study_id, free, first)
        return Seat(study_id, free, name, at, at)
    number = _new_number(connection, study_id)
    connection.execute(insert(t).values(
        study_id=study_id, number=number, released=False, total=0, done=0, unsure=0, **values))
    _reassign(connection, study, number, at, reassign)
    put_first(connection, study_id, number, first)
    return Seat(study_id, number, name, at, at)


def put_first(connection: Connection, study_id: str, seat: int, first: Sequence[str]) -> None:
    """Of the seat's open work, the items ``first`` come first, in this order. Gold and training keep their places."""
    if not first:
        return
    here = _of(_assigned, {"study_id": study_id, "seat": seat})
    work = connection.execute(select(_assigned.item_id, _assigned.position).where(
        *here, _assigned.state == "open", _assigned.dealt.is_(None)).order_by(_assigned.position)).all()
    rank = {item_id: place for place, item_id in enumerate(first)}
    wanted = sorted((row.item_id for row in work), key=lambda item_id: rank.get(item_id, len(rank)))
    moved = [{"of_item": item_id, "at": row.position} for item_id, row in zip(wanted, work, strict=True)
             if item_id != row.item_id]
    if moved:
        connection.execute(update(tables.assignments).where(*here, _assigned.item_id == bindparam("of_item")).values(
            position=bindparam("at")), moved)


def take_more_work(
    connection: Connection, study_id: str, annotator: str, at: datetime, reassign: Reassign, first: Sequence[str] = (),
) -> int:
    """Assign more items, ``first`` before others; returns how many. None for a person with open work, so that a double
    click is harmless."""
    study = find_study(connection, study_id, lock=True)
    if not study.accepting:
        raise closed(study.name)
    seat = known_seat(connection, study, annotator, lock=True)
    if seat.done < seat.total:
        return 0
    _mark(connection, seat, released=False)
    reopened = _set_block(connection, seat, "handed_on", "open")
    added = reopened + _reassign(connection, study, seat.number, at, reassign)
    put_first(connection, study_id, seat.number, first)
    return added


def give_work(connection: Connection, study: Study, annotator: str, at: datetime, reassign: Reassign) -> None:
    """Give somebody who is back, or whose seat is empty, their open work again, or others'."""
    seat = known_seat(connection, study, annotator, lock=True)
    if seat.released:
        _mark(connection, seat, released=False)
        _set_block(connection, seat, "handed_on", "open")
    open_work = select(_assigned.item_id).where(
        *_of(_assigned, {"study_id": study.study_id, "seat": seat.number}), _assigned.state == "open",
        _assigned.dealt.is_(None))
    if connection.execute(open_work.limit(1)).first() is None:   # gold alone is no work
        _reassign(connection, study, seat.number, at, reassign)


def release_work(connection: Connection, study_id: str, annotator: str, by: str) -> Released:
    """Release a person's open work for reassignment; a seat without any answer is freed. Open items of the agreement
    set are withdrawn: nobody else needs them, because all have them anyway."""
    study = find_study(connection, study_id, lock=True)
    seat = find_seat(connection, study_id, annotator, lock=True)
    if seat is None:
        raise StudyError(f"{annotator} has no seat in {study.name}. Check the name in the list of its people.")
    if connection.execute(select(_judged.seat).where(
            _judged.study_id == study_id, _judged.seat == seat.number).limit(1)).first():
        _mark(connection, seat, released=True)
        block = _set_block(connection, seat, "open", "handed_on")
        released = Released(seat.total - seat.done - block, block, freed=False)
    else:
        if seat.total:
            _free_seat(connection, seat)
        released = Released(seat.total, 0, freed=seat.total > 0)
    log_event(connection, AuditEvent("study.released", by, study.name, study_id, {
        "person": seat.annotator, "items": released.items}))
    return released


def end_work(connection: Connection, study_id: str, annotator: str) -> None:
    """Move a person's open work to a new free seat. What they got as gold stays with them, without being expected."""
    study = find_study(connection, study_id, lock=True)
    seat = known_seat(connection, study, annotator, lock=True)
    a, here = tables.assignments, {"study_id": study_id, "seat": seat.number}
    still_open = (*_of(_assigned, here), _assigned.state == "open")
    left = connection.execute(
        select(a).where(*still_open, _assigned.dealt.is_(None)).order_by(_assigned.position)).all()
    connection.execute(update(a).where(*still_open).values(state="handed_on"))
    changed = {seat.number}
    if left:
        number = _new_number(connection, study_id)
        connection.execute(insert(tables.study_seats).values(
            study_id=study_id, number=number, released=False, total=0, done=0, unsure=0))
        connection.execute(insert(a), [
            {**one._mapping, "seat": number, "position": place, "lasting": None} for place, one in enumerate(left)])
        changed.add(number)
    recount(connection, study_id, changed)


def closed(name: str) -> StudyClosed:
    return StudyClosed(f"The study {name} takes no more answers. Ask the people who run it to open it again.")


def _free_seat(connection: Connection, seat: Row[Any]) -> None:
    """Free the seat with its open assignments. The person's drafts and events (consent) move to a new seat without
    open work."""
    t, a = tables.study_seats, tables.assignments
    here = {"study_id": seat.study_id, "seat": seat.number}
    begun = connection.execute(
        select(a).join(tables.drafts, (_draft.item_id == _assigned.item_id) & (_draft.seat == _assigned.seat))
        .where(*_of(_assigned, here))).all()
    noted = connection.execute(select(_event.seat).where(*_of(_event, here)).limit(1)).first()
    connection.execute(update(t).where(_seat.study_id == seat.study_id, _seat.number == seat.number).values(
        annotator=None, annotator_key=None, joined_at=None, seen_at=None, released=False))
    if begun or noted:
        number = _new_number(connection, seat.study_id)
        connection.execute(insert(t).values({**seat._mapping, "number": number, "released": True}))
        if begun:
            connection.execute(insert(a), [{**one._mapping, "seat": number, "state": "handed_on"} for one in begun])
        for table, column in ((tables.drafts, _draft), (tables.study_events, _event)):
            connection.execute(update(table).where(*_of(column, here)).values(seat=number))
        recount(connection, seat.study_id, {number})
    connection.execute(delete(a).where(*_of(_assigned, here), _assigned.state == "handed_on"))
    connection.execute(update(a).where(*_of(_assigned, here)).values(lasting=None))


def _of(column: Any, seat: dict[str, Any]) -> tuple[Any, Any]:
    return column.study_id == seat["study_id"], column.seat == seat["seat"]


def _mark(connection: Connection, seat: Row[Any], *, released: bool) -> None:
    connection.execute(update(tables.study_seats).where(
        _seat.study_id == seat.study_id, _seat.number == seat.number).values(released=released))


def _set_block(connection: Connection, seat: Row[Any], state: str, to: str) -> int:
    """Change the state of this seat's items of the agreement set that are in ``state``; returns how many."""
    block = select(_item.item_id).where(_item.study_id == seat.study_id, _item.in_block)
    changed = connection.execute(update(tables.assignments).where(
        _assigned.study_id == seat.study_id, _assigned.seat == seat.number, _assigned.state == state,
        _assigned.item_id.in_(block),
    ).values(state=to)).rowcount
    if changed:
        recount(connection, seat.study_id, {seat.number})
    return changed


def _new_number(connection: Connection, study_id: str) -> int:
    highest = connection.execute(select(func.max(_seat.number)).where(_seat.study_id == study_id)).scalar_one()
    return (highest or 0) + 1


def _reassign(connection: Connection, study: Study, number: int, at: datetime, reassign: Reassign) -> int:
    work = _open_work(connection, study, number, at)
    moves = reassign(work)
    _check(work, moves)
    check_study_texts(*moves)
    a = tables.assignments
    if not moves:
        return 0
    from_others = [{"of_item": one.item_id, "of_seat": one.from_seat} for one in moves if one.from_seat is not None]
    if from_others:
        connection.execute(
            update(a).where(_assigned.item_id == bindparam("of_item"), _assigned.seat == bindparam("of_seat"))
            .values(state="handed_on"), from_others)
    connection.execute(insert(a), [
        assignment_values(study.study_id, one.item_id, number, one.position, one.extra, one.dealt)
        for one in moves])
    recount(connection, study.study_id, {number, *(one.from_seat for one in moves if one.from_seat is not None)})
    return len(moves)


def _open_work(connection: Connection, study: Study, number: int, at: datetime) -> OpenAssignments:
    of_study = _assigned.study_id == study.study_id
    # Locked, so that no item is answered while it is reassigned; SQLite has locked the whole file.
    seats = connection.execute(select(tables.study_seats).where(_seat.study_id == study.study_id)
                               .order_by(_seat.number).with_for_update()).all()
    names = {seat.number: seat.annotator for seat in seats}
    still_open = connection.execute(
        select(tables.assignments, _item.number).join(tables.study_items, _item.item_id == _assigned.item_id)
        .where(of_study, _assigned.state == "open", _assigned.seat != number, _item.in_block.is_(False),
               _assigned.dealt.is_(None))
        .order_by(_assigned.seat, _assigned.position)).all()
    mine = connection.execute(select(_assigned.item_id).where(of_study, _assigned.seat == number)).scalars()
    block = connection.execute(select(_item.item_id, _item.number).where(
        _item.study_id == study.study_id, _item.in_block).order_by(_item.number)).all()
    return OpenAssignments(
        study=study, seat=number, seats=tuple(map(_as_policy_sees, seats)),
        open=tuple(assignment_from(row, names[row.seat]) for row in still_open),
        mine=frozenset(mine), block=tuple(row.item_id for row in block), now=at,
        numbers={row.item_id: row.number for row in (*still_open, *block)}, gold=read_gold(connection, study.study_id))


def _as_policy_sees(seat: Any) -> Seat:
    """The seat for the reassignment policy: with released work, its lease has always expired."""
    found = record_from(Seat, seat)
    if not seat.released:
        return found
    return Seat(found.study_id, found.number, found.annotator, _LONG_AGO, _LONG_AGO)


def _check(work: OpenAssignments, moves: Sequence[Reassignment]) -> None:
    """Raise ``ValueError`` for a policy that assigns an item that is not open, or one twice (a programming error)."""
    there = {(one.item_id, one.seat) for one in work.open}
    items = [one.item_id for one in moves]
    if len(set(items)) != len(items) or not work.mine.isdisjoint(items):
        raise ValueError(f"seat {work.seat} was to get an item twice")
    known = {*work.block, *(one.item_id for one in work.gold)}
    for one in moves:
        if one.item_id not in known if one.from_seat is None else (one.item_id, one.from_seat) not in there:
            raise ValueError(f"seat {work.seat} was to get {one}, which is not open there")
