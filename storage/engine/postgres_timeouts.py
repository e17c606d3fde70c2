"""How long cirque waits for PostgreSQL, and it for cirque. Without these one row that somebody holds would keep
threads, and then everybody, without end."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection
from sqlalchemy.engine import URL

_IDLE_MS = 120_000          # with a transaction open: a process that was stopped half-way holds its rows for so long
_STATEMENT_MS = 300_000     # longer than any page or report takes
_HOURS_MS = 6 * 3_600_000   # for what goes through all there is
_LIBPQ = ("psycopg", "psycopg2")
_CONNECTING: dict[str, Any] = {
    "connect_timeout": 5,   # seconds
    # A server that went away without a word is noticed within half a minute; else it takes hours.
    "keepalives": 1, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}


def postgres_options(url: URL, lock_ms: int) -> dict[str, Any]:
    """For ``create_engine``. What the URL itself says counts more.

    A connection is waited for no longer than a lock, so that a page gets its answer before its patience ends."""
    options: dict[str, Any] = {
        "pool_pre_ping": True,   # a server may have closed idle connections
        "pool_size": 10, "max_overflow": 10, "pool_timeout": lock_ms / 1000,
    }
    if url.get_driver_name() in _LIBPQ:
        asked = url.query.get("options", "")
        given = " ".join([_settings(lock_ms), *((asked,) if isinstance(asked, str) else asked)]).strip()
        connecting = {name: value for name, value in _CONNECTING.items() if name not in url.query}
        options["connect_args"] = connecting | {"options": given}
    return options


def without_hurry(connection: Connection, lock_ms: int) -> None:
    """For this transaction: migrations, backups and checks of all there is may take hours, and wait longer for what
    others hold."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("".join(f"SET LOCAL {name} = {value};" for name, value in (
            ("lock_timeout", lock_ms), ("statement_timeout", _HOURS_MS),
            ("idle_in_transaction_session_timeout", _HOURS_MS))))


def _settings(lock_ms: int) -> str:
    return (f"-c lock_timeout={lock_ms} -c statement_timeout={_STATEMENT_MS} "
            f"-c idle_in_transaction_session_timeout={_IDLE_MS}")
