"""What all kinds of report are put together of: headlines, and the sections on planning and method. Numbers of
reports as plain JSON: one shape for every estimate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from annotation.analysis.about import finite
from annotation.analysis.records import (
    About,
    AnyReport,
    Estimate,
    Headline,
    Options,
    Precision,
    Rater,
    ReportTable,
    Section,
    Selection,
)
from cir_core.reports import figures
from cir_core.reports.cells import shown
from cir_core.reports.records import count, number, text
from cir_core.support.texts import counted as number_of

_NAMED = 3        # of what is selected, in a report's head


def values(estimate: Estimate) -> tuple[float | None, float | None, float | None]:
    return estimate.value, estimate.low, estimate.high


def reasons(found: Mapping[str, Estimate], *more: str) -> str:
    """What stands in a table's last column: why there is no value, or what was left out. ``found`` by the names of
    their columns, which stand before what is not said of all."""
    of: dict[str, list[str]] = {}
    for name, one in found.items():
        if one.reason:
            of.setdefault(one.reason, []).append(name)
    said = [reason if len(names) == len(found) else f"{', '.join(names)}: {reason}" for reason, names in of.items()]
    return "; ".join(dict.fromkeys([*said, *(text for text in more if text)]))


def each(labels: Iterable[str], estimates: Iterable[Estimate], kind: str) -> str:
    """ "slerp 0.412, text 0.388": a plot in words."""
    both = zip(labels, estimates, strict=True)
    return ", ".join(f"{label} {shown(estimate.value, kind)}" for label, estimate in both) or "none"


def headline(
    label: str, estimate: Estimate, kind: Literal["number", "share", "count"], unit: str, note: str = "",
) -> Headline:
    """The estimate's own reason stands beside it anyway; ``note`` is what else there is to say."""
    return Headline(label, estimate, kind, unit, "" if note == estimate.reason else note)


def counted(label: str, value: int, of: int, unit: str, note: str = "") -> Headline:
    """A count; ``of`` and ``unit`` say what it is counted among."""
    return Headline(label, Estimate(value, of), "count", unit, note)


def notes_table(report: AnyReport) -> tuple[ReportTable, ...]:
    """What a reader must know first; nothing where there is nothing to say."""
    chosen = selected(report)
    first = (f"This report covers part of the study: {chosen}.",) if chosen else ()
    rows = tuple((note,) for note in (*first, *report.about.notes))
    return (ReportTable("notes", "Notes", (text("note", "Note"),), rows),) if rows else ()


def planning_section(plan: Sequence[Precision]) -> tuple[Section, ...]:
    """"How sure": how wide the interval would be with more. Nothing without a plan."""
    if not plan:
        return ()
    wanted = {one.wanted for one in plan}
    drawn = {f"{one.what}, more {one.more_of}": [(point.size / one.have, point.width) for point in one.points]
             for one in plan if one.points and one.have}
    table = ReportTable(
        "precision", "Needed for a narrower interval",
        (text("what", "Number"), text("more_of", "More"), count("have", "Now"), number("width", "Width now"),
         number("wanted", "Wanted width"), count("needed", "About, in total"), text("reason", "Remark"),
         text("assumption", "Assumption")),
        tuple((one.what, one.more_of, one.have, one.width, one.wanted, one.needed, one.reason, one.assumption)
              for one in plan),
        "Width: upper minus lower bound of a 95 % interval; 0.1 means ± 0.05. Sizes are rough estimates, rounded up to "
        "two digits: with other answers of the same people they could be half or twice as large.")
    points = ReportTable(
        "precision-points", "Width by size",
        (text("what", "Number"), text("more_of", "More"), count("size", "Size"), number("width", "Width")),
        tuple((one.what, one.more_of, point.size, point.width) for one in plan for point in one.points),
        empty="No simulation was possible; see the remarks above.")
    figure = figures.lines(
        "precision", "Width of the interval with more answers",
        "Falling lines: the width of the 95 % interval against the size relative to now. "
        + " ".join(_plan_sentence(one) for one in plan),
        drawn, across="size relative to now", axis="width of the 95 % interval",
        at=next(iter(wanted)) if len(wanted) == 1 else None)
    return (Section(
        "precision", "Precision",
        "How many items, questions, people or answers give the wanted width of the 95 % interval. Simulated from the "
        "existing answers, assuming that new ones are similar.",
        figures=(figure,) if drawn else (), tables=(table, points)),)


def method_section(
    about: About, raters: Sequence[Rater], how: Iterable[tuple[str, str]], more: Iterable[tuple[str, str]] = (),
) -> Section:
    """What was computed, of what, and with which versions: enough to do it again."""
    options = about.options
    settings = [
        ("Study", about.study), ("Identifier", about.study_id), ("Kind", about.kind), ("Protocol", about.protocol),
        ("Answers", _answered(about)), ("Latest answer", about.latest or "none"),
        ("Selection", selection_sentence(about, raters)), *more,
        ("Bootstrap draws", shown(options.draws, "count") if options.draws else "none"), ("Seed", str(options.seed)),
        ("Bootstrap unit", options.resample), ("Agreement if all raters used a single category", _undefined(options)),
        ("Names", "hidden" if options.hide_names else "shown"),
        *((f"Version of {name}", version) for name, version in about.versions.items()),
    ]
    return Section(
        "method", "Method", "How each number is computed, and how to reproduce it.",
        tables=(ReportTable("method", "How numbers are computed", (text("number", "Number"), text("how", "How")),
                            tuple(how)),
                ReportTable("settings", "Data and versions", (text("what", "What"), text("value", "Value")),
                            tuple(settings))))


def without_empty(sections: Iterable[Section]) -> tuple[Section, ...]:
    """The sections that have numbers, figures or rows; which others there are, and why they are empty, is in the
    table "settings"."""
    kept: list[Section] = []
    empty: list[tuple[str, str]] = []
    for section in sections:
        if section.figures or any(table.rows for table in section.tables) or any(
                one.estimate.value is not None for one in section.headlines):
            kept.append(section)
        else:
            why = [one.estimate.reason for one in section.headlines] + [table.empty for table in section.tables]
            empty.append((f"Nothing on: {section.title}", next(filter(None, why), "no numbers")))
    return tuple(replace(section, tables=tuple(
        replace(table, rows=(*table.rows, *empty)) if table.key == "settings" else table for table in section.tables))
        for section in kept)


def selection_sentence(about: About, raters: Sequence[Rater], most: int | None = None) -> str:
    """What was selected. ``most``: names of a kind; of more there is a number."""
    selection, names = about.selection, {rater.seat: rater.name for rater in raters}
    parts = [f"{what} {_some(which, most)}" for what, which in (
        (about.groups.dataset, selection.datasets),
        (about.groups.category, selection.categories),
        ("people", [names.get(seat, f"seat {seat}") for seat in selection.people])) if which]
    if selection.block_only:
        parts.append("the agreement block only")
    return "; ".join(parts) or "all answers"


def _some(names: Sequence[str], most: int | None) -> str:
    if most is None or len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most:,} more"


def selected(report: AnyReport) -> str:
    """ "data set cirr; people ann (12 of 252 answers)"; "" where nothing was selected. Answers that rules leave out
    are among those that are left, and so are unsure ones."""
    about = report.about
    if about.selection == Selection():
        return ""
    return (f"{selection_sentence(about, report.raters, _NAMED)} ({report.selected_answers:,} of "
            f"{number_of(about.answered, 'answer')})")


def interval_sentence(options: Options, unit: str) -> str:
    """How intervals by draws were made. ``unit``: what is drawn, "items"."""
    if not options.draws:
        return "Not computed: no bootstrap requested."
    return (f"95 %, percentile bootstrap over {unit}, {options.draws:,} draws, seed {options.seed}. Each "
            "resampled unit keeps all its answers.")


def _undefined(options: Options) -> str:
    return "counts as 1" if options.undefined == "one" else "left out"


def _answered(about: About) -> str:
    state = "takes answers" if about.accepting else "is closed"
    return f"{shown(about.answered, 'count')} of {shown(about.planned, 'count')} planned; the study {state}"


def _plan_sentence(one: Precision) -> str:
    if one.needed is None:
        return f"{one.what}: {one.reason or f'not reached within the simulated sizes for more {one.more_of}'}."
    about = "about " if one.needed > one.have else ""
    return f"{one.what}: {about}{one.needed:,} {one.more_of} in total for a width of {shown(one.wanted, 'number')}."


SCHEMA_VERSION = 2
"""Of the JSON of reports. 2 has every estimate as :func:`estimate_json`; the keys of version 1 stay for one version."""


def estimate_json(of: Estimate, *more: Literal["p", "count"], first: str = "") -> dict[str, Any]:
    """``{"value", "ci95", "n", "reason"}``, and ``more`` of what the estimate has: null if undefined, ``ci95`` is
    ``[low, high]`` or null, ``reason`` "" if not needed. ``first``: the key of the value in version 1."""
    low, high, value = finite(of.low), finite(of.high), finite(of.value)
    return {
        **({first: value} if first else {}), "value": value, "n": of.n,
        "ci95": None if low is None or high is None else [low, high], "reason": of.reason,
        **{key: finite(getattr(of, key)) for key in more}}


def estimates_json(of: Mapping[str, Estimate]) -> dict[str, Any]:
    return {key: estimate_json(one) for key, one in of.items()}
