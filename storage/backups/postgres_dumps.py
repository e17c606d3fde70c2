"""Verified dumps of PostgreSQL databases, and restoring one, with pg_dump, pg_restore and psql."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from sqlalchemy import Connection, inspect
from sqlalchemy.engine import URL

from cir_core.errors import StorageError
from cir_core.settings import environment_with
from storage.backups.atomic_files import in_the_making
from storage.backups.integrity import Contents, contents_of

CHANGED = ("Another program wrote to the database in the meantime. Stop cirque, and other programs that use it; then "
           "restore again. Nothing was changed.")
_CHANGED = "cirque: rows were written in the meantime"
_PATIENCE = 2.0   # seconds
_LOCK_MS = 10_000
_INSTALL = "On Debian: apt-get install postgresql-client-{major}."
# In a dump as SQL: "COPY public.turns (turn_id, ...) FROM stdin;", then one row a line, then a line "\.".
_COPY = re.compile(rb'COPY (?:(?:"(?:[^"]|"")+"|[^". ]+)\.)?(?:"([^"]+)"|([^". ]+)) \(.*\) FROM stdin;\n')


def dump(connection: Connection, target: Path) -> Contents:
    """Dump the state that ``connection`` reads in its transaction to the new file ``target``, and check the dump: that
    pg_restore can list it, and that each table in it has as many rows. Others may go on writing meanwhile."""
    program = _program("pg_dump", connection)
    expected = contents_of(connection)
    snapshot = connection.exec_driver_sql("SELECT pg_export_snapshot()").scalar_one()
    schema = connection.exec_driver_sql("SELECT current_schema()").scalar_one()
    # By name: a dump of a whole schema or database would also create the schema, which exists, and extensions.
    named = [f'--table="{schema}"."{name}"' for name in inspect(connection).get_table_names()]
    server = _libpq_connection(connection.engine.url)
    with in_the_making(target) as unfinished:
        unfinished.touch(0o600, exist_ok=False)
        _run([program, "--format=custom", f"--snapshot={snapshot}", *named, "--no-owner", "--no-privileges",
              f"--file={unfinished}", f"--dbname={server.dsn}"], server.environment)
        if read_dump(unfinished, connection) != expected:
            raise StorageError("The dump differs from the database. Try again; if it happens twice, check the disk.")
    return expected


def read_dump(path: Path, connection: Connection) -> Contents:
    """Contents of a dump, by reading all of it."""
    program = _program("pg_restore", connection)
    _run([program, "--list", str(path)])
    rows: dict[str, int] = {}
    revision, table = None, ""
    with (tempfile.TemporaryFile() as errors, subprocess.Popen(
            [program, "--data-only", "--file=-", str(path)], stdout=subprocess.PIPE, stderr=errors) as reading):
        assert reading.stdout is not None
        for line in reading.stdout:
            if not table:
                if found := _COPY.fullmatch(line):
                    table = (found[1] or found[2]).decode()
                    rows[table] = 0
            elif line == b"\\.\n":
                table = ""
            else:
                rows[table] += 1
                if table == "alembic_version":
                    revision = line.decode().strip()
        if reading.wait() or table:
            raise StorageError(f"{path} is cut off or damaged: {_last_line_of(errors)} Choose another backup.")
    rows.pop("alembic_version", None)
    return Contents(revision, dict(sorted(rows.items())))


def replace_content(connection: Connection, backup: Path, emptied: Collection[str], expected: Contents) -> None:
    """Drop the existing tables, create those of the dump and empty some of these, all in one transaction of psql.
    pg_restore's output is piped to psql, so it needs no disk space; COMMIT is written last, so that nothing is
    changed if a program fails or is killed before."""
    quote = connection.dialect.identifier_preparer.quote
    there = inspect(connection).get_table_names()
    schema = quote(connection.exec_driver_sql("SELECT current_schema()").scalar_one())   # no path leads there below
    server = _libpq_connection(connection.engine.url)
    reading = [_program("pg_restore", connection), "--no-owner", "--no-privileges", "--file=-", str(backup)]
    writing = [_program("psql", connection), "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1",
               f"--dbname={server.dsn}", "--file=-"]
    connection.rollback()   # releases the locks of the reads
    before = "".join(["BEGIN;\n", *_as_expected(expected, there, quote),
                      *(f"DROP TABLE {quote(name)} CASCADE;\n" for name in there)])
    after = "".join([*(f"DELETE FROM {schema}.{quote(name)};\n" for name in emptied), "COMMIT;\n"])
    with (tempfile.TemporaryFile() as restore_errors, tempfile.TemporaryFile() as psql_errors,
          subprocess.Popen(writing, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=psql_errors,
                           env=server.environment) as psql,
          subprocess.Popen(reading, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=restore_errors) as pg_restore):
        assert psql.stdin is not None and pg_restore.stdout is not None
        with suppress(BrokenPipeError):   # psql has exited; its error is reported below
            psql.stdin.write(before.encode())
            shutil.copyfileobj(pg_restore.stdout, psql.stdin)
            if pg_restore.wait() == 0:
                psql.stdin.write(after.encode())
        with suppress(BrokenPipeError):
            psql.stdin.close()
        if pg_restore.returncode:   # reported first: psql may then only complain about truncated input
            raise StorageError(f"pg_restore failed: {_last_line_of(restore_errors)}")
        if psql.wait():
            error = _last_line_of(psql_errors, _CHANGED)
            raise StorageError(CHANGED if _CHANGED in error else f"psql failed: {error}")


def _as_expected(expected: Contents, there: Collection[str], quote: Callable[[str], str]) -> Iterator[str]:
    """Statements that lock the tables ``there`` against writers, and fail unless these have as many rows as
    ``expected``."""
    if not there:
        return
    yield f"SET LOCAL lock_timeout = {_LOCK_MS};\nLOCK TABLE {', '.join(map(quote, there))};\n"
    differs = " OR ".join(f"(SELECT count(*) FROM {quote(name)}) <> {rows}" for name, rows in expected.rows.items())
    if differs:
        yield f"DO $$ BEGIN IF {differs} THEN RAISE EXCEPTION '{_CHANGED}'; END IF; END $$;\n"


def others_connected(connection: Connection) -> int:
    """Number of other connections to the database. Waits a moment, because a connection that was just closed is still
    listed for a while."""
    until = time.monotonic() + _PATIENCE
    while (others := _others(connection)) and time.monotonic() < until:
        time.sleep(0.05)
    return others


def _others(connection: Connection) -> int:
    connection.rollback()   # within a transaction the answer stays the same
    return int(connection.exec_driver_sql(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND backend_type = 'client backend' AND pid <> pg_backend_pid()").scalar_one())


def _program(name: str, connection: Connection) -> str:
    """Path of a PostgreSQL program of the server's major version: others may write what the server cannot read."""
    major = int(connection.exec_driver_sql("SHOW server_version_num").scalar_one()) // 10_000
    usual = f"/usr/lib/postgresql/{major}/bin", f"/usr/pgsql-{major}/bin"   # on Debian and on Red Hat
    found = next(filter(None, (shutil.which(name, path=folder) for folder in usual)), None) or shutil.which(name)
    install = _INSTALL.format(major=major)
    if found is None:
        raise StorageError(f"{name} is not installed, but backups of PostgreSQL need it. Install the client "
                           f"programs of PostgreSQL {major}. {install}")
    output = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"\(PostgreSQL\) (\d+)", output)
    if version is None or int(version[1]) != major:
        theirs = f"PostgreSQL {version[1]}" if version else "an unknown version of PostgreSQL"
        raise StorageError(f"{found} is of {theirs}, but the server is of {major}. Install the client programs "
                           f"of that version. {install}")
    return found


@dataclass(frozen=True)
class _LibpqConnection:
    """How libpq's programs connect: ``dsn`` a connection string, and with environment variables."""

    dsn: str
    environment: Mapping[str, str] = field(repr=False)


def _libpq_connection(url: URL) -> _LibpqConnection:
    """The password is passed in the environment, which only the process's owner can read: a command line is public, and
    a file would stay behind if cirque is killed."""
    known = url.get_dialect()().create_connect_args(url)[1]
    known = {name: value for name, value in known.items() if value not in (None, "")}
    password = known.pop("password", None)
    dsn = " ".join(f"{name}='{_escaped(str(value))}'" for name, value in known.items())
    return _LibpqConnection(dsn, environment_with({} if password is None else {"PGPASSWORD": str(password)}))


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "\\'")


def _run(command: list[str], environment: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          check=False, env=environment)
    if done.returncode:
        raise StorageError(f"{Path(command[0]).name} failed: {_last_line(done.stderr)}")


def _last_line_of(output: IO[bytes], known: str = "") -> str:
    """The first line that contains ``known``, else the last line."""
    output.seek(0)
    text = output.read().decode(errors="replace")
    return next((line for line in text.splitlines() if known and known in line), _last_line(text))


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "it gave no reason."
