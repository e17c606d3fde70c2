"""``cirque report``: how far people agree, what they prefer, and how sure the numbers are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cir_core.errors import SettingsError, StudyError
from cir_core.settings import get_settings
from cir_core.texts import counted
from cli import report_scores
from cli.console import err, out

if TYPE_CHECKING:
    from annotation.analysis.records import (
        Options,
        Precision,
        PreferenceReport,
        Section,
        Selection,
        StudyAnswers,
        ValidityReport,
    )
    from annotation.records import Study
    from annotation.store import StudyStore

app = typer.Typer(help="Reports of studies: agreement, correlation, preference.", no_args_is_help=True)
report_scores.register(app)

Name = Annotated[str, typer.Argument(metavar="STUDY", help="Name of the study.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]
Out = Annotated[Path | None, typer.Option(
    "--out", "-o", metavar="DIR", help="Write the report there: Markdown, HTML, JSON, tables and figures.")]
Force = Annotated[bool, typer.Option("--force", help="Write over an earlier report in that folder.")]
Datasets = Annotated[list[str] | None, typer.Option(
    "--dataset", "-d", help="Items of this data set only; may be repeated.")]
Categories = Annotated[list[str] | None, typer.Option(
    "--category", "-c", help="Items of this category only; may be repeated.")]
People = Annotated[list[str] | None, typer.Option(
    "--person", "-p", metavar="NAME", help="What this person said only; may be repeated.")]
Draws = Annotated[int, typer.Option(min=0, max=100_000, help="Bootstrap draws for intervals; 0: none.")]
Seed = Annotated[int | None, typer.Option(min=0, help="Of everything that is drawn (default: CIRQUE_SEED).")]
Scale = Annotated[Literal["nominal", "ordinal"] | None, typer.Option(
    help="Of Krippendorff's alpha. The study's kind says which is right, and another is refused.")]
HideNames = Annotated[bool, typer.Option("--hide-names", help="Codes in place of people's names, also in the files.")]
Width = Annotated[float | None, typer.Option(
    min=0.005, max=1.0, help="Say how much more it takes until the 95 % interval is as narrow as this.")]
Undefined = Annotated[Literal["null", "one"], typer.Option("--undefined-kappa", help=(
    "Agreement where everybody used one and the same category: no number, or 1.0 as in CIRCUS's report."))]
Block = Annotated[bool, typer.Option("--block", help="Items of the agreement block only.")]


@app.command("validity")
def validity(
    name: Name,
    as_json: AsJson = False,
    to: Out = None,
    force: Force = False,
    dataset: Datasets = None,
    category: Categories = None,
    person: People = None,
    block: Block = False,
    draws: Draws = 1000,
    seed: Seed = None,
    undefined: Undefined = "null",
    scale: Scale = None,
    hide_names: HideNames = False,
    width: Width = None,
) -> None:
    """Agreement of a validity study: valid or not, each flag, and the whole set of flags."""
    from annotation.analysis.precision import kappa_precision
    from annotation.analysis.records import Options
    from annotation.analysis.validity_json import validity_json
    from annotation.analysis.validity_report import validity_report
    from annotation.analysis.validity_sections import validity_sections

    options = Options(draws, _seed(seed), undefined, "items", hide_names)
    _check_width(width, options)
    with _study(name, "validity", scale) as (_, _, answers):
        selection = _selection(answers, dataset, category, person, block, options)
    with _working("Computing"):
        report = validity_report(answers, selection, options)
        plan = () if width is None else kappa_precision(answers, width, options, selection)
        sections = validity_sections(report, plan)
    _give(report, sections, validity_json(report), plan, as_json, to, force)


@app.command("preference")
def preference(
    name: Name,
    as_json: AsJson = False,
    to: Out = None,
    force: Force = False,
    dataset: Datasets = None,
    category: Categories = None,
    person: People = None,
    rule: Annotated[list[str] | None, typer.Option(metavar="RULE", help=(
        "Leave answers out, as in cirque study quality; may be repeated. none: nothing. Without it the study's own "
        "rules."))] = None,
    k: Annotated[list[int] | None, typer.Option("--k", min=1, help=(
        "Of recall@k; may be repeated (default: 5)."))] = None,
    scores: Annotated[list[Path] | None, typer.Option(metavar="FILE.csv", help=(
        "Metrics of a CSV file, for this report only: a column item, a column set, and one of numbers for each metric; "
        "may be repeated."))] = None,
    resample: Annotated[Literal["items", "people"], typer.Option(
        help="What bootstrap draws take whole: questions, or people.")] = "items",
    draws: Draws = 1000,
    seed: Seed = None,
    undefined: Undefined = "null",
    scale: Scale = None,
    hide_names: HideNames = False,
    width: Width = None,
) -> None:
    """Ratings and preferences of a preference study, and how far metrics follow them."""
    from annotation.analysis.precision import rate_precision
    from annotation.analysis.preference_json import preference_json
    from annotation.analysis.preference_report import preference_report
    from annotation.analysis.preference_sections import preference_sections
    from annotation.analysis.records import Options
    from annotation.exclusion import parse_rules

    options = Options(draws, _seed(seed), undefined, resample, hide_names)
    _check_width(width, options)
    rules = None if rule is None else parse_rules(rule)
    ks = tuple(dict.fromkeys(k or (5,)))
    with _study(name, "preference", scale) as (store, study, answers):
        selection = _selection(answers, dataset, category, person, False, options)
        metrics = report_scores.metrics(store, study, answers.items, scores or ())
    with _working("Computing"):
        report = preference_report(answers, selection, options, rules=rules, scores=metrics, ks=ks)
        plan = () if width is None else rate_precision(
            answers, width, options, selection, rules=rules, scores=metrics, metric=f"recall@{ks[0]}")
        sections = preference_sections(report, plan)
    _give(report, sections, preference_json(report), plan, as_json, to, force)


@contextmanager
def _study(name: str, kind: str, scale: str | None) -> Iterator[tuple[StudyStore, Study, StudyAnswers]]:
    """The study with its answers. Raises ``StudyError`` for another kind and for a scale that is not the kind's."""
    from annotation.analysis.agreement import check_scale
    from annotation.analysis.loading import load_answers
    from storage.stores import open_stores

    with closing(open_stores(get_settings())) as stores:
        study = stores.studies.study(name)
        if study.kind != kind:
            raise StudyError(f"{study.name} is a {study.kind} study. Its report: cirque report {study.kind} "
                             f"{json.dumps(study.name, ensure_ascii=False)}")
        if scale is not None:
            check_scale(kind, scale)
        yield stores.studies, study, load_answers(stores.studies, study)


def _selection(
    answers: StudyAnswers, datasets: Sequence[str] | None, categories: Sequence[str] | None,
    people: Sequence[str] | None, block: bool, options: Options,
) -> Selection:
    from annotation.analysis.records import Selection

    return Selection(_once(datasets), _once(categories),
                     _seats(answers, people or (), hide=options.hide_names), block)


def _once(names: Sequence[str] | None) -> tuple[str, ...]:
    """Each once and in order, so that the same choice is the same report."""
    return tuple(sorted(set(names or ())))


def _seats(answers: StudyAnswers, people: Sequence[str], *, hide: bool) -> tuple[int, ...]:
    """Numbers of their seats; a code such as P03 stands for a person too. Raises ``StudyError``."""
    from annotation.analysis.people import name_of, seat_numbers
    from annotation.records import name_key

    taken = [seat for seat in answers.seats if seat.annotator is not None]
    known = {name_key(name_of(seat, hide=True)): seat.number for seat in taken}
    known |= seat_numbers(taken)
    for person in people:
        if name_key(person) not in known:
            there = ", ".join(name_of(seat, hide=hide) for seat in taken)
            raise StudyError(f"Nobody called {person} is in {answers.study.name}. " + (
                f"In it are {there}." if there else "Nobody has joined it yet."))
    return tuple(sorted({known[name_key(person)] for person in people}))


def _seed(seed: int | None) -> int:
    return get_settings().seed if seed is None else seed


def _check_width(width: float | None, options: Options) -> None:
    if width is not None and not options.draws:
        raise StudyError("Planning simulates: --width needs --draws above 0.")


@contextmanager
def _working(text: str) -> Iterator[None]:
    """A sign of life. Quiet when nobody watches."""
    with err.status(f"{text}…") if err.is_terminal else nullcontext():
        yield


def _give(
    report: ValidityReport | PreferenceReport, sections: Sequence[Section], content: dict[str, Any],
    plan: Sequence[Precision], as_json: bool, to: Path | None, force: bool,
) -> None:
    """Print the report, or its JSON, once its files are written."""
    from cli.report_tables import print_report

    if to is not None:
        from annotation.analysis.documents import report_files

        with _working("Writing"):
            _write(to, report_files(report, sections), force)
    if as_json:
        if plan:
            content = content | {"plan": [asdict(one) for one in plan]}
        typer.echo(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))
        return
    print_report(report.about, sections)
    if to is not None:
        out.print(f"\nWrote the report to {to}", soft_wrap=True)


def _write(folder: Path, files: Mapping[str, bytes], force: bool) -> None:
    """Raises ``SettingsError``; of what is there nothing is changed then."""
    from cir_core.files import write_atomically

    there = [name for name in files if (folder / name).exists()]
    if there and not force:
        more = f" and {counted(len(there) - 1, 'more file')} of a report" if there[1:] else ""
        raise SettingsError(f"{folder} has {there[0]}{more} already. Name another folder with --out, or write over it "
                            "with --force.")
    try:
        for name, content in files.items():
            write_atomically(folder / name, content)
    except OSError as error:
        raise SettingsError(f"{folder} cannot be written: {error.strerror or error}. Name another folder with --out."
                            ) from error
