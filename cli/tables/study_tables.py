"""Terminal tables of studies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.table import Table

from cir_core.support.texts import counted
from cli.console import out

if TYPE_CHECKING:
    from annotation.kinds.marks.results import TargetRow
    from annotation.kinds.preference.survey.overview import SurveyOverview
    from annotation.kinds.ratings.questions import Question
    from annotation.kinds.ratings.results import RatingRow
    from annotation.kinds.validity.rubric import Rubric
    from annotation.kinds.validity.subset import Subset
    from annotation.records import Study
    from annotation.studies.overview import SeatProgress
    from annotation.studies.planner import Forecast


_SHORT = {"naturalness": "natural", "coherence": "coherent", "redundancy": "low redund."}   # titles of questions


def print_plan(plan: Forecast) -> None:
    """Print a forecast with its assumptions."""
    print_pairs("plan", "", [
        ("people", f"{plan.people:,}"), ("items", f"{plan.items:,}"), ("people per item", f"{plan.overlap:,}"),
        ("items for everyone (agreement)", f"{plan.agreement_items:,}"), ("judgements", f"{plan.judgements:,}"),
        ("items per person", f"{plan.items_per_person:,}"), ("hours per person", f"{plan.hours_per_person:.1f}"),
        ("hours in total", f"{plan.hours_total:.1f}"), ("items judged twice or more", f"{plan.doubly_judged:,}"),
        ("share of valid items, 95 % interval", f"± {50 * plan.rate_width:.1f} points"),
        ("Cohen's kappa, 95 % interval", "none" if plan.kappa_width is None else f"± {plan.kappa_width / 2:.2f}"),
    ])
    out.print(f"Assumed: {plan.seconds_per_item:g} seconds per item, {plan.valid_rate:.0%} of the items valid, a kappa "
              f"of {plan.kappa:g}.")
    if plan.kappa_reason:
        out.print(plan.kappa_reason)


def answers_plan(plan: Forecast) -> dict[str, Any]:
    """A forecast without what the planner assumes of validity studies."""
    found = asdict(plan)
    return {name: found[name] for name in ("people", "items", "overlap", "agreement_items", "judgements",
                                           "items_per_person", "hours_per_person", "hours_total", "doubly_judged",
                                           "seconds_per_item")}


def print_answers_plan(plan: Forecast, one: str, many: str = "") -> None:
    """Print :func:`answers_plan`. ``one``, ``many``: what an item is called."""
    many = many or f"{one}s"
    print_pairs("plan", "", [
        ("people", f"{plan.people:,}"), (many, f"{plan.items:,}"), (f"people per {one}", f"{plan.overlap:,}"),
        (f"{many} for everyone (agreement)", f"{plan.agreement_items:,}"), ("answers", f"{plan.judgements:,}"),
        (f"{many} per person", f"{plan.items_per_person:,}"), ("hours per person", f"{plan.hours_per_person:.1f}"),
        ("hours in total", f"{plan.hours_total:.1f}"), (f"{many} with two answers or more", f"{plan.doubly_judged:,}"),
    ])
    out.print(f"Assumed: {plan.seconds_per_item:g} seconds per {one}.")


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
                      f"{counts['unsure']:,}" if KINDS[study.kind].has_unsure else "", _state(study),
                      f"{study.created_at:%Y-%m-%d %H:%M}")
    out.print(table if table.row_count else
              "No study yet. Create one.\n"
              "  Are queries valid? cirque study create validity NAME --from-audit DIR\n"
              "  Whose results are better? cirque study create preference NAME --dataset sample --methods A,B\n"
              "  Are sessions good? cirque construct judge SESSIONS --gallery GALLERY --judge people --name NAME\n"
              "  Which images answer a query? cirque study create targets NAME DIR --gallery GALLERY",
              soft_wrap=not table.row_count)


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
    out.print(f"{planned}, {plan.overlap:,} per item, {block} for everyone, seed {plan.seed}." if survey is None
              else f"{planned}: {_laid_out(survey)}, seed {plan.seed}.", soft_wrap=True)
    table = Table("seat", "person", "done", *(("unsure",) if kind.has_unsure else ()), "median", "last seen", "",
                  *(("finished, code",) if survey is not None else ()), box=None)
    for column in table.columns:
        if column.header in ("seat", "done", "unsure", "median"):
            column.justify = "right"
    for one in people:
        table.add_row(
            str(one.seat), one.annotator or "(free)", f"{one.done:,} of {one.total:,}",
            *((f"{one.unsure:,}",) if kind.has_unsure else ()),
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


def print_results(subset: Subset, rubric: Rubric, rule: str) -> None:
    """Print CIRCUS's Table 2, the progress of each data set, and counts of categories and reasons."""
    total = subset.total
    rows = (*subset.rows, *((total,) if len(subset.rows) != 1 else ()))
    parts = [("required", "validated_solved", "audited_required"),
             ("unresolved", "validated_unsolved", "audited_unresolved"),
             *([("other", "validated_other", "audited_other")] if total.audited_other else []),
             ("all", "validated", "audited")]
    out.print("Valid of audited queries")
    print_rows(("data set", *(name for name, _, _ in parts)), (
        (row.dataset, *(f"{getattr(row, valid):,} of {getattr(row, audited):,}" for _, valid, audited in parts))
        for row in rows))
    if any(row.unlabelled or row.undecided or row.adjudicated for row in rows):
        print_rows(("data set", "not judged", "undecided", "adjudicated"), (
            (row.dataset, *(f"{count:,}" for count in (row.unlabelled, row.undecided, row.adjudicated)))
            for row in rows))
    given = {code: count for code, count in total.primary.items() if count}
    if given:
        print_rows(("category", "items"), ((code, f"{count:,}") for code, count in given.items()))
    reasons = [(f"{reason.code} {reason.name}", total.reasons[reason.code])
               for flag in rubric.flags for reason in flag.reasons]
    reasons += [(f"{code}: reasons differ", count) for code, count in total.reasons_differ.items()]
    if any(count for _, count in reasons):
        print_rows(("reason", "items"), ((name, f"{count:,}") for name, count in reasons if count))
    out.print(f"Rule: {rule}. An adjudicator's decision takes precedence.", soft_wrap=True)


def print_ratings(questions: Sequence[Question], rows: Sequence[RatingRow]) -> None:
    """Print the mean ratings of a session study by source and subset."""
    print_rows(("source", "rated", "answers", *(_SHORT.get(one.key, one.key) for one in questions)), (
        (f"  {row.subset}" if row.subset else row.source, f"{row.rated:,} of {row.sessions:,}", f"{row.ratings:,}",
         *("" if mean is None else f"{mean:.2f}" for mean in row.means.values())) for row in rows))
    out.print("Means from 1 to 5, every session counting the same. New: little repetition.")


def print_targets(rows: Sequence[TargetRow], threshold: float) -> None:
    """Print the counts of a target study by data set."""
    def part(count: int, of: int) -> str:
        return f"{count:,} of {of:,}"

    print_rows(("data set", "marked", "answers", "yes", "no", "undecided", "confirmed", "missed", "original"), (
        (row.dataset or "all", part(row.marked, row.queries), f"{row.answers:,}", f"{row.yes:,}", f"{row.no:,}",
         f"{row.undecided:,}", part(row.confirmed, row.by_model), f"{row.missed:,}",
         part(row.original_yes, row.original)) for row in rows))
    out.print(f"Images by the majority of yes and no. Confirmed: of the images with a confidence of {threshold:g} or "
              "more those with a yes; missed: a yes, and a lower confidence or none; original: the data set's own "
              "targets with a yes.", soft_wrap=True)


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
