"""SQL stores of comparisons, and of votes on their methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Engine, Row, delete, insert, select

from annotation.records import MethodVote
from cir_core.errors import UnknownSession
from cir_core.search.protocol import card_from_dict, card_to_dict
from cir_core.sessions.store import Comparison, MethodColumn
from cir_core.support.texts import quoted
from storage.checks import check_comparison, check_vote
from storage.engine.database import reading, writing
from storage.mapping import tables
from storage.mapping.records import Values, record_from
from storage.mapping.rows import ranked_parts, ranked_values


class SqlComparisonStore:
    """``cir_core.sessions.store.ComparisonStore`` over an engine of ``open_database``. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def add_comparison(self, comparison: Comparison) -> Comparison:
        check_comparison(comparison)
        with writing(self.engine) as connection:
            connection.execute(insert(tables.comparisons).values(_comparison_values(comparison)))
            for position, column in enumerate(comparison.columns):
                connection.execute(insert(tables.comparison_columns).values(
                    comparison_id=comparison.comparison_id, position=position, **_column_values(column)))
        return comparison

    def comparison(self, comparison_id: str) -> Comparison:
        comparisons, columns = tables.comparisons, tables.comparison_columns
        with reading(self.engine) as connection:
            row = connection.execute(select(comparisons).where(comparisons.c.comparison_id == comparison_id)).first()
            if row is None:
                raise unknown_comparison(comparison_id)
            shown = connection.execute(
                select(columns).where(columns.c.comparison_id == comparison_id)
                .order_by(columns.c.position)).all()
        return record_from(Comparison, row, columns=tuple(map(_column_from, shown)))


def unknown_comparison(comparison_id: str) -> UnknownSession:
    return UnknownSession(f"No comparison {quoted(comparison_id)} here. Compare the methods again from its search.")


def _comparison_values(comparison: Comparison) -> Values:
    values = vars(comparison) | {"seed": int(comparison.seed)}
    return {name: value for name, value in values.items() if name != "columns"}


def _column_values(column: MethodColumn) -> Values:
    return vars(column) | ranked_values(column) | {
        "protocol": card_to_dict(column.protocol), "protocol_digest": column.protocol.digest}


def _column_from(row: Row[Any]) -> MethodColumn:
    return record_from(MethodColumn, row, protocol=card_from_dict(row.protocol), **ranked_parts(row))


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
