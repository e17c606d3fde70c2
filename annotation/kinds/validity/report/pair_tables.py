"""Heatmaps and tables of pairwise agreement.

The heatmap and the table of the same pairs have the same key.
"""

from __future__ import annotations

from collections.abc import Sequence

from annotation.analysis.records import Estimate, Figure, Rater, ReportTable
from annotation.analysis.rendering.report_parts import reasons, values
from annotation.kinds.validity.report.notes import FEW
from annotation.kinds.validity.report.records import PairAgreement, SignaturePair, TwoWay
from cir_core.reports.cells import shown, shown_interval
from cir_core.reports.columns import count, number, ranged, text
from cir_core.reports.figures import MatrixCell, matrix

NO_PAIR = "No two people judged the same item."

Pair = PairAgreement | SignaturePair


def kappa_matrix(key: str, raters: Sequence[Rater], two: TwoWay) -> tuple[Figure, ...]:
    title = "Pairwise Cohen’s κ" + ("" if two.key == "binary" else f": {two.label}")
    alt = f"Pairwise Cohen’s κ, {two.label}, for {described([pair.kappa for pair in two.pairs if pair.n])}."
    return pair_matrix(key, title, alt, raters, [(pair, pair.kappa) for pair in two.pairs], two.key, scale="κ",
                       kind="number")


def pair_matrix(
    key: str, title: str, alt: str, raters: Sequence[Rater], pairs: Sequence[tuple[Pair, Estimate]], of: str, *,
    scale: str, kind: str,
) -> tuple[Figure, ...]:
    """Heatmap of people by people, by seat; empty if no two share an item. People without shared items are left out. A
    click opens the pair's disagreements on ``of``: "binary", a flag's code or "signature"."""
    sharing = {seat for pair, _ in pairs if pair.n for seat in (pair.a_seat, pair.b_seat)}
    people = [rater for rater in sorted(raters, key=lambda one: one.seat) if rater.seat in sharing]
    place = {rater.seat: number for number, rater in enumerate(people)}
    cells = {}
    for pair, estimate in pairs:
        if pair.a_seat in place and pair.b_seat in place:
            value = f"{scale} {shown(estimate.value, kind)} {shown_interval(estimate.low, estimate.high, kind)}"
            hover = (f"{pair.a} and {pair.b}", value.rstrip(), f"n = {pair.n:,}", estimate.reason)
            for a, b in ((pair.a_seat, pair.b_seat), (pair.b_seat, pair.a_seat)):
                cells[place[a], place[b]] = MatrixCell(
                    estimate.value, hover, f"n = {pair.n}" if pair.n < FEW else "",
                    {"a": a, "b": b, "key": of} if pair.n else None)
    return (matrix(key, title, alt, [rater.name for rater in people], cells, scale=scale,
                   under=f"pairs who share fewer than {FEW} items"),) if cells else ()


def kappa_table(key: str, two: TwoWay) -> ReportTable:
    title = "Pairwise Cohen’s κ" + ("" if two.key == "binary" else f": {two.label}")
    return ReportTable(
        key, title,
        (text("a", "A"), text("b", "B"), count("n", "n"), *ranged("kappa", "κ"),
         *ranged("agreement", "Agreement", "share"), text("reason", "Remark")),
        tuple((pair.a, pair.b, pair.n, *values(pair.kappa), *values(pair.agreement),
               reasons({"κ": pair.kappa, "Agreement": pair.agreement})) for pair in two.pairs if pair.n),
        unlisted(two.pairs), NO_PAIR)


def unlisted(pairs: Sequence[Pair]) -> str:
    """A note on pairs without shared items, which a table leaves out."""
    apart = sum(not pair.n for pair in pairs)
    if not apart:
        return ""
    return f"{apart:,} pairs share no item and are not listed." if apart > 1 else (
        "1 pair shares no item and is not listed.")


def summary_table(key: str, of: Sequence[TwoWay]) -> ReportTable:
    return ReportTable(
        key, "κ over all pairs",
        (text("what", "Of"), count("pairs", "Pairs"), count("undefined", "Undefined"), *ranged("mean", "Mean"),
         number("median", "Median"), number("min", "Min"), number("max", "Max"), text("reason", "Remark")),
        tuple((two.label, two.pairwise.count, two.pairwise.undefined, *values(two.pairwise.mean), two.pairwise.median,
               two.pairwise.min, two.pairwise.max, reasons({"Mean": two.pairwise.mean}, two.pairwise.reason))
              for two in of),
        "Pairs: those with a defined κ; undefined ones enter no other number.")


def described(estimates: Sequence[Estimate]) -> str:
    """ "36 pairs, from 0.211 to 0.633; undefined for 2": a heatmap in words."""
    there = [estimate.value for estimate in estimates if estimate.value is not None]
    parts = [f"{len(estimates):,} pair{'' if len(estimates) == 1 else 's'}"]
    if there:
        parts.append(f"from {shown(min(there), 'number')} to {shown(max(there), 'number')}")
    missing = len(estimates) - len(there)
    return ", ".join(parts) + (f"; undefined for {missing:,}" if missing else "")
