"""Sections of a preference report: ratings, sides, exclusions, and methods of computation.

Metrics are in :mod:`~annotation.kinds.preference.report.metric_sections`, methods in
:mod:`~annotation.kinds.preference.report.metric_sections`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from annotation.analysis.people.profiles import people_figure, people_how, people_tables, side_table
from annotation.analysis.people.time_section import times_section
from annotation.analysis.records import Estimate, Headline, Precision, ReportColumn, ReportTable, Section
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
from annotation.analysis.statistics.rates import RATES
from annotation.kinds.preference.report.metric_sections import (
    methods_section,
    metrics_section,
    rate_estimate,
    rates_section,
    tests_section,
)
from annotation.kinds.preference.report.records import PreferenceReport
from annotation.quality.rules import shown as rule_name
from cir_core.reports.figures import Series, bars, dots
from cir_core.reports.records import count, number, p_value, ranged, text

_NO_SIDES = "which set was shown first was not recorded"


def preference_sections(report: PreferenceReport, plan: Sequence[Precision] = ()) -> tuple[Section, ...]:
    """All sections in order; ``plan`` adds the needed numbers of questions or people."""
    return (
        _glance(report), _ratings(report), metrics_section(report), rates_section(report), tests_section(report),
        methods_section(report), _sides(report), *_people(report),
        *(times_section(report.times, "Mean rating", "number", "question") if report.times else ()),
        _left_out(report), *planning_section(plan),
        method_section(report.about, report.raters, _how(report), _settings(report)),
    )


def _glance(report: PreferenceReport) -> Section:
    metric: tuple[Headline, ...] = ()
    if report.metrics:
        first = report.metrics[0]
        metric = (
            headline(f"Spearman’s ρ, {first.name}", first.spearman, "number", "rated sets"),
            headline(f"Preference rate, {first.name}", rate_estimate(report, first.rates["symmetric"]), "share",
                     "answers", "symmetric: the preferred set has the higher value"),
        )
    return Section(
        "glance", "At a glance",
        "Answers removed by exclusion rules are not counted. ρ is 0 and the preference rate 50 % for a metric that "
        "says nothing about preferences.",
        (
            counted("Questions answered", report.n_questions, report.n_answers, "answers"),
            counted("People", report.n_people, report.n_answers, "answers"),
            counted("Answers that count", report.n_valid, report.n_answers, "answers"),
            headline("Mean rating", report.mean_rating, "number", "rated sets"),
            headline("First side preferred", _sided(report, report.first_side), "share",
                     "preferences", "50 % without position bias" if report.first_side.n else ""),
            *metric,
        ),
        tables=notes_table(report),
    )


def _ratings(report: PreferenceReport) -> Section:
    ratings, total = report.ratings, sum(report.ratings)
    labels = [str(rating) for rating in range(1, 6)]
    spread = ", ".join(f"{label}: {number:,}" for label, number in zip(labels, ratings, strict=True))
    table = ReportTable(
        "ratings", "Ratings", (text("rating", "Rating"), count("sets", "Rated sets"),
                               ReportColumn("share", "Share", "share")),
        tuple((label, number, number / total if total else None)
              for label, number in zip(labels, ratings, strict=True)),
        f"Of {total:,} rated sets.")
    normal = report.ratings_shapiro
    about = ReportTable(
        "rating-facts", "About the ratings",
        (text("what", "What"), count("count", "Count"), count("n", "Of"), text("unit", "Unit")),
        (("both sets rated the same", report.rated_equal, report.n_valid, "answers"),
         ("the preferred set is rated lower", report.contradictions, report.n_valid, "answers"),
         ("both sets called equally good", report.ties, report.n_valid, "answers"),
         ("both sets have the same images", report.identical_sets, report.n_questions, "questions"),
         ("questions answered by two people or more", report.shared_questions, report.n_questions, "questions")))
    tests = ReportTable(
        "rating-tests", "Normality of the ratings",
        (text("test", "Test"), number("w", "W"), p_value(), count("n", "Rated sets"), text("reason", "Remark")),
        (("Shapiro–Wilk", normal.value, normal.p, normal.n, normal.reason),),
        "A small p means that ratings are not normal, which is why correlations are by ranks.")
    return Section(
        "ratings", "Ratings",
        "Each answer rates both sets from 1 to 5. Agreement is measured on the questions that several people answered. "
        + report.asked,
        (
            headline("Mean rating", report.mean_rating, "number", "rated sets"),
            headline("Krippendorff’s α of ratings (ordinal)", report.ratings_alpha, "number", "sets"),
            headline("Krippendorff’s α of preferences", report.preference_alpha, "number", "questions"),
        ),
        (bars("ratings", "Ratings", f"How many sets got each rating. {spread}.", labels, ratings, axis="rated sets",
              across="rating"),) if total else (),
        (table, about, *_agreement(report), tests))


def _agreement(report: PreferenceReport) -> tuple[ReportTable, ...]:
    """Nothing where no question was answered by two people."""
    if not report.shared_questions:
        return ()
    of = (("ratings", "sets", statistics_of("ordinal"), report.ratings_agreement),
          ("preferences", "questions", statistics_of("nominal"), report.preference_agreement))
    return (ReportTable(
        "agreement", "Agreement among people",
        (text("of", "Of"), text("measure", "Measure"), *ranged("value", "Value"), count("n", "n"), text("unit", "Unit"),
         text("reason", "Remark")),
        tuple((what, one.name, *values(found[one.key]), found[one.key].n, unit, found[one.key].reason)
              for what, unit, statistics, found in of for one in statistics),
        "Over shared questions. The Method section says when to use which."),)


def _sides(report: PreferenceReport) -> Section:
    rows = (
        ("shown first", _sided(report, report.first_side)),
        ("shown first, both rated the same", _sided(report, report.first_side_when_equal)),
        ("stored set 1", report.stored_one), ("stored set 1, both rated the same", report.stored_one_when_equal),
    )
    labels, estimates = [label for label, _ in rows], tuple(share for _, share in rows)
    table = ReportTable(
        "sides", "What was preferred",
        (text("what", "What"), count("count", "Preferences for it"), count("n", "Of"),
         *ranged("share", "Share", "share"), p_value(), text("reason", "Remark")),
        tuple((what, share.count if share.n else None, share.n, *values(share), share.p, reasons({"Share": share}))
              for what, share in rows),
        "p: two-sided exact binomial test against one half. Intervals are Wilson’s.")
    figure = dots("sides", "What was preferred",
                  f"Share of preferences, with 95 % intervals: {each(labels, estimates, 'share')}.", labels,
                  (Series("", estimates),), axis="share of preferences", share=True, at=0.5)
    return Section(
        "sides", "Sides",
        "If both sets got the same rating, a share other than 50 % indicates position bias. Answers that call both "
        "sets equal are left out.",
        figures=(figure,) if any(one.value is not None for one in estimates) else (), tables=(table,))


def _people(report: PreferenceReport) -> tuple[Section, ...]:
    """Nothing without an answer that counts."""
    tables = (*(people_tables(report.people, "Rates higher by") if report.people else ()),
              *((side_table(report.raters, report.sides),) if report.sides else ()))
    if not tables:
        return ()
    return (Section(
        "people", "People",
        "Each person compared with the others on shared questions: preferences, with ties as a third answer, and how "
        "much higher they rate sets.", figures=people_figure(report.people, "questions") if report.people else (),
        tables=tables),)


def _left_out(report: PreferenceReport) -> Section:
    rules = [(rule_name(name), "yes" if value is True else str(value), report.removed.get(name), report.n_answers)
             for name, value in report.rules.items()]
    out = ReportTable(
        "rules", "Rules", (text("rule", "Rule"), text("limit", "Set to"), count("answers", "Removes alone"),
                           count("n", "Of answers")),
        tuple(rules),
        f"Together they remove {report.n_answers - report.n_valid:,} of {report.n_answers:,} answers." if rules else "",
        "No rule is active: every answer counts.")
    flags = ReportTable(
        "flagged", "Answers flagged as irrelevant",
        (count("flagged", "Flagged"), count("n", "Of answers"), text("reason", "Remark")),
        ((report.flagged, report.n_answers, "not recorded" if report.flagged is None else ""),))
    people = ReportTable(
        "people", "Answers that count, by person", (text("person", "Person"), count("answers", "Answers")),
        tuple((rater.name, rater.judgements) for rater in report.raters), empty="No answers are counted.")
    return Section(
        "left-out", "What was left out",
        "A rule removes answers, or all answers of a person. Missing metadata never excludes anyone.",
        (counted("Answers that count", report.n_valid, report.n_answers, "answers"),), (), (out, flags, people))


def _how(report: PreferenceReport) -> list[tuple[str, str]]:
    options = report.about.options
    unit = "questions" if options.resample == "items" else "people"
    drawn = interval_sentence(options, unit)
    return [
        ("What counts", "Answers not removed by rules. Answers that call both sets equal are counted, but are in no "
                        "rate."),
        ("Spearman’s ρ", "scipy, with p, between a metric’s value and the rating, over all rated sets that have both. "
                         f"Interval: {drawn}"),
        ("Kendall’s τ", "scipy, τ-b, which allows for ties."),
        ("Shapiro–Wilk", "scipy, of ratings and of each metric’s values."),
        *dict.fromkeys(form.how for form in RATES),
        ("Intervals of shares", "95 %, Wilson’s, which treat answers as independent. If several people answered a "
                                f"question, or people are resampled, rates have a second one. Interval: {drawn}"),
        ("p", "Of ρ, τ and shares: answers and rated sets are treated as independent. One-sided rates have no p, as "
              "set 1 may be preferred more often regardless of the metric."),
        ("Adjusted for sides", "The mean of the rate with the favoured set shown first and with it shown second. "
                               f"Interval: {drawn}"),
        *(people_how(report.people) if report.people else ()),
        ("Two metrics", "Paired permutation test of the difference of ρ: both metrics’ ranks are swapped by "
                        "question. Holm’s correction (statsmodels) over all pairs of metrics."),
        ("Bradley–Terry", "evalica; natural logarithms around a mean of 0, ties count half, over the largest group of "
                          "methods that all won and lost against each other. Adjusted: with a term for the position. "
                          f"Interval: {drawn}"),
        *((f"{one.name} (ratings)", f"{one.method('set', 'ordinal')} Interval: {drawn}")
          for one in statistics_of("ordinal")),
        *((f"{one.name} (preferences)", f"{one.method('question')} Interval: {drawn}")
          for one in statistics_of("nominal")),
    ]


def _settings(report: PreferenceReport) -> list[tuple[str, str]]:
    rules = [rule_name(name) if value is True else f"{rule_name(name)}={value}" for name, value in report.rules.items()]
    metrics = [(f"Metric {metric.name}", metric.description) for metric in report.metrics]
    return [("Rules", ", ".join(rules) or "none"), *metrics]


def _sided(report: PreferenceReport, share: Estimate) -> Estimate:
    """``share`` of the set shown first, with the reason where no side was recorded."""
    known = report.first_side.n or not report.n_valid or report.ties == report.n_valid
    return share if known else replace(share, reason=_NO_SIDES)
