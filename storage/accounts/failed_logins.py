"""Failed sign-ins in the database, inside the transactions of ``SqlPeopleStore``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import Connection, case, delete, select, update

from annotation.records import CountFailure, FailedLogins
from storage.engine.database import upserting
from storage.mapping import tables

_w = tables.failed_logins.c


def add(connection: Connection, counts: Mapping[str, CountFailure], at: datetime, forget_before: datetime) -> None:
    # A row that another transaction has locked is being counted, so it is not old: skipped, which avoids deadlocks.
    old = select(_w.key).where(_w.last_at < forget_before).with_for_update(skip_locked=True)
    connection.execute(delete(tables.failed_logins).where(_w.key.in_(old)))
    for key in sorted(counts):   # always in the same order, which avoids deadlocks
        # Inserts the row or changes nothing in it: either way it is now locked, and read in its current state.
        held = connection.execute(
            upserting(connection)(tables.failed_logins).values(key=key, tries=0, last_at=at)
            .on_conflict_do_update(index_elements=[_w.key], set_={"tries": _w.tries})
            .returning(_w.tries, _w.last_at)).one()
        counted = counts[key](FailedLogins(held.tries, held.last_at) if held.tries else None)
        connection.execute(update(tables.failed_logins).where(_w.key == key).values(
            tries=counted.count, last_at=counted.last_at))


def clear(connection: Connection, key: str, others: Collection[str]) -> None:
    held = {one: connection.execute(select(_w.tries).where(_w.key == one).with_for_update()).scalar_one_or_none()
            for one in sorted({key, *others})}   # in the order of ``add``
    count = held[key]
    if count is None:
        return
    for one in others:
        connection.execute(update(tables.failed_logins).where(_w.key == one).values(
            tries=case((_w.tries > count, _w.tries - count), else_=0)))
    connection.execute(delete(tables.failed_logins).where(_w.key == key))
