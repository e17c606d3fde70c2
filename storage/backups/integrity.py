"""Read-only integrity check of a database. Row counts and schema revision of a database or backup, for comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection, func, inspect, select, table
from sqlalchemy.exc import DatabaseError

from cir_core.support.texts import counted
from storage.engine.database import reading
from storage.engine.revisions import latest_revision, revision_of
from storage.mapping import tables


@dataclass(frozen=True)
class Contents:
    """``revision`` of the schema, None without one; ``rows`` per table, without the table of the revision."""

    revision: str | None
    rows: Mapping[str, int]

    @property
    def is_empty(self) -> bool:
        return not any(self.rows.values())

    @property
    def total(self) -> int:
        return sum(self.rows.values())


def contents_of(connection: Connection) -> Contents:
    """Raises ``StorageError`` for a database that is not cirque's."""
    revision = revision_of(connection)
    names = sorted(set(inspect(connection).get_table_names()) - {"alembic_version"})
    return Contents(revision, {
        name: connection.execute(select(func.count()).select_from(table(name))).scalar_one() for name in names})


@dataclass(frozen=True)
class LogExtent:
    """Number of events in an audit log, and the number of the last one, 0 if empty."""

    acts: int
    last: int


def extent_of(connection: Connection) -> LogExtent:
    last = func.coalesce(func.max(tables.audit_log.c.number), 0)
    return LogExtent(*connection.execute(select(func.count(), last).select_from(tables.audit_log)).one())


_seat, _assigned, _judged = tables.study_seats.c, tables.assignments.c, tables.judgements.c
_ANSWERED = ("done", "unsure")


@dataclass(frozen=True)
class Inspection:
    """``latest`` is the schema revision of this version of cirque."""

    contents: Contents
    latest: str
    faults: tuple[str, ...]


def inspect_database(engine: sa.Engine) -> Inspection:
    """Read all rows in one snapshot. Raises ``StorageError`` for a database that is not cirque's or is unreadable."""
    with reading(engine, all_of_it=True) as connection:
        revision, latest = revision_of(connection), latest_revision()
        damage = list(_damage(connection))
        if damage:   # counts would fail or be wrong
            return Inspection(Contents(revision, {}), latest, tuple(damage))
        contents = contents_of(connection)
        faults = [*_dangling(connection, contents.rows)]
        if revision == latest:
            faults += _inconsistent(connection)
    return Inspection(contents, latest, tuple(faults))


def _damage(connection: sa.Connection) -> Iterator[str]:
    """SQLite's own integrity check. PostgreSQL has none: every value of every row is read instead."""
    if connection.dialect.name == "sqlite":
        try:
            for message in connection.exec_driver_sql("PRAGMA integrity_check").scalars():
                if message != "ok":
                    yield f"SQLite: {message}"
        except DatabaseError as error:   # so damaged that the check itself fails
            yield f"SQLite: {error.orig}"
        return
    for name in sa.inspect(connection).get_table_names():
        whole_row = sa.func.length(sa.cast(sa.text(str(sa.quoted_name(name, True)) + ".*"), sa.Text))
        try:
            with connection.begin_nested():
                connection.execute(sa.select(sa.func.sum(whole_row)).select_from(sa.table(name))).scalar_one()
        except DatabaseError as error:
            yield f"{name}: {str(error.orig).strip()}"


def _dangling(connection: sa.Connection, there: Mapping[str, int]) -> Iterator[str]:
    """Rows whose foreign key points to a missing row."""
    for child in (one for one in tables.metadata.sorted_tables if one.name in there):
        for key in child.foreign_key_constraints:
            parent = key.referred_table
            if parent.name not in there:
                continue
            found = connection.execute(_orphans(child, parent, {
                element.parent.name: element.column.name for element in key.elements})).scalar_one()
            if found:
                yield f"{child.name}: {counted(found, 'row')} with a reference to a missing row of {parent.name}"


def _orphans(child: sa.Table, parent: sa.Table, names: Mapping[str, str]) -> sa.Select[int]:
    target = parent.alias("target")
    named = [child.c[name].is_not(None) for name in names]
    same = [target.c[other] == child.c[name] for name, other in names.items()]
    return sa.select(sa.func.count()).select_from(child).where(*named, sa.not_(sa.exists().where(*same)))


def _inconsistent(connection: sa.Connection) -> Iterator[str]:
    """Denormalised counts and flags that disagree with the rows they are derived from."""
    of_seat = sa.and_(_assigned.study_id == _seat.study_id, _assigned.seat == _seat.number)

    def count(which: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
        return sa.select(sa.func.count()).where(of_seat, which).scalar_subquery()

    for row in connection.execute(sa.select(_seat.study_id, _seat.number).where(sa.or_(
            _seat.total != count(_assigned.state != "handed_on"), _seat.done != count(_assigned.state.in_(_ANSWERED)),
            _seat.unsure != count(_assigned.state == "unsure"))).order_by(_seat.study_id, _seat.number)):
        yield f"study_seats: the counts of seat {row.number} of study {row.study_id} do not match its assignments"
    current = sa.select(
        _judged.item_id, _judged.seat, sa.func.max(_judged.revision).label("highest"),
        sa.func.max(sa.case((_judged.current, _judged.revision), else_=0)).label("marked"),
        sa.func.sum(sa.case((_judged.current, 1), else_=0)).label("marks")).group_by(
        _judged.item_id, _judged.seat).subquery()
    wrong = connection.execute(sa.select(sa.func.count()).select_from(current).where(sa.or_(
        current.c.marks != 1, current.c.marked != current.c.highest))).scalar_one()
    if wrong:
        yield f"judgements: {counted(wrong, 'answer')} without exactly the latest revision marked as current"
    answer = sa.exists().where(_judged.item_id == _assigned.item_id, _judged.seat == _assigned.seat)
    missing = connection.execute(sa.select(sa.func.count()).select_from(tables.assignments).where(
        _assigned.state.in_(_ANSWERED) != answer)).scalar_one()
    if missing:
        yield f"assignments: {counted(missing, 'assignment')} whose state does not match the answer"
