"""Curves as one HTML page: sweeps, and CIRCLED's plots by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cir_core.evaluation.metrics.bootstrap import MeanEstimate
from cir_core.evaluation.sweeps.curve import Curve, Figures
from cir_core.reports.figures import curves
from cir_core.reports.page import html_page
from cir_core.reports.records import Estimate, ReportTable, Section, cells, ranged, share, text
from cir_core.support.texts import counted

CHOOSING, REPORTING = "half it is chosen on", "half it is reported on"


def sentence(found: Curve) -> str:
    """What was chosen, and what it is worth, in one paragraph for a person."""
    first, second = found.sizes
    best = found.best.reporting[found.measure]
    sentence = (f"{found.swept.title} of {found.title} was chosen by {found.measure.name} on {first:,} queries and is "
            f"reported on the other {second:,} (split by seed {found.seed}): "
            f"{found.swept.sign} = {found.best.value:g}, {found.measure.name} {_percent(best)} there.")
    if found.gained is not None:
        sentence += (f" The method's own value is {found.own:g}; the chosen one differs from it by "
                 f"{_percent(found.gained, signed=True)} percentage points (paired).")
    elif found.best.value == found.own:
        sentence += " That is the method's own value."
    else:
        sentence += f" The method's own value, {found.own:g}, is not among the values."
    return f"{sentence} The first half's figures are not results: the value was chosen by them."


def sweep_page(subject: str, facts: str, found: Sequence[Curve]) -> str:
    """A section for each curve: figure and table."""
    return html_page(subject, "Sweep", facts, sweep_sections(found))


def sweep_sections(found: Sequence[Curve]) -> list[Section]:
    return [_section(number, one) for number, one in enumerate(found)]


@dataclass(frozen=True)
class TurnSet:
    """``systems``: Hits@10 by turn, over ``sessions`` sessions."""

    name: str
    sessions: int
    systems: Mapping[str, Mapping[int, MeanEstimate]]


def turns_page(subject: str, facts: str, sets: Sequence[TurnSet]) -> str:
    """CIRCLED's plots: Hits@10 by turn, a section for each set of sessions."""
    return html_page(subject, "Hits@10 by turn", facts, turns_sections(sets))


def turns_sections(sets: Sequence[TurnSet]) -> list[Section]:
    return [_turns(number, one) for number, one in enumerate(sets)]


def _turns(number: int, one: TurnSet) -> Section:
    key, title = f"turns-{number}", "Hits@10 by turn"
    longest = max((turn for of in one.systems.values() for turn in of), default=0)
    sentence = "; ".join(f"{system}: {', '.join(f'{100 * at.value:.1f} %' for at in of.values())}"
                     for system, of in one.systems.items())
    figure = curves(
        key, title, f"{title}, {one.name}. {sentence}",
        {system: [(turn, _estimate(at, one.sessions)) for turn, at in of.items()]
         for system, of in one.systems.items()}, across="turn", axis="Hits@10", whole=True)
    turns = range(1, longest + 1)
    columns = (text("system", "system"), *(share(f"turn_{turn}", f"turn {turn}") for turn in turns))
    rows = tuple((system, *(of[turn].value if turn in of else None for turn in turns))
                 for system, of in one.systems.items())
    return Section(
        key, one.name, f"{counted(one.sessions, 'session')}. A session counts as a hit from the first turn on that has "
        "a target among the ten best; one that has ended keeps its state. Bars are 95 % bootstrap intervals over "
        "sessions.",
        (), (figure,), (ReportTable(key, title, columns, rows),))


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
        text("value", sign), *ranged("choosing", f"{found.measure.name}, {CHOOSING}", "percent"),
        *ranged("reporting", f"{found.measure.name}, {REPORTING}", "percent"), text("note", ""))
    rows = tuple((f"{one.value:g}", *cells(one.choosing[found.measure]), *cells(one.reporting[found.measure]),
                  ", ".join(words for words, told in (("chosen", one is found.best),
                                                      ("the method's own", one.value == found.own)) if told))
                 for one in found.points)
    return Section(key, found.title, " ".join((sentence(found), *found.notes)), (), (figure,),
                   (ReportTable(key, title, columns, rows),))


def _estimate(one: MeanEstimate, n: int) -> Estimate:
    return Estimate(one.value, n, one.low, one.high)


def _percent(one: MeanEstimate, *, signed: bool = False) -> str:
    value = f"{100 * one.value:{'+' if signed else ''}.2f}"
    return value if one.low is None or one.high is None else f"{value} ({100 * one.low:.1f} to {100 * one.high:.1f})"

