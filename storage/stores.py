"""Everything that is kept in the database, over one engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cir_core.settings import Settings
from storage.accounts.audit_log import SqlAuditLog
from storage.accounts.store import SqlPeopleStore
from storage.engine.database import tell_waits
from storage.engine.readiness import Readiness
from storage.opening import open_home_database
from storage.sessions.audits import SqlAuditStore
from storage.sessions.comparisons import SqlComparisonStore
from storage.sessions.llm_cache import SqlAnswerCache
from storage.sessions.store import SqlSessionStore
from storage.sessions.votes import SqlVoteStore
from storage.studies.store import SqlStudyStore


@dataclass(frozen=True)
class Stores:
    sessions: SqlSessionStore
    answers: SqlAnswerCache
    comparisons: SqlComparisonStore
    votes: SqlVoteStore
    audits: SqlAuditStore
    studies: SqlStudyStore
    people: SqlPeopleStore
    log: SqlAuditLog
    readiness: Readiness

    def close(self) -> None:
        """Close the connections that the stores share."""
        self.sessions.close()


def open_stores(
    settings: Settings, *, waited: Callable[[float], None] | None = None, without_accounts: bool = False,
) -> Stores:
    """All stores of the database the settings name, brought up to date. Raises StorageError, as
    ``open_home_database`` does.

    ``waited`` gets the seconds that each transaction waited before it could write.
    """
    engine, record = open_home_database(settings, without_accounts=without_accounts)
    if waited is not None:
        tell_waits(engine, waited)
    return Stores(
        SqlSessionStore(engine), SqlAnswerCache(engine), SqlComparisonStore(engine), SqlVoteStore(engine),
        SqlAuditStore(engine), SqlStudyStore(engine), SqlPeopleStore(engine, record),
        SqlAuditLog(engine), Readiness(engine))
