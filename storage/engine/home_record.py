"""``database.json`` in the home folder: which database it was used with, and whether that had accounts.

It outlives the database, so that a start without a database, or without accounts, can distinguish a new home folder
from one whose database was lost.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy.engine import URL

from cir_core.errors import StorageError
from cir_core.support.files import sync_folder, write_durably
from cir_core.types.records import new_id
from storage.engine.database import sqlite_path

NAME = "database.json"
FORMAT = 1


@dataclass(frozen=True)
class DatabaseNote:
    """``database`` as of :func:`database_name`; ``accounts``: whether any ever existed."""

    database: str
    accounts: bool = False
    created_at: str = ""
    format: int = FORMAT


class HomeRecord:
    """Reads and writes the file. Thread-safe; a note is on disk when the call returns."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._path, self._lock = home / NAME, Lock()
        self._had_accounts = False

    def read(self) -> DatabaseNote | None:
        """None without a file. Raises ``StorageError``."""
        try:
            found = json.loads(self._path.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StorageError(f"{self._path} cannot be read: {error.strerror}. Make it readable for the owner "
                               "of the home folder.") from error
        except ValueError as error:
            raise StorageError(self._unreadable("is damaged")) from error
        return self._note_from(found)

    def had_accounts(self) -> bool:
        """Whether an account ever existed. Raises ``StorageError``."""
        if not self._had_accounts:
            found = self.read()
            self._had_accounts = found is not None and found.accounts
        return self._had_accounts

    def note(self, database: str, *, accounts: bool = False) -> None:
        """Set the current database. ``accounts`` is never reset to False. Raises ``StorageError``."""
        with self._lock:
            before = self.read()
            if before is None and self._create(DatabaseNote(database, accounts, _now())):
                return
            before = before or self.read() or DatabaseNote(database, accounts, _now())
            after = replace(before, database=database, accounts=before.accounts or accounts)
            if after != before:
                self._write(self._path, after)

    def note_accounts(self, database: str) -> None:
        """Note that an account exists. Cheap when that is already noted."""
        if not self._had_accounts:
            self.note(database, accounts=True)
            self._had_accounts = True

    def _create(self, note: DatabaseNote) -> bool:
        """Create the file; False if another process was first, whose note is not overwritten."""
        part = self._path.with_name(f".{NAME}.{new_id(8)}.new")
        try:
            self._write(part, note)
            os.link(part, self._path)
            sync_folder(self.home)
        except FileExistsError:
            return False
        except OSError:   # a file system without links
            self._write(self._path, note)
        finally:
            with suppress(OSError):   # on a read-only mount even for a missing file; the cause is already raised
                part.unlink()
        return True

    def _write(self, path: Path, note: DatabaseNote) -> None:
        try:
            self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_durably(path, json.dumps(asdict(note), indent=2, ensure_ascii=False).encode() + b"\n", private=True)
        except OSError as error:
            raise StorageError(f"{self._path} cannot be written: {error.strerror}. Make the home folder writable and "
                               "free some space on its disk.") from error

    def _note_from(self, found: Any) -> DatabaseNote:
        if isinstance(found, dict) and isinstance(found.get("format"), int) and found["format"] > FORMAT:
            raise StorageError(f"{self._path} was written by a newer version of cirque. Update cirque.")
        try:
            database, accounts = found["database"], found["accounts"]
        except (TypeError, KeyError, IndexError):
            database = accounts = None
        if not isinstance(database, str) or not isinstance(accounts, bool):
            raise StorageError(self._unreadable("does not have its form"))
        return DatabaseNote(database, accounts, str(found.get("created_at", "")))

    def _unreadable(self, why: str) -> str:
        return (f"{self._path} {why}, so it is unknown which database this home folder was used with. Make sure that "
                "CIRQUE_HOME and CIRQUE_DATABASE_URL name the right one, with its accounts; then move the file away, "
                "and cirque writes a new one.")


def database_name(url: URL, home: Path) -> str:
    """Name of a database in ``database.json``: independent of where the home folder is, and without user name."""
    path = sqlite_path(url)
    if path is not None:
        absolute = path.absolute()
        return (absolute.relative_to(home) if absolute.is_relative_to(home) else absolute).as_posix()
    host = (url.host or "").rpartition("@")[2]
    return f"{url.get_backend_name()}://{host}{f':{url.port}' if url.port else ''}/{url.database or ''}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
