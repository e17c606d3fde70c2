"""Detect that another version of cirque has migrated the schema while this process is running."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic

from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, Engine

from cir_core.errors import StorageError
from storage.engine.revisions import latest_revision

OTHER = ("cirque has been updated, and this part of it has not been restarted yet. Nothing that was saved is lost; "
         "what you do now is not saved. Tell whoever runs this cirque.")
_EVERY = 10.0   # seconds
_log = logging.getLogger("cirque.storage")


class SchemaWatch:
    """Result of the last check in ``is_other``. A write repeats the check after ten seconds, ``look`` always does."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._head = clock, latest_revision()
        self._checked_at = clock()
        self.is_other = False

    def attend(self, engine: Engine) -> None:
        """Make ``storage.engine.database.writing`` refuse writes to another version's tables."""
        engine.update_execution_options(cirque_schema=self)

    def look(self, connection: Connection) -> bool:
        """Whether the schema is this version's."""
        found = MigrationContext.configure(connection).get_current_revision()
        self._checked_at = self._clock()
        other = found != self._head
        if other and not self.is_other:
            _log.error("The database has schema %s, and this process knows %s: it rejects all requests. Stop it, "
                       "and start the version of cirque that migrated the database.", found, self._head)
        self.is_other = other
        return not other

    def before_writing(self, connection: Connection) -> None:
        """Raises ``StorageError`` for another version's schema."""
        if (self.is_other or self._clock() - self._checked_at >= _EVERY) and not self.look(connection):
            raise StorageError("The database has the schema of another version of cirque, so this one does not write "
                               "to it. Start the version that fits.", OTHER)
