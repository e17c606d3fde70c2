"""Database of a soak: check that it is empty, and describe it."""

from __future__ import annotations

from sqlalchemy import Engine, inspect, select, table

from cir_core.errors import StorageError
from storage.engine.database import open_database, parse, reading, sqlite_path
from storage.engine.errors import where
from storage.mapping import tables

_NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
_SAFE = ("fsync", "synchronous_commit", "full_page_writes")      # server settings required to survive a power failure


def refuse_unless_empty(url: str) -> None:
    """Raises ``StorageError`` for a database that is not empty. A missing one is not created."""
    path = sqlite_path(parse(url))
    if path is not None and not path.exists():
        return
    engine = open_database(url)
    try:
        found = _held(engine)
    finally:
        engine.dispose()
    if found:
        raise StorageError(
            f"{where(engine.url)} is not empty: there is something in {', '.join(found)}. It was not changed. A soak "
            "fills a database while it kills the app. Name one that was made for it and is empty, or none: then it "
            "makes a SQLite file of its own.")


def described(engine: Engine) -> str:
    """Name and version such as "PostgreSQL 15.18", and which of its safeguards are off."""
    with reading(engine) as connection:
        name = connection.dialect.name
        version = ".".join(str(part) for part in connection.dialect.server_version_info or ())
        off = [one for one in _SAFE if connection.exec_driver_sql(f"SHOW {one}").scalar_one() == "off"
               ] if name == "postgresql" else []
    return f"{_NAMES.get(name, name)} {version}" + (f" without {', '.join(off)}" if off else "")


def _held(engine: Engine) -> list[str]:
    """Foreign tables, and our own with rows in them."""
    ours = {*tables.metadata.tables, "alembic_version"}
    with reading(engine) as connection:
        return [name for name in sorted(inspect(connection).get_table_names()) if name not in ours or (
            name != "alembic_version" and connection.execute(select(1).select_from(table(name)).limit(1)).first())]
