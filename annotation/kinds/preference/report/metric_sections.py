"""Sections of a preference report on metrics: correlation with ratings, preference rates, and tests."""

from __future__ import annotations

from annotation.analysis.records import Estimate, Rate, ReportColumn, ReportTable, Section
from annotation.analysis.rendering.report_parts import each, reasons, values
from annotation.analysis.statistics.answer_rows import drawn_whole
from annotation.analysis.statistics.rates import RATES
from annotation.kinds.preference.report.records import MetricReport, PreferenceReport
from cir_core.reports.columns import count, number, p_value, ranged, text
from cir_core.reports.figures import Series, dots

_NO_METRIC = "No metric: the sets have no scores."


def metrics_section(report: PreferenceReport) -> Section:
    names = [metric.name for metric in report.metrics]
    rhos = tuple(metric.spearman for metric in report.metrics)
    table = ReportTable(
        "metrics", "Metrics and ratings",
        (text("metric", "Metric"), *ranged("spearman", "Spearman’s ρ"), p_value("spearman_p", "p of ρ"),
         count("n", "Rated sets"), *ranged("kendall", "Kendall’s τ")[:1], p_value("kendall_p", "p of τ"),
         count("kendall_n", "Rated sets (τ)"), number("shapiro_w", "Shapiro–Wilk W"), p_value("shapiro_p", "p of W"),
         count("shapiro_n", "Values (W)"), text("reason", "Remark")),
        tuple(_metric(metric) for metric in report.metrics), empty=_NO_METRIC)
    figure = dots("spearman", "Spearman’s ρ with ratings",
                  f"Spearman’s ρ of each metric with ratings, with 95 % intervals: {each(names, rhos, 'number')}.",
                  names, (Series("", rhos),), axis="Spearman’s ρ", at=0.0)
    return Section(
        "metrics", "Metrics",
        "How a metric’s value of a set tracks its rating. Correlation is by ranks: a small Shapiro–Wilk p means that "
        "values are not normal. p of ρ and τ treats rated sets as independent.",
        figures=(figure,) if _any(rhos) else (), tables=(table,))


def rates_are_drawn(report: PreferenceReport) -> bool:
    """Whether answers are dependent, contrary to Wilson's intervals, and there are bootstrap intervals."""
    options = report.about.options
    return bool(options.draws) and (options.resample == "people" or report.shared_questions > 0)


def rate_estimate(report: PreferenceReport, rate: Rate) -> Estimate:
    """The rate with Wilson's interval, or the bootstrap interval if answers are dependent."""
    return rate.drawn if rates_are_drawn(report) else rate.share


def rates_section(report: PreferenceReport) -> Section:
    drawn = rates_are_drawn(report)
    by_draws = f"by draws of {drawn_whole(report.about.options.resample)}"
    bounds = tuple(ReportColumn(f"drawn_{bound}", f"Rate {bound}, {by_draws}", "share")
                   for bound in ("low", "high")) if drawn else ()
    more = f"Wilson’s treat answers as independent; those {by_draws} do not: prefer these. " if drawn else ""
    table = ReportTable(
        "rates", "Preference rates",
        (text("metric", "Metric"), text("form", "Form"), *ranged("rate", "Rate", "share"), *bounds,
         count("n", "Answers"), *ranged("adjusted", "Adjusted for sides", "share"),
         ReportColumn("first_side", "First side", "share"), count("first_side_n", "Sides known"),
         text("reason", "Remark")),
        tuple((metric.name, form.label, *_rate(metric.rates[form.key], drawn=drawn))
              for metric in report.metrics for form in RATES),
        f"Intervals are 95 %: Wilson’s for rates, by draws for adjusted ones. {more}First side: how often the set "
        "shown first was preferred among the same answers.", _NO_METRIC)
    rates = {metric.name: tuple(rate_estimate(report, metric.rates[form.key]) for form in RATES)
             for metric in report.metrics}
    forms = [form.label for form in RATES]
    alt = "; ".join(f"{name}: {each(forms, found, 'share')}" for name, found in rates.items())
    figure = dots("rates", "Preference rates",
                  f"Preference rates, with 95 % intervals, {by_draws if drawn else 'Wilson’s'}. {alt}.", forms,
                  tuple(Series(name, found) for name, found in rates.items()), axis="preference rate", share=True,
                  at=0.5)
    return Section(
        "rates", "Preference rates",
        "How often people prefer the set that a metric prefers; 50 % is chance. The one-sided forms use only "
        "answers where set 1 is ahead, and ≥ counts ties of the metric for it, so they differ from the symmetric form.",
        figures=(figure,) if any(_any(found) for found in rates.values()) else (), tables=(table,))


def tests_section(report: PreferenceReport) -> Section:
    table = ReportTable(
        "metric-tests", "Differences of Spearman’s ρ",
        (text("a", "Metric A"), text("b", "Metric B"), *ranged("difference", "ρ of A less ρ of B"), p_value(),
         p_value("p_holm", "p (Holm)"), count("n", "Questions"), count("draws", "Permutations"),
         text("how", "Permutations are"), text("reason", "Remark")),
        tuple((test.a, test.b, *values(of := test.difference), of.p, test.p_holm, of.n, test.draws,
               None if of.p is None else "exhaustive" if test.exact else "sampled", of.reason)
              for test in report.tests),
        empty="Only one metric." if len(report.metrics) == 1 else
        "No metrics were compared." if report.metrics else _NO_METRIC)
    return Section(
        "metric-tests", "Comparing metrics",
        "Whether two metrics track ratings equally well: a small p says that they do not. p (Holm) corrects for the "
        "number of pairs.", tables=(table,))


def _metric(metric: MetricReport) -> tuple[object, ...]:
    rho, tau, shapiro = metric.spearman, metric.kendall, metric.shapiro
    return (
        metric.name, *values(rho), rho.p, rho.n, tau.value, tau.p, tau.n, shapiro.value, shapiro.p, shapiro.n,
        reasons({"ρ": rho, "τ": tau, "W": shapiro}, *metric.notes),
    )


def _rate(rate: Rate, *, drawn: bool) -> tuple[object, ...]:
    bounds = (rate.drawn.low, rate.drawn.high) if drawn else ()
    estimates = {"Rate": rate.share, **({"By draws": rate.drawn} if drawn else {}), "Adjusted": rate.adjusted}
    return (*values(rate.share), *bounds, rate.share.n, *values(rate.adjusted), rate.first_side.value,
            rate.first_side.n, reasons(estimates))


def _any(estimates: tuple[object, ...]) -> bool:
    return any(getattr(one, "value", None) is not None for one in estimates)
