"""``cirque construct``: multi-turn benchmarks, and all targets of single-turn queries."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from cir_core.reports.records import ReportTable, text
from cir_core.settings import get_settings
from cli.console import err, out
from cli.construct import concat, describe, filtering, judge, own, sessions, targets
from cli.tables.fitted_tables import print_table

_FOLDER = "benchmarks"
_STATES = {"unreadable": "cannot be read"}

app = typer.Typer(
    help="Construct, filter, check, describe, judge and compare multi-turn benchmarks (CIRCLED); find all targets of "
         "queries and rewrite them for one (SoFT).", no_args_is_help=True)
app.command("sessions")(sessions.sessions)
app.command("filter")(filtering.filter_sessions)
app.command("check")(filtering.check)
app.command("describe")(describe.describe)
app.command("judge")(judge.judge)
app.command("concat")(concat.concat)
app.command("own")(own.own)
app.command("compare")(own.compare)
app.command("multi-target")(targets.multi_target)
app.command("single-target")(targets.single_target)


@app.command("list")
def list_folders() -> None:
    """List the constructions in the home folder."""
    from cir_core.construct.browse.folders import list_constructions

    root = get_settings().home / _FOLDER
    found = list_constructions(root)
    if not found:
        out.print(f"No construction in {root} yet. Begin one: cirque construct sessions DATASET", soft_wrap=True)
        return
    columns = tuple(text(name, name) for name in ("name", "holds", "state", "changed"))
    print_table(ReportTable("constructions", "", columns, tuple(
        (one.name, one.kind if one.card else "", _STATES.get(one.state, one.state),
         f"{datetime.fromtimestamp(one.changed):%Y-%m-%d %H:%M}" if one.changed else "") for one in found)))
    for one in found:
        if one.problem:
            out.print(f"{one.name}: {one.problem}", soft_wrap=True)


@app.command("remove")
def remove(
    name: Annotated[str, typer.Argument(help="Name from `cirque construct list`, or folder.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Delete a construction with its journal."""
    from cir_core.construct.browse.folders import remove_construction
    from cir_core.jobs.journal import is_half_made

    path = Path(name).expanduser()
    root, last = (path.absolute().parent, path.name) if len(path.parts) > 1 else (get_settings().home / _FOLDER, name)
    if not yes and (root / last).is_dir() and not is_half_made(root / last):
        typer.confirm(f"Delete {root / last} with everything in it?", abort=True)
    folder = remove_construction(root, last)
    err.print(f"Deleted {folder}.", soft_wrap=True)
