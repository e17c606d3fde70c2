"""Verified backups, taken while the database may be in use."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Engine

from cir_core.errors import StorageError
from storage.backups.atomic_files import check_free
from storage.backups.contents import Contents
from storage.backups.postgres_dumps import dump
from storage.backups.sqlite_copies import copy_sqlite, open_to_read
from storage.engine.database import reading, sqlite_path
from storage.engine.errors import explained


@dataclass(frozen=True)
class Backup:
    path: Path
    contents: Contents


def back_up(database: Path, before: str) -> Path:
    """Copy a SQLite database to ``<database>.before-<before>-<time>.bak`` beside it, and check the copy. The last
    committed state is copied, also while a transaction is open elsewhere."""
    copy = database.with_name(f"{database.name}.before-{before}-{_now()}.bak")
    with no_backup_of(database, "The database was not changed."), closing(open_to_read(database)) as source:
        copy_sqlite(source, copy)
    return copy


def back_up_to(engine: Engine, target: Path) -> Backup:
    """Back up the database of ``engine`` to the new file ``target``: a SQLite database, or a dump of PostgreSQL's.
    It is compared with the state that was copied, table by table. Raises StorageError."""
    check_free(target)
    with no_backup_of(target, "Nothing was backed up."), explained(engine.url):
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = sqlite_path(engine.url)
        if path is not None:
            with closing(open_to_read(path)) as source:
                return Backup(target, copy_sqlite(source, target))
        check_kind(engine)
        with reading(engine, all_of_it=True) as connection:
            return Backup(target, dump(connection, target))


def backup_name(engine: Engine, occasion: str = "") -> str:
    """A name that sorts by time and says what is in the file."""
    return f"cirque-{occasion}{_now()}.{'db' if engine.dialect.name == 'sqlite' else 'dump'}"


def check_kind(engine: Engine) -> None:
    if sqlite_path(engine.url) is None and engine.dialect.name != "postgresql":
        raise StorageError(f"cirque makes no backups of {engine.dialect.name} databases. Use the database's own "
                           "programs.")


@contextmanager
def no_backup_of(path: Path, consequence: str) -> Iterator[None]:
    """Turn errors while a backup is written into :class:`StorageError`."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"No backup of {path} could be made: {error.strerror}. {consequence} Make its folder "
                           "writable and free some space on its disk.") from error
    except sqlite3.Error as error:
        raise StorageError(f"No backup of {path} could be made: {error}. {consequence} Free some space, and check "
                           "that the database is whole: cirque db check.") from error


def _now() -> str:
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
