"""Schema revisions: of a database, and those that this version knows; detection that another version of cirque has
migrated the schema while this process is running."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import monotonic

from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, inspect

from cir_core.errors import StorageError
from storage.engine.errors import where

OTHER = ("cirque has been updated, and this part of it has not been restarted yet. Nothing that was saved is lost; "
         "what you do now is not saved. Tell the administrator of this cirque.")
_EVERY = 10.0   # seconds
_log = logging.getLogger("cirque.storage")
SCRIPTS = Path(__file__).parents[1] / "migrations"


def migration_config(scripts: Path = SCRIPTS) -> Config:
    """Alembic's settings without its ini file."""
    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    return config


@cache
def script_directory(scripts: Path = SCRIPTS) -> ScriptDirectory:
    """The migrations in ``scripts``, whose files are read once: they do not change while cirque runs."""
    return ScriptDirectory.from_config(migration_config(scripts))


def latest_revision(scripts: Path = SCRIPTS) -> str:
    """The revision of ``storage.mapping.tables``."""
    latest = script_directory(scripts).get_current_head()
    assert latest is not None, f"no migrations in {scripts}"
    return latest


def known_revisions(scripts: Path = SCRIPTS) -> frozenset[str]:
    """All revisions that this version can migrate, and its own."""
    return frozenset(one.revision for one in script_directory(scripts).walk_revisions())


def revision_of(connection: Connection, scripts: Path = SCRIPTS) -> str | None:
    """The database's revision; None if it is empty. Raises ``StorageError`` for a newer or foreign schema."""
    where_it_is = where(connection.engine.url)
    revision = MigrationContext.configure(connection).get_current_revision()
    if revision is None and set(inspect(connection).get_table_names()) - {"alembic_version"}:
        raise StorageError(f"{where_it_is} belongs to another program. It was not changed. Point "
                           "CIRQUE_DATABASE_URL at an empty database or a new file.")
    if revision is not None and revision not in known_revisions(scripts):
        raise StorageError(f"{where_it_is} was made by a newer version of cirque (schema {revision}). "
                           "It was not changed. Update cirque, or point CIRQUE_DATABASE_URL at another "
                           "database.")
    return revision


class SchemaWatch:
    """Result of the last check in ``is_other``. A write repeats the check after ten seconds, ``check`` always does."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._head = clock, latest_revision()
        self._checked_at = clock()
        self.is_other = False

    def attach(self, engine: Engine) -> None:
        """Make ``storage.engine.database.writing`` refuse writes to another version's tables."""
        engine.update_execution_options(cirque_schema=self)

    def check(self, connection: Connection) -> bool:
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
        if (self.is_other or self._clock() - self._checked_at >= _EVERY) and not self.check(connection):
            raise StorageError("The database has the schema of another version of cirque, so this one does not write "
                               "to it. Start the matching version.", OTHER)
