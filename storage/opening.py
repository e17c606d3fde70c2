"""Open the database of a home folder, and none in the place of one that was lost."""

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

_PICTURES = ("studies", "uploads")   # of the home folder; the database knows what is in them
_CLOSED = "Nobody can come in at the moment, because the accounts are not there. Tell whoever runs this cirque."
_log = logging.getLogger("cirque.storage")


def open_home_database(settings: Settings, *, without_accounts: bool = False) -> tuple[Engine, HomeRecord]:
    """The database that the settings name, brought up to date.

    Raises ``StorageError``, also where the home folder shows that there was a database and there is none now, or that
    people had accounts and nobody has one now. ``without_accounts`` is for the commands that make one.
    """
    record, url = HomeRecord(settings.home), parse(settings.resolved_database_url)
    # First of all: another process that starts at the same time makes the database before it notes so.
    traces = _traces(settings.home, record, database_name(url, settings.home))
    path = sqlite_path(url)
    if path is not None and is_missing(path) and not leftovers_of(path):   # of those opening it tells
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
    """Whether anybody has one, active or not, in a database that is up to date."""
    with reading(engine) as connection:
        return connection.execute(select(tables.people.c.name_key).limit(1)).first() is not None


def accounts_are_gone(engine: Engine, record: HomeRecord) -> StorageError:
    """What a home folder that once had accounts says of a database without any."""
    return StorageError(
        f"Nobody has an account in {_lower(where(engine.url))}, and people had accounts where the home folder "
        f"{record.home} was used before (it says so in {NAME}). cirque does not open to everybody instead. If this is "
        "the wrong database, point CIRQUE_HOME and CIRQUE_DATABASE_URL at the right one, or restore a backup: cirque "
        "db restore FILE. If it is the right one, make an admin's account: cirque user add NAME --role admin", _CLOSED)


@dataclass(frozen=True)
class _Traces:
    """What a home folder shows of a database that it was used with. ``name``: of the one that is to be opened."""

    home: Path
    noted: DatabaseNote | None
    pictures: tuple[str, ...]
    name: str

    def refuse_new(self, found: str) -> None:
        """Raises ``StorageError`` where a new database would take the place of another one. ``found``: that there is
        none at the place that the settings name."""
        noted = self.noted
        other = noted is not None and noted.database != self.name
        if not self.pictures and (noted is None or (other and not noted.accounts)):
            if noted is not None:
                _log.warning("%s: a new one is made. The home folder was used with %s before.", found, noted.database)
            return
        shown = [f"{name}/ holds pictures" for name in self.pictures]
        if noted is not None:
            people = ", in which people had accounts" if noted.accounts else ""
            shown.insert(0, f"it was used with {noted.database}{people} ({NAME})")
        back = _way_back(noted.database, self.home) if other and noted else "Put the database back"
        moved = [*([NAME] if noted else []), *(f"{name}/" for name in self.pictures)]
        raise StorageError(
            f"{found}, and the home folder {self.home} shows that it had one: {'; '.join(shown)}. No new database was "
            f"made. {back}, or restore a backup: cirque db restore FILE. To begin with a new, empty database on "
            f"purpose, take another home folder, or move {' and '.join(moved)} out of this one first.")


def note_restored(engine: Engine, record: HomeRecord, *, accounts: bool) -> bool:
    """Note the database that a backup was put into; ``accounts``: whether there are any in it, or were in what it
    replaced. Whether people had accounts in this home folder at any time. Raises ``StorageError``."""
    record.note(database_name(engine.url, record.home), accounts=accounts)
    return record.had_accounts()


def _traces(home: Path, record: HomeRecord, name: str) -> _Traces:
    return _Traces(home, record.read(), tuple(one for one in _PICTURES if _holds_anything(home / one)), name)


def _way_back(database: str, home: Path) -> str:
    """``database`` as ``database.json`` calls it: a file, relative to the home folder if it is in it, or a server's."""
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
    except StorageError as error:   # what only reads may go on, and /readyz says that nothing can be written there
        _log.warning("%s", error)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
