"""``cirque log``: the audit log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cir_core.errors import SettingsError
from cli.console import open_stores, out


def log(
    person: Annotated[str, typer.Option("--person", "-p", help="Who did it, or who was affected.")] = "",
    kind: Annotated[str, typer.Option(
        "--kind", "-k", help="Kind of event, such as sign-in, or group, such as sign-in.all.")] = "",
    since: Annotated[str, typer.Option(help="From this day or time (UTC), such as 2026-05-01T14:30.")] = "",
    until: Annotated[str, typer.Option(help="Up to this day or time.")] = "",
    last: Annotated[int, typer.Option("--last", "-n", min=1, max=10_000, help="Number of newest events.")] = 50,
    to: Annotated[Path | None, typer.Option(
        "--out", "-o", metavar="FILE", help="Write all matching events to FILE.csv or FILE.jsonl.")] = None,
) -> None:
    """Show the audit log, newest first, times in UTC."""
    from annotation.accounts.audit_log import LOG_FORMS, every_act, log_file, read_filter
    from annotation.records import LOCAL, AuditEvent
    from cir_core.support.files import write_atomically

    which = read_filter(person, kind, since, until)
    form = None if to is None else next((one for one in LOG_FORMS if to.suffix.lower() == f".{one}"), None)
    if to is not None and form is None:
        raise SettingsError(f"The log is written as CSV or JSON lines. Name a file that ends in .csv or .jsonl, not "
                            f"{to}.")
    with open_stores() as stores:
        if to is None or form is None:
            found = stores.log.acts(which, limit=last)
        else:
            content = log_file(every_act(stores.log, which), form)
            stores.log.note(AuditEvent("log.exported", LOCAL, details={"form": form}))
            try:
                write_atomically(to, content)
            except OSError as error:
                raise SettingsError(f"{to} cannot be written: {error.strerror or error}. Choose another file."
                                ) from error
            return
    table = Table("number", "at (UTC)", "what", "by", "about", "details", box=None)
    for one in found:
        act = one.act
        details = ", ".join(f"{name}: {value}" for name, value in act.details.items())
        table.add_row(str(one.number), f"{one.at:%Y-%m-%d %H:%M:%S}", act.kind, act.by, act.about, details)
    out.print(table if table.row_count else "No matching event in the log.")
