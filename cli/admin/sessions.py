"""``cirque sessions``: list, export and import search sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from cir_core.settings import get_settings
from cli.console import out, write_file

app = typer.Typer(help="Search sessions in the database.", no_args_is_help=True)


@app.command("list")
def list_(limit: Annotated[int, typer.Option(min=1, max=10_000, help="Number of newest sessions.")] = 50) -> None:
    """List the newest sessions."""
    from storage.sessions.store import open_store

    table = Table("session", "gallery", "turns", "branches", "last text", "updated", box=None)
    for row in open_store(get_settings()).sessions(limit):
        table.add_row(row.session_id, row.gallery, str(row.turns), str(row.branches),
                      row.title or row.last_text, f"{row.updated_at:%Y-%m-%d %H:%M}")
    out.print(table if table.row_count else "No sessions yet. Start searching: cirque demo")


@app.command()
def export(
    session_id: Annotated[list[str], typer.Argument(help="Session ids.")],
    to: Annotated[Path | None, typer.Option("--out", "-o", help="Output file (default: standard output).")] = None,
) -> None:
    """Export sessions as JSON (CIRCLED's public format) with branches, cards and uploaded images."""
    from annotation.records import LOCAL, AuditEvent
    from cir_core.images.uploads import UploadFolder
    from cir_core.sessions.export import session_to_circled
    from storage.accounts.audit_log import SqlAuditLog
    from storage.sessions.store import open_store

    settings = get_settings()
    store = open_store(settings)
    uploads = UploadFolder(settings.uploads, max_megapixels=settings.max_image_megapixels)
    records: list[dict[str, Any]] = []
    for one in session_id:
        records += session_to_circled(store.session(one), first=len(records), picture=uploads.content)
    for one in session_id:
        SqlAuditLog(store.engine).note(AuditEvent("session.exported", LOCAL, one))
    text = json.dumps(records, indent=1, ensure_ascii=False) + "\n"
    if to is None:
        typer.echo(text, nl=False)
    else:
        write_file(to, text)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="File of “Export” or `cirque sessions export`.")],
    owner: Annotated[str, typer.Option("--for", help="Account that gets them (default: nobody).")] = "",
) -> None:
    """Import exported sessions. What is here already stays as it is."""
    from cir_core.errors import SearchError
    from cir_core.sessions.importing import read_export
    from web.services import open_services

    try:
        exported = read_export(file.read_bytes())
    except OSError as error:
        raise SearchError(f"{file} cannot be read: {error.strerror or error}.") from error
    services = open_services(get_settings())
    if owner:
        owner = services.people.person(owner).name
    for done in services.search.import_sessions(exported, owner):
        said = f"Imported {done.session_id}." if done.new else f"{done.session_id}:"
        out.print(" ".join((said, *done.notes)))
