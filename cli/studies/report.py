"""``cirque report``: reports of studies with confidence intervals."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cir_core.errors import SettingsError, StudyError
from cir_core.settings import get_settings
from cir_core.support.texts import counted
from cli.console import err, open_stores, out
from cli.studies import report_scores

if TYPE_CHECKING:
    from annotation.analysis.records import Options, Selection, StudyAnswers
    from annotation.kinds.preference.exclusion import Rules
    from annotation.kinds.reports import WholeReport
    from annotation.records import Study
    from annotation.studies.store import StudyStore

app = typer.Typer(help="Reports of studies: agreement, correlation, preference.", no_args_is_help=True)
app.command()(report_scores.scores)

Name = Annotated[str, typer.Argument(metavar="STUDY", help="Name of the study.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON.")]
Out = Annotated[Path | None, typer.Option(
    "--out", "-o", metavar="DIR", help=("Output folder or .zip file: Markdown, HTML, JSON, tables and figures."))]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an earlier report.")]
Datasets = Annotated[list[str] | None, typer.Option("--dataset", "-d", help="Only items of this data set; repeatable.")]
Categories = Annotated[list[str] | None, typer.Option(
    "--category", "-c", help="Only items of this category; repeatable.")]
People = Annotated[list[str] | None, typer.Option(
    "--person", "-p", metavar="NAME", help="Only answers of this person; repeatable.")]
Draws = Annotated[int, typer.Option(min=0, max=100_000, help="Bootstrap draws for intervals; 0: none.")]
Seed = Annotated[int | None, typer.Option(min=0, help="Random seed (default: CIRQUE_SEED).")]
Scale = Annotated[Literal["nominal", "ordinal"] | None, typer.Option(
    help="Scale of Krippendorff's alpha; must match the kind of study.")]
HideNames = Annotated[bool, typer.Option("--hide-names", help="Replace people's names by codes, also in files.")]
Width = Annotated[float | None, typer.Option(
    min=0.005, max=1.0, help="Estimate the size needed for a 95 % interval this narrow.")]
Undefined = Annotated[Literal["null", "one"], typer.Option("--undefined-kappa", help=(
    "Agreement if all raters used a single category: none, or 1.0 as in CIRCUS's report."))]
Block = Annotated[bool, typer.Option("--block", help="Only items of the agreement block.")]


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
    from annotation.analysis.records import Options

    whole = _report(name, "validity", Options(draws, _seed(seed), undefined, "items", hide_names),
                    _Choice(dataset, category, person, block), scale, width)
    _give(name, whole, as_json, to, force)


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
        "Exclude answers, as in cirque study quality; repeatable. none: nothing. Default: the study's own "
        "rules."))] = None,
    k: Annotated[list[int] | None, typer.Option("--k", min=1, help=(
        "Cutoff of recall@k; repeatable (default: 5)."))] = None,
    scores: Annotated[list[Path] | None, typer.Option(metavar="FILE.csv", help=(
        "Metrics of a CSV file, for this report only: a column item, a column set, and one of numbers for each metric; "
        "may be repeated."))] = None,
    resample: Annotated[Literal["items", "people"], typer.Option(
        help="Bootstrap unit: questions, or people.")] = "items",
    draws: Draws = 1000,
    seed: Seed = None,
    undefined: Undefined = "null",
    scale: Scale = None,
    hide_names: HideNames = False,
    width: Width = None,
) -> None:
    """Ratings and preferences of a preference study, and how far metrics follow them."""
    from annotation.analysis.records import Options
    from annotation.kinds.preference.exclusion import parse_rules

    whole = _report(name, "preference", Options(draws, _seed(seed), undefined, resample, hide_names),
                    _Choice(dataset, category, person), scale, width, rules=None if rule is None else parse_rules(rule),
                    ks=tuple(dict.fromkeys(k or (5,))), files=scores or ())
    _give(name, whole, as_json, to, force)


@app.command("sessions")
def sessions(
    name: Name,
    as_json: AsJson = False,
    to: Out = None,
    force: Force = False,
    source: Annotated[list[str] | None, typer.Option(help="Only sessions of this source; repeatable.")] = None,
    subset: Annotated[list[str] | None, typer.Option(help="Only sessions of this subset; repeatable.")] = None,
    person: People = None,
    block: Block = False,
    scores: Annotated[list[Path] | None, typer.Option(metavar="judged.json", help=(
        "A language model's scores, for this report only: the file that cirque construct judge wrote; may be "
        "repeated."))] = None,
    draws: Draws = 1000,
    seed: Seed = None,
    undefined: Undefined = "null",
    scale: Scale = None,
    hide_names: HideNames = False,
    width: Width = None,
) -> None:
    """Ratings of sessions: agreement of people with each other and with language models, and means by source."""
    from annotation.analysis.records import Options

    whole = _report(name, "sessions", Options(draws, _seed(seed), undefined, "items", hide_names),
                    _Choice(subset, source, person, block), scale, width, files=scores or ())
    _give(name, whole, as_json, to, force)


@app.command("targets")
def targets(
    name: Name,
    as_json: AsJson = False,
    to: Out = None,
    force: Force = False,
    dataset: Datasets = None,
    person: People = None,
    block: Block = False,
    draws: Draws = 1000,
    seed: Seed = None,
    undefined: Undefined = "null",
    hide_names: HideNames = False,
) -> None:
    """Marks of a target study: agreement of people, and the threshold on the confidence that agrees best with them."""
    from annotation.analysis.records import Options

    whole = _report(name, "targets", Options(draws, _seed(seed), undefined, "items", hide_names),
                    _Choice(dataset, None, person, block), None, None)
    _give(name, whole, as_json, to, force)


@dataclass(frozen=True)
class _Choice:
    """The selection of answers, as given on the command line."""

    datasets: Sequence[str] | None
    categories: Sequence[str] | None
    people: Sequence[str] | None
    block: bool = False


def _report(
    name: str, kind: str, options: Options, choice: _Choice, scale: str | None, width: float | None, *,
    rules: Rules | None = None, ks: Sequence[int] = (5,), files: Sequence[Path] = (),
) -> WholeReport:
    from annotation.kinds.reports import compose
    from annotation.records.scores import SCORED

    if width is not None and not options.draws:
        raise StudyError("--width simulates and needs --draws above 0.")
    with _study(name, kind, scale) as (store, study, answers):
        selection = _selection(answers, choice, options)
        scores = report_scores.metrics(store, study, answers.items, files) if kind in SCORED else ()
    with _working("Computing"):
        return compose(answers, selection, options, rules=rules, scores=scores, ks=ks, width=width)


@contextmanager
def _study(name: str, kind: str, scale: str | None) -> Iterator[tuple[StudyStore, Study, StudyAnswers]]:
    """The study with its answers. Raises ``StudyError`` for another kind of study or a scale that does not fit."""
    from annotation.kinds.loading import load_answers
    from annotation.kinds.reports import check_scale

    with open_stores() as stores:
        study = stores.studies.study(name)
        if study.kind != kind:
            raise StudyError(f"{study.name} is a {study.kind} study. Its report: cirque report {study.kind} "
                             f"{json.dumps(study.name, ensure_ascii=False)}")
        if scale is not None:
            check_scale(kind, scale)
        yield stores.studies, study, load_answers(stores.studies, study)


def _selection(answers: StudyAnswers, choice: _Choice, options: Options) -> Selection:
    from annotation.analysis.records import Selection

    return Selection(_once(choice.datasets), _once(choice.categories),
                     _seats(answers, choice.people or (), hide=options.hide_names), choice.block)


def _once(names: Sequence[str] | None) -> tuple[str, ...]:
    """Sorted without duplicates, so that equal selections give equal reports."""
    return tuple(sorted(set(names or ())))


def _seats(answers: StudyAnswers, people: Sequence[str], *, hide: bool) -> tuple[int, ...]:
    """Seat numbers of people given by name or by a code such as P03. Raises ``StudyError``."""
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


@contextmanager
def _working(text: str) -> Iterator[None]:
    """Spinner on standard error. Silent without a terminal."""
    with err.status(f"{text}…") if err.is_terminal else nullcontext():
        yield


def _give(name: str, whole: WholeReport, as_json: bool, to: Path | None, force: bool) -> None:
    """Print the report, or its JSON, once its files are written."""
    from annotation.kinds.documents import report_file, report_files
    from cli.tables.report_tables import print_report

    if to is not None:
        with _working("Writing"):
            _note(name)
            _write(to, report_files(whole), force)
    if as_json:
        typer.echo(report_file(whole, "json"), nl=False)   # the same as in the files
        return
    print_report(whole)
    if to is not None:
        out.print(f"\nWrote the report to {to}", soft_wrap=True)


def _note(name: str) -> None:
    from annotation.records import LOCAL, AuditEvent

    with open_stores() as stores:
        study = stores.studies.study(name)
        stores.log.note(AuditEvent("report.downloaded", LOCAL, study.name, study.study_id, {"form": "files"}))


def _write(to: Path, files: Mapping[str, bytes], force: bool) -> None:
    """Write into a folder or a .zip file. Raises ``SettingsError`` and changes nothing if that fails."""
    from annotation.tables.files import as_zip

    if to.suffix.lower() != ".zip":
        _write_files(to, files, force)
    elif to.is_dir():
        raise SettingsError(f"{to} is a folder. Name a .zip file, or a folder of another name, with --out.")
    else:
        _write_files(to.parent, {to.name: as_zip(dict(sorted(files.items())))}, force)


def _write_files(folder: Path, files: Mapping[str, bytes], force: bool) -> None:
    from cir_core.support.files import write_atomically

    there = [name for name in files if (folder / name).exists()]
    if there and not force:
        more = f" and {counted(len(there) - 1, 'more file')} of a report" if there[1:] else ""
        raise SettingsError(f"{folder} has {there[0]}{more} already. Name another folder with --out, or overwrite it "
                            "with --force.")
    try:
        for name, content in files.items():
            write_atomically(folder / name, content)
    except OSError as error:
        raise SettingsError(f"{folder} cannot be written: {error.strerror or error}. Name another folder with --out."
                            ) from error
