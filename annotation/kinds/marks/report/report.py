"""Report of a target study: agreement among people, and of the model's confidences with people. Target report as
plain JSON with stable keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from annotation.analysis.about import about, about_json, finite
from annotation.analysis.people.profiles import people_json, people_of
from annotation.analysis.people.time_section import times_json
from annotation.analysis.people.times import Times, answered, same_as_others, times_of
from annotation.analysis.records import Options, Rater, Selection, StudyAnswers
from annotation.analysis.rendering import estimate_json, estimates_json
from annotation.analysis.selection import check_options, raters, seat_numbers, select, wrong_kind
from annotation.analysis.statistics.agreement import statistics_of
from annotation.analysis.statistics.matrix import Ratings
from annotation.kinds.marks.answers import MARKS, marking_of
from annotation.kinds.marks.report import thresholds
from annotation.kinds.marks.report.agreement import Marks, mark_agreement, mean_kappa, pair_marks
from annotation.kinds.marks.report.records import MarkAgreement, ModelAgreement, PersonMarks, TargetReport
from annotation.kinds.marks.results import MarkedImage, marked_images, threshold_of
from annotation.records import by_item, name_key
from cir_core.support.texts import counted


@dataclass(frozen=True)
class _Selected:
    """What is reported on. ``images``: those of queries with an answer; ``marks``: of each rater in a column."""

    images: Sequence[MarkedImage]
    marks: Marks
    raters: tuple[Rater, ...]


def target_report(
    answers: StudyAnswers, selection: Selection = Selection(), options: Options = Options()
) -> TargetReport:
    """The report of ``selection``; also of an empty or tiny study, with reasons instead of numbers.

    Raises ``StudyError`` for a study of another kind, an invalid selection, and resampling of people.
    """
    if answers.study.kind != "targets":
        raise wrong_kind(answers.study, "has no marks of candidates")
    check_options(options, "queries")
    chosen = select(answers, selection)
    given = by_item(chosen.judgements)
    found = _selected(chosen, options)
    decided = [one for one in found.images if one.verdict is not None]
    threshold = threshold_of(answers.study)
    place = {item.item_id: number for number, item in enumerate(chosen.items)}
    known = [(place[one.item.item_id], one.confidence, bool(one.verdict)) for one in decided
             if one.confidence is not None]
    compared = thresholds.decided([query for query, _, _ in known], [confidence for _, confidence, _ in known],
                                  [verdict for _, _, verdict in known])
    shared = sum(len(of) > 1 for of in given.values())
    return TargetReport(
        about(answers, chosen, selection, options, _notes(chosen, len(given), shared, len(decided) - len(known))),
        marking_of(answers.study), found.raters, len(chosen.items), len(given), shared, len(chosen.judgements),
        len(decided), sum(one.verdict is True for one in decided), len(found.images) - len(decided),
        len(decided) - len(known), threshold, mark_agreement(found.marks, options),
        pair_marks(found.marks, found.raters, options),
        thresholds.curve(compared, threshold, options.undefined), thresholds.choice(compared, threshold, options),
        tuple(_person(number, one, chosen, found.marks, options) for number, one in enumerate(found.raters)),
        people_of(Ratings(found.marks.codes, ("no", "yes"), "image"), found.raters, "nominal", options,
                  groups=found.marks.queries) if found.raters else None,
        _times(chosen, found, options) if found.raters else None)


def _times(chosen: StudyAnswers, found: _Selected, options: Options) -> Times:
    """The same as others: the share of a query's images, among those where that can be said."""
    seats, columns = seat_numbers(chosen.seats), {one.seat: place for place, one in enumerate(found.raters)}
    images: dict[str, list[int]] = {}
    for row, one in enumerate(found.images):
        images.setdefault(one.item.item_id, []).append(row)
    agrees = same_as_others(Ratings(found.marks.codes, ("no", "yes"), "image"))
    same, yes = dict[str, float](), dict[str, float]()
    for given in chosen.judgements:
        mine = agrees[images[given.item_id], columns[seats[name_key(given.annotator)]]]
        if not np.isnan(mine).all():
            same[given.judgement_id] = float(np.nanmean(mine))
        marks = list(given.answer["marks"].values())
        yes[given.judgement_id] = marks.count("yes") / len(marks)
    return times_of(answered(chosen, chosen.judgements, same, yes), found.raters, options)


def _selected(chosen: StudyAnswers, options: Options) -> _Selected:
    people = raters(chosen, chosen.judgements, hide=options.hide_names)
    columns = {rater.seat: number for number, rater in enumerate(people)}
    seats, given = seat_numbers(chosen.seats), by_item(chosen.judgements)
    images = marked_images([item for item in chosen.items if item.item_id in given], chosen.judgements,
                           chosen.decisions)
    number = {item.item_id: place for place, item in enumerate(chosen.items)}
    rows: list[list[str | None]] = []
    for one in images:
        row: list[str | None] = [None] * len(people)
        for judgement in given[one.item.item_id]:
            row[columns[seats[name_key(judgement.annotator)]]] = judgement.answer["marks"][one.token]
        rows.append(row)
    return _Selected(images, Marks(rows, [number[one.item.item_id] for one in images], len(people)), people)


def _person(number: int, rater: Rater, chosen: StudyAnswers, marks: Marks, options: Options) -> PersonMarks:
    seats = seat_numbers(chosen.seats)
    mine = [one for one in chosen.judgements if seats[name_key(one.annotator)] == rater.seat]
    said = Counter(mark for one in mine for mark in one.answer["marks"].values())
    return PersonMarks(rater.seat, rater.name, len(mine), {mark: said[mark] for mark in MARKS},
                       mean_kappa(marks, number, options))


def _notes(chosen: StudyAnswers, marked: int, shared: int, unasked: int) -> list[str]:
    queries = counted(len(chosen.items), "query", "queries")
    if not chosen.items:
        return ["These filters leave no query. Remove one of them."]
    if not marked:
        return [f"No answers yet to {'this' if len(chosen.items) == 1 else 'these'} {queries}."]
    notes = []
    if missing := len(chosen.items) - marked:
        notes.append(f"{missing:,} of {queries} {'has' if missing == 1 else 'have'} no answer yet.")
    if not shared:
        notes.append("No query was marked by two people, so agreement among them cannot be measured.")
    if unasked:
        notes.append(f"{counted(unasked, 'image')} with a majority {'has' if unasked == 1 else 'have'} no confidence, "
                     "because only the data set named it as a target: left out of the comparison of people and model.")
    return notes


def target_json(report: TargetReport) -> dict[str, Any]:
    """``{"n_queries", "agreement", "curve", "choice", …}``: see the reference of reports in the docs."""
    choice = report.choice
    return {
        "n_people": len(report.raters), "n_queries": report.n_queries, "n_marked": report.marked,
        "n_shared": report.shared, "n_answers": report.answers, "n_decided": report.decided,
        "n_targets": report.targets, "n_undecided": report.undecided,
        "n_without_confidence": report.without_confidence, "threshold": report.threshold,
        "agreement": _agreement(report.agreement),
        "pairs": [{"a": one.a, "b": one.b, "n": one.n, "kappa": estimate_json(one.kappa),
                   "agreement": estimate_json(one.agreement)} for one in report.pairs],
        "curve": [asdict(one) for one in report.curve],
        "choice": {"best": estimate_json(choice.best), "held_out": _model(choice.held_out),
                   "used": _model(choice.used), "difference": estimate_json(choice.difference)},
        "raters": [{"seat": one.seat, "name": one.name, "judgements": one.answers, "marks": dict(one.marks),
                    "kappa": finite(one.kappa)} for one in report.people],
        "people": people_json(report.others) if report.others else [],
        "times": times_json(report.times) if report.times else None,
        "about": about_json(report.about),
    }


def _agreement(of: MarkAgreement) -> dict[str, Any]:
    return estimates_json({
        "kappa": of.kappa, **{one.column: of.pooled[one.key] for one in statistics_of("nominal")},
        "agreement": of.agreement, "unanimous": of.unanimous, "unsure": of.unsure})


def _model(of: ModelAgreement) -> dict[str, Any]:
    return estimates_json({field.name: getattr(of, field.name) for field in fields(of)})
