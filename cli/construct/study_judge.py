"""``cirque study judge``: a study's items answered by the connected language model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cir_core.errors import StudyError
from cir_core.settings import get_settings
from cir_core.support.texts import counted
from cli.console import ModelChoice, open_stores, out
from cli.construct.jobs import JobFlags
from cli.construct.tables import print_estimate, print_job
from cli.evaluate.method_options import language_model
from cli.recorded import Stopped

if TYPE_CHECKING:
    from annotation.kinds.models.run import ModelJob
    from cir_core.jobs.estimate import Estimate


def study_judge(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the study.")],
    model: Annotated[str | None, typer.Option(
        metavar="MODEL", help="Model of the connected server (default: CIRQUE_LLM_MODEL).")] = None,
    items: Annotated[int | None, typer.Option(
        min=1, help="Maximum items, those most answered first (default: all).")] = None,
    both_sides: Annotated[bool, typer.Option(
        "--both-sides", help="Preferences: ask each question also with sets swapped.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an earlier run.")] = False,
    retry_failed: Annotated[bool, typer.Option(
        "--retry-failed", help="With --resume: retry failures.")] = False,
    dry_run: Annotated[bool, typer.Option(
        "--dry-run", help="Only estimate requests, tokens, cost and time.")] = False,
    budget: Annotated[float | None, typer.Option(min=0, help="Stop at this cost, over all runs.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=1, help="Stop at this many requests, over all runs.")] = None,
    workers: Annotated[int | None, typer.Option(
        min=1, max=64, help="Parallel requests (default: CIRQUE_LLM_CONCURRENCY).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
) -> None:
    """Have the connected language model answer a study's questions; `cirque report` compares it with people."""
    from annotation.kinds.models.run import ask_model, estimate_model, model_job
    from cir_core.jobs.journal import read_progress

    settings = get_settings()
    with language_model(ModelChoice.settings, None, model) as language:
        with open_stores() as stores:
            study = stores.studies.study(name)
            job = model_job(stores.studies, settings.home, study, language, limit=items, both_sides=both_sides)
        there = read_progress(job.folder / "journal.jsonl").offsets
        if there and not resume:
            raise StudyError(f"{language.name} has answered {counted(len(there), 'item')} of {study.name} already. Add "
                             "--resume to continue.")
        flags = JobFlags(job.folder, None, resume, retry_failed, dry_run, budget, max_calls, workers, None, None)

        def tell(left: Sequence[int], **known: Any) -> None:
            if dry_run or not as_json:
                _tell_estimate(job, estimate_model(job, left, **known), as_json)

        report = flags.run("Asking", "answers", job.card, job.wanted, workers or settings.llm_concurrency, tell,
                           lambda options: ask_model(job, options))
    if report is None:
        return
    if as_json:
        typer.echo(json.dumps({**report.as_json(), "usage": asdict(report.usage), "stopped": report.stopped}, indent=1,
                              ensure_ascii=False))
    else:
        print_job(report, report.failures, job.folder / "journal.jsonl", "items", "The answers are kept;")
        out.print(f"Beside people: cirque report {json.dumps(study.name, ensure_ascii=False)}", soft_wrap=True)
    if report.stopped:
        raise Stopped(report.stopped)


def _tell_estimate(job: ModelJob, found: Estimate, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"card": job.card.as_json(), "estimate": {
            **asdict(found), "seconds": found.time.expected}}, indent=1))
        return
    print_estimate(found, f"{counted(found.sessions, 'item')} to answer, of {counted(len(job.items), 'item')} in "
                          f"{job.study.name}, with {job.language.name}.")
