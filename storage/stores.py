"""Everything that is kept in the database, over one engine."""

from __future__ import annotations

from dataclasses import dataclass

from cir_core.settings import Settings
from storage.answers import SqlAnswerCache
from storage.audit_log import SqlActLog
from storage.audits import SqlAuditStore
from storage.comparisons import SqlComparisonStore
from storage.migrate import open_migrated
from storage.people import SqlPeopleStore
from storage.store import SqlSessionStore
from storage.studies import SqlStudyStore
from storage.votes import SqlVoteStore


@dataclass(frozen=True)
class Stores:
    sessions: SqlSessionStore
    answers: SqlAnswerCache
    comparisons: SqlComparisonStore
    votes: SqlVoteStore
    audits: SqlAuditStore
    studies: SqlStudyStore
    people: SqlPeopleStore
    log: SqlActLog

    def close(self) -> None:
        """Close the connections that the stores share."""
        self.sessions.close()


def open_stores(settings: Settings) -> Stores:
    """All stores of the database the settings name, brought up to date. Raises StorageError."""
    engine = open_migrated(settings.resolved_database_url)
    return Stores(
        SqlSessionStore(engine), SqlAnswerCache(engine), SqlComparisonStore(engine), SqlVoteStore(engine),
        SqlAuditStore(engine), SqlStudyStore(engine), SqlPeopleStore(engine),
        SqlActLog(engine))
