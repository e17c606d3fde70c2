"""``cirque jobs``: long jobs of this home folder, whichever process runs them."""

from __future__ import annotations

import shlex
from contextlib import chdir
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cir_core.errors import DatasetError
from cir_core.jobs.commands import again
from cir_core.jobs.records import JobRecord, JobRecords
from cir_core.settings import get_settings
from cir_core.support.texts import counted
from cli.console import out
from cli.recorded import recorded

app = typer.Typer(help="Long jobs: how far they are, their log; stop, resume and forget them.")
JobId = Annotated[str, typer.Argument(metavar="ID", help="Id from `cirque jobs list`.")]


@app.callback(invoke_without_command=True)
def jobs(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        list_()


@app.command("list")
def list_() -> None:
    """List jobs, running ones first."""
    found = _records().all()
    if not found:
        out.print("No long job yet. Indexing, captions, audits, constructions, evaluations and training are listed "
                  "here, for example: cirque index FOLDER --name NAME", soft_wrap=True)
        return
    table = Table("id", "state", "progress", "left", "begun", box=None)
    table.add_column("command", no_wrap=True, overflow="ellipsis")
    for one in found:
        table.add_row(one.job_id, one.state, _far(one), _left(one), _moment(one.began_at),
                      f"cirque {shlex.join(one.command)}")
    out.print(table)


@app.command()
def show(job_id: JobId) -> None:
    """Show a job and the end of its log."""
    one = _records().find(job_id)
    who = f"{one.started_by or 'somebody'} {'on the screen' if one.screen else 'on the command line'}"
    pace = f", {_rate(one.rate)}" if one.running and one.rate else ""
    for name, text in (
        ("job", one.kind), ("command", f"cirque {shlex.join(one.command)}"), ("folder", one.folder),
        ("state", one.state), ("progress", " ".join(filter(None, (one.stage, _far(one)))) + pace),
        ("time left", _left(one)), ("begun", f"{_moment(one.began_at)} by {who}"),
        ("last alive", _moment(one.alive_at)), ("process", f"{one.process} on {one.host}" if one.process else ""),
        ("error", one.error),
    ):
        if text:
            out.print(f"{name + ':':12}{text}", soft_wrap=True)
    for line in one.log:
        out.print(f"  {line}", soft_wrap=True)
    if one.resumable:
        out.print(f"{'Resume it' if one.resumes else 'Run it again'}: cirque jobs resume {job_id}")


@app.command()
def stop(job_id: JobId) -> None:
    """Stop a job after its batch. What it has finished is kept."""
    if _records().ask_to_stop(job_id):
        out.print(f"Job {job_id} ends after its batch. What it has finished is kept.")
    else:
        out.print(f"Job {job_id} is over.")


@app.command()
def resume(
    context: typer.Context, job_id: JobId,
    account: Annotated[str, typer.Option("--account", hidden=True, help=(
        "Account that asks for it on the screen."))] = "",
) -> None:
    """Continue an unfinished job: run its command again in its folder."""
    one = _records().find(job_id)
    arguments = again(one.command)
    if arguments is None:
        raise DatasetError(f"The command of job {job_id} cannot be run from its record. Run it yourself: "
                           f"cirque {shlex.join(one.command)}")
    if not Path(one.folder).is_dir():
        raise DatasetError(f"The folder {one.folder} of job {job_id} no longer exists. Run its command in "
                           f"another folder: cirque {shlex.join(one.command)}")
    program = context.find_root().command
    with chdir(one.folder), recorded(arguments, job_id=job_id, started_by=account, screen=bool(account)), \
            program.make_context("cirque", list(arguments)) as inner:
        program.invoke(inner)


@app.command()
def forget(
    job_ids: Annotated[list[str] | None, typer.Argument(
        metavar="[ID]...", show_default=False, help="Ids from `cirque jobs list`.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All jobs that are over.")] = False,
) -> None:
    """Remove records of ended jobs. What they made stays."""
    records = _records()
    if bool(job_ids) == every:
        raise typer.BadParameter("Name jobs, or add --all.", param_hint="ID")
    wanted = job_ids or [one.job_id for one in records.all() if not one.running]
    for job_id in wanted:
        records.forget(job_id)
    out.print(f"{counted(len(wanted), 'record')} removed.")


def _records() -> JobRecords:
    return JobRecords(get_settings().home)


def _far(one: JobRecord) -> str:
    if not one.total:
        return f"{one.done:,}" if one.done else ""
    return f"{one.done:,} of {one.total:,}, {100 * one.done // one.total} %"


def _left(one: JobRecord) -> str:
    from cir_core.jobs.estimate import TimeRange  # brings language models with it

    return str(TimeRange(*one.left)) if one.running and one.left else ""


def _rate(rate: float) -> str:
    return f"{rate:,.1f} a second" if rate >= 1 else f"{60 * rate:,.1f} a minute"


def _moment(at: float) -> str:
    return f"{datetime.fromtimestamp(at):%Y-%m-%d %H:%M}"
