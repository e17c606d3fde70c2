"""PostgreSQL timeouts. Without them a single locked row would block threads, and finally the server, forever."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection
from sqlalchemy.engine import URL

_IDLE_MS = 120_000          # in a transaction: a process stopped half-way holds its locks this long
_STATEMENT_MS = 300_000     # longer than any page or report takes
_HOURS_MS = 6 * 3_600_000   # for migrations, backups and checks
_LIBPQ = ("psycopg", "psycopg2")
_CONNECTING: dict[str, Any] = {
    "connect_timeout": 5,   # seconds
    # A silently dead connection is noticed within half a minute instead of hours.
    "keepalives": 1, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}


def postgres_options(url: URL, lock_ms: int) -> dict[str, Any]:
    """Options for ``create_engine``. Parameters of the URL take precedence. The pool timeout is that of locks, so that
    a page gets an error before it times out itself."""
    options: dict[str, Any] = {
        "pool_pre_ping": True,   # a server may have closed idle connections
        "pool_size": 10, "max_overflow": 10, "pool_timeout": lock_ms / 1000,
    }
    if url.get_driver_name() in _LIBPQ:
        from_url = url.query.get("options", "")
        given = " ".join([_settings(lock_ms), *((from_url,) if isinstance(from_url, str) else from_url)]).strip()
        connecting = {name: value for name, value in _CONNECTING.items() if name not in url.query}
        options["connect_args"] = connecting | {"options": given}
    return options


def without_hurry(connection: Connection, lock_ms: int) -> None:
    """Raise the limits for this transaction: migrations, backups and checks may take hours, and wait longer for
    locks."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("".join(f"SET LOCAL {name} = {value};" for name, value in (
            ("lock_timeout", lock_ms), ("statement_timeout", _HOURS_MS),
            ("idle_in_transaction_session_timeout", _HOURS_MS))))


def _settings(lock_ms: int) -> str:
    return (f"-c lock_timeout={lock_ms} -c statement_timeout={_STATEMENT_MS} "
            f"-c idle_in_transaction_session_timeout={_IDLE_MS}")
