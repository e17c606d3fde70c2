"""Verified dumps of PostgreSQL databases by its own programs, and one put in a database's place."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, inspect
from sqlalchemy.engine import URL

from cir_core.errors import StorageError
from storage.contents import Contents, contents_of

_PATIENCE = 2.0   # seconds
_INSTALL = "On Debian: apt-get install postgresql-client-{major}."
# A line of a dump as SQL: "COPY public.turns (turn_id, ...) FROM stdin;", the rows, one in a line, and a line "\.".
_COPY = re.compile(rb'COPY (?:(?:"(?:[^"]|"")+"|[^". ]+)\.)?(?:"([^"]+)"|([^". ]+)) \(.*\) FROM stdin;\n')


def dump(connection: Connection, target: Path) -> Contents:
    """Dump the state that ``connection`` reads in its transaction to the new file ``target``, and check the dump: that
    pg_restore can list it, and that each table in it has as many rows. Others may go on writing meanwhile."""
    program = _program("pg_dump", connection)
    expected = contents_of(connection)
    snapshot = connection.exec_driver_sql("SELECT pg_export_snapshot()").scalar_one()
    schema = connection.exec_driver_sql("SELECT current_schema()").scalar_one()
    # By name: a dump of a whole schema or database would also make the schema, which is there, and extensions.
    named = [f'--table="{schema}"."{name}"' for name in inspect(connection).get_table_names()]
    unfinished = target.with_name(target.name + ".part")
    try:
        unfinished.touch(0o600, exist_ok=False)
        with _reached(connection.engine.url) as reached:
            _run([program, "--format=custom", f"--snapshot={snapshot}", *named, "--no-owner", "--no-privileges",
                  f"--file={unfinished}", f"--dbname={reached}"])
        if read_dump(unfinished, connection) != expected:
            raise StorageError("The dump does not hold what the database holds. Try again; if it happens twice, check "
                               "the disk.")
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return expected


def read_dump(path: Path, connection: Connection) -> Contents:
    """What a dump holds, by reading all of it."""
    program = _program("pg_restore", connection)
    _run([program, "--list", str(path)])
    rows: dict[str, int] = {}
    revision, table = None, ""
    with (tempfile.TemporaryFile() as said, subprocess.Popen(
            [program, "--data-only", "--file=-", str(path)], stdout=subprocess.PIPE, stderr=said) as reading):
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
            said.seek(0)
            raise StorageError(f"{path} is cut off or damaged: {_last_line(said.read().decode(errors='replace'))} "
                               "Name another backup.")
    rows.pop("alembic_version", None)
    return Contents(revision, dict(sorted(rows.items())))


def replace_content(connection: Connection, backup: Path) -> None:
    """Drop the tables that are there and make those of the dump, all in one transaction of psql's."""
    quote = connection.dialect.identifier_preparer.quote
    there = inspect(connection).get_table_names()
    connection.rollback()   # what was read is locked until then
    with tempfile.TemporaryDirectory() as folder, _reached(connection.engine.url) as reached:
        drop, make = Path(folder) / "drop.sql", Path(folder) / "make.sql"
        drop.write_text("".join(f"DROP TABLE {quote(name)} CASCADE;\n" for name in there), encoding="utf-8")
        _run([_program("pg_restore", connection), "--no-owner", "--no-privileges", f"--file={make}", str(backup)])
        _run([_program("psql", connection), "--no-psqlrc", "--quiet", "--single-transaction",
              "--set=ON_ERROR_STOP=1", f"--dbname={reached}", f"--file={drop}", f"--file={make}"])


def others_connected(connection: Connection) -> int:
    """How many connections besides this one are open to the database. One that was just closed takes a moment to
    end, so they are given some."""
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
    """One of PostgreSQL's programs, of the server's major version: another may write what the server cannot read."""
    major = int(connection.exec_driver_sql("SHOW server_version_num").scalar_one()) // 10_000
    usual = f"/usr/lib/postgresql/{major}/bin", f"/usr/pgsql-{major}/bin"   # where Debian and Red Hat keep several
    found = next(filter(None, (shutil.which(name, path=folder) for folder in usual)), None) or shutil.which(name)
    install = _INSTALL.format(major=major)
    if found is None:
        raise StorageError(f"{name} is not installed, which PostgreSQL's backups need. Install the client programs of "
                           f"PostgreSQL {major}. {install}")
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"\(PostgreSQL\) (\d+)", said)
    if version is None or int(version[1]) != major:
        theirs = f"PostgreSQL {version[1]}" if version else "an unknown version of PostgreSQL"
        raise StorageError(f"{found} is of {theirs}, and the server is of {major}. Install the client programs of that "
                           f"version. {install}")
    return found


@contextmanager
def _reached(url: URL) -> Iterator[str]:
    """How libpq's programs reach the database. The password goes by a file: everybody can read a command line."""
    known = url.get_dialect()().create_connect_args(url)[1]
    known = {name: value for name, value in known.items() if value not in (None, "")}
    password = known.pop("password", None)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:   # only its owner may read it
        if password is not None:
            escaped = str(password).replace("\\", "\\\\").replace(":", "\\:")
            file.write(f"*:*:*:*:{escaped}\n")
            file.flush()
            known["passfile"] = file.name
        yield " ".join(f"{name}='{_escaped(str(value))}'" for name, value in known.items())


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "\\'")


def _run(command: list[str]) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          check=False)
    if done.returncode:
        raise StorageError(f"{Path(command[0]).name} failed: {_last_line(done.stderr)}")


def _last_line(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1] if lines else "it did not say why."
