"""Sections of a session report: ratings, agreement, language models, sources, people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotation.analysis.people.profiles import people_figure, people_how, people_tables
from annotation.analysis.people.time_section import times_section
from annotation.analysis.records import Headline, Precision, ReportColumn, ReportTable, Section
from annotation.analysis.rendering import (
    counted,
    each,
    headline,
    interval_sentence,
    method_section,
    notes_table,
    planning_section,
    reasons,
    values,
)
from annotation.analysis.statistics.agreement import statistics_of
from annotation.kinds.ratings.answers import KEYS, Questions
from annotation.kinds.ratings.report.records import SessionGroup, SessionJudge, SessionReport
from cir_core.reports.figures import Series, dots
from cir_core.reports.records import count, number, ranged, text

_ORDINAL = statistics_of("ordinal")


def _scale(asked: Questions) -> tuple[float, float]:
    """Of figures of ratings."""
    return 0.9, asked.points + 0.1


def session_sections(report: SessionReport, plan: Sequence[Precision] = ()) -> tuple[Section, ...]:
    """All sections in order; ``plan`` adds the needed number of sessions."""
    models = (_model(one, place, _titles(report)) for place, one in enumerate(report.models, 1))
    return (_glance(report), _ratings(report), _agreement(report), *models, _sources(report), _people(report),
            *(times_section(report.times, f"Rating, {_whole(report)}", "number", "session") if report.times else ()),
            *planning_section(plan), method_section(report.about, report.raters, _how(report)))


def _titles(report: SessionReport) -> dict[str, str]:
    """Titles of the questions, by key."""
    return {one.key: one.title for one in report.asked.questions}


def _whole(report: SessionReport) -> str:
    """What the question is called that stands for a session as a whole, inside a sentence: "overall"."""
    whole = report.asked.whole
    return "overall" if whole.key == "overall" else f"“{whole.title}”"


def _glance(report: SessionReport) -> Section:
    key, whole = report.asked.whole.key, _whole(report)
    overall = next(one for one in report.questions if one.question == key)
    models: list[Headline] = []
    for model in report.models[:1]:
        found = next(one for one in model.questions if one.question == key)
        models = [headline(f"α of {model.name} and people, {whole}", found.alpha, "number", "sessions"),
                  headline(f"{model.name} less people, {whole}", found.difference, "number", "sessions", "points")]
    per_session = ReportTable(
        "people-per-session", "People per session", (count("people", "People"), count("sessions", "Sessions")),
        tuple(report.per_session.items()), empty="There is no session.")
    return Section(
        "glance", "At a glance",
        f"Ratings are from 1 to {report.asked.points}. For agreement, α is 1 if all agree and 0 at chance level. " + (
            "" if report.models else "No language model is compared: add its scores, the file judged.json of cirque "
            "construct judge, to see how far people agree with it."),
        (
            counted("Sessions rated", report.rated, report.n_sessions, "sessions"),
            counted("People", len(report.raters), report.answers, "answers"),
            headline(f"Mean rating, {whole}", overall.mean, "number", "sessions"),
            headline(f"Krippendorff’s α of people, {whole}", overall.alpha, "number", "sessions"),
            *models,
        ),
        tables=(*notes_table(report), per_session))


def _ratings(report: SessionReport) -> Section:
    titles = _titles(report)
    labels = tuple(titles.values())
    table = ReportTable(
        "ratings", "Ratings by question",
        (text("question", "Question"), *ranged("mean", "Mean"), count("sessions", "Sessions"),
         *(count(str(point), str(point)) for point in report.asked.scale), text("reason", "Remark")),
        tuple((titles[one.question], *values(one.mean), one.mean.n, *one.counts, reasons({"Mean": one.mean}))
              for one in report.questions),
        f"Mean over sessions, weighted equally. 1 to {report.asked.points}: number of ratings with that many points."
        + (" Redundancy: 5 if nothing is said twice." if "redundancy" in titles else ""))
    means = tuple(one.mean for one in report.questions)
    series = [Series("people", means)]
    series += [Series(model.name, tuple(one.mean for one in model.questions)) for model in report.models
               if model.sessions]
    figure = dots("ratings", "Mean ratings",
                  f"Mean rating of each question by people, with 95 % intervals: {each(labels, means, 'number')}.",
                  labels, series, axis=f"mean rating, 1 to {report.asked.points}", bounds=_scale(report.asked))
    return Section("ratings", "Ratings", "The five questions of CIRCLED, section 5.3." if report.asked.keys == KEYS else
                   f"The questions of {report.about.protocol}.",
                   figures=(figure,) if report.rated else (), tables=(table,))


def _agreement(report: SessionReport) -> Section:
    titles = _titles(report)
    labels = tuple(titles.values())
    table = ReportTable(
        "agreement", "Agreement among people",
        (text("question", "Question"), *(column for one in _ORDINAL for column in ranged(one.column, one.symbol)),
         *ranged("apart", "Points apart"), count("sessions", "Sessions rated by two or more"),
         text("reason", "Remark")),
        tuple((titles[one.question], *(cell for of in _ORDINAL for cell in values(one.agreement[of.key])),
               *values(one.apart), one.apart.n,
               reasons({**{of.symbol: one.agreement[of.key] for of in _ORDINAL}, "Points apart": one.apart}))
              for one in report.questions),
        "The Method section says when to use which coefficient. Points apart: by how many points two people who rated "
        "the same session differ on average.")
    people = tuple(one.alpha for one in report.questions)
    series = [Series("people among each other", people)]
    series += [Series(f"{model.name} and people", tuple(one.alpha for one in model.questions))
               for model in report.models if model.sessions]
    figure = dots("agreement", "Krippendorff’s α",
                  "Agreement on each question, with 95 % intervals. People among each other: "
                  f"{each(labels, people, 'number')}.", labels, series, axis="α (1: full agreement)", at=0.0)
    there = any(one.value is not None for series_of in series for one in series_of.estimates)
    return Section(
        "agreement", "Agreement among people",
        "Ordinal: 4 instead of 5 counts as less disagreement than 1 instead of 5. If nearly all ratings are the same, "
        "α is low although people are close; so both are given.",
        figures=(figure,) if there else (), tables=(table,))


def _model(model: SessionJudge, place: int, titles: Mapping[str, str]) -> Section:
    labels = tuple(titles.values())
    key = f"model-{place}"
    table = ReportTable(
        key, f"{model.name} and people",
        (text("question", "Question"), *ranged("alpha", "Krippendorff’s α"), *ranged("rho", "Spearman’s ρ"),
         *ranged("difference", "Model less people"), *ranged("apart", "Points apart"), count("sessions", "Sessions"),
         text("reason", "Remark")),
        tuple((titles[one.question], *values(one.alpha), *values(one.rho), *values(one.difference),
               *values(one.apart), one.mean.n,
               reasons({"α": one.alpha, "ρ": one.rho, "Difference": one.difference})) for one in model.questions),
        "α: between the model’s rating and the people’s median. ρ: between the model’s rating and the people’s mean. "
        "Points apart: between the model and one person, comparable to those between two people.")
    differences = tuple(one.difference for one in model.questions)
    figure = dots(
        key, f"Ratings of {model.name} less those of people",
        "Mean difference on each question, with 95 % intervals; above 0 the model rates higher: "
        f"{each(labels, differences, 'number')}.", labels, [Series("", differences)], axis="points", at=0.0)
    return Section(
        key, f"{model.name} and people",
        f"{model.description} Over the sessions that people also rated. The median of several people is steadier than "
        "one person, so its agreement with the model may exceed that of people among each other: compare the points "
        "apart.", figures=(figure,) if model.sessions else (), tables=(table,))


def _sources(report: SessionReport) -> Section:
    titles = _titles(report)
    labels = tuple(titles.values())
    raters = ["people", *(model.name for model in report.models if model.sessions)]
    columns: tuple[ReportColumn, ...] = (
        text("source", "Source"), count("sessions", "Sessions"), number("mean_turns", "Mean turns"),
        text("rated_by", "Rated by"), *(column for key, title in titles.items() for column in ranged(key, title)))

    def rows(group: SessionGroup, first: tuple[object, ...]) -> list[tuple[object, ...]]:
        of = [group.people, *(group.models[name] for name in raters[1:])]
        return [(*first, group.sessions, group.mean_turns, who,
                 *(cell for key in titles for cell in values(found[key])))
                for who, found in zip(raters, of, strict=True)]

    whole = [one for one in report.groups if one.turns is None]
    by_turns = [one for one in report.groups if one.turns is not None]
    by_source = ReportTable(
        "sources", "Mean ratings by source", columns,
        tuple(row for one in whole for row in rows(one, (one.source,))), empty="No session has a rating.")
    turns = ReportTable(
        "sources-by-turns", "Mean ratings by source and number of turns",
        (columns[0], count("turns", "Turns"), *columns[1:2], *columns[3:]),
        tuple((*row[:3], *row[4:]) for one in by_turns for row in rows(one, (one.source, one.turns))),
        empty="No session has a rating.")
    figure = dots("sources", "Mean ratings by source",
                  "Mean rating of each question by people, with 95 % intervals. " + " ".join(
                      f"{one.source}: {each(labels, one.people.values(), 'number')}." for one in whole),
                  labels, [Series(one.source, tuple(one.people[key] for key in titles)) for one in whole],
                  axis=f"mean rating, 1 to {report.asked.points}", bounds=_scale(report.asked))
    return Section(
        "sources", "Sources",
        "Where the sessions come from; raters did not see it. Longer sessions are rated differently: compare sources "
        "with different session lengths by number of turns.",
        figures=(figure,) if len(whole) > 1 else (), tables=(by_source, turns))


def _people(report: SessionReport) -> Section:
    table = ReportTable(
        "people", "People",
        (text("person", "Person"), count("answers", "Answers"), number("mean", f"Mean, {_whole(report)}"),
         count("shared", "Sessions shared"), number("apart", "Points apart"), number("lenient", "More generous by"),
         text("reason", "Remark")),
        tuple((one.name, one.answers, one.mean, one.shared, one.apart, one.lenient,
               "" if one.shared else "no shared sessions") for one in report.people), empty="No answers yet.")
    return Section(
        "people", "People",
        "Points apart: mean distance to the other raters of the same sessions over all questions. More generous "
        f"by: the same with its sign. The tables below are of “{report.asked.whole.title}”.",
        figures=people_figure(report.overall, "sessions") if report.overall else (),
        tables=(table, *(people_tables(report.overall, "Rates higher by") if report.overall else ())))


def _how(report: SessionReport) -> list[tuple[str, str]]:
    return [
        ("Mean", "Mean of each session’s ratings; then over sessions, weighted equally."),
        *((one.name, one.method("session", "ordinal")) for one in _ORDINAL),
        *(people_how(report.overall) if report.overall else ()),
        ("Points apart", "Mean distance between two ratings of a session; then over sessions."),
        ("Language models", "One rating of each session, against the median (α) or the mean (ρ, difference) of the "
                            "people who rated it."),
        ("Spearman’s ρ", "scipy, over sessions."),
        ("Intervals", interval_sentence(report.about.options, "sessions")),
    ]
