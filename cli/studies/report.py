"""``cirque report``: reports of studies with confidence intervals."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_args

import typer

from annotation.records import StudyKind
from cir_core.errors import StudyError
from cir_core.settings import get_settings
from cli.console import CommandGroup, err, open_stores, out
from cli.studies import report_scores, report_searches
from cli.studies.study_files import write_files

if TYPE_CHECKING:
    from annotation.analysis.records import Options, Selection, StudyAnswers
    from annotation.kinds.reports import WholeReport
    from annotation.records import Study
    from cir_core.reports.drawing import Style


_UsageError = cast("type[Exception]", typer.BadParameter.__mro__[1])   # click's, which typer brings without a name


class ReportCommand(CommandGroup):
    def own(self) -> tuple[str, Callable[..., None]]:
        return "report", report

    def make_context(self, info_name: Any, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """``cirque report KIND STUDY``, as in earlier versions, is a report of a study that must be of that kind."""
        if len(args) > 1 and args[0] in get_args(StudyKind):
            try:
                return super().make_context(info_name, ["--of-kind", *args], parent, **extra)
            except typer.BadParameter:
                pass    # no name is left: the study itself is called like a kind
        if args and args[0] in self.commands:
            try:
                self.commands[args[0]].make_context(args[0], args[1:])
            except _UsageError:
                # No name is left: the study itself is called like the command. Else the command says what is wrong.
                with suppress(_UsageError):
                    return self.alone.make_context(info_name, args, parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


app = typer.Typer(cls=ReportCommand, help=(
    "Report of a study: agreement, correlation, preference; scores: of metrics; searches: how satisfied people are."))
app.command()(report_scores.scores)
app.command()(report_searches.searches)


def report(
    name: Annotated[str, typer.Argument(metavar="STUDY", help="Name of the study.")],
    of_kind: Annotated[StudyKind | None, typer.Option(hidden=True)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
    everything: Annotated[bool, typer.Option(
        "--all", help="Print all tables, with explanations.")] = False,
    to: Annotated[Path | None, typer.Option("--out", "-o", metavar="DIR", help="Output folder or .zip file.")] = None,
    figure_width: Annotated[Literal["column", "page"], typer.Option(
        "--figure-width", help="Width of figures: column (3.25 in) or page (6.75 in).")] = "column",
    figure_font: Annotated[Literal["sans", "serif"], typer.Option(
        "--figure-font", help="Font of figures.")] = "sans",
    force: Annotated[bool, typer.Option("--force", help="Overwrite an earlier report.")] = False,
    dataset: Annotated[list[str] | None, typer.Option(
        "--dataset", "-d", help="Only this data set; repeatable.")] = None,
    category: Annotated[list[str] | None, typer.Option(
        "--category", "-c", help="Only this category; repeatable.")] = None,
    source: Annotated[list[str] | None, typer.Option(help="Only this source of sessions; repeatable.")] = None,
    subset: Annotated[list[str] | None, typer.Option(help="Only this subset; repeatable.")] = None,
    person: Annotated[list[str] | None, typer.Option(
        "--person", "-p", metavar="NAME", help="Only this person; repeatable.")] = None,
    block: Annotated[bool, typer.Option("--block", help="Only items of the agreement block.")] = False,
    rule: Annotated[list[str] | None, typer.Option(metavar="RULE", help=(
        "Preferences: exclusion rules, as for `cirque study quality`; repeatable."))] = None,
    k: Annotated[list[int] | None, typer.Option("--k", min=1, help=(
        "Preferences: cutoff of recall@k; repeatable (default: 5)."))] = None,
    scores: Annotated[list[Path] | None, typer.Option(metavar="FILE", help=(
        "Scores for this report only, as for `cirque report scores --add`."))] = None,
    resample: Annotated[Literal["items", "people"] | None, typer.Option(
        help="Preferences: bootstrap over questions (default) or people.")] = None,
    draws: Annotated[int, typer.Option(min=0, max=100_000, help="Bootstrap draws; 0: no intervals.")] = 1000,
    seed: Annotated[int | None, typer.Option(min=0, help="Random seed (default: CIRQUE_SEED).")] = None,
    undefined: Annotated[Literal["null", "one"], typer.Option("--undefined-kappa", help=(
        "Agreement when all use one category: none, or 1.0 as in CIRCUS's report."))] = "null",
    scale: Annotated[Literal["nominal", "ordinal"] | None, typer.Option(
        help="Scale of Krippendorff's alpha.")] = None,
    hide_names: Annotated[bool, typer.Option(
        "--hide-names", help="Replace people's names by codes.")] = False,
    width: Annotated[float | None, typer.Option(
        min=0.005, max=1.0, help="Estimate the sample for a 95 % interval this narrow.")] = None,
) -> None:
    """Report on a study: agreement, preferences, and how metrics follow them."""
    from annotation.analysis.records import Options
    from annotation.kinds.reports import check_scale, compose, load_answers
    from annotation.kinds.table import KINDS
    from annotation.quality.rules import parse_rules
    from cir_core.reports.drawing import Style

    if width is not None and not draws:
        raise StudyError("--width simulates and needs --draws above 0.")
    options = Options(draws, get_settings().seed if seed is None else seed, undefined, resample or "items", hide_names)
    rules = None if rule is None else parse_rules(rule)
    with open_stores() as stores:
        study = stores.studies.study(name)
        if of_kind is not None and KINDS[of_kind] is not KINDS[study.kind]:
            raise StudyError(f"{study.name} is {study.called}. Its report: cirque report "
                             f"{json.dumps(study.name, ensure_ascii=False)}")
        _check_options(study, dataset=dataset, category=category, source=source, subset=subset, block=block, rule=rule,
                       k=k, scores=scores, resample=resample, scale=scale, width=width)
        if scale is not None:
            check_scale(study.kind, scale)
        answers = load_answers(stores.studies, study, get_settings().home)
        selection = _selection(answers, dataset or subset, category or source, person, block, options)
        kept = (report_scores.metrics(stores.studies, study, answers.items, scores or ())
                if KINDS[study.kind].read_scores else ())
    with _working("Computing"):
        whole = compose(answers, selection, options, rules=rules, scores=kept, ks=tuple(dict.fromkeys(k or (5,))),
                        width=width)
    _give(study.name, whole, as_json, everything, to, force, Style(figure_width, figure_font))


def _check_options(study: Study, **given: object) -> None:
    """Raises ``StudyError`` for an option that the report of such a study does not have."""
    from annotation.kinds.table import KINDS

    own = KINDS[study.kind].report_options
    for name, value in given.items():
        if value and name not in own:
            raise StudyError(f"{study.name} is {study.called}: its report has no --{name}. Leave it out; what it "
                             f"has are {', '.join(f'--{one}' for one in given if one in own)}.")


def _selection(
    answers: StudyAnswers, datasets: Sequence[str] | None, categories: Sequence[str] | None,
    people: Sequence[str] | None, block: bool, options: Options,
) -> Selection:
    from annotation.analysis.records import Selection

    return Selection(_once(datasets), _once(categories), _seats(answers, people or (), hide=options.hide_names), block)


def _once(names: Sequence[str] | None) -> tuple[str, ...]:
    """Sorted without duplicates, so that equal selections give equal reports."""
    return tuple(sorted(set(names or ())))


def _seats(answers: StudyAnswers, people: Sequence[str], *, hide: bool) -> tuple[int, ...]:
    """Seat numbers of people given by name or by a code such as P03. Raises ``StudyError``."""
    from annotation.analysis.selection import name_of, seat_numbers
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


@contextmanager
def _working(text: str) -> Iterator[None]:
    """Spinner on standard error. Silent without a terminal."""
    with err.status(f"{text}…") if err.is_terminal else nullcontext():
        yield


def _give(
    name: str, whole: WholeReport, as_json: bool, everything: bool, to: Path | None, force: bool, style: Style,
) -> None:
    """Print the report, or its JSON, once its files are written."""
    from annotation.kinds.reports import report_file, report_files
    from cir_core.reports.gathered import given
    from cli.tables.report_tables import print_report

    given(whole.sections)
    if to is not None:
        with _working("Writing"):
            _note(name)
            write_files(to, dict(sorted(report_files(whole, style).items())), force)
    if as_json:
        typer.echo(report_file(whole, "json"), nl=False)   # the same as in the files
        return
    print_report(whole, everything=everything)
    if to is not None:
        out.print(f"\nWrote the report to {to}", soft_wrap=True)


def _note(name: str) -> None:
    from annotation.records import LOCAL, AuditEvent

    with open_stores() as stores:
        study = stores.studies.study(name)
        stores.log.note(AuditEvent("report.downloaded", LOCAL, study.name, study.study_id, {"form": "files"}))
