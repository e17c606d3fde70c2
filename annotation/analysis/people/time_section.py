"""The section of a report on times and order, and its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from annotation.analysis.people.times import LEAST, NOT_RECORDED, SPEEDER, Stretch, Times
from annotation.analysis.rendering import estimate_json, estimates_json, reasons, values
from cir_core.reports.cells import shown
from cir_core.reports.figures import curves
from cir_core.reports.records import ColumnKind, ReportColumn, ReportTable, Section, count, number, ranged, share, text

_FAST = f"fast: below {SPEEDER:.0%} of the median person".replace("%", " %")


def times_section(of: Times, what: str, kind: ColumnKind, unit: str) -> tuple[Section, ...]:
    """``what`` is watched over time, "Judged valid", of that ``kind``; ``unit``: what one answer is about. Nothing
    without an answer."""
    if not of.answers:
        return ()
    timed = [one for one in of.stretches if one.seconds.value is not None]
    figure = curves(
        "seconds", "Seconds by position",
        "Median seconds of an answer by its position in a person’s order; bars are quartiles: "
        + ", ".join(f"{one.name}: {shown(one.seconds.value, 'number')}" for one in timed) + ".",
        {"seconds": [((one.first + one.last) / 2, one.seconds) for one in timed]}, across="position",
        axis=f"seconds for each {unit}", share=False)
    people = ReportTable(
        "people-times", "Seconds by person",
        (text("person", "Person"), count("answers", "Answers"), count("timed", "With a time"),
         ReportColumn("median", "Median seconds", "score"), ReportColumn("minutes", "Minutes in all", "score"),
         number("ratio", "Last third by first"), text("reason", "Remark")),
        tuple((one.name, one.answers, one.timed, one.median_seconds, one.minutes, one.last_by_first,
               NOT_RECORDED if not one.timed else _FAST if one.fast else "") for one in of.people),
        "Seconds between showing and saving. Last third by first: ratio of median seconds, for people with at least "
        f"{LEAST} answers; below 1, a person got faster.")
    order = ReportTable(
        "thirds", "First, middle and last third of each person’s answers",
        (text("third", "Third"), count("answers", "Answers"), ReportColumn("seconds", "Median seconds", "score"),
         share("same", "As the majority of the others"), ReportColumn("value", what, kind),
         text("reason", "Remark")),
        tuple((one.name, one.answers, one.seconds.value, one.same.value, one.value.value,
               reasons({"Seconds": one.seconds, "As the majority": one.same, what: one.value})) for one in of.thirds),
        f"For people with at least {LEAST} answers.", _unordered(of))
    drift = ReportTable(
        "drift", "Drift from the first third to the last",
        (text("what", "What"), *ranged("value", "Change"), count("people", "People"), text("reason", "Remark")),
        tuple((name, *values(of.drift[key]), of.drift[key].n, of.drift[key].reason)
              for key, name in (("seconds", "Seconds, last by first"), ("same", "As the majority of the others"),
                                ("value", what))),
        "Mean over people; intervals resample people. For seconds: ratio, geometric mean; otherwise: difference.")
    return (Section(
        "times", "Time and order",
        "Whether people get faster, agree less or answer differently towards the end. "
        + ("" if of.timed else "Times were not recorded, because imports do not contain them. ")
        + (f"People whose median is below a third of the median person’s are marked: {_fast(of)}." if of.timed else ""),
        figures=(figure,) if len(timed) > 1 else (), tables=(people, order, drift)),)


def _unordered(of: Times) -> str:
    return f"Nobody gave {LEAST} answers." if of.ordered else f"The order of the answers was {NOT_RECORDED}."


def _fast(of: Times) -> str:
    return ", ".join(one.name for one in of.people if one.fast) or "nobody"


def times_json(of: Times) -> Mapping[str, Any]:
    """``{"timed", "answers", "people", "positions", "thirds", "drift"}``."""
    def stretch(one: Stretch) -> dict[str, Any]:
        seconds = one.seconds
        return {"name": one.name, "first": one.first, "last": one.last, "answers": one.answers,
                "seconds": {"median": seconds.value, "quartiles": [seconds.low, seconds.high], "n": seconds.n},
                "same": estimate_json(one.same), "answer": estimate_json(one.value)}

    return {"timed": of.timed, "answers": of.answers, "ordered": of.ordered,
            "people": [asdict(one) for one in of.people], "positions": [stretch(one) for one in of.stretches],
            "thirds": [stretch(one) for one in of.thirds],
            "drift": estimates_json({"answer" if key == "value" else key: one for key, one in of.drift.items()})}
