"""Studies as tables in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from cli.console import out

if TYPE_CHECKING:
    from annotation.overview import SeatProgress
    from annotation.planner import Forecast
    from annotation.records import Study
    from annotation.subset import Subset


def print_plan(plan: Forecast) -> None:
    """A forecast, with the assumptions it rests on."""
    table = Table("plan", "", box=None)
    table.columns[1].justify = "right"
    rows = [
        ("people", f"{plan.people:,}"), ("items", f"{plan.items:,}"), ("people per item", f"{plan.overlap:,}"),
        ("items that everybody judges", f"{plan.agreement_items:,}"),
        ("judgements", f"{plan.judgements:,}"),
        ("items per person", f"{plan.items_per_person:,}"),
        ("hours per person", f"{plan.hours_per_person:.1f}"), ("hours in all", f"{plan.hours_total:.1f}"),
        ("items judged twice or more", f"{plan.doubly_judged:,}"),
        ("share of valid items, 95 % interval", f"± {50 * plan.rate_width:.1f} points"),
        ("Cohen's kappa, 95 % interval",
         "none" if plan.kappa_width is None else f"± {plan.kappa_width / 2:.2f}"),
    ]
    for row in rows:
        table.add_row(*row)
    out.print(table)
    out.print(f"Assumed: {plan.seconds_per_item:g} seconds per item, {plan.valid_rate:.0%} of the items valid, a kappa "
              f"of {plan.kappa:g}.")
    if plan.kappa_reason:
        out.print(plan.kappa_reason)


def print_strata(counts: Mapping[str, int]) -> None:
    table = Table("queries", "", box=None)
    table.columns[1].justify = "right"
    for name, count in counts.items():
        table.add_row(name, f"{count:,}")
    out.print(table)


def print_studies(rows: Iterable[tuple[Study, Mapping[str, int]]]) -> None:
    table = Table("study", "items", "people", "judged", "unsure", "answers", "made", box=None)
    for column in table.columns[1:5]:
        column.justify = "right"
    for study, counts in rows:
        table.add_row(study.name, f"{counts['items']:,}", f"{counts['people']:,}",
                      f"{counts['done']:,} of {counts['assignments']:,}", f"{counts['unsure']:,}", _state(study),
                      f"{study.created_at:%Y-%m-%d %H:%M}")
    out.print(table if table.row_count else
              "No study yet. Make one: cirque study create validity NAME --from-audit DIR")


def print_study(study: Study, counts: Mapping[str, int], people: Sequence[SeatProgress]) -> None:
    plan = study.plan
    out.print(f"{study.name}: {counts['items']:,} items, {study.protocol}, {_state(study)}")
    out.print(f"Planned for {plan.seats:,} people, {plan.overlap:,} per item, {plan.agreement_items:,} items for "
              f"everybody, seed {plan.seed}.")
    table = Table("seat", "person", "done", "unsure", "median", "last seen", "", box=None)
    for column in (0, 2, 3, 4):
        table.columns[column].justify = "right"
    for one in people:
        table.add_row(
            str(one.seat), one.annotator or "(free)", f"{one.done:,} of {one.total:,}", f"{one.unsure:,}",
            "" if one.median_seconds is None else f"{one.median_seconds:.0f} s",
            f"{one.seen_at:%Y-%m-%d %H:%M}" if one.seen_at else "", "away" if one.away else "")
    out.print(table)


def print_results(subset: Subset, rule: str) -> None:
    """Table 2 of CIRCUS, then how often each category and sub-reason was given."""
    table = Table("data set", "audited (required)", "valid", "audited (unresolved)", "valid", "audited (other)",
                  "valid", "undecided", "not judged", "valid in all", box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in (*subset.rows, *((subset.total,) if len(subset.rows) != 1 else ())):
        table.add_row(row.dataset, *map(str, (
            row.audited_required, row.validated_solved, row.audited_unresolved, row.validated_unsolved,
            row.audited_other, row.validated_other, row.undecided, row.unlabelled, row.validated)))
    out.print(table)
    counted = Table("category or sub-reason", "items", box=None)
    counted.columns[1].justify = "right"
    for name, count in (*subset.total.primary.items(), *subset.total.reasons.items()):
        if count:
            counted.add_row(name, f"{count:,}")
    if counted.row_count:
        out.print(counted)
    out.print(f"Rule: {rule}. An adjudicator's decision comes first ({subset.total.adjudicated:,} of them).")


def _state(study: Study) -> str:
    return "taken" if study.accepting else "closed"
