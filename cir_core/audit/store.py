"""Where an audit keeps what it has, so that no query is ranked twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from cir_core.audit.records import QueryAudit, RunCard


@dataclass(frozen=True)
class StoredRun:
    """One row of "my audits". ``done`` of ``total`` queries are stored, ``problems`` of them
    without rankings; ``finished_at`` is None until all are."""

    card: RunCard
    total: int
    done: int
    problems: int
    begun_at: datetime
    finished_at: datetime | None


class AuditStore(Protocol):
    """Runs by :attr:`RunCard.digest`: every audit that asks for the same card shares one run.

    All methods raise ``StorageError``; what they wrote is durable when they return.
    """

    def begin(self, card: RunCard, total: int) -> None:
        """Have a run for ``card`` over ``total`` queries; one that is there stays as it is."""
        ...

    def stored(self, card: RunCard) -> Mapping[int, QueryAudit]:
        """What is there, by the query's position in the benchmark; {} for an unknown card."""
        ...

    def put(self, card: RunCard, first: int, queries: Sequence[QueryAudit]) -> None:
        """Store the queries at positions ``first`` and following, in place of what was there."""
        ...

    def finish(self, card: RunCard) -> None:
        """Note that every query is stored."""
        ...

    def runs(self) -> Sequence[StoredRun]:
        """All runs, the latest first."""
        ...
