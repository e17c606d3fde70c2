"""Queries for whole sessions and for session lists."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select

from cir_core.types.records import Branch, SearchSession, Turn
from storage.mapping import tables
from storage.mapping.records import record_from
from storage.mapping.rows import session_from, turn_from

_AT_ONCE = 500  # ids in one IN (…); databases limit the parameters of a statement


def load_sessions(
    connection: Connection, session_ids: Sequence[str], *only: ColumnElement[bool]
) -> dict[str, SearchSession]:
    """Sessions by id, with all their turns; those that are unknown or do not match ``only`` are left out."""
    found: dict[str, SearchSession] = {}
    for start in range(0, len(session_ids), _AT_ONCE):
        wanted = session_ids[start:start + _AT_ONCE]
        rows = connection.execute(select(tables.sessions).where(tables.sessions.c.session_id.in_(wanted), *only)).all()
        ids = [row.session_id for row in rows]
        if not ids:
            continue
        branches: dict[str, list[Branch]] = defaultdict(list)
        for row in connection.execute(_in_order(tables.branches.c.number, ids)):
            branches[row.session_id].append(record_from(Branch, row))
        turns: dict[str, list[Turn]] = defaultdict(list)
        for row in connection.execute(_in_order(tables.turns.c.seq, ids)):
            turns[row.session_id].append(turn_from(row))
        found |= {row.session_id: session_from(row, branches[row.session_id], turns[row.session_id]) for row in rows}
    return found


def select_summaries(limit: int, gallery: str | None, among: Collection[str] | None = None) -> Select[Any]:
    """Session summaries, by latest turn first; ``among``: of those with these ids."""
    s, b, t = tables.sessions.c, tables.branches.c, tables.turns.c
    of_session = t.session_id == s.session_id
    query = select(
        s.session_id, s.gallery, s.title, s.target_id, s.target_revealed, s.created_at, s.updated_at,
        select(func.count()).where(of_session).scalar_subquery().label("turn_count"),
        select(func.count()).where(b.session_id == s.session_id).scalar_subquery().label("branch_count"),
        select(t.reference_id).where(of_session, t.seq == 1).scalar_subquery().label("first_reference_id"),
        select(t.modification_text).where(of_session).order_by(t.seq.desc()).limit(1)
        .scalar_subquery().label("last_text"),
    ).order_by(s.updated_at.desc(), s.session_id).limit(limit)
    if among is not None:
        query = query.where(s.session_id.in_(among))
    return query if gallery is None else query.where(s.gallery == gallery)


def _in_order(column: Any, session_ids: Sequence[str]) -> Select[Any]:
    table = column.table
    return select(table).where(table.c.session_id.in_(session_ids)).order_by(table.c.session_id, column)
