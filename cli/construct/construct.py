"""``cirque construct``: multi-turn benchmarks, and all targets of single-turn queries."""

from __future__ import annotations

import typer

from cli.construct import describe, filtering, folders, judge, multi_target, own, sessions, single_target

app = typer.Typer(
    help="Construct, filter, check, describe, judge and compare multi-turn benchmarks (CIRCLED); find all targets of "
         "queries and rewrite them for one (SoFT).", no_args_is_help=True)
app.command("sessions")(sessions.sessions)
app.command("filter")(filtering.filter_sessions)
app.command("check")(filtering.check)
app.command("describe")(describe.describe)
app.command("judge")(judge.judge)
app.command("own")(own.own)
app.command("compare")(own.compare)
app.command("multi-target")(multi_target.multi_target)
app.command("single-target")(single_target.single_target)
app.command("list")(folders.list_folders)
app.command("remove")(folders.remove)
