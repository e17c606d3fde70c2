"""Terminal tables of studies."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table

from cir_core.support.texts import counted
from cli.console import out, print_notes

if TYPE_CHECKING:
    from annotation.kinds.preference.survey.position import SurveyOverview
    from annotation.records import Study
    from annotation.studies.creation import Created
    from annotation.studies.overview import Results, SeatProgress
    from annotation.studies.planner import Forecast


def print_created(created: Created | None, plan: Mapping[str, Any], as_json: bool) -> Created | None:
    """Print what was created, with ``plan``, as JSON; or its notes, other than those of the plan. Returns it if the
    caller is to describe it: not as JSON, and not if nothing was created, of a dry run (None)."""
    from annotation.studies.overview import study_json

    told = plan.get("notes", ())
    new = [note for note in created.notes if note not in told] if created else []
    if as_json:
        whole = {**study_json(created.study, created.counts), **plan, "notes": [*told, *new]} if created else plan
        typer.echo(json.dumps(whole, indent=1, ensure_ascii=False))
        return None
    if created is None:
        out.print("Nothing was created: omit --dry-run to create the study.")
    print_notes(new)
    return created


def print_plan(plan: Forecast) -> None:
    """Print a forecast with its assumptions."""
    print_pairs("plan", "", [
        *_effort(plan, "item", "items", "judgements"), ("items judged twice or more", f"{plan.doubly_judged:,}"),
        ("share of valid items, 95 % interval", f"± {50 * plan.rate_width:.1f} points"),
        ("Cohen's kappa, 95 % interval", "none" if plan.kappa_width is None else f"± {plan.kappa_width / 2:.2f}"),
    ])
    out.print(f"Assumed: {plan.seconds_per_item:g} seconds per item, {plan.valid_rate:.0%} of the items valid, a kappa "
              f"of {plan.kappa:g}.")
    if plan.kappa_reason:
        out.print(plan.kappa_reason)


def answers_plan(plan: Forecast) -> dict[str, Any]:
    """A forecast without what the planner assumes of validity studies."""
    return {name: getattr(plan, name) for name in (
        "people", "items", "overlap", "agreement_items", "judgements", "items_per_person", "hours_per_person",
        "hours_total", "doubly_judged", "seconds_per_item")}


def print_answers_plan(plan: Forecast, one: str, many: str = "") -> None:
    """Print :func:`answers_plan`. ``one``, ``many``: what an item is called."""
    many = many or f"{one}s"
    print_pairs("plan", "", [*_effort(plan, one, many, "answers"),
                             (f"{many} with two answers or more", f"{plan.doubly_judged:,}")])
    out.print(f"Assumed: {plan.seconds_per_item:g} seconds per {one}.")


def _effort(plan: Forecast, one: str, many: str, answers: str) -> list[tuple[str, str]]:
    return [
        ("people", f"{plan.people:,}"), (many, f"{plan.items:,}"), (f"people per {one}", f"{plan.overlap:,}"),
        (f"{many} for everyone (agreement)", f"{plan.agreement_items:,}"), (answers, f"{plan.judgements:,}"),
        (f"{many} per person", f"{plan.items_per_person:,}"), ("hours per person", f"{plan.hours_per_person:.1f}"),
        ("hours in total", f"{plan.hours_total:.1f}")]


def print_strata(counts: Mapping[str, int]) -> None:
    print_pairs("queries", "", [(name, f"{count:,}") for name, count in counts.items()])


def print_studies(rows: Iterable[tuple[Study, Mapping[str, int]]]) -> None:
    from annotation.kinds.table import KINDS

    table = Table("study", "items", "people", "judged", "unsure", "answers", "made", box=None)
    for column in table.columns[1:5]:
        column.justify = "right"
    for study, counts in rows:
        table.add_row(study.name, f"{counts['items']:,}", f"{counts['people']:,}",
                      f"{counts['done']:,} of {counts['assignments']:,}",
                      f"{counts['unsure']:,}" if KINDS[study.kind].leaves_unsure else "", _state(study),
                      f"{study.created_at:%Y-%m-%d %H:%M}")
    out.print(table if table.row_count else
              "No study yet. Create one.\n"
              "  Are queries valid? cirque study create validity NAME --from-audit DIR\n"
              "  Whose results are better? cirque study create preference NAME --dataset sample --methods A,B\n"
              "  Are sessions good? cirque construct judge SESSIONS --gallery GALLERY --judge people --name NAME\n"
              "  Which images answer a query? cirque study create targets NAME DIR --gallery GALLERY",
              soft_wrap=not table.row_count)


_ORDERS = {"random": "", "table": "in the order of the table, ", "disputed": "the most disputed items first, "}


def print_study(
    study: Study, counts: Mapping[str, int], people: Sequence[SeatProgress], survey: SurveyOverview | None = None
) -> None:
    """``survey``: of preference studies."""
    from annotation.kinds.table import KINDS

    plan, state = study.plan, "open" if study.accepting else "closed"
    kind = KINDS[study.kind]
    out.print(f"{study.name}: {counted(counts['items'], kind.one, kind.many)}, {study.protocol}, {state}",
              soft_wrap=True)
    planned = f"Planned for {counted(plan.seats, 'person', 'people')}"
    block = counted(plan.agreement_items, kind.one, kind.many)
    out.print(f"{planned}, {plan.overlap:,} per item, {block} for everyone, "
              f"{_ORDERS[plan.order]}seed {plan.seed}." if survey is None
              else f"{planned}: {_laid_out(survey)}, seed {plan.seed}.", soft_wrap=True)
    table = Table("seat", "person", "done", *(("unsure",) if kind.leaves_unsure else ()), "median", "last seen", "",
                  *(("finished, code",) if survey is not None else ()), box=None)
    for column in table.columns:
        if column.header in ("seat", "done", "unsure", "median"):
            column.justify = "right"
    for one in people:
        table.add_row(
            str(one.seat), one.annotator or "(free)", f"{one.done:,} of {one.total:,}",
            *((f"{one.unsure:,}",) if kind.leaves_unsure else ()),
            "" if one.median_seconds is None else f"{one.median_seconds:.0f} s",
            f"{one.seen_at:%Y-%m-%d %H:%M}" if one.seen_at else "", "inactive" if one.away else "",
            *((one.code or ("yes, no code" if one.finished_at else ""),) if survey is not None else ()))
    out.print(table)


def _laid_out(survey: SurveyOverview) -> str:
    shared = (f"{counted(survey.shared, 'question')} shared by up to {survey.shared_by:,} people" if survey.shared
              else "no question shared")
    forms = f"in up to {survey.forms:,} forms" if survey.forms > 1 else "in one form"
    check = ("no checks" if survey.check == "none"
             else f"a check ({survey.check}) after every {counted(survey.check_every, 'question')} and each form")
    return f"{shared}, up to {counted(survey.per_person, 'question')} per person {forms}, {check}"


def print_results(results: Results) -> None:
    if results.title:
        out.print(results.title)
    for heads, *rows in results.tables:
        print_rows(heads, rows)
    out.print(results.note, soft_wrap=True)


def print_pairs(name: str, figure: str, rows: Iterable[tuple[str, str]]) -> None:
    """Print a table of names and right-aligned figures under two headings."""
    table = Table(name, figure, box=None)
    table.columns[1].justify = "right"
    for row in rows:
        table.add_row(*row)
    out.print(table)


def print_rows(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table whose first column shrinks on narrow terminals; numbers stay whole."""
    table = Table(*heads, box=None)
    table.columns[0].overflow = "fold"
    for column in table.columns[1:]:
        column.justify, column.no_wrap = "right", True
    for row in rows:
        table.add_row(*row)
    out.print(table)
    out.print()


def _state(study: Study) -> str:
    return "open" if study.accepting else "closed"
