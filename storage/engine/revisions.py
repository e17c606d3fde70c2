"""Schema revisions: of a database, and those that this version knows."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect

from cir_core.errors import StorageError
from storage.engine.errors import where

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
