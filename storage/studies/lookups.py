"""Shared queries of the study store, and its errors for unknown studies and items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, ScalarSelect, Select, and_, bindparam, func, select, update

from annotation.records import Assignment, Study, name_key
from cir_core.errors import NotJoined, UnknownItem, UnknownStudy
from cir_core.support.texts import quoted
from storage.mapping import tables
from storage.mapping.records import assignment_from, assignments_from, study_from

_study, _seat, _assigned = tables.studies.c, tables.study_seats.c, tables.assignments.c
_item, _decided = tables.study_items.c, tables.decisions.c

# Prebuilt statements of the hot path of saving: building a statement costs as much as running it.
_SEAT = select(tables.study_seats).where(
    _seat.study_id == bindparam("of_study"), _seat.annotator_key == bindparam("of_annotator"))
_LOCKED_SEAT = _SEAT.with_for_update()
_OWN: Select[Any] = select(
    _assigned.item_id, _assigned.seat, _assigned.position, _assigned.state, _assigned.extra, _assigned.dealt,
    _seat.annotator).join(
    tables.study_seats, and_(_seat.study_id == _assigned.study_id, _seat.number == _assigned.seat),
).where(_seat.study_id == bindparam("of_study"), _seat.annotator_key == bindparam("of_annotator")).order_by(
    _assigned.position, _assigned.item_id)
_ANY_OWN = select(_assigned.item_id).join(
    tables.study_seats, and_(_seat.study_id == _assigned.study_id, _seat.number == _assigned.seat),
).where(_seat.study_id == bindparam("of_study"), _seat.annotator_key == bindparam("of_annotator")).limit(1)


def find_study(connection: Connection, study_id: str, *, lock: bool = False) -> Study:
    """``lock`` lets one writer at a time into the study; SQLite has locked the whole file already."""
    query: Select[Any] = select(tables.studies).where(_study.study_id == study_id)
    row = connection.execute(query.with_for_update() if lock else query).first()
    if row is None:
        raise unknown_study(study_id)
    return study_from(row)


def find_seat(connection: Connection, study_id: str, annotator: str, *, lock: bool = False) -> Row[Any] | None:
    """``lock``: no answer of this person is saved until the transaction has ended."""
    return connection.execute(
        _LOCKED_SEAT if lock else _SEAT, {"of_study": study_id, "of_annotator": name_key(annotator)}).first()


def known_seat(connection: Connection, study: Study, annotator: str, *, lock: bool = False) -> Row[Any]:
    seat = find_seat(connection, study.study_id, annotator, lock=lock)
    if seat is None:
        raise not_joined(study.name)
    return seat


def own_assignments(connection: Connection, study_id: str, annotator: str) -> Sequence[Assignment]:
    """A person's assignments, in order. Raises ``UnknownStudy``, ``NotJoined``."""
    rows = connection.execute(_OWN, {"of_study": study_id, "of_annotator": name_key(annotator)}).all()
    if not rows:   # a seat may have lost all its assignments to others
        known_seat(connection, find_study(connection, study_id), annotator)
    return tuple(assignment_from(row, row.annotator) for row in rows)


def has_items(connection: Connection, study_id: str, annotator: str) -> bool:
    """Whether a person has a seat with any item."""
    return connection.execute(_ANY_OWN, {"of_study": study_id, "of_annotator": name_key(annotator)}).first() is not None


def all_assignments(connection: Connection, study_id: str) -> Sequence[Assignment]:
    """Assignments by seat, each seat's in order."""
    return assignments_from(connection.execute(
        select(tables.assignments, _seat.annotator)
        .join(tables.study_seats, (_seat.study_id == _assigned.study_id) & (_seat.number == _assigned.seat))
        .where(_assigned.study_id == study_id).order_by(_assigned.seat, _assigned.position, _assigned.item_id)))


def count_all(connection: Connection, study_id: str) -> Mapping[str, int]:
    """Counts of ``annotation.studies.store.StudyStore.counts``."""
    items, decisions = (
        connection.execute(select(func.count()).where(*where)).scalar_one()
        for where in ((_item.study_id == study_id,), (_decided.study_id == study_id, _decided.current)))
    of_seats = connection.execute(select(
        func.coalesce(func.sum(_seat.total), 0).label("assignments"),
        func.coalesce(func.sum(_seat.done), 0).label("done"),
        func.coalesce(func.sum(_seat.unsure), 0).label("unsure"),
        func.count(_seat.annotator_key).label("people"),
    ).where(_seat.study_id == study_id)).one()
    return {"items": items, **of_seats._mapping, "decisions": decisions}


def recount(connection: Connection, study_id: str, seats: set[int] | None = None) -> None:
    """Recompute the counts of a study's seats, of all or some of them."""
    t = tables.study_seats
    query = update(t).where(t.c.study_id == study_id)
    if seats is not None:
        query = query.where(t.c.number.in_(sorted(seats)))
    connection.execute(query.values(
        total=_counted(_assigned.state != "handed_on"), done=_counted(_assigned.state.in_(("done", "unsure"))),
        unsure=_counted(_assigned.state == "unsure")))


def unknown_study(name: str) -> UnknownStudy:
    return UnknownStudy(f"No study {quoted(name)} here. Choose one from the list of studies.")


def unknown_item(study_name: str) -> UnknownItem:
    return UnknownItem(f"That item is not one of yours in {study_name}. Reload the page.")


def not_joined(study_name: str) -> NotJoined:
    return NotJoined(f"You have no items in {study_name} yet. Open the study to get some.")


def _counted(states: Any) -> ScalarSelect[Any]:
    return select(func.count()).select_from(tables.assignments).where(
        _assigned.study_id == _seat.study_id, _assigned.seat == _seat.number, states).scalar_subquery()
