"""Open the database of a home folder, and refuse to replace a lost one by an empty one."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine, select

from cir_core.errors import StorageError
from cir_core.settings import Settings
from storage.engine.database import open_database, parse, reading, sqlite_path
from storage.engine.errors import where
from storage.engine.home_record import NAME, DatabaseNote, HomeRecord, database_name
from storage.engine.revisions import revision_of
from storage.engine.sqlite_files import is_missing, leftovers_of
from storage.mapping import tables
from storage.migrations.run import migrate

_IMAGE_FOLDERS = ("studies", "uploads")   # in the home folder; their files are referenced by the database
_CLOSED = "Nobody can sign in at the moment, because the accounts are missing. Tell the administrator of this cirque."
_log = logging.getLogger("cirque.storage")


def open_home_database(settings: Settings, *, without_accounts: bool = False) -> tuple[Engine, HomeRecord]:
    """Open and migrate the database of the settings.

    Raises ``StorageError``, also if the home folder shows that there was a database and it is missing, or that there
    were accounts and there are none now. ``without_accounts`` allows the latter, for the commands that add one.
    """
    record, url = HomeRecord(settings.data), parse(settings.resolved_database_url)
    # First of all: another process that starts at the same time creates the database before database.json.
    traces = _traces(settings.data, record, database_name(url, settings.data))
    path = sqlite_path(url)
    if path is not None and is_missing(path) and not leftovers_of(path):   # open_database reports leftovers
        traces.refuse_new(f"There is no database at {path}")
    engine = open_database(settings.resolved_database_url)
    try:
        with reading(engine) as connection:
            if revision_of(connection) is None:
                traces.refuse_new(f"{where(url)} is empty")
        migrate(engine)
        accounts = has_accounts(engine)
        if not accounts and record.had_accounts() and not without_accounts:
            raise accounts_are_gone(engine, record)
        _note(engine, record, accounts)
    except BaseException:
        engine.dispose()
        raise
    return engine, record


def has_accounts(engine: Engine) -> bool:
    """Whether there is any account, active or not, in a migrated database."""
    with reading(engine) as connection:
        return connection.execute(select(tables.people.c.name_key).limit(1)).first() is not None


def accounts_are_gone(engine: Engine, record: HomeRecord) -> StorageError:
    """Error for a database without accounts in a home folder that had some."""
    return StorageError(
        f"There are no accounts in {_lower(where(engine.url))}, but the home folder {record.home} was used with a "
        f"database that had accounts (recorded in {NAME}). cirque does not start without a sign-in instead. If this is "
        "the wrong database, point CIRQUE_HOME and CIRQUE_DATABASE_URL at the right one, or restore a backup: cirque "
        "db restore FILE. If it is the right one, add an admin account: cirque user add NAME --role admin", _CLOSED)


@dataclass(frozen=True)
class _Traces:
    """Traces in a home folder of the database that it was used with. ``name``: of the database to open."""

    home: Path
    note: DatabaseNote | None
    image_folders: tuple[str, ...]
    name: str

    def refuse_new(self, found: str) -> None:
        """Raises ``StorageError`` if a new database would replace a lost one. ``found``: sentence that says that the
        configured database is missing or empty."""
        note = self.note
        other = note is not None and note.database != self.name
        if not self.image_folders and (note is None or (other and not note.accounts)):
            if note is not None:
                _log.warning("%s: creating a new one. The home folder was used with %s before.", found, note.database)
            return
        shown = [f"{name}/ contains images" for name in self.image_folders]
        if note is not None:
            people = ", which had accounts" if note.accounts else ""
            shown.insert(0, f"it was used with {note.database}{people} ({NAME})")
        back = _way_back(note.database, self.home) if other and note else "Put the database back"
        moved = [*([NAME] if note else []), *(f"{name}/" for name in self.image_folders)]
        raise StorageError(
            f"{found}, and the home folder {self.home} shows that it had one: {'; '.join(shown)}. No new database was "
            f"made. {back}, or restore a backup: cirque db restore FILE. To start with a new, empty database, "
            f"use another home folder, or move {' and '.join(moved)} out of this one first.")


def note_restored(engine: Engine, record: HomeRecord, *, accounts: bool) -> bool:
    """Note the restored database; ``accounts``: whether it, or the one it replaced, has any. Returns whether this home
    folder ever had accounts. Raises ``StorageError``."""
    record.note(database_name(engine.url, record.home), accounts=accounts)
    return record.had_accounts()


def _traces(home: Path, record: HomeRecord, name: str) -> _Traces:
    return _Traces(home, record.read(), tuple(one for one in _IMAGE_FOLDERS if _holds_anything(home / one)), name)


def _way_back(database: str, home: Path) -> str:
    """How to return to ``database``, named as in ``database.json``: a path, relative to the home folder, or a URL."""
    if "://" in database:
        return f"Set CIRQUE_DATABASE_URL to the URL of {database} again"
    empty = "Leave CIRQUE_DATABASE_URL empty, or set it" if database == "cirque.db" else "Set CIRQUE_DATABASE_URL"
    return f"{empty} to sqlite:///{home / database}"


def _holds_anything(folder: Path) -> bool:
    try:
        return any(True for _ in folder.iterdir())
    except OSError:
        return False


def _note(engine: Engine, record: HomeRecord, accounts: bool) -> None:
    try:
        record.note(database_name(engine.url, record.home), accounts=accounts)
    except StorageError as error:   # reading still works, and /readyz reports that nothing can be written
        _log.warning("%s", error)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
