"""SQL store of audits."""

from __future__ import annotations

import json
import logging
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine, Row, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from cir_core.audit.records import VARIANTS, QueryAudit, Ranking, RunCard, StoredRun, Variant
from cir_core.errors import StorageError
from cir_core.support.texts import can_be_stored
from storage.engine.database import reading, writing
from storage.mapping import tables

_log = logging.getLogger("cirque.storage")


class SqlAuditStore:
    """``cir_core.audit.records.AuditStore`` over an engine of ``open_database``. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def begin(self, card: RunCard, total: int) -> None:
        try:
            with writing(self.engine) as connection:
                connection.execute(insert(tables.audit_runs).values(
                    digest=card.digest, card=asdict(card), total=total, begun_at=datetime.now(UTC)))
        except StorageError as error:
            if not isinstance(error.__cause__, IntegrityError):
                raise  # otherwise it exists already

    def stored(self, card: RunCard) -> Mapping[int, QueryAudit]:
        q = tables.audit_queries
        with reading(self.engine) as connection:
            rows = connection.execute(select(q).where(q.c.digest == card.digest).order_by(q.c.position))
            found = {}
            for row in rows:
                try:
                    found[row.position] = _audit_from(row)
                except (zlib.error, ValueError, TypeError):
                    _log.warning("The stored ranks of query %s in audit %s are damaged and computed again.",
                                 row.query_id, card.digest)
            return found

    def put(self, card: RunCard, first: int, queries: Sequence[QueryAudit]) -> None:
        values = [
            {"digest": card.digest, "position": position, "query_id": query.query_id,
             "rankings": pack_rankings(query.rankings), "problem": _storable(query.problem)}
            for position, query in enumerate(queries, start=first)
        ]
        q = tables.audit_queries
        with writing(self.engine) as connection:
            connection.execute(delete(q).where(
                q.c.digest == card.digest, q.c.position >= first, q.c.position < first + len(values)))
            connection.execute(insert(q), values)

    def finish(self, card: RunCard) -> None:
        r = tables.audit_runs
        with writing(self.engine) as connection:
            connection.execute(update(r).where(r.c.digest == card.digest, r.c.finished_at.is_(None))
                               .values(finished_at=datetime.now(UTC)))

    def runs(self) -> Sequence[StoredRun]:
        r, q = tables.audit_runs, tables.audit_queries
        counted = select(
            q.c.digest, func.count().label("done"), func.count(func.nullif(q.c.problem, "")).label("problems"),
        ).group_by(q.c.digest).subquery()
        query = select(r, counted.c.done, counted.c.problems).join_from(
            r, counted, r.c.digest == counted.c.digest, isouter=True,
        ).order_by(r.c.begun_at.desc(), r.c.digest)
        with reading(self.engine) as connection:
            return tuple(map(_run_from, connection.execute(query)))


def pack_rankings(rankings: Mapping[Variant, Ranking]) -> bytes:
    """Compressed JSON: variant to its ranks and its top images."""
    plain = {variant: [list(ranking.ranks), list(ranking.top)] for variant, ranking in rankings.items()}
    return zlib.compress(json.dumps(plain, separators=(",", ":")).encode())


def unpack_rankings(packed: bytes) -> dict[Variant, Ranking]:
    """Inverse of ``pack_rankings``. Interns ids, because the runs of an audit repeat the same images."""
    plain = json.loads(zlib.decompress(packed))
    return {variant: _ranking(*plain[variant]) for variant in VARIANTS if variant in plain}


def _ranking(ranks: list[int], top: list[str]) -> Ranking:
    return Ranking(tuple(ranks), tuple(map(sys.intern, top)))


def _audit_from(row: Row[Any]) -> QueryAudit:
    return QueryAudit(sys.intern(row.query_id), unpack_rankings(row.rankings), sys.intern(row.problem))


def _run_from(row: Row[Any]) -> StoredRun:
    return StoredRun(RunCard(**row.card), row.total, row.done or 0, row.problems or 0, row.begun_at, row.finished_at)


def _storable(problem: str) -> str:
    """Text without characters that cannot be stored: messages of third-party model code may contain anything."""
    if can_be_stored(problem):
        return problem
    return problem.encode("ascii", "backslashreplace").decode().replace("\0", " ")
