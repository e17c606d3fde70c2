"""A verified copy of a SQLite database, taken while it may be in use."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from cir_core.errors import StorageError


def back_up(database: Path, before: str) -> Path:
    """Copy ``database`` to ``<database>.before-<before>-<time>.bak`` beside it, and check the copy.

    The last committed state is copied, also while a transaction is open elsewhere.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    copy = database.with_name(f"{database.name}.before-{before}-{stamp}.bak")
    unfinished = copy.with_name(copy.name + ".part")
    try:
        os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with (closing(sqlite3.connect(database)) as source,
              closing(sqlite3.connect(unfinished)) as target):
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")  # one file, with nothing beside it
            verdict = target.execute("PRAGMA integrity_check").fetchone()[0]
        if verdict != "ok":
            raise StorageError(f"The database {database} is damaged, so it was not updated. Restore an "
                               "earlier backup (see docs/storage.md).")
        unfinished.replace(copy)
    except OSError as error:
        raise StorageError(f"No backup of {database} could be made: {error.strerror}. The database was not "
                           "changed. Make its folder writable and free some space.") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return copy
