"""All stores of the database, over one engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cir_core.settings import Settings
from storage.accounts.audit_log import SqlAuditLog
from storage.accounts.store import SqlPeopleStore
from storage.backups.backup import back_up_to, backup_name
from storage.engine.database import observe_waits
from storage.engine.readiness import Readiness
from storage.opening import open_home_database
from storage.sessions.audits import SqlAuditStore
from storage.sessions.comparisons import SqlComparisonStore, SqlVoteStore
from storage.sessions.llm_cache import SqlAnswerCache
from storage.sessions.store import SqlSessionStore
from storage.studies.recruitment import SqlRecruitmentStore
from storage.studies.store import SqlStudyStore
from storage.studies.webhooks import SqlWebhookStore


@dataclass(frozen=True)
class Stores:
    sessions: SqlSessionStore
    answers: SqlAnswerCache
    comparisons: SqlComparisonStore
    votes: SqlVoteStore
    audits: SqlAuditStore
    studies: SqlStudyStore
    recruitment: SqlRecruitmentStore
    webhooks: SqlWebhookStore
    people: SqlPeopleStore
    log: SqlAuditLog
    readiness: Readiness

    def back_up(self, folder: Path, occasion: str) -> Path:
        """Back up the database to a new file in ``folder``; returns it. Raises ``StorageError``."""
        engine = self.studies.engine
        return back_up_to(engine, folder / backup_name(engine, occasion)).path

    def close(self) -> None:
        """Close the shared connections."""
        self.sessions.close()


def open_stores(
    settings: Settings, *, on_wait: Callable[[float], None] | None = None, without_accounts: bool = False,
) -> Stores:
    """All stores of the configured database, migrated. Raises StorageError, as ``open_home_database`` does. ``on_wait``
    is called with the seconds that each write transaction waited for its lock."""
    engine, record = open_home_database(settings, without_accounts=without_accounts)
    if on_wait is not None:
        observe_waits(engine, on_wait)
    return Stores(
        SqlSessionStore(engine), SqlAnswerCache(engine), SqlComparisonStore(engine), SqlVoteStore(engine),
        SqlAuditStore(engine), SqlStudyStore(engine), SqlRecruitmentStore(engine), SqlWebhookStore(engine),
        SqlPeopleStore(engine, record), SqlAuditLog(engine), Readiness(engine))
