"""Failed sign-ins in the database, inside the transactions of ``SqlPeopleStore``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import Connection, case, delete, select, update

from annotation.records import CountFailure, FailedLogins
from storage.engine.database import upserting
from storage.mapping import tables

_failed = tables.failed_logins.c


def add(connection: Connection, counts: Mapping[str, CountFailure], at: datetime, forget_before: datetime) -> None:
    # What somebody else counts at this moment is not old: it is passed by, so nobody waits for each other here.
    old = select(_failed.key).where(_failed.last_at < forget_before).with_for_update(skip_locked=True)
    connection.execute(delete(tables.failed_logins).where(_failed.key.in_(old)))
    for key in sorted(counts):   # in one order, so that two who count the same never wait for each other
        # Makes the row or changes nothing in it: either way it is locked from here on, and read as it is now.
        held = connection.execute(
            upserting(connection)(tables.failed_logins).values(key=key, tries=0, last_at=at)
            .on_conflict_do_update(index_elements=[_failed.key], set_={"tries": _failed.tries})
            .returning(_failed.tries, _failed.last_at)).one()
        counted = counts[key](FailedLogins(held.tries, held.last_at) if held.tries else None)
        connection.execute(update(tables.failed_logins).where(_failed.key == key).values(
            tries=counted.count, last_at=counted.last_at))


def clear(connection: Connection, key: str, others: Collection[str]) -> None:
    held = {one: connection.execute(select(_failed.tries).where(_failed.key == one).with_for_update())
            .scalar_one_or_none() for one in sorted({key, *others})}   # in the order of ``add``
    made = held[key]
    if made is None:
        return
    for one in others:
        connection.execute(update(tables.failed_logins).where(_failed.key == one).values(
            tries=case((_failed.tries > made, _failed.tries - made), else_=0)))
    connection.execute(delete(tables.failed_logins).where(_failed.key == key))
