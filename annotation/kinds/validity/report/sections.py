"""Sections of a validity report, with headlines, figures and tables."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from annotation.analysis.records import Precision, Rater, ReportColumn, ReportTable, Section
from annotation.analysis.rendering.report_parts import (
    headline,
    interval_sentence,
    method_section,
    notes_table,
    planning_section,
)
from annotation.analysis.statistics.agreement import STATISTICS
from annotation.kinds.validity.report.flag_sections import flags_section, signature_section
from annotation.kinds.validity.report.pair_tables import NO_PAIR, kappa_matrix, kappa_table, summary_table
from annotation.kinds.validity.report.records import ValidityReport
from cir_core.reports.columns import count, number, text


def validity_sections(report: ValidityReport, plan: Sequence[Precision] = ()) -> tuple[Section, ...]:
    """All sections in order; ``plan`` adds the needed numbers of items or people."""
    return (_glance(report), _binary(report), flags_section(report), signature_section(report), _people(report),
            *planning_section(plan), method_section(report.about, report.raters, _how(report)))


def _glance(report: ValidityReport) -> Section:
    binary = report.binary
    counts = ReportTable("counts", "Data summary", (text("what", "What"), count("count", "Count")), (
        ("people", len(report.raters)), ("answers with a verdict", report.judgements),
        ("answers without a verdict (unsure)", report.unlabelled), ("items with a verdict", report.judged),
        ("items that two people or more judged", report.n_items)))
    per_item = ReportTable(
        "people-per-item", "People per item", (count("people", "People"), count("items", "Items")),
        tuple(sorted(report.per_item.items())), empty="There is no item.")
    return Section(
        "glance", "At a glance",
        "Agreement is computed over the items that two people or more judged. 1 is full agreement; for κ and α, 0 is "
        "chance level.",
        (
            headline("Judged valid", binary.positive_rate, "share", "answers"),
            *(headline(f"{one.name}, valid or not", binary.agreement[one.key], "number", "items")
              for one in STATISTICS),
            headline("Mean pairwise Cohen’s κ", binary.pairwise.mean, "number", "pairs", binary.pairwise.reason),
            headline("Unanimous, valid or not", report.unanimous, "share", "items"),
            headline("Exactly the same flags", report.signature.exact_agreement, "share", "items"),
        ),
        tables=(*notes_table(report), counts, per_item),
    )


def _binary(report: ValidityReport) -> Section:
    two = report.binary
    confusion = ReportTable(
        "confusion", "Pairwise confusion counts",
        (text("a", "A"), text("b", "B"), count("n", "n"), count("both_valid", "Both valid"),
         count("only_a_valid", "Only A valid"), count("only_b_valid", "Only B valid"),
         count("both_invalid", "Both not valid")),
        tuple((pair.a, pair.b, pair.n, pair.table[1][1], pair.table[1][0], pair.table[0][1], pair.table[0][0])
              for pair in two.pairs if pair.n),
        empty=NO_PAIR)
    return Section(
        "binary", "Valid or not",
        "Pairwise Cohen’s κ over the items both people judged. A pair with an undefined κ shows a dash and the reason, "
        "and is left out of the mean.",
        figures=kappa_matrix("pairwise-kappa", report.raters, two),
        tables=(summary_table("kappa-summary", (two,)), kappa_table("pairwise-kappa", two), confusion))


def _people(report: ValidityReport) -> Section:
    table = ReportTable(
        "people", "People",
        (text("person", "Person"), count("answers", "Answers"), count("valid", "Judged valid"),
         ReportColumn("valid_share", "Share valid", "share"), number("mean_kappa", "Mean κ with others"),
         count("pairs", "Pairs with a κ"), count("others", "People with shared items"),
         count("fewest", "Fewest shared"), count("most", "Most shared"), text("reason", "Remark")),
        tuple(_person(report, rater) for rater in report.raters), empty="No verdicts yet.")
    return Section(
        "people", "People",
        "Cohen’s κ on valid or not, mean over the others with whom it is defined. It is unreliable when few items are "
        "shared.", tables=(table,))


def _person(report: ValidityReport, rater: Rater) -> tuple[object, ...]:
    mine = [pair for pair in report.binary.pairs if rater.seat in (pair.a_seat, pair.b_seat) and pair.n]
    kappas = [pair.kappa.value for pair in mine if pair.kappa.value is not None]
    known = rater.positive is not None and rater.judgements
    return (
        rater.name, rater.judgements, rater.positive, (rater.positive or 0) / rater.judgements if known else None,
        fmean(kappas) if kappas else None, len(kappas), len(mine), min((pair.n for pair in mine), default=None),
        max((pair.n for pair in mine), default=None),
        "" if kappas else "κ is undefined with everybody" if mine else "no shared items",
    )


def _how(report: ValidityReport) -> list[tuple[str, str]]:
    options = report.about.options
    constant = "If all raters used a single category, κ and α"
    undefined = f"{constant} count as 1." if options.undefined == "one" else (
        f"{constant} are undefined, as chance agreement is complete. Such pairs are left out of the mean and counted.")
    return [
        ("What counts", "Answers that say valid or not valid. Unsure answers are counted, but enter no other number."),
        ("Cohen’s κ", "statsmodels, over the items that both judged."),
        *sorted((one.name, one.method("item")) for one in STATISTICS),
        ("Unanimous", "Share of these items on which all say valid, or all say not valid."),
        ("Exactly the same flags", "Share of these items on which all set exactly the same flags."),
        ("Undefined", undefined),
        ("Intervals", interval_sentence(options, options.resample) + (
            " Agreement is resampled from the items that two people or more judged, shares of answers from all items. "
            "If a κ or an α of a yes-or-no answer has fewer than 20 items, or the rarer answer fewer than about 10, "
            "its interval tends to be too narrow and too low; a remark says so." if options.draws
            else "")),
    ]
