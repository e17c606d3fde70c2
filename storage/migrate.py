"""Bring a database to this version's schema, at every start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, inspect

from cir_core.errors import StorageError
from storage.backup import back_up
from storage.database import changing_schema, open_database, reading, sqlite_path
from storage.failures import where

SCRIPTS = Path(__file__).parent / "migrations"


@dataclass(frozen=True)
class MigrationReport:
    """What :func:`migrate` did. ``before`` is None for a database that was empty."""

    before: str | None
    after: str
    applied: tuple[str, ...]
    backup: Path | None


def migrate(engine: Engine, scripts: Path = SCRIPTS) -> MigrationReport:
    """Apply the migrations that are missing, all or none of them. Raises StorageError.

    A database with content is copied first. Of several processes that start at once, one
    migrates and the others wait for it.
    """
    config = migration_config(scripts)
    directory = ScriptDirectory.from_config(config)
    head = directory.get_current_head()
    assert head is not None, f"no migrations in {scripts}"
    with reading(engine) as connection:
        if _revision(connection, engine, directory) == head:
            return MigrationReport(head, head, (), None)
    with changing_schema(engine) as connection:
        before = _revision(connection, engine, directory)  # again: another process may have been first
        missing = tuple(reversed([script.revision
                                  for script in directory.iterate_revisions(head, before or "base")]))
        if not missing:
            return MigrationReport(head, head, (), None)
        path = sqlite_path(engine.url)
        backup = back_up(path, missing[-1]) if before is not None and path is not None else None
        config.attributes["connection"] = connection
        command.upgrade(config, head)
    return MigrationReport(before, head, missing, backup)


def open_migrated(url: str) -> Engine:
    """An engine over the database at ``url``, brought up to date. Raises StorageError."""
    engine = open_database(url)
    try:
        migrate(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def migration_config(scripts: Path = SCRIPTS) -> Config:
    """Alembic's settings without its ini file."""
    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    return config


def _revision(connection: Connection, engine: Engine, directory: ScriptDirectory) -> str | None:
    """The database's revision; None if it is empty. Refuses what is not ours to change."""
    revision = MigrationContext.configure(connection).get_current_revision()
    if revision is None and set(inspect(connection).get_table_names()) - {"alembic_version"}:
        raise StorageError(f"{where(engine.url)} belongs to another program. It was not changed. Point "
                           "CIRQUE_DATABASE_URL at an empty database or a new file.")
    if revision is not None and revision not in {script.revision for script in directory.walk_revisions()}:
        raise StorageError(f"{where(engine.url)} was made by a newer version of cirque (schema {revision}). "
                           "It was not changed. Update cirque, or point CIRQUE_DATABASE_URL at another "
                           "database.")
    return revision
