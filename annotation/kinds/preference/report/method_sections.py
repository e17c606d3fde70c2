"""Section of a preference report on methods: strengths and pairwise comparison."""

from __future__ import annotations

from annotation.analysis.records import Figure, ReportColumn, ReportTable, Section
from annotation.analysis.rendering.report_parts import each, reasons, values
from annotation.kinds.preference.report.records import MethodPair, PreferenceReport
from cir_core.reports.cells import shown, shown_interval
from cir_core.reports.columns import count, ranged, text
from cir_core.reports.figures import MatrixCell, Series, dots, matrix


def methods_section(report: PreferenceReport) -> Section:
    names = [one.method for one in report.methods]
    plain, adjusted = (tuple(getattr(one, field) for one in report.methods) for field in ("value", "adjusted"))
    reason = report.no_methods or "the methods of the sets are unknown"
    empty = f"{reason[0].upper()}{reason[1:]}."
    strengths = ReportTable(
        "methods", "Strengths",
        (text("method", "Method"), *ranged("strength", "Strength"), *ranged("adjusted", "Adjusted for sides"),
         count("answers", "Answers in the fit"), *ranged("win_rate", "Win rate", "share"),
         count("preferences", "Preferences"),
         *ranged("rating", "Mean rating"), count("sets", "Rated sets"), text("reason", "Remark")),
        tuple((one.method, *values(one.value), *values(one.adjusted), one.value.n, *values(one.win_rate),
               one.win_rate.n, *values(one.mean_rating), one.mean_rating.n,
               reasons({"Strength": one.value, "Adjusted": one.adjusted, "Mean rating": one.mean_rating}))
              for one in report.methods),
        "Strengths are natural logarithms with mean 0: exp(difference of two) is the odds that the first is "
        "preferred." if report.methods else "", empty)
    pairs = ReportTable(
        "method-pairs", "Methods by pair",
        (text("first", "A"), text("second", "B"), count("answers", "Answers"), count("ties", "Ties"),
         *ranged("rate", "A preferred", "share"), count("preferences", "Preferences"),
         *ranged("adjusted", "Adjusted for sides", "share"), ReportColumn("first_side", "First side", "share"),
         count("first_side_n", "Sides known"), *ranged("difference", "Rating of A minus B"),
         count("difference_n", "Answers rated"), text("reason", "Remark")),
        tuple((one.first, one.second, one.answers, one.ties, *values(one.first_preferred), one.first_preferred.n,
               *values(one.adjusted), one.first_side.value, one.first_side.n, *values(one.mean_difference),
               one.mean_difference.n, reasons({"Adjusted": one.adjusted, "Rating": one.mean_difference}))
              for one in report.pairs), empty=empty)
    series = [Series("as answered", plain)]
    if any(one.value is not None for one in adjusted):
        series.append(Series("adjusted for sides", adjusted))
    forest = dots("methods", "Strengths", "Bradley–Terry strength of each method, with 95 % intervals: "
                  f"{each(names, plain, 'number')}.", names, series, axis="strength (natural logarithm)", at=0.0)
    return Section(
        "methods", "Methods",
        "Bradley–Terry strengths put all methods on one scale, even methods that were rarely compared. Ties count "
        "half there; rates leave them out.",
        figures=((forest,) if any(one.value is not None for one in plain) else ()) + _rates(report),
        tables=(strengths, pairs))


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
                   f"Share of preferences for one of two methods. {spoken}.", names, cells, scale="preferred"),)


def _cell(pair: MethodPair, one: str, other: str, *, turned: bool) -> MatrixCell:
    def of(low: float | None, high: float | None) -> tuple[float | None, float | None]:
        return (None if high is None else 1 - high, None if low is None else 1 - low) if turned else (low, high)

    share, adjusted = pair.first_preferred, pair.adjusted
    value, _ = of(share.value, share.value)
    even, _ = of(adjusted.value, adjusted.value)
    sides = f"adjusted for sides {shown(even, 'share')} {shown_interval(*of(adjusted.low, adjusted.high), 'share')}"
    return MatrixCell(value, (
        f"{one} over {other}", f"{shown(value, 'share')} {shown_interval(*of(share.low, share.high), 'share')}".strip(),
        f"n = {share.n:,}", sides.strip() if even is not None else adjusted.reason))
