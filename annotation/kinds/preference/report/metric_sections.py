"""Sections of a preference report on metrics: correlation with ratings, preference rates, and tests. Section of a
preference report on methods: strengths and pairwise comparison."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.analysis.records import Estimate, Figure, Rate, ReportColumn, ReportTable, Section
from annotation.analysis.rendering import each, reasons, values
from annotation.analysis.statistics.answer_rows import drawn_whole
from annotation.analysis.statistics.method_order import circular_triads, elo, predicted
from annotation.analysis.statistics.rates import RATES
from annotation.kinds.preference.report.records import MethodPair, MetricReport, PreferenceReport
from cir_core.reports.cells import shown, shown_interval
from cir_core.reports.figures import MatrixCell, Series, dots, likert, matrix
from cir_core.reports.records import count, number, p_value, ranged, text

_LEVELS = ("1", "2", "3", "4", "5")
_NAMED = 5      # circular triads in a note
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
        figures=((figure,) if _any(rhos) else ()) + _likert_of_metrics(report), tables=(table,))


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
        f"Intervals are 95 %: Wilson’s for rates, bootstrap for adjusted ones. {more}First side: how often the set "
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


def methods_section(report: PreferenceReport) -> Section:
    names = [one.method for one in report.methods]
    plain, adjusted = (tuple(getattr(one, field) for one in report.methods) for field in ("value", "adjusted"))
    reason = report.no_methods or "the methods of the sets are unknown"
    empty = f"{reason[0].upper()}{reason[1:]}."
    strengths = ReportTable(
        "methods", "Strengths",
        (text("method", "Method"), *ranged("rank", "Rank", "count"), *ranged("elo", "Elo-like", "count"),
         *ranged("strength", "Strength"), *ranged("adjusted", "Adjusted for sides"),
         count("answers", "Answers in the fit"), *ranged("win_rate", "Win rate", "share"),
         count("preferences", "Preferences"),
         *ranged("rating", "Mean rating"), count("sets", "Rated sets"), text("reason", "Remark")),
        tuple((one.method, *values(one.rank), *_elo(one.value), *values(one.value), *values(one.adjusted), one.value.n,
               *values(one.win_rate),
               one.win_rate.n, *values(one.mean_rating), one.mean_rating.n,
               reasons({"Strength": one.value, "Adjusted": one.adjusted, "Mean rating": one.mean_rating}))
              for one in report.methods),
        "Strengths are natural logarithms with mean 0: exp(difference of two) is the odds that the first is "
        "preferred. Elo-like: the same with mean 1500, 400 points for odds of 10 to 1." if report.methods else "",
        empty)
    pairs = ReportTable(
        "method-pairs", "Methods by pair",
        (text("first", "A"), text("second", "B"), count("answers", "Answers"), count("ties", "Ties"),
         *ranged("rate", "A preferred", "share"), count("preferences", "Preferences"), p_value(),
         p_value("p_holm", "p (Holm)"), count("needed", "Answers needed"),
         ReportColumn("predicted", "Predicted", "share"),
         *ranged("adjusted", "Adjusted for sides", "share"), ReportColumn("first_side", "First side", "share"),
         count("first_side_n", "Sides known"), *ranged("difference", "Rating of A minus B"),
         count("difference_n", "Answers rated"), text("reason", "Remark")),
        tuple((one.first, one.second, one.answers, one.ties, *values(one.first_preferred), one.first_preferred.n,
               one.first_preferred.p, one.p_holm, one.needed,
               one.predicted, *values(one.adjusted), one.first_side.value, one.first_side.n,
               *values(one.mean_difference), one.mean_difference.n,
               reasons({"Adjusted": one.adjusted, "Rating": one.mean_difference}))
              for one in report.pairs),
        "p: two-sided exact binomial test against one half, answers taken as independent; Holm’s correction over all "
        "pairs. Answers needed: in the next study, to find a preference as strong as this one with power 0.8 after "
        "that correction; answers of one person or question are alike, so take more. Predicted: by the strengths, ties "
        "counting half. " + _transitive(report) if report.pairs else "", empty)
    series = [Series("as answered", plain)]
    if any(one.value is not None for one in adjusted):
        series.append(Series("adjusted for sides", adjusted))
    forest = dots("methods", "Strengths", "Bradley–Terry strength of each method, with 95 % intervals: "
                  f"{each(names, plain, 'number')}.", names, series, axis="strength (natural logarithm)", at=0.0)
    return Section(
        "methods", "Methods",
        "Bradley–Terry strengths put all methods on one scale, even methods that were rarely compared. Ties count "
        "half there; rates leave them out.",
        figures=((forest,) if any(one.value is not None for one in plain) else ()) + _rates(report)
        + _predicted_rates(report) + _likert_of_methods(report),
        tables=(strengths, pairs))


def _likert_of_methods(report: PreferenceReport) -> tuple[Figure, ...]:
    names = [one.method for one in report.methods if one.method in report.method_ratings]
    if not names:
        return ()
    counts = [report.method_ratings[name] for name in names]
    return (likert("method-ratings", "Ratings by method", "Ratings from 1 to 5 of each method’s sets. "
                   + _spoken(names, counts), names, counts, _LEVELS),)


def _likert_of_metrics(report: PreferenceReport) -> tuple[Figure, ...]:
    """Ratings beside the values of each metric, lowest first."""
    found = []
    for place, one in enumerate(report.metrics):
        if len(one.ratings) > 1:
            names = [shown(low, "number") if low == high else f"{shown(low, 'number')} to {shown(high, 'number')}"
                     for low, high, _ in one.ratings]
            counts = [of for _, _, of in one.ratings]
            found.append(likert(f"ratings-by-value-{place + 1}", f"Ratings by value of {one.name}",
                                f"Ratings from 1 to 5 of sets by their value of {one.name}. " + _spoken(names, counts),
                                names, counts, _LEVELS, down=one.name))
    return tuple(found)


def _spoken(names: Sequence[str], counts: Sequence[Sequence[int]]) -> str:
    return "; ".join(f"{name}: {', '.join(map(str, of))} sets" for name, of in zip(names, counts, strict=True)) + "."


def _elo(strength: Estimate) -> tuple[float | None, ...]:
    return tuple(None if one is None else round(elo(one)) for one in values(strength))


def _transitive(report: PreferenceReport) -> str:
    found, compared = circular_triads({(one.first, one.second): one.first_preferred.value for one in report.pairs
                                       if one.first_preferred.value is not None})
    if not compared:
        return "Transitivity: no three methods were all compared with each other."
    said = "; ".join(f"{a} over {b} over {c} over {a}" for a, b, c in found[:_NAMED])
    return (f"Transitivity: {len(found):,} of {compared:,} triads of methods are circular"
            + (f" ({said}{'; …' if len(found) > _NAMED else ''})." if found else "."))


def _rates(report: PreferenceReport) -> tuple[Figure, ...]:
    """Win rates of a row's method against each column's, strongest first."""
    if not report.pairs:
        return ()
    names = [one.method for one in report.methods] or sorted({name for one in report.pairs
                                                              for name in (one.first, one.second)})
    place = {name: number for number, name in enumerate(names)}
    cells: dict[tuple[int, int], MatrixCell] = {}
    for pair in report.pairs:
        a, b = place[pair.first], place[pair.second]
        cells[a, b] = _cell(pair, pair.first, pair.second, turned=False)
        cells[b, a] = _cell(pair, pair.second, pair.first, turned=True)
    spoken = "; ".join(f"{pair.first} over {pair.second} {shown(pair.first_preferred.value, 'share')}"
                       for pair in report.pairs)
    return (matrix("win-rates", "How often the row’s method is preferred to the column’s",
                   f"Share of preferences for one of two methods. {spoken}.", names, cells, scale="preferred",
                   diverging=True),)


def _predicted_rates(report: PreferenceReport) -> tuple[Figure, ...]:
    """The same by the strengths, also of pairs that nobody compared."""
    fitted = [one for one in report.methods if one.value.value is not None]
    if len(fitted) < 2:
        return ()
    answers = {frozenset((pair.first, pair.second)): pair.answers for pair in report.pairs}
    cells, said = dict[tuple[int, int], MatrixCell](), []
    for row, one in enumerate(fitted):
        for column, other in enumerate(fitted):
            if row != column and one.value.value is not None and other.value.value is not None:
                value = predicted(one.value.value, other.value.value)
                n = f"n = {answers.get(frozenset((one.method, other.method)), 0):,}"
                cells[row, column] = MatrixCell(
                    value, (f"{one.method} over {other.method}", f"predicted {shown(value, 'share')}", n), n)
                if row < column:
                    said.append(f"{one.method} over {other.method} {shown(value, 'share')}")
    return (matrix("predicted-win-rates", "The same as the strengths predict, ties counting half",
                   f"Share that the strengths predict. n: answers that compare the two. {'; '.join(said)}.",
                   [one.method for one in fitted], cells, scale="predicted", diverging=True),)


def _predicted(pair: MethodPair, *, turned: bool) -> str:
    if pair.predicted is None:
        return ""
    return f"predicted {shown(1 - pair.predicted if turned else pair.predicted, 'share')}"


def _cell(pair: MethodPair, one: str, other: str, *, turned: bool) -> MatrixCell:
    def of(low: float | None, high: float | None) -> tuple[float | None, float | None]:
        return (None if high is None else 1 - high, None if low is None else 1 - low) if turned else (low, high)

    share, adjusted = pair.first_preferred, pair.adjusted
    value, _ = of(share.value, share.value)
    even, _ = of(adjusted.value, adjusted.value)
    sides = f"adjusted for sides {shown(even, 'share')} {shown_interval(*of(adjusted.low, adjusted.high), 'share')}"
    return MatrixCell(value, (
        f"{one} over {other}", f"{shown(value, 'share')} {shown_interval(*of(share.low, share.high), 'share')}".strip(),
        f"n = {share.n:,}", _predicted(pair, turned=turned), sides.strip() if even is not None else adjusted.reason),
        f"n = {share.n:,}")
