"""SQL store of votes on methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Engine, Row, delete, insert, select

from annotation.records import MethodVote
from storage.checks import check_vote
from storage.engine.database import reading, writing
from storage.mapping import tables
from storage.mapping.records import record_from
from storage.sessions.comparisons import unknown_comparison


class SqlVoteStore:
    """``annotation.votes.VoteStore`` over an engine of ``open_database``. Thread-safe. A vote on a comparison that is
    not stored raises ``UnknownSession``."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def put_vote(self, vote: MethodVote) -> MethodVote:
        check_vote(vote)
        c, v = tables.comparisons.c, tables.method_votes
        with writing(self.engine) as connection:
            # Locks the comparison, so that votes are serialised; SQLite has locked the whole file.
            known = connection.execute(select(c.comparison_id).where(
                c.comparison_id == vote.comparison_id).with_for_update()).first()
            if known is None:
                raise unknown_comparison(vote.comparison_id)
            connection.execute(delete(v).where(
                v.c.comparison_id == vote.comparison_id, v.c.annotator == vote.annotator))
            connection.execute(insert(v).values(
                vars(vote) | {"shown": list(vote.shown), "seconds": float(vote.seconds)}))
        return vote

    def votes(self, comparison_id: str | None = None, annotator: str | None = None) -> Sequence[MethodVote]:
        v = tables.method_votes
        query = select(v).order_by(v.c.created_at, v.c.vote_id)
        if comparison_id is not None:
            query = query.where(v.c.comparison_id == comparison_id)
        if annotator is not None:
            query = query.where(v.c.annotator == annotator)
        with reading(self.engine) as connection:
            return tuple(map(_vote_from, connection.execute(query)))


def _vote_from(row: Row[Any]) -> MethodVote:
    return record_from(MethodVote, row, shown=tuple(row.shown))
