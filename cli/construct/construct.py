"""``cirque construct``: multi-turn benchmarks from single-turn queries."""

from __future__ import annotations

import typer

from cli.construct import describe, filtering, judge, sessions

app = typer.Typer(help="Construct, filter, describe and judge multi-turn benchmarks (CIRCLED).", no_args_is_help=True)
app.command("sessions")(sessions.sessions)
app.command("filter")(filtering.filter_sessions)
app.command("describe")(describe.describe)
app.command("judge")(judge.judge)
