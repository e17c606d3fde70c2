"""Whether the database can be worked with, for whoever sends people here."""

from __future__ import annotations

from pathlib import Path

from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine

from storage.database import reading, sqlite_path
from storage.revisions import latest_revision


class Readiness:
    """Asks the database behind ``engine``."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._head = latest_revision()

    def is_current(self) -> bool:
        """Whether its schema is this version's. Raises ``StorageError`` where it does not answer."""
        with reading(self._engine) as connection:
            return MigrationContext.configure(connection).get_current_revision() == self._head

    @property
    def folder(self) -> Path | None:
        """Where its file is, if it is one."""
        path = sqlite_path(self._engine.url)
        return path.parent if path is not None else None
