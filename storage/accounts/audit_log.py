"""Append-only audit log in the database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, Row, insert, or_, select

from annotation.records import AUDIT_GROUPS, AuditEvent, AuditFilter, LoggedEvent, name_key
from storage.engine.database import reading, writing
from storage.mapping import tables

_entry = tables.audit_log.c


class SqlAuditLog:
    """``annotation.accounts.audit_log.AuditLog`` over an engine of ``open_database``. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def note(self, event: AuditEvent) -> None:
        with writing(self.engine) as connection:
            log_event(connection, event)

    def acts(
        self, which: AuditFilter = AuditFilter(), *, before: int | None = None, limit: int = 100,
    ) -> Sequence[LoggedEvent]:
        query = select(tables.audit_log).where(*_conditions(which)).order_by(_entry.number.desc()).limit(limit)
        if before is not None:
            query = query.where(_entry.number < before)
        with reading(self.engine) as connection:
            return tuple(map(_logged_from, connection.execute(query)))


def log_event(connection: Connection, event: AuditEvent) -> None:
    """Add an event, in the transaction of what it records: both are committed, or neither."""
    connection.execute(insert(tables.audit_log).values(
        at=datetime.now(UTC), kind=event.kind, actor_key=name_key(event.by), actor=event.by,
        about_key=name_key(event.about), about=event.about, study_id=event.study_id, details=dict(event.details)))


def signed_in_from(connection: Connection, name: str, since: datetime) -> frozenset[str]:
    """The addresses from which a person has signed in."""
    address = _entry.details["address"].as_string()
    found = connection.execute(select(address).distinct().where(
        _entry.actor_key == name_key(name), _entry.kind == "sign-in", _entry.at >= since))
    return frozenset(one for one in found.scalars() if one)


def _conditions(which: AuditFilter) -> list[Any]:
    conditions: list[Any] = []
    if which.person:
        key = name_key(which.person)
        conditions.append(or_(_entry.actor_key == key, _entry.about_key == key) if key else _entry.number < 0)
    if which.kind:
        conditions.append(_entry.kind.in_(AUDIT_GROUPS.get(which.kind, (which.kind,))))
    if which.since is not None:
        conditions.append(_entry.at >= which.since)
    if which.until is not None:
        conditions.append(_entry.at < which.until)
    return conditions


def _logged_from(row: Row[Any]) -> LoggedEvent:
    return LoggedEvent(row.number, row.at, AuditEvent(row.kind, row.actor, row.about, row.study_id, row.details))
