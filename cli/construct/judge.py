"""``cirque construct judge``: sessions rated by a language model, or by people in a study."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import quote

import typer

from cir_core.errors import SettingsError
from cir_core.settings import get_settings
from cir_core.support.texts import counted
from cir_core.types.records import Domain
from cli.console import ModelChoice, open_encoder, open_stores, out, print_notes, progress_bar
from cli.construct.jobs import JobFlags, with_flags
from cli.construct.own import named_paths, named_values
from cli.construct.tables import print_estimate, print_job
from cli.evaluate.method_options import language_model
from cli.recorded import Stopped
from cli.tables.output import TablesOption, give
from cli.tables.study_tables import answers_plan, print_answers_plan, print_created, print_pairs

if TYPE_CHECKING:
    from cir_core.construct.judging.run import Judging, JudgingReport
    from cir_core.construct.judging.sample import Source
    from cir_core.construct.judging.tasks import Galleries
    from cir_core.jobs.estimate import Estimate

SECONDS = 90.0   # that a session takes, unless said otherwise


@dataclass(frozen=True)
class StudyOptions:
    """Options of a study; None where they are not given."""

    name: Annotated[str | None, typer.Option(metavar="NAME", help="people: name of the study.")] = None
    people: Annotated[int | None, typer.Option(
        min=1, max=1000, help="people: planned number; more may join (default: 1).")] = None
    overlap: Annotated[int | None, typer.Option(
        min=1, max=1000, help="people: raters per session (default: 1).")] = None
    agreement_items: Annotated[int | None, typer.Option(
        min=0, help="people: sessions for everyone, for agreement (default: 0).")] = None
    seconds_per_item: Annotated[float | None, typer.Option(
        min=1, help="people: seconds per session, for the forecast (default: 90).")] = None
    questions: Annotated[Path | None, typer.Option(
        metavar="FILE", help=(
            "people: questions, as from `cirque study questions sessions` (default: CIRCLED's five)."))] = None


@with_flags
def judge(
    sessions: Annotated[list[str], typer.Argument(
        metavar="SESSIONS...", help=(
            "Files of sessions, or folders of constructions; NAME=FILE names the source."))],
    gallery: Annotated[list[str], typer.Option(
        "--gallery", "-g", help="Gallery; NAME=GALLERY for one source or subset; repeatable.")],
    sample: Annotated[int, typer.Option(min=1, help="Sessions per subset and source.")] = 60,
    seed: Annotated[int, typer.Option(
        help="Random seed of sample, intervals and assignment.")] = 0,
    judge: Annotated[Literal["llm", "people"], typer.Option(
        "--judge", help="Judge: language model, or people in a study.")] = "llm",
    folder: Annotated[Path | None, typer.Option(
        "--out", "-o", help="llm: output folder.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an earlier run.")] = False,
    retry_failed: Annotated[bool, typer.Option(
        "--retry-failed", help="With --resume: retry failures.")] = False,
    dry_run: Annotated[bool, typer.Option(
        "--dry-run", help="Only estimate cost and time, or a study's effort.")] = False,
    budget: Annotated[float | None, typer.Option(min=0, help="Stop at this cost, over all runs.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=1, help=(
        "Stop at this many requests, over all runs."))] = None,
    workers: Annotated[int | None, typer.Option(
        min=1, max=64, help="Parallel requests (default: CIRQUE_LLM_CONCURRENCY).")] = None,
    domain: Annotated[Domain | None, typer.Option(
        help="llm: what images show, for captions in their place (default: CIRQUE_DOMAIN).")] = None,
    study: StudyOptions = StudyOptions(),
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
    tables: TablesOption = None,
) -> None:
    """Have a language model or people rate sessions on CIRCLED's five dimensions."""
    from cir_core.construct.describe.sets import read_sets
    from cir_core.construct.judging.run import Judging, estimate_judging, judge_sessions
    from cir_core.construct.judging.sample import Source
    from cir_core.construct.judging.scores import score_table, turn_table
    from cir_core.gallery.gallery import open_gallery

    settings = get_settings()
    check_options(judge, [("--out", folder), ("--resume", resume), ("--retry-failed", retry_failed),
                          ("--budget", budget), ("--max-calls", max_calls), ("--workers", workers),
                          ("--domain", domain)],
                  [(f"--{option.replace('_', '-')}", value) for option, value in vars(study).items()])
    flags = None
    if judge == "llm":
        if folder is None:
            raise SettingsError("Name the folder of the journal and the scores: --out FOLDER.")
        flags = JobFlags(folder, None, resume, retry_failed, dry_run, budget, max_calls, workers, domain, tables)
    read = {of: read_sets(paths) for of, paths in named_paths(sessions).items()}
    galleries = {of: open_gallery(value, home=settings.home)
                 for of, value in named_values(gallery, "--gallery").items()}
    sources = [Source(of, tuple(subsets)) for of, (subsets, _) in read.items()]
    notes = [f"{of}: {note}" for of, (_, found) in read.items() for note in found]
    if flags is None:
        return create_study(sources, galleries, notes, sample, seed, study, dry_run=dry_run, as_json=as_json)
    # Of use only to a model that sees nothing: the built-in one reads captions off the encoder's vectors.
    encoder = None if settings.llm_sees else open_encoder(next(iter(galleries.values())).encoder.spec)
    with language_model(ModelChoice.settings, encoder) as language:
        judging = Judging(sources, galleries, language, sample, seed, domain or settings.domain)

        def tell(left: Sequence[int], **known: Any) -> None:
            if not as_json:
                print_notes((*notes, *judging.notes))
            if dry_run or not as_json:
                _tell_estimate(judging, estimate_judging(judging, left, **known), as_json)

        report = flags.run(
            "Judging", "scores", judging.card, range(len(judging.sampled)), workers or settings.llm_concurrency, tell,
            lambda options: judge_sessions(judging, flags.folder, options))
    if report is None:
        return
    if as_json:
        typer.echo(json.dumps({**report.as_json(), "usage": asdict(report.usage), "stopped": report.stopped}, indent=1,
                              ensure_ascii=False))
    several = len({row.source for row in report.rows}) > 1
    give([score_table(report.rows), *([turn_table(report.rows)] if several else []), ""], tables, quiet=as_json,
         between=lambda: None if as_json else _print_rest(report, flags.folder / "judged.json"))
    if report.stopped:
        raise Stopped(report.stopped)


def _tell_estimate(judging: Judging, found: Estimate, as_json: bool) -> None:
    if as_json:
        estimate = {**asdict(found), "seconds": found.time.expected}
        typer.echo(json.dumps({"card": judging.card.as_json(), "estimate": estimate}, indent=1))
        return
    whole = sum(len(one.sessions) for source in judging.sources for one in source.subsets)
    print_estimate(found, f"{counted(found.sessions, 'session')} to judge, of {whole:,} in "
                          f"{counted(len(judging.sources), 'source')}, with {judging.language.name}, which sees "
                          f"{judging.card.shown}.")


def _print_rest(report: JudgingReport, file: Path) -> None:
    print_job(report, [(f"{one['source']} {one['session_id']}", one["reason"]) for one in report.failures], file,
              "sessions", "The scores above are of those;")
    out.print(f"Wrote {file}", soft_wrap=True)


def check_options(judge: str, llm: Sequence[tuple[str, Any]], people: Sequence[tuple[str, Any]]) -> None:
    """Raises ``SettingsError`` for a given option of the other judge. ``llm``, ``people``: options and their values,
    None or False where not given."""
    other, theirs = ("llm", llm) if judge == "people" else ("people", people)
    given = [option for option, value in theirs if value is not None and value is not False]
    if given:
        raise SettingsError(f"{', '.join(given)} {'is' if len(given) == 1 else 'are'} only for --judge {other}. Leave "
                            f"{'it' if len(given) == 1 else 'them'} out, or add --judge {other}.")


def create_study(
    sources: Sequence[Source], galleries: Galleries, notes: Sequence[str], sample: int, seed: int,
    options: StudyOptions, *, dry_run: bool, as_json: bool,
) -> None:
    """Create the study and print what it holds, or print only the plan."""
    from annotation.accounts.account_names import LOCAL
    from annotation.kinds.ratings.create import create_session_study
    from annotation.kinds.table import own_questions
    from annotation.records import StudyPlan
    from annotation.studies.creation import check_name
    from annotation.studies.planner import plan_study
    from cir_core.construct.judging.sample import draw_sample, sources_as_json
    from cir_core.construct.judging.tasks import check_galleries, galleries_as_json

    if not options.name:
        raise SettingsError("A study needs a name: add --name NAME.")
    check_galleries(galleries, sources)
    own = own_questions("sessions", options.questions)
    settings, drawn = get_settings(), draw_sample(sources, sample, seed)
    plan = StudyPlan(options.people or 1, options.overlap or 1, options.agreement_items or 0, seed)
    source = {"form": "judged-sessions", "sources": sources_as_json(sources),
              "galleries": galleries_as_json(galleries), "sample": sample, "seed": seed}
    with open_stores() as stores:
        check_name(stores.studies, options.name)
        forecast = plan_study(plan.seats, len(drawn), plan.overlap, plan.agreement_items,
                              seconds_per_item=options.seconds_per_item or SECONDS)
        by_origin = Counter(f"{one.source}::{one.session.subset}" for one in drawn)
        if not as_json:
            print_notes(notes)
            print_pairs("sessions", "", [(origin, f"{count:,}") for origin, count in by_origin.items()])
            print_answers_plan(forecast, "session")
        result = {"sessions": dict(by_origin), "plan": answers_plan(forecast), "notes": list(notes)}
        created = None
        if not dry_run:
            with progress_bar("Copying images") as bar:
                created = create_session_study(
                    stores.studies, settings.home, options.name, drawn, galleries, plan, created_by=LOCAL,
                    source=source, max_megapixels=settings.max_image_megapixels, progress=bar, questions=own)
    if made := print_created(created, result, as_json):
        counts = made.counts
        out.print(f"Created {made.study.name}: {counted(counts['items'], 'session')}, "
                  f"{counted(counts['pictures'], 'image file')}. To rate them: cirque serve, then the page Annotate "
                  f"(/annotate?study={quote(made.study.name)}).", soft_wrap=True)
