"""Taking a seat in a study, and work that goes from one seat to another."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from annotation.records import HandOver, OpenWork, Seat, Study, Taken, name_key
from cir_core.errors import StudyClosed, StudyError
from storage import tables
from storage.checks import check_study_texts
from storage.study_lookups import find_seat, find_study, known_seat, recount
from storage.study_rows import assignment_from, assignment_values, seat_from

_t, _a, _i = tables.study_seats.c, tables.assignments.c, tables.study_items.c
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def take_seat(connection: Connection, study_id: str, annotator: str, at: datetime, hand_over: HandOver) -> Seat:
    """The person's seat, else the lowest free one, else a new one. In a writing transaction."""
    check_study_texts(annotator)
    if not name_key(annotator):
        raise StudyError("Somebody without a name cannot take part in a study.")
    study = find_study(connection, study_id, lock=True)
    seat = find_seat(connection, study_id, annotator)
    if seat is not None:
        return seat_from(seat)
    if not study.accepting:
        raise closed(study.name)
    name = annotator.strip()
    values = {"annotator": name, "annotator_key": name_key(name), "joined_at": at, "seen_at": at}
    t = tables.study_seats
    free = connection.execute(select(func.min(_t.number)).where(
        _t.study_id == study_id, _t.annotator_key.is_(None))).scalar_one()
    if free is not None:
        connection.execute(update(t).where(_t.study_id == study_id, _t.number == free).values(**values))
        return Seat(study_id, free, name, at, at)
    highest = connection.execute(select(func.max(_t.number)).where(_t.study_id == study_id)).scalar_one()
    number = (highest or 0) + 1
    connection.execute(insert(t).values(
        study_id=study_id, number=number, released=False, total=0, done=0, unsure=0, **values))
    _hand_over(connection, study, number, at, hand_over)
    return Seat(study_id, number, name, at, at)


def take_more_work(connection: Connection, study_id: str, annotator: str, at: datetime, hand_over: HandOver) -> int:
    """Nothing for somebody with open work: so a second press on the same button gives nothing more."""
    study = find_study(connection, study_id, lock=True)
    if not study.accepting:
        raise closed(study.name)
    seat = known_seat(connection, study, annotator)
    if seat.done < seat.total:
        return 0
    return _hand_over(connection, study, seat.number, at, hand_over)


def release_work(connection: Connection, study_id: str, annotator: str) -> int:
    """Mark the seat, so that its open work counts as that of somebody long away."""
    study = find_study(connection, study_id, lock=True)
    seat = find_seat(connection, study_id, annotator)
    if seat is None:
        raise StudyError(f"{annotator} has no seat in {study.name}. Check the name in the list of its people.")
    connection.execute(update(tables.study_seats).where(_t.study_id == study_id, _t.number == seat.number)
                       .values(released=True))
    return int(seat.total - seat.done)


def closed(name: str) -> StudyClosed:
    return StudyClosed(f"The study {name} takes no more answers. Ask whoever runs it to open it again.")


def _hand_over(connection: Connection, study: Study, number: int, at: datetime, hand_over: HandOver) -> int:
    work = _open_work(connection, study, number, at)
    taken = hand_over(work)
    _check(work, taken)
    check_study_texts(*taken)
    a = tables.assignments
    if not taken:
        return 0
    given = [{"of_item": one.item_id, "of_seat": one.from_seat} for one in taken if one.from_seat is not None]
    if given:
        connection.execute(
            update(a).where(_a.item_id == bindparam("of_item"), _a.seat == bindparam("of_seat"))
            .values(state="handed_on"), given)
    connection.execute(insert(a), [
        assignment_values(study.study_id, one.item_id, number, one.position, one.extra) for one in taken])
    recount(connection, study.study_id, {number, *(one.from_seat for one in taken if one.from_seat is not None)})
    return len(taken)


def _open_work(connection: Connection, study: Study, number: int, at: datetime) -> OpenWork:
    of_study = _a.study_id == study.study_id
    # Locked, so that nobody answers what is just being handed on; SQLite has locked the whole file.
    seats = connection.execute(select(tables.study_seats).where(_t.study_id == study.study_id)
                               .order_by(_t.number).with_for_update()).all()
    names = {seat.number: seat.annotator for seat in seats}
    still_open = connection.execute(
        select(tables.assignments).join(tables.study_items, _i.item_id == _a.item_id)
        .where(of_study, _a.state == "open", _a.seat != number, _i.in_block.is_(False))
        .order_by(_a.seat, _a.position)).all()
    mine = connection.execute(select(_a.item_id).where(of_study, _a.seat == number)).scalars()
    block = connection.execute(select(_i.item_id).where(_i.study_id == study.study_id, _i.in_block)
                               .order_by(_i.number)).scalars()
    return OpenWork(
        study=study, seat=number, seats=tuple(map(_as_seen, seats)),
        open=tuple(assignment_from(row, names[row.seat]) for row in still_open),
        mine=frozenset(mine), block=tuple(block), now=at,
    )


def _as_seen(seat: Any) -> Seat:
    """A seat as the policy sees it: whose work was released has been away for longer than any lease."""
    found = seat_from(seat)
    if not seat.released:
        return found
    return Seat(found.study_id, found.number, found.annotator, _LONG_AGO, _LONG_AGO)


def _check(work: OpenWork, taken: Sequence[Taken]) -> None:
    """A policy that hands out what is not there, or the same twice, is a defect."""
    there = {(one.item_id, one.seat) for one in work.open}
    items = [one.item_id for one in taken]
    if len(set(items)) != len(items) or not work.mine.isdisjoint(items):
        raise ValueError(f"seat {work.seat} was to get an item twice")
    for one in taken:
        if one.item_id not in work.block if one.from_seat is None else (one.item_id, one.from_seat) not in there:
            raise ValueError(f"seat {work.seat} was to get {one}, which is not open there")
