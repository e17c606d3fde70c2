"""``cirque construct judge``: sessions rated by a language model, or by people in a study."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cir_core.errors import SettingsError
from cir_core.settings import get_settings
from cir_core.support.texts import counted
from cir_core.types.domains import Domain
from cli.console import ModelChoice, open_encoder, out, print_notes
from cli.construct import jobs
from cli.construct.judge_people import StudyOptions, check_options, create_study
from cli.construct.sources import named_paths, named_values
from cli.construct.tables import duration, print_estimate
from cli.evaluate.method_options import language_model
from cli.tables.output import TablesOption, give

if TYPE_CHECKING:
    from cir_core.construct.judging.run import Judging, JudgingReport

_LISTED = 10


def judge(
    sessions: Annotated[list[str], typer.Argument(
        metavar="SESSIONS...", help="Files of sessions or folders that cirque construct wrote; NAME=FILE names its "
                                    "source.")],
    gallery: Annotated[list[str], typer.Option(
        "--gallery", "-g", help="Gallery of the images; NAME=GALLERY for one source or subset. Repeatable.")],
    sample: Annotated[int, typer.Option(min=1, help="Sessions of each subset of each source.")] = 60,
    seed: Annotated[int, typer.Option(
        help="Decides which sessions are in the sample, the intervals, and who gets which session.")] = 0,
    judge: Annotated[Literal["llm", "people"], typer.Option(
        "--judge", help="Who judges: the connected language model, or people in a study.")] = "llm",
    folder: Annotated[Path | None, typer.Option(
        "--out", "-o", help="llm: folder of the journal and the scores.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="llm: go on with the scores in the folder.")] = False,
    retry_failed: Annotated[bool, typer.Option(
        "--retry-failed", help="llm, with --resume: try failed sessions again.")] = False,
    dry_run: Annotated[bool, typer.Option(
        "--dry-run", help="Only estimate requests, tokens, cost and time; of a study the effort.")] = False,
    budget: Annotated[float | None, typer.Option(min=0, help="llm: stop at this cost, of all runs together.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=1, help="llm: stop at this many requests, of all runs.")] = None,
    workers: Annotated[int | None, typer.Option(
        min=1, max=64, help="llm: sessions at a time (default: CIRQUE_LLM_CONCURRENCY).")] = None,
    domain: Annotated[Domain | None, typer.Option(
        help="llm: what the images show, for captions in place of images (default: CIRQUE_DOMAIN).")] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="people: name of the study.")] = None,
    people: Annotated[int | None, typer.Option(
        min=1, max=1000, help="people: how many it is planned for; more may join (default: 1).")] = None,
    overlap: Annotated[int | None, typer.Option(
        min=1, max=1000, help="people: how many rate each session (default: 1).")] = None,
    agreement_items: Annotated[int | None, typer.Option(
        min=0, help="people: sessions for everyone, to measure agreement (default: 0).")] = None,
    seconds_per_item: Annotated[float | None, typer.Option(
        min=1, help="people: seconds that a session takes, for the forecast (default: 90).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
    tables: TablesOption = None,
) -> None:
    """Rate a sample of sessions on CIRCLED's five dimensions, and compare their sources; or have people rate it."""
    from cir_core.construct.describe.sets import read_sets
    from cir_core.construct.judging.run import Judging, judge_sessions
    from cir_core.construct.judging.sample import Source
    from cir_core.gallery.gallery import open_gallery
    from cir_core.jobs.journal import check_card

    settings = get_settings()
    check_options(judge, [("--out", folder), ("--resume", resume), ("--retry-failed", retry_failed),
                          ("--budget", budget), ("--max-calls", max_calls), ("--workers", workers),
                          ("--domain", domain)],
                  [("--name", name), ("--people", people), ("--overlap", overlap),
                   ("--agreement-items", agreement_items), ("--seconds-per-item", seconds_per_item)])
    jobs.check_budget(budget)
    read = {of: read_sets(paths) for of, paths in named_paths(sessions).items()}
    galleries = {of: open_gallery(value, home=settings.home)
                 for of, value in named_values(gallery, "--gallery").items()}
    sources = [Source(of, tuple(subsets)) for of, (subsets, _) in read.items()]
    notes = [f"{of}: {note}" for of, (_, found) in read.items() for note in found]
    if judge == "people":
        return create_study(sources, galleries, notes, sample, seed,
                            StudyOptions(name, people, overlap, agreement_items, seconds_per_item), dry_run=dry_run,
                            as_json=as_json)
    if folder is None:
        raise SettingsError("Name the folder of the journal and the scores: --out FOLDER.")
    with ExitStack() as stack:
        # Of use only to a model that sees nothing: the built-in one reads captions off the encoder's vectors.
        first = next(iter(galleries.values()))
        encoder = None if settings.llm_sees else open_encoder(first.encoder.spec)
        language = stack.enter_context(language_model(ModelChoice.settings, encoder))
        judging = Judging(sources, galleries, language, sample, seed, domain or settings.domain)
        check_card(folder / "journal.jsonl", judging.card, resume=resume)
        at_a_time = workers or settings.llm_concurrency
        if not as_json:
            print_notes(notes)
            print_notes(judging.notes)
        if dry_run or not as_json:
            _estimate(judging, folder, at_a_time, resume, as_json)
        if dry_run:
            return
        with jobs.job_run("Judging", folder, "scores", workers=at_a_time, budget=budget, max_calls=max_calls,
                          resume=resume, retry_failed=retry_failed) as options:
            report = judge_sessions(judging, folder, options)
    if as_json:
        usage = asdict(report.usage)
        typer.echo(json.dumps({**report.as_json(), "usage": usage, "stopped": report.stopped}, indent=1,
                              ensure_ascii=False))
    _print_report(report, folder, tables, as_json=as_json)
    if report.stopped:
        raise typer.Exit(1)


def _estimate(judging: Judging, folder: Path, workers: int, resume: bool, as_json: bool) -> None:
    from cir_core.construct.judging.run import estimate_judging

    left, before, prices = jobs.left_to_do(folder, range(len(judging.sampled)), resume)
    found = estimate_judging(judging, left, workers=workers, before=before, prices=prices)
    if as_json:
        estimate = {**asdict(found), "seconds": found.time.expected}
        typer.echo(json.dumps({"card": judging.card.as_json(), "estimate": estimate}, indent=1))
        return
    whole = sum(len(one.sessions) for source in judging.sources for one in source.subsets)
    print_estimate(found, f"{counted(found.sessions, 'session')} to judge, of {whole:,} in "
                          f"{counted(len(judging.sources), 'source')}, with {judging.language.name}, which sees "
                          f"{judging.card.shown}.")


def _print_report(report: JudgingReport, folder: Path, tables: Path | None, *, as_json: bool) -> None:
    from cir_core.construct.judging.scores import score_table, turn_table

    several = len({row.source for row in report.rows}) > 1
    give([score_table(report.rows), *([turn_table(report.rows)] if several else []), ""], tables, quiet=as_json,
         between=lambda: None if as_json else _print_rest(report, folder))


def _print_rest(report: JudgingReport, folder: Path) -> None:
    usage = report.usage
    cost = "" if usage.cost is None else f", cost {usage.cost:,.2f}"
    out.print(f"{duration(report.seconds)}; all runs: {usage.calls:,} requests, {usage.cached:,} answers from the "
              f"cache, {usage.prompt_tokens:,} prompt and {usage.completion_tokens:,} answer tokens{cost}.",
              soft_wrap=True)
    for failure in report.failures[:_LISTED]:
        out.print(f"  {failure['source']} {failure['session_id']}: {failure['reason']}", soft_wrap=True)
    if len(report.failures) > _LISTED:
        out.print(f"  ... and {len(report.failures) - _LISTED:,} more in {folder / 'judged.json'}", soft_wrap=True)
    if report.failures:
        out.print("--resume --retry-failed tries these sessions again.")
    if report.stopped:
        out.print(f"Stopped after {report.done:,} of {report.total:,} sessions: {report.stopped}. The scores above are "
                  "of those; add --resume to go on, with a larger limit.", soft_wrap=True)
    out.print(f"Wrote {folder / 'judged.json'}", soft_wrap=True)
