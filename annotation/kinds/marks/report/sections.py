"""Sections of a target report: agreement, thresholds, people."""

from __future__ import annotations

from annotation.analysis.people.profiles import people_figure, people_how, people_tables
from annotation.analysis.people.time_section import times_section
from annotation.analysis.records import Estimate, ReportTable, Section
from annotation.analysis.rendering import (
    counted,
    headline,
    interval_sentence,
    method_section,
    notes_table,
    reasons,
    values,
)
from annotation.analysis.statistics.agreement import statistics_of
from annotation.kinds.marks.answers import USUAL
from annotation.kinds.marks.report.records import ModelAgreement, TargetReport, ThresholdPoint
from cir_core.reports.figures import lines
from cir_core.reports.records import count, number, ranged, share, text

_MEASURES = (("kappa", "Cohen’s κ"), ("agreement", "Agreement"), ("precision", "Precision"), ("recall", "Recall"),
             ("f1", "F1"))


def target_sections(report: TargetReport) -> tuple[Section, ...]:
    """All sections in order."""
    return (_glance(report), _agreement(report), _threshold(report), _people(report),
            *(times_section(report.times, f"Images marked {_said(report, 'yes')}", "share", "query")
              if report.times else ()),
            method_section(report.about, report.raters, _how(report)))


def _glance(report: TargetReport) -> Section:
    choice, used = report.choice, f"{report.threshold:g}"
    return Section(
        "glance", "At a glance",
        f"People mark each candidate of a query: {report.marking.question or 'does it answer the query?'} κ is 1 if "
        "all agree and 0 at chance level. The model’s confidences are compared with the majority of people."
        + _own(report),
        (
            counted("Queries marked", report.marked, report.n_queries, "queries"),
            counted("Images that people take as targets", report.targets, report.decided, "images with a majority"),
            headline("Cohen’s κ of people, mean of pairs", report.agreement.kappa, "number", "images"),
            *([headline(f"Marked {_said(report, 'unsure')}", report.agreement.unsure, "share", "marks")]
              if _unsure(report) else []),
            headline(f"κ of the model at {used} and people", choice.used.kappa, "number", "images"),
            headline("Threshold that agrees best", choice.best, "number", "images",
                     "The interval is that of the choice, over draws of queries."),
            headline("κ at the best threshold, held out", choice.held_out.kappa, "number", "images",
                     "Each query at the threshold that is best for the other queries."),
        ),
        tables=notes_table(report))


def _own(report: TargetReport) -> str:
    """What the marks of a file of one's own are called."""
    marks = report.marking.marks
    return "" if marks == USUAL else (
        f" In {report.about.protocol} " + ", ".join(f"“{one.title}” is {one.mark}" for one in marks) + ".")


def _said(report: TargetReport, mark: str) -> str:
    return mark if report.marking.marks == USUAL else f"“{report.marking.names[mark]}”"


def _unsure(report: TargetReport) -> bool:
    return "unsure" in report.marking.codes


def _agreement(report: TargetReport) -> Section:
    of = report.agreement
    rows: tuple[tuple[str, Estimate, str], ...] = (
        ("Cohen’s κ, mean of pairs", of.kappa, "images"),
        *sorted((one.name, of.pooled[one.key], "images") for one in statistics_of("nominal")),
        ("Agreement, mean of pairs", of.agreement, "images"),
        ("Unanimous", of.unanimous, "images"),
        *([(f"Marked {_said(report, 'unsure')}", of.unsure, "marks")] if _unsure(report) else []))
    whole = ReportTable(
        "agreement", "Agreement among people",
        (text("measure", "Measure"), *ranged("value", "Value"), count("n", "n"), text("unit", "of"),
         text("reason", "Remark")),
        tuple((name, *values(one), one.n, unit, reasons({name: one})) for name, one, unit in rows),
        "Over images with a yes or no from two people or more." + (
            f" “{report.marking.names['unsure']}” is not an answer here; its share of all marks is in the last row."
            if _unsure(report) else ""))
    pairs = ReportTable(
        "pairs", "Pairs of people",
        (text("a", "A"), text("b", "B"), count("n", "n"), *ranged("kappa", "κ"),
         *ranged("agreement", "Agreement", "share"), text("reason", "Remark")),
        tuple((one.a, one.b, one.n, *values(one.kappa), *values(one.agreement),
               reasons({"κ": one.kappa, "Agreement": one.agreement})) for one in report.pairs),
        empty="No two people marked the same image.")
    return Section("agreement", "Agreement among people", "Yes or no, image by image.", tables=(whole, pairs))


def _threshold(report: TargetReport) -> Section:
    choice = report.choice
    points = ReportTable(
        "thresholds", "Model and people by threshold",
        (number("threshold", "Threshold"), *(number(key, name) for key, name in _MEASURES), count("both", "Both yes"),
         count("model_only", "Model only"), count("people_only", "People only"), count("neither", "Both no"),
         text("remark", "Remark")),
        tuple((one.threshold, *(getattr(one, key) for key, _ in _MEASURES), one.both, one.model_only, one.people_only,
               one.neither, "used by stage 1" if one.threshold == report.threshold else "") for one in report.curve),
        "The model counts an image as a target from this confidence on. The best row was chosen on these same values, "
        "so they are optimistic: see the table above for held-out ones.",
        "No image has a confidence and a majority.")

    def at(name: str, of: ModelAgreement) -> tuple[object, ...]:
        found = {title: getattr(of, key) for key, title in _MEASURES}
        return (name, *(cell for one in found.values() for cell in values(one)), of.kappa.n, reasons(found))

    compared = ReportTable(
        "choice", "The threshold in use and the best one",
        (text("which", "Threshold"), *(column for key, name in _MEASURES for column in ranged(key, name)),
         count("n", "Images"), text("reason", "Remark")),
        (at(f"{report.threshold:g}, used by stage 1", choice.used), at("best, held out", choice.held_out)))
    best = ReportTable(
        "best-threshold", "The best threshold",
        (text("what", "Number"), *ranged("value", "Value"), text("reason", "Remark")),
        (("Threshold with the highest κ", *values(choice.best), choice.best.reason),
         (f"κ of the best, held out, less κ at {report.threshold:g}", *values(choice.difference),
          choice.difference.reason)),
        "If the interval of the difference contains 0, these answers do not tell the two thresholds apart.")
    series = {name: [(one.threshold, value) for one in report.curve if (value := getattr(one, key)) is not None]
              for key, name in _MEASURES}
    figure = lines(
        "thresholds", "Model and people by threshold", _alt(report.curve, report.threshold), series,
        across="threshold on the confidence", axis="value", log=False, upright=report.threshold)
    return Section(
        "thresholds", "Threshold on the confidence",
        f"Stage 1 takes a candidate as a target if the model’s confidence is at least {report.threshold:g}. Recall is "
        "among the candidates that people saw: what no search found is not counted. The best threshold is the one with "
        "the highest κ.", figures=(figure,) if report.curve else (), tables=(compared, best, points))


def _alt(curve: tuple[ThresholdPoint, ...], used: float) -> str:
    kappas = ", ".join(f"{one.threshold:g}: {one.kappa:.2f}" for one in curve if one.kappa is not None)
    return (f"Agreement, κ, precision, recall and F1 against the threshold; a line marks {used:g}. κ by threshold: "
            f"{kappas or 'undefined'}.")


def _people(report: TargetReport) -> Section:
    table = ReportTable(
        "people", "People",
        (text("person", "Person"), count("answers", "Queries"),
         *(count(mark, name) for mark, name in report.marking.names.items()),
         share("share", f"Share of {_said(report, 'yes')}"), number("kappa", "κ with others"),
         text("reason", "Remark")),
        tuple((one.name, one.answers, one.marks["yes"], one.marks["no"], one.marks["unsure"],
               one.marks["yes"] / decided if (decided := one.marks["yes"] + one.marks["no"]) else None, one.kappa,
               "" if one.kappa is not None else "undefined, or no shared images") for one in report.people),
        empty="No answers yet.")
    return Section(
        "people", "People", "κ with others: mean over the other people.",
        figures=people_figure(report.others, "images") if report.others else (),
        tables=(table, *(people_tables(report.others, "Says yes more often by") if report.others else ())))


def _how(report: TargetReport) -> list[tuple[str, str]]:
    return [
        ("Majority", "An image is a target if more people say yes than no; with equally many of each it has no "
                     "majority."),
        ("Cohen’s κ", "Over images with a yes or no."),
        *sorted((one.name, one.method("image")) for one in statistics_of("nominal")),
        *(people_how(report.others) if report.others else ()),
        ("Best threshold", "Of 0, 0.05 to 1 and the threshold in use, the one with the highest κ between model and "
                           "majority; of equal ones, the nearest to the one in use. κ is undefined, and counts as 1 "
                           "for the choice, where model and majority give all images the same answer."),
        ("Held out", "Each query at the threshold that is best for the other queries (leave one query out), all images "
                     "pooled. Its intervals keep these thresholds fixed."),
        ("Intervals", interval_sentence(report.about.options, "queries")),
    ]
