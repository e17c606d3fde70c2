"""Verified backups, taken while the database may be in use. Restore a backup into the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, Engine

from cir_core.errors import StorageError
from cir_core.support.texts import counted
from storage.backups import postgres_dumps, sqlite_copies
from storage.backups.atomic_files import check_free
from storage.backups.integrity import Contents, LogExtent, contents_of, extent_of, inspect_database
from storage.backups.postgres_dumps import dump
from storage.backups.sqlite_copies import copy_sqlite, open_to_read
from storage.engine.database import reading, sqlite_path
from storage.engine.errors import explained, where
from storage.engine.revisions import known_revisions


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


ENDED = frozenset({"sign_ins"})
"""Tables that a restore leaves empty: otherwise people who were signed out, deactivated or given a new password after
the backup would be signed in again."""


@dataclass(frozen=True)
class Restored:
    """Outcome of a restore. ``contents`` of the backup, with the rows of ``ENDED`` that are not restored. ``before`` is
    the backup of the replaced database, None if it was empty, ``replaced`` its contents and ``log`` the extent of its
    audit log, None without one. ``latest`` is the schema revision of this version of cirque."""

    contents: Contents
    before: Path | None
    replaced: Contents
    log: LogExtent | None
    latest: str
    faults: tuple[str, ...]

    @property
    def sign_ins(self) -> int:
        """Number of sign-ins that were ended."""
        return self.contents.rows.get("sign_ins", 0)


def restore(engine: Engine, backup: Path, *, force: bool, safe: Path) -> Restored:
    """Replace the whole database by ``backup``, atomically, and check the outcome.

    Existing rows are backed up into the folder ``safe`` first, and replaced only with ``force``. Raises StorageError,
    also while another program is connected, which would see rows change under it.
    """
    check_kind(engine)
    kind = _kind_of(backup)
    if kind != engine.dialect.name:
        raise StorageError(f"{backup} is a backup of {_NAMES[kind]}, but CIRQUE_DATABASE_URL names "
                           f"{_NAMES[engine.dialect.name]}. Point it at a database of the backup's kind.")
    wanted = _read(engine, backup)
    if wanted.revision not in known_revisions():
        raise StorageError(f"{backup} is not a backup that this cirque can read: its schema is "
                           f"{wanted.revision or 'not cirque’s'}. If it was made by a newer cirque, update cirque.")
    with reading(engine) as connection:
        there = contents_of(connection)
        log = extent_of(connection) if "audit_log" in there.rows else None
    if not there.is_empty and not force:
        raise StorageError(f"{where(engine.url)} contains {counted(there.total, 'row')}. To have them replaced, add "
                           "--force; they are backed up first.")
    before = None if there.is_empty else safe / backup_name(engine, "before-restore-")
    emptied = ENDED & wanted.rows.keys()
    engine.dispose()   # so that our own connections do not count as others
    with explained(engine.url):
        (_restore_file if kind == "sqlite" else _restore_server)(engine, backup, before, there, emptied)
    found = inspect_database(engine)
    if found.contents != replace(wanted, rows={**wanted.rows, **dict.fromkeys(emptied, 0)}):
        raise StorageError(f"{where(engine.url)} differs from {backup}, from which it was restored. Do not start cirque"
                           + (f"; restore {before}, which has what was there before." if before else "."))
    return Restored(wanted, before, there, log if before else None, found.latest, found.faults)


_NAMES = {"sqlite": "a SQLite file", "postgresql": "a PostgreSQL database"}


def _kind_of(backup: Path) -> str:
    try:
        with backup.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise StorageError(f"{backup} cannot be read: {error.strerror}. Name a file that cirque db backup made."
                           ) from error
    if start == b"SQLite format 3\0":
        return "sqlite"
    if start.startswith(b"PGDMP"):
        return "postgresql"
    raise StorageError(f"{backup} is not a backup. Name a file that cirque db backup made.")


def _read(engine: Engine, backup: Path) -> Contents:
    if engine.dialect.name == "sqlite":
        return sqlite_copies.read_sqlite(backup)
    with reading(engine, all_of_it=True) as connection:
        return postgres_dumps.read_dump(backup, connection)


def _restore_file(engine: Engine, backup: Path, before: Path | None, there: Contents, emptied: Collection[str]) -> None:
    path = sqlite_path(engine.url)
    assert path is not None
    with sqlite_copies.alone(path) as connection:
        if before is not None:
            with no_backup_of(before, "Nothing was restored."), explained(engine.url):
                before.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                _check_same(sqlite_copies.copy_sqlite(connection, before), there)
        sqlite_copies.replace_content(connection, backup, emptied)


def _restore_server(
    engine: Engine, backup: Path, before: Path | None, there: Contents, emptied: Collection[str],
) -> None:
    with _alone(engine):
        pass
    if before is not None:
        _check_same(back_up_to(engine, before).contents, there)
    with _alone(engine) as connection:   # again: the backup took a while
        _check_same(contents_of(connection), there)
        postgres_dumps.replace_content(connection, backup, emptied, there)


def _check_same(found: Contents, there: Contents) -> None:
    """Raise ``StorageError`` if the database has changed since it was inspected."""
    if found != there:
        raise StorageError(postgres_dumps.CHANGED)


@contextmanager
def _alone(engine: Engine) -> Iterator[Connection]:
    with engine.connect() as connection:
        if others := postgres_dumps.others_connected(connection):
            raise StorageError(f"{where(engine.url)} is in use: {counted(others, 'other connection')}. Stop cirque, "
                               "and other programs that use it; then restore again. Nothing was changed.")
        yield connection
