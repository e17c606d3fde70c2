"""Curves as one HTML page: sweeps, and CIRCLED's plots by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cir_core.evaluation.evaluators.records import Measure
from cir_core.evaluation.metrics.bootstrap import MeanEstimate
from cir_core.evaluation.sweeps.curve import Curve, Figures
from cir_core.reports.curves import curves
from cir_core.reports.page import html_page
from cir_core.reports.records import Estimate, ReportColumn, ReportTable, Section
from cir_core.support.texts import counted

CHOOSING, REPORTING = "half it is chosen on", "half it is reported on"


def sentence(found: Curve) -> str:
    """What was chosen, and what it is worth, in one paragraph for a person."""
    first, second = found.sizes
    best = found.best.reporting[found.measure]
    said = (f"{found.swept.title} of {found.title} was chosen by {found.measure.name} on {first:,} queries and is "
            f"reported on the other {second:,} (split by seed {found.seed}, within each category): "
            f"{found.swept.sign} = {found.best.value:g}, {found.measure.name} {_percent(best)} there.")
    if found.gained is not None:
        said += (f" The method's own value is {found.own:g}; the chosen one differs from it by "
                 f"{_percent(found.gained, signed=True)} percentage points (paired).")
    elif found.best.value == found.own:
        said += " That is the method's own value."
    else:
        said += f" The method's own value, {found.own:g}, is not among the values."
    return f"{said} The first half's figures are no results: the value was chosen by them."


def sweep_page(subject: str, facts: str, found: Sequence[Curve]) -> str:
    """A section for each curve: figure and table."""
    return html_page(subject, "Sweep", facts, [_section(number, one) for number, one in enumerate(found)])


def turns_page(subject: str, title: str, facts: str, sets: Mapping[str, Mapping[str, Mapping[int, MeanEstimate]]],
               sessions: Mapping[str, int]) -> str:
    """Hits@10 by turn. ``sets``: name of a set of sessions to system to turn to figure; ``sessions`` has the number of
    each set."""
    sections = []
    for number, (name, systems) in enumerate(sets.items()):
        n = sessions[name]
        longest = max((turn for of in systems.values() for turn in of), default=0)
        figure = curves(
            f"turns-{number}", "Hits@10 by turn",
            "Hits@10 by turn: " + "; ".join(
                f"{system}: {', '.join(f'{100 * one.value:.1f}' for one in of.values())}"
                for system, of in systems.items()),
            {system: [(turn, _estimate(one, n)) for turn, one in of.items()] for system, of in systems.items()},
            across="turn", axis="Hits@10", whole=True)
        columns = (ReportColumn("system", "system", "text"),
                   *(ReportColumn(f"turn_{turn}", f"turn {turn}", "share") for turn in range(1, longest + 1)))
        rows = tuple((system, *(of[turn].value if turn in of else None for turn in range(1, longest + 1)))
                     for system, of in systems.items())
        sections.append(Section(
            f"turns-{number}", name, f"{counted(n, 'session')}. A session counts as a hit from the turn on that first "
            "has a target among the ten best; one that has ended keeps its state. Bars are 95 % bootstrap intervals "
            "over sessions.", (), (figure,), (ReportTable(f"turns-{number}", "Hits@10 by turn", columns, rows),)))
    return html_page(subject, title, facts, sections)


def _section(number: int, found: Curve) -> Section:
    key, sign = f"sweep-{number}", found.swept.sign
    halves: Mapping[str, tuple[int, Sequence[Figures]]] = {
        CHOOSING: (found.sizes[0], [one.choosing for one in found.points]),
        REPORTING: (found.sizes[1], [one.reporting for one in found.points])}
    values = [one.value for one in found.points]
    title = f"{found.title}: {found.measure.name} by {found.swept.title}"
    figure = curves(
        key, title, f"{title}. " + "; ".join(
            f"{sign} {value:g}: {100 * one.reporting[found.measure].value:.1f} %"
            for value, one in zip(values, found.points, strict=True)) + f" on the {REPORTING}.",
        {name: [(value, _estimate(of[found.measure], n)) for value, of in zip(values, figures, strict=True)]
         for name, (n, figures) in halves.items()},
        across=found.swept.title, axis=found.measure.name, at=found.best.value,
        whole=found.swept.parameter.kind == "whole",
        note=f"The dotted line is the chosen value, {found.best.value:g}. Bars are 95 % bootstrap intervals.")
    columns = (
        ReportColumn("value", sign, "text"), ReportColumn("choosing", f"{found.measure.name}, {CHOOSING}", "share"),
        ReportColumn("choosing_low", "from", "share"), ReportColumn("choosing_high", "to", "share"),
        ReportColumn("reporting", f"{found.measure.name}, {REPORTING}", "share"),
        ReportColumn("reporting_low", "from", "share"), ReportColumn("reporting_high", "to", "share"),
        ReportColumn("note", "", "text"))
    rows = tuple((f"{one.value:g}", *_cells(one.choosing[found.measure]), *_cells(one.reporting[found.measure]),
                  "chosen" if one is found.best else "the method's own" if one.value == found.own else "")
                 for one in found.points)
    return Section(key, found.title, " ".join((sentence(found), *found.notes)), (), (figure,),
                   (ReportTable(key, title, columns, rows),))


def _estimate(one: MeanEstimate, n: int) -> Estimate:
    return Estimate(one.value, n, one.low, one.high)


def _cells(one: MeanEstimate) -> tuple[float | None, ...]:
    return one.value, one.low, one.high


def _percent(one: MeanEstimate, *, signed: bool = False) -> str:
    value = f"{100 * one.value:{'+' if signed else ''}.2f}"
    return value if one.low is None or one.high is None else f"{value} ({100 * one.low:.1f} to {100 * one.high:.1f})"


def by_turn(figures: Mapping[Measure, MeanEstimate], family: str) -> dict[int, MeanEstimate]:
    """Those of ``family`` by their turn."""
    return {int(measure.at): one for measure, one in figures.items() if measure.family == family}
