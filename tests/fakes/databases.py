"""Databases for tests of stores: a SQLite file, and the one that CIRQUE_TEST_DATABASE_URL names, if it is set.

That one is emptied before each test, so its name must hold "test", and only one process may use it: run
pytest without -n.
"""

from __future__ import annotations

import os
from pathlib import Path

from sqlalchemy import Engine, make_url

from storage import tables
from storage.database import writing
from storage.migrate import open_migrated

OTHER = os.environ.get("CIRQUE_TEST_DATABASE_URL", "")
DATABASES = ("sqlite", "other") if OTHER else ("sqlite",)


def open_empty(database: str, folder: Path) -> Engine:
    """``database`` is one of ``DATABASES``; a SQLite file is made in ``folder``."""
    assert database == "sqlite" or "test" in (make_url(OTHER).database or "")
    engine = open_migrated(OTHER if database == "other" else f"sqlite:///{folder}/cirque.db")
    with writing(engine) as connection:
        for table in reversed(tables.metadata.sorted_tables):
            connection.execute(table.delete())
    return engine
