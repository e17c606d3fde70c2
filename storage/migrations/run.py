"""Migrate a database to this version's schema, at every start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from alembic import command
from sqlalchemy import Engine

from storage.backups.backup import back_up
from storage.engine.database import changing_schema, reading, sqlite_path
from storage.engine.revisions import SCRIPTS, latest_revision, migration_config, revision_of, script_directory


@dataclass(frozen=True)
class MigrationReport:
    """Result of :func:`migrate`. ``before`` is None for an empty database."""

    before: str | None
    after: str
    applied: tuple[str, ...]
    backup: Path | None


def migrate(engine: Engine, scripts: Path = SCRIPTS) -> MigrationReport:
    """Apply the missing migrations, all or none of them. Raises StorageError. A non-empty database is backed up first.
    Of several processes that start at once, one migrates and the others wait."""
    config, head = migration_config(scripts), latest_revision(scripts)
    with reading(engine) as connection:
        if revision_of(connection, scripts) == head:
            return MigrationReport(head, head, (), None)
    with changing_schema(engine) as connection:
        before = revision_of(connection, scripts)  # again: another process may have migrated it meanwhile
        scripts_to_run = script_directory(scripts).iterate_revisions(head, before or "base")
        missing = tuple(reversed([script.revision for script in scripts_to_run]))
        if not missing:
            return MigrationReport(head, head, (), None)
        path = sqlite_path(engine.url)
        backup = back_up(path, missing[-1]) if before is not None and path is not None else None
        config.attributes["connection"] = connection
        command.upgrade(config, head)
    return MigrationReport(before, head, missing, backup)
