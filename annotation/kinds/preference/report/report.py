"""Report of a preference study: ratings, preferences, metrics, and methods. Preference report as plain JSON with
stable keys.

Exclusion rules apply to all answers of a person; the selection is applied afterwards. Intervals of shares are
Wilson's. The others, and the second intervals of rates, are percentiles over bootstrap replicates of questions or
people, each with all answers; all numbers of a report use the same replicates.

Rates have two intervals: Wilson's as ``ci95``, and the bootstrap interval ``ci95_draws``, which allows for the
dependence of answers to one question, or of one person.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from annotation.analysis.about import about, about_json, finite
from annotation.analysis.people.profiles import people_json
from annotation.analysis.people.time_section import times_json
from annotation.analysis.people.times import Times, answered, times_of
from annotation.analysis.records import (
    Estimate,
    MetricScores,
    MetricTest,
    Options,
    Rate,
    Rater,
    Selection,
    Strength,
    StudyAnswers,
)
from annotation.analysis.rendering import estimate_json, estimates_json
from annotation.analysis.selection import check_options, raters, seat_numbers, select, wrong_kind
from annotation.analysis.statistics.answer_rows import AnswerRows, answer_rows, meetings, over_draws
from annotation.analysis.statistics.bootstrap import weights
from annotation.analysis.statistics.bradley_terry import strengths
from annotation.analysis.statistics.correlation import shapiro
from annotation.kinds.preference.answers import RATINGS, Preference, contradicts
from annotation.kinds.preference.quality import flagged, people_quality, side_bias
from annotation.kinds.preference.report.metric_reports import (
    method_pairs,
    method_ratings,
    metric_report,
    metric_tests,
    recall_scores,
    with_order,
)
from annotation.kinds.preference.report.notes import (
    people_of_preferences,
    preference_agreement,
    preference_notes,
    ratings_agreement,
    same_preference,
    shared_questions,
)
from annotation.kinds.preference.report.records import MethodPair, MetricReport, PreferenceReport
from annotation.kinds.preference.survey.texts import in_words
from annotation.quality.care import outcomes_of
from annotation.quality.rules import Removed, Rules, apply_rules, rules_of
from annotation.records import Item, Judgement, name_key
from annotation.studies.creation import HP_ANSWERS

K = 5
"""Default cutoff of recall; all images of a set in HS-FashionIQ."""


def preference_report(
    answers: StudyAnswers, selection: Selection = Selection(), options: Options = Options(), *,
    rules: Rules | None = None, scores: Sequence[MetricScores] = (), ks: Sequence[int] = (K,),
) -> PreferenceReport:
    """The report of ``selection``; also of an empty or tiny study, with reasons instead of numbers.

    Args:
        rules: instead of the study's.
        scores: of metrics besides recall, by name.
        ks: cutoffs of recall. The first is for equation 9, "equal recall".

    Raises ``StudyError`` for a validity study, an invalid selection, a ``k`` below 1, and unknown rules in the
    study's settings.
    """
    check_options(options)
    selected, valid, rules, removed = answers_that_count(answers, selection, rules)
    rows = answer_rows(valid)
    recalls = [recall_scores(selected.items, k) for k in dict.fromkeys(ks or (K,))]
    metrics = list({one.name: one for one in (*(recalls if ks else ()), *scores)}.values())
    met = meetings(selected.items, rows, options.resample)
    answered = {one.item_id for one in selected.judgements}
    identical = sum(len(set(map(frozenset, item.hidden["set_ids"]))) == 1 for item in selected.items
                    if item.item_id in answered)
    notes = preference_notes(answers, selected, valid, rows, recalls[0], options, identical)
    marks = [flagged(one.answer) for one in selected.judgements]
    bias = side_bias(valid)
    given, methods = [one.answer for one in valid], strengths(met, options)
    people, sides = raters(selected, valid, hide=options.hide_names), _sides(selected, valid)
    inside = {one.judgement_id for one in selected.judgements}
    return PreferenceReport(
        about=about(answers, selected, selection, options, notes),
        asked=in_words(answers.study),
        raters=people,
        n_people=len({name_key(one.annotator) for one in selected.judgements}), n_questions=len(answered),
        n_answers=len(selected.judgements), n_valid=len(valid), rules=rules.as_settings(),
        removed={name: len(one.judgements & inside) for name, one in removed.by_rule.items()},
        flagged=None if marks and marks.count(None) == len(marks) else marks.count(True), ratings=_distribution(rows),
        mean_rating=_mean_rating(rows, options), ratings_shapiro=shapiro(rows.ratings.ravel()),
        rated_equal=sum(answer["ratings"][0] == answer["ratings"][1] for answer in given),
        contradictions=sum(contradicts(answer["ratings"], answer["preferred"]) for answer in given),
        ties=int((rows.preferred == 0).sum()), identical_sets=identical, first_side=bias.first,
        first_side_when_equal=bias.first_when_equal, stored_one=bias.stored,
        stored_one_when_equal=bias.stored_when_equal,
        metrics=tuple(metric_report(rows, metric, recalls[0], options) for metric in metrics),
        tests=metric_tests(rows, metrics, options), methods=methods,
        pairs=with_order(method_pairs(selected.items, valid, met, options), methods),
        no_methods="" if met.methods else _no_methods(selected.items, valid), shared_questions=shared_questions(rows),
        ratings_agreement=ratings_agreement(rows, options),
        preference_agreement=preference_agreement(rows, options),
        people=people_of_preferences(rows, people, _columns(selected, valid), options), sides=tuple(
            sides[one.seat] for one in people),
        method_ratings=method_ratings(met),
        times=_times(selected, valid, rows, people, options) if people else None,
    )


def _times(
    selected: StudyAnswers, valid: Sequence[Judgement], rows: AnswerRows, people: Sequence[Rater], options: Options,
) -> Times:
    """The order of HP-FashionIQ's answers is that of its file; whether people saw it is not known."""
    return times_of(answered(
        selected, valid, dict(zip((one.judgement_id for one in valid), same_preference(rows), strict=True)),
        {one.judgement_id: sum(one.answer["ratings"]) / 2 for one in valid},
    ), people, options, selected.study.source.get("form") != HP_ANSWERS)


def _columns(selected: StudyAnswers, valid: Sequence[Judgement]) -> list[int]:
    """The persons of :func:`~annotation.analysis.statistics.answer_rows.answer_rows`, by seat."""
    seats = seat_numbers(selected.seats)
    names = list(dict.fromkeys(name_key(one.annotator) for one in valid))
    return sorted(range(len(names)), key=lambda place: seats[names[place]])


def _sides(selected: StudyAnswers, valid: Sequence[Judgement]) -> dict[int, Estimate]:
    """By seat: preferences for the set shown first."""
    seats = seat_numbers(selected.seats)
    of: dict[int, list[Judgement]] = {}
    for one in valid:
        of.setdefault(seats[name_key(one.annotator)], []).append(one)
    return {seat: side_bias(mine).first for seat, mine in of.items()}


def answers_that_count(
    answers: StudyAnswers, selection: Selection, rules: Rules | None
) -> tuple[StudyAnswers, tuple[Judgement, ...], Rules, Removed]:
    """Selected answers; those of them that are not excluded; the rules, and what they remove of the whole study. Raises
    ``StudyError``, as :func:`preference_report` does."""
    study = answers.study
    if study.kind != "preference":
        raise wrong_kind(study, "compares no sets")
    rules = rules_of(study.settings) if rules is None else rules
    people = people_quality(answers.seats, answers.assignments, answers.judgements, answers.checks,
                            outcomes_of(answers.gold, Preference().score))
    removed = apply_rules(rules, answers.judgements, people)
    selected = select(answers, selection)
    valid = tuple(one for one in selected.judgements if one.judgement_id not in removed.excluded)
    return selected, valid, rules, removed


def _distribution(rows: AnswerRows) -> tuple[int, int, int, int, int]:
    one, two, three, four, five = (int((rows.ratings == rating).sum()) for rating in RATINGS)
    return one, two, three, four, five


def _mean_rating(rows: AnswerRows, options: Options) -> Estimate:
    if not rows.ratings.size:
        return Estimate(None, 0, reason="no ratings")
    estimate = Estimate(float(rows.ratings.mean()), rows.ratings.size)
    if not options.draws:
        return estimate
    unit, units = rows.unit(options.resample), rows.units(options.resample)
    given, count = np.bincount(unit, rows.ratings.sum(axis=1), units), 2 * np.bincount(unit, minlength=units)
    sums = np.stack([given, count], axis=1)
    drawn = np.concatenate([weight @ sums for weight in weights(units, options.draws, options.seed)])
    return over_draws(estimate, drawn[:, 0] / drawn[:, 1], unit, options)


def _no_methods(items: Iterable[Item], valid: Sequence[Judgement]) -> str:
    if not valid:
        return "no answers"
    answered = {one.item_id for one in valid}
    pairs = [item.hidden["methods"] for item in items if item.item_id in answered]
    if all(None in pair for pair in pairs):
        return "the methods of the sets were not recorded"
    return "no question compares two known, different methods"


def preference_json(report: PreferenceReport) -> dict[str, Any]:
    """``{"n_people", "n_questions", "n_valid", "ratings", "metrics", …}``: see the reference of reports in the docs."""
    return {
        "n_people": report.n_people, "n_questions": report.n_questions, "n_valid": report.n_valid,
        "ratings": {str(rating): count for rating, count in enumerate(report.ratings, 1)},
        "metrics": {metric.name: _metric(metric) for metric in report.metrics}, "n_answers": report.n_answers,
        "rules": dict(report.rules), "removed": dict(report.removed), "flagged": report.flagged,
        "mean_rating": estimate_json(report.mean_rating),
        "ratings_shapiro": estimate_json(report.ratings_shapiro, "p", first="w"),
        "rated_equal": report.rated_equal, "contradictions": report.contradictions, "ties": report.ties,
        "identical_sets": report.identical_sets, "first_side": _share(report.first_side),
        "first_side_when_equal": _share(report.first_side_when_equal), "stored_one": _share(report.stored_one),
        "stored_one_when_equal": _share(report.stored_one_when_equal),
        "metric_tests": [_test(test) for test in report.tests], "methods": [_strength(one) for one in report.methods],
        "method_pairs": [_pair(pair) for pair in report.pairs], "no_methods": report.no_methods,
        "shared_questions": report.shared_questions, "ratings_alpha": estimate_json(report.ratings_alpha),
        "preference_alpha": estimate_json(report.preference_alpha),
        "ratings_agreement": estimates_json(report.ratings_agreement),
        "preference_agreement": estimates_json(report.preference_agreement),
        "raters": [{"seat": one.seat, "name": one.name, "judgements": one.judgements,
                    **({"first_side": _share(side)} if side else {})}
                   for one, side in zip_longest(report.raters, report.sides)],
        "method_ratings": {name: _likert(counts) for name, counts in report.method_ratings.items()},
        "people": people_json(report.people) if report.people else [],
        "times": times_json(report.times) if report.times else None,
        "about": about_json(report.about),
    }


def _metric(of: MetricReport) -> dict[str, Any]:
    return {
        "shapiro": estimate_json(of.shapiro, "p", first="w"), "spearman": estimate_json(of.spearman, "p", first="rho"),
        **{f"preference_rate_{key}": _rate(rate) for key, rate in of.rates.items()},
        "kendall": estimate_json(of.kendall, "p", first="tau_b"), "scored_sets": of.scored,
        "description": of.description, "notes": list(of.notes),
        "ratings_by_value": [
            {"low": low, "high": high, "ratings": _likert(counts)} for low, high, counts in of.ratings],
    }


def _rate(of: Rate) -> dict[str, Any]:
    drawn = estimate_json(of.drawn)
    return _share(of.share) | {"ci95_draws": drawn["ci95"], "reason_draws": drawn["reason"],
                               "adjusted": estimate_json(of.adjusted), "first_side": _share(of.first_side)}


def _share(of: Estimate) -> dict[str, Any]:
    return estimate_json(of, "count", "p", first="rate")


def _test(of: MetricTest) -> dict[str, Any]:
    return {"a": of.a, "b": of.b, **estimate_json(of.difference, "p", first="difference"), "p_holm": finite(of.p_holm),
            "draws": of.draws, "exact": of.exact}


def _strength(of: Strength) -> dict[str, Any]:
    return {"method": of.method, "strength": estimate_json(of.value), "adjusted": estimate_json(of.adjusted),
            "mean_rating": estimate_json(of.mean_rating), "win_rate": _share(of.win_rate),
            "rank": estimate_json(of.rank)}


def _pair(of: MethodPair) -> dict[str, Any]:
    return {"first": of.first, "second": of.second, "answers": of.answers, "ties": of.ties,
            "first_preferred": _share(of.first_preferred), "adjusted": estimate_json(of.adjusted),
            "first_side": _share(of.first_side), "mean_difference": estimate_json(of.mean_difference),
            "predicted": finite(of.predicted), "p_holm": finite(of.p_holm), "answers_needed": of.needed}


def _likert(counts: Sequence[int]) -> dict[str, int]:
    return {str(rating): count for rating, count in enumerate(counts, 1)}
