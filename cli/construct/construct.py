"""``cirque construct``: multi-turn benchmarks from single-turn queries."""

from __future__ import annotations

import typer

from cli.construct import checking, describe, filtering, judge, own, sessions

app = typer.Typer(
    help="Construct, filter, check, describe, judge and compare multi-turn benchmarks (CIRCLED).", no_args_is_help=True)
app.command("sessions")(sessions.sessions)
app.command("filter")(filtering.filter_sessions)
app.command("check")(checking.check)
app.command("describe")(describe.describe)
app.command("judge")(judge.judge)
app.command("own")(own.own)
app.command("compare")(own.compare)
