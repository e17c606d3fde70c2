"""Removal of what visitors of a public demo left."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Engine, delete, select

from storage.engine.database import writing
from storage.mapping import tables


def remove_before(engine: Engine, before: datetime) -> Sequence[str]:
    """Delete sessions, comparisons, votes, uploads' rows and cached answers that are older than ``before``, in one
    transaction. Returns the ids of the sessions and comparisons."""
    removed: list[str] = []
    with writing(engine) as connection:
        old = select(tables.comparisons.c.comparison_id).where(tables.comparisons.c.created_at < before)
        connection.execute(delete(tables.method_votes).where(tables.method_votes.c.comparison_id.in_(old)))
        for table, key in ((tables.comparisons, "comparison_id"), (tables.sessions, "session_id")):
            gone = delete(table).where(table.c.created_at < before).returning(table.c[key])
            removed += connection.execute(gone).scalars()
        for table in (tables.uploads, tables.answers):
            connection.execute(delete(table).where(table.c.created_at < before))
    return removed
