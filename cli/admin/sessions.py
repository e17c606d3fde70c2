"""``cirque sessions``: list and export search sessions."""

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
def list_(limit: Annotated[int, typer.Option(min=1, max=10_000)] = 50) -> None:
    """List the newest sessions."""
    from storage.sessions.store import open_store

    table = Table("session", "gallery", "turns", "branches", "last text", "updated", box=None)
    for row in open_store(get_settings()).sessions(limit):
        table.add_row(row.session_id, row.gallery, str(row.turns), str(row.branches),
                      row.title or row.last_text, f"{row.updated_at:%Y-%m-%d %H:%M}")
    out.print(table if table.row_count else "No sessions yet. Start searching: cirque demo")


@app.command()
def export(
    session_id: Annotated[list[str], typer.Argument(help="One or more session ids.")],
    to: Annotated[Path | None, typer.Option("--out", "-o", help="Output file (default: standard output).")] = None,
) -> None:
    """Export sessions as JSON in CIRCLED's public form, every branch, with protocol cards."""
    from annotation.records import LOCAL, AuditEvent
    from cir_core.sessions.export import session_to_circled
    from storage.accounts.audit_log import SqlAuditLog
    from storage.sessions.store import open_store

    store = open_store(get_settings())
    records: list[dict[str, Any]] = []
    for one in session_id:
        records += session_to_circled(store.session(one), first=len(records))
    for one in session_id:
        SqlAuditLog(store.engine).note(AuditEvent("session.exported", LOCAL, one))
    text = json.dumps(records, indent=1, ensure_ascii=False) + "\n"
    if to is None:
        typer.echo(text, nl=False)
    else:
        write_file(to, text)
