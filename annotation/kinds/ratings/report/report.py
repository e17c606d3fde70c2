"""Report of a session study: ratings, agreement among people and with language models, and sources of sessions.
Session report as plain JSON with stable keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from annotation.analysis.about import about, about_json, finite
from annotation.analysis.people.profiles import people_json, people_of
from annotation.analysis.people.time_section import times_json
from annotation.analysis.people.times import Times, answered, same_as_others, times_of
from annotation.analysis.planning import DrawnStudies, check_width, planned
from annotation.analysis.records import MetricScores, Options, Precision, Rater, Selection, StudyAnswers
from annotation.analysis.rendering import estimates_json
from annotation.analysis.selection import check_options, raters, seat_numbers, select, wrong_kind
from annotation.kinds.ratings.answers import KEYS, Questions, check_comparable, questions_of
from annotation.kinds.ratings.report.agreement import (
    RatedSession,
    Scores,
    given_to,
    mean_of,
    model_ratings,
    people_ratings,
    person_ratings,
    question_ratings,
)
from annotation.kinds.ratings.report.records import (
    ModelRatings,
    QuestionRatings,
    SessionGroup,
    SessionJudge,
    SessionReport,
)
from annotation.records import name_key
from cir_core.support.texts import counted


def session_report(
    answers: StudyAnswers, selection: Selection = Selection(), options: Options = Options(), *,
    scores: Sequence[MetricScores] = (),
) -> SessionReport:
    """The report of ``selection``; also of an empty or tiny study, with reasons instead of numbers.

    Args:
        scores: of language models, by name: ``scores[item_id, n]`` is the answer to question n, from 1.

    Raises ``StudyError`` for a study of another kind, an invalid selection, resampling of people, and scores in a study
    that asks other questions.
    """
    if answers.study.kind != "sessions":
        raise wrong_kind(answers.study, "rates no sessions")
    check_options(options, "sessions")
    asked = questions_of(answers.study)
    if scores:
        check_comparable(answers.study)
    selected = select(answers, selection)
    sessions = _sessions(selected, scores)
    rated = [one for one in sessions.values() if one.people]
    people = raters(selected, selected.judgements, hide=options.hide_names)
    models = tuple(_judge(one, asked, rated, options) for one in scores)
    per_session = Counter(len(one.people) for one in sessions.values())
    return SessionReport(
        about(answers, selected, selection, options, _notes(selected, rated, models)), asked, people,
        len(selected.items),
        len(rated), sum(len(one.people) > 1 for one in rated), len(selected.judgements),
        dict(sorted(per_session.items())), tuple(question_ratings(key, asked, rated, options) for key in asked.keys),
        models,
        tuple(_groups(asked, rated, [one.name for one in scores], options)),
        tuple(person_ratings(one, asked, rated) for one in people),
        people_of(people_ratings(asked.whole.key, asked, rated), people, "ordinal", options) if people else None,
        _times(selected, asked, sessions, people, options) if people else None)


def _times(
    selected: StudyAnswers, asked: Questions, sessions: Mapping[str, RatedSession], people: Sequence[Rater],
    options: Options,
) -> Times:
    rated = {item_id: one for item_id, one in sessions.items() if one.people}
    rows, seats = {item_id: row for row, item_id in enumerate(rated)}, seat_numbers(selected.seats)
    columns = {rater.seat: column for column, rater in enumerate(people)}
    same = same_as_others(people_ratings(asked.whole.key, asked, tuple(rated.values())))
    return times_of(answered(
        selected, selected.judgements,
        {one.judgement_id: float(same[rows[one.item_id], columns[seats[name_key(one.annotator)]]])
         for one in selected.judgements},
        {one.judgement_id: float(one.answer["ratings"][asked.whole.key]) for one in selected.judgements}),
        people, options)


def session_precision(
    answers: StudyAnswers, wanted: float, options: Options = Options(), selection: Selection = Selection(),
) -> tuple[Precision, ...]:
    """Plan for the mean of the question that stands for the whole: more sessions. Raises ``StudyError`` for a width
    that is not between 0 and 2, and as the report does."""
    check_width(wanted)
    if answers.study.kind != "sessions":
        raise wrong_kind(answers.study, "rates no sessions")
    check_options(options, "sessions")
    rated = [one for one in _sessions(select(answers, selection), ()).values() if one.people]
    whole = questions_of(answers.study).whole
    of = f"Mean of “{whole.title}”"
    plan = Precision(
        of, "sessions", len(rated), None, wanted, None, (),
        "Sessions are resampled from the existing ones, each with the mean of its ratings, assuming that further "
        "sessions and people are like them.")
    if not rated:
        return (Precision(of, "sessions", 0, None, wanted, None, (), plan.assumption, "no session has a rating"),)
    means = [fmean(given_to(whole.key, one)) for one in rated]
    now = mean_of(means, "", options)
    values, counts = np.unique(means, return_counts=True)
    drawn = DrawnStudies(counts, lambda often: often @ values / often.sum(axis=1), options.seed)
    return (planned(plan, drawn.width, None if now.low is None or now.high is None else now.high - now.low),)


def _sessions(selected: StudyAnswers, scores: Sequence[MetricScores]) -> Mapping[str, RatedSession]:
    """By item id, in the study's order."""
    seats = seat_numbers(selected.seats)
    given: dict[str, dict[int, Scores]] = {item.item_id: {} for item in selected.items}
    for judgement in selected.judgements:
        given[judgement.item_id][seats[name_key(judgement.annotator)]] = judgement.answer["ratings"]
    return {
        item.item_id: RatedSession(
            str(item.hidden["source"]), int(item.hidden["turns"]), given[item.item_id],
            {one.name: found for one in scores if (found := _scores_of(one, item.item_id))})
        for item in selected.items}


def _scores_of(model: MetricScores, item_id: str) -> Mapping[str, int]:
    """Empty unless the model answered all questions."""
    found = [model.scores.get((item_id, place)) for place in range(1, len(KEYS) + 1)]
    return {} if None in found else {key: round(score) for key, score in zip(KEYS, found, strict=True)
                                     if score is not None}


def _judge(
    model: MetricScores, asked: Questions, rated: Sequence[RatedSession], options: Options,
) -> SessionJudge:
    both = [one for one in rated if model.name in one.models]
    return SessionJudge(model.name, model.description, len(both),
                        tuple(model_ratings(key, asked, model.name, both, options) for key in asked.keys), model.notes)


def _groups(
    asked: Questions, rated: Sequence[RatedSession], models: Sequence[str], options: Options,
) -> list[SessionGroup]:
    """Each source, and each number of turns in it: longer sessions are rated differently."""
    found = []
    for source in sorted({one.source for one in rated}):
        of_source = [one for one in rated if one.source == source]
        found.append(_group(asked, source, None, of_source, models, options))
        found += [_group(asked, source, turns, [one for one in of_source if one.turns == turns], models, options)
                  for turns in sorted({one.turns for one in of_source})]
    return found


def _group(
    asked: Questions, source: str, turns: int | None, rated: Sequence[RatedSession], models: Sequence[str],
    options: Options,
) -> SessionGroup:
    people = {key: mean_of([fmean(given) for one in rated if (given := given_to(key, one))], "not asked", options)
              for key in asked.keys}
    by_model = {model: {key: mean_of([one.models[model][key] for one in rated if model in one.models],
                                     "not rated by it", options) for key in asked.keys} for model in models}
    return SessionGroup(source, turns, len(rated), fmean(one.turns for one in rated), people, by_model)


def _notes(selected: StudyAnswers, rated: Sequence[RatedSession], models: Sequence[SessionJudge]) -> list[str]:
    if not selected.items:
        return ["These filters leave no session. Remove one of them."]
    if not rated:
        return [f"No answers yet to {'this' if len(selected.items) == 1 else 'these'} "
                f"{counted(len(selected.items), 'session')}."]
    notes = []
    if missing := len(selected.items) - len(rated):
        notes.append(f"{missing:,} of {counted(len(selected.items), 'session')} {'has' if missing == 1 else 'have'} "
                     "no rating yet.")
    if not any(len(one.people) > 1 for one in rated):
        notes.append("No session was rated by two people, so agreement among them cannot be measured.")
    notes += [f"{model.name} rated {model.sessions:,} of the {counted(len(rated), 'session')} that people rated: it is "
              "compared over those." for model in models if model.sessions < len(rated)]
    return notes


def session_json(report: SessionReport) -> dict[str, Any]:
    """``{"n_sessions", "questions", "models", "sources", …}``: see the reference of reports in the docs."""
    return {
        "n_people": len(report.raters), "n_sessions": report.n_sessions, "n_rated": report.rated,
        "n_shared": report.shared, "n_answers": report.answers,
        "people_per_session": {str(people): sessions for people, sessions in report.per_session.items()},
        "questions": {one.question: _question(one) for one in report.questions},
        "models": {one.name: {
            "sessions": one.sessions, "description": one.description, "notes": list(one.notes),
            "questions": {each.question: _model(each) for each in one.questions},
        } for one in report.models},
        "sources": [_group_json(one) for one in report.groups],
        "raters": [{"seat": one.seat, "name": one.name, "judgements": one.answers, "mean_overall": one.mean,
                    "shared": one.shared, "apart": finite(one.apart), "lenient": finite(one.lenient)}
                   for one in report.people],
        "people": people_json(report.overall) if report.overall else [],
        "times": times_json(report.times) if report.times else None,
        "about": about_json(report.about),
    }


def _question(of: QuestionRatings) -> dict[str, Any]:
    return {"ratings": {str(point): count for point, count in enumerate(of.counts, 1)},
            **estimates_json({"mean": of.mean, **of.agreement, "apart": of.apart})}


def _model(of: ModelRatings) -> dict[str, Any]:
    return estimates_json({"mean": of.mean, "difference": of.difference, "krippendorff_alpha": of.alpha,
                           "spearman": of.rho, "apart": of.apart})


def _group_json(of: SessionGroup) -> dict[str, Any]:
    return {"source": of.source, "turns": of.turns, "sessions": of.sessions, "mean_turns": of.mean_turns,
            "people": estimates_json(of.people),
            "models": {name: estimates_json(found) for name, found in of.models.items()}}
