"""Storage interface of audits, so that no query is ranked twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from cir_core.audit.records import QueryAudit, RunCard


@dataclass(frozen=True)
class StoredRun:
    """Row of the list of audits. ``done`` of ``total`` queries are stored, ``problems`` of them
    without rankings; ``finished_at`` is None until all are."""

    card: RunCard
    total: int
    done: int
    problems: int
    begun_at: datetime
    finished_at: datetime | None


class AuditStore(Protocol):
    """Runs by :attr:`RunCard.digest`: audits with the same card share one run. All methods raise ``StorageError``;
    writes are durable on return."""

    def begin(self, card: RunCard, total: int) -> None:
        """Create a run for ``card`` over ``total`` queries; an existing one is unchanged."""

    def stored(self, card: RunCard) -> Mapping[int, QueryAudit]:
        """Stored queries by their position in the benchmark; {} for an unknown card."""

    def put(self, card: RunCard, first: int, queries: Sequence[QueryAudit]) -> None:
        """Store the queries at positions ``first`` and following, replacing existing ones."""

    def finish(self, card: RunCard) -> None:
        """Mark the run as complete."""

    def runs(self) -> Sequence[StoredRun]:
        """All runs, the latest first."""
