"""``cirque db``: back up, restore and check the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cir_core.errors import StorageError
from cir_core.settings import Settings, get_settings
from cir_core.support.texts import counted
from cli.console import err, out

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from annotation.records import AuditEvent
    from storage.backups.backup import Restored
    from storage.backups.integrity import Contents

app = typer.Typer(name="db", no_args_is_help=True, help="Back up, restore and check the database.")


@app.command()
def backup(
    file: Annotated[Path | None, typer.Option("--out", metavar="FILE", help=(
        "Output file (default: backups/ in the home folder)."))] = None,
) -> None:
    """Back up the database, also while cirque runs. The backup is read back and compared."""
    from annotation.records import LOCAL, AuditEvent
    from storage.backups.backup import back_up_to, backup_name

    settings = get_settings()
    with _database(settings) as engine:
        made = back_up_to(engine, file or _folder(settings) / backup_name(engine))
        out.print(f"{made.path}: {_describe_contents(made.contents)}.", soft_wrap=True)
        _note(engine, AuditEvent("database.backed-up", LOCAL, details={"file": made.path.name}), made.contents)
    out.print(f"Images are files: back up {settings.home / 'uploads'} and {settings.home / 'studies'} with it.",
              soft_wrap=True)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file made by `cirque db backup`.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a database that is not empty.")] = False,
) -> None:
    """Restore a backup over the database. Stop cirque first; the current content is backed up before. Everybody
    has to sign in again."""
    from storage.backups.backup import restore as put_back
    from storage.engine.home_record import HomeRecord
    from storage.opening import note_restored

    settings = get_settings()
    record = HomeRecord(settings.home)
    record.read()   # one that cannot be read is said before anything is changed
    with _database(settings, new=True) as engine:
        done = put_back(engine, file, force=force, safe=_folder(settings))
        people, replaced = (held.rows.get("people", 0) for held in (done.contents, done.replaced))
        closed = note_restored(engine, record, accounts=bool(people or replaced))
        _note(engine, _restored(done, file), done.contents)
    if done.before is not None:
        out.print(f"The previous content is in {done.before}.", soft_wrap=True)
    out.print(f"Restored {file}: {_describe_contents(done.contents)}.", soft_wrap=True)
    if "sign_ins" in done.contents.rows:
        out.print("Accounts, passwords and invitations are those of the backup: see cirque user list. All its "
                  "sign-ins were ended, so everyone has to sign in again.", soft_wrap=True)
    if closed and not people:
        out.print("The backup has no accounts, but the replaced database had: cirque does not start until one exists. "
                  "Create an admin: cirque user add NAME --role admin", soft_wrap=True)
    if done.contents.revision != done.latest:
        out.print(f"The next start of cirque migrates it to schema {done.latest}.", soft_wrap=True)
    _complain(done.faults)


@app.command()
def check() -> None:
    """Check the database for damage. Changes nothing."""
    from storage.backups.integrity import inspect_database
    from storage.engine.errors import where

    with _database(get_settings()) as engine:
        found = inspect_database(engine)
        out.print(f"{where(engine.url)}: {_describe_contents(found.contents)}.", soft_wrap=True)
    for name, rows in found.contents.rows.items():
        out.print(f"  {name:<20}{rows:>12}")
    if found.contents.revision != found.latest:
        out.print(f"The next start of cirque migrates it to schema {found.latest}; counts of studies are checked then.",
                  soft_wrap=True)
    _complain(found.faults)
    out.print("No problems found.")


@contextmanager
def _database(settings: Settings, *, new: bool = False) -> Iterator[Engine]:
    """Open the database without migrating it; create it only if ``new``."""
    from storage.engine.database import open_database, parse, sqlite_path

    path = sqlite_path(parse(settings.resolved_database_url))
    if path is not None and not new and not path.exists():
        raise StorageError(f"There is no database at {path} yet. Point CIRQUE_HOME or CIRQUE_DATABASE_URL at one.")
    engine = open_database(settings.resolved_database_url)
    try:
        yield engine
    finally:
        engine.dispose()


def _restored(done: Restored, file: Path) -> AuditEvent:
    """Continue the replaced audit log in the backup of the previous content."""
    from annotation.records import LOCAL, AuditEvent

    details: dict[str, str | int] = {"file": file.name, "ended_sign_ins": done.sign_ins}
    if done.before is not None:
        details["replaced_is_in"] = done.before.name
    if done.log is not None:
        details |= {"replaced_acts": done.log.acts, "replaced_last_number": done.log.last}
    return AuditEvent("database.restored", LOCAL, details=details)


def _note(engine: Engine, act: AuditEvent, contents: Contents) -> None:
    """Add an entry to the audit log of the database that was backed up or restored. A database without a log, or one
    that is full or locked, does not undo the command."""
    from storage.accounts.audit_log import SqlAuditLog

    if "audit_log" not in contents.rows:
        err.print("This is not in the audit log: a database of this schema has none.", soft_wrap=True)
        return
    try:
        SqlAuditLog(engine).note(act)
    except StorageError as error:
        err.print(f"This is not in the audit log: {error}", soft_wrap=True)


def _folder(settings: Settings) -> Path:
    return settings.home / "backups"


def _describe_contents(contents: Contents) -> str:
    if contents.revision is None:
        return "empty"
    return (f"schema {contents.revision}, {counted(contents.total, 'row')} in "
            f"{counted(len(contents.rows), 'table')}")


def _complain(faults: tuple[str, ...]) -> None:
    if faults:
        listed = "\n".join(f"- {fault}" for fault in faults)
        raise StorageError(f"Problems in the database:\n{listed}\nKeep a copy of it as it is, and restore an "
                           "earlier backup (see docs/how-to/operate/storage.md).")
