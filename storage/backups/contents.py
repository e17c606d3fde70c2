"""Row counts and schema revision of a database or backup, for comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, func, inspect, select, table

from storage.engine.revisions import revision_of
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
