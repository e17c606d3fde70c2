"""Sections of a validity report on flags: each flag, and signatures (sets of flags)."""

from __future__ import annotations

from collections import Counter

from annotation.analysis.records import Figure, ReportColumn, ReportTable, Section
from annotation.analysis.rendering.report_parts import each, headline, reasons, values
from annotation.analysis.statistics.agreement import STATISTICS
from annotation.analysis.statistics.krippendorff import ALPHA
from annotation.kinds.validity.report.pair_tables import (
    NO_PAIR,
    described,
    kappa_matrix,
    kappa_table,
    pair_matrix,
    summary_table,
    unlisted,
)
from annotation.kinds.validity.report.records import Signatures, ValidityReport
from cir_core.reports.columns import count, ranged, text
from cir_core.reports.figures import Series, dots

_COMMON = 20      # listed disagreements on the signature


def flags_section(report: ValidityReport) -> Section:
    flags = report.flags
    table = ReportTable(
        "flags", "Agreement on each flag",
        (text("flag", "Flag"), text("code", "Code"), *ranged("positive_rate", "Set", "share"),
         count("answers", "Answers"),
         *(column for one in STATISTICS for column in (
             *ranged(one.column, one.symbol), count(f"{one.column}_items", f"Items ({one.symbol.split('’')[0]})"))),
         text("reason", "Remark")),
        tuple((flag.label, flag.key, *values(flag.positive_rate), flag.positive_rate.n,
               *(cell for one in STATISTICS for cell in (*values(flag.agreement[one.key]), flag.agreement[one.key].n)),
               reasons({"Set": flag.positive_rate, **{one.symbol: flag.agreement[one.key] for one in STATISTICS}}))
              for flag in flags),
        "Set: share of answers that set the flag.")
    keys = [f"pairwise-kappa-{flag.key}" for flag in flags]
    matrices = tuple(one for key, flag in zip(keys, flags, strict=True)
                     for one in kappa_matrix(key, report.raters, flag))
    pairs = tuple(kappa_table(key, flag) for key, flag in zip(keys, flags, strict=True)
                  if any(pair.n for pair in flag.pairs))
    return Section(
        "flags", "Flags",
        "Each flag is a separate yes-or-no answer; a valid item has none. κ and α of a rare flag depend on few items, "
        "and can be low although nearly all answers agree.",
        figures=(_plots(report) if report.judgements else ()) + matrices,
        tables=(table, summary_table("flag-kappa-summary", flags), *pairs))


def signature_section(report: ValidityReport) -> Section:
    found = report.signature
    matrix = pair_matrix(
        "pairwise-signature", "Identical flags by pair",
        "Share of items on which two people set the same flags, for "
        f"{described([pair.agreement for pair in found.pairs if pair.n])}.",
        report.raters, [(pair, pair.agreement) for pair in found.pairs], "signature", scale="agreement", kind="share")
    pairs = ReportTable(
        "pairwise-signature", "Identical flags by pair",
        (text("a", "A"), text("b", "B"), count("n", "n"), *ranged("agreement", "Agreement", "share"),
         text("reason", "Remark")),
        tuple((pair.a, pair.b, pair.n, *values(pair.agreement), reasons({"Agreement": pair.agreement}))
              for pair in found.pairs if pair.n),
        unlisted(found.pairs), NO_PAIR)
    return Section(
        "signature", "Whole signature",
        "A signature is the set of flags of an answer: two people agree if they set exactly the same ones.",
        (
            headline("Krippendorff’s α", found.krippendorff_alpha, "number", "items"),
            headline("All people identical", found.exact_agreement, "share", "items"),
            headline("Identical by pair, mean", found.pairwise_agreement, "share", "pairs"),
            headline("All identical, among items that all call invalid", found.exact_invalid, "share", "items"),
        ),
        matrix, (pairs, _frequency(found), _disagreements(found)))


def _plots(report: ValidityReport) -> tuple[Figure, ...]:
    flags = report.flags
    labels = [flag.label for flag in flags]
    rates = tuple(flag.positive_rate for flag in flags)
    found = {one: tuple(flag.agreement[one.key] for flag in flags) for one in STATISTICS}
    return (
        dots("flag-rates", "How often each flag is set",
             f"Share of answers that set each flag, with 95 % intervals: {each(labels, rates, 'share')}.",
             labels, (Series("set", rates),), axis="share of answers", share=True),
        dots("flag-agreement", "Agreement on each flag",
             f"{', '.join(one.name for one in found)} and mean Cohen’s κ of each flag, with 95 % intervals. "
             f"{ALPHA.symbol}: {each(labels, found[ALPHA], 'number')}.",
             labels, (*(Series(one.name, estimates) for one, estimates in found.items()),
                      Series("mean Cohen’s κ", tuple(flag.pairwise.mean for flag in flags))),
             axis="agreement", at=0.0),
    )


def _frequency(found: Signatures) -> ReportTable:
    total = sum(found.counts)
    return ReportTable(
        "signatures", "Signatures by frequency",
        (text("signature", "Signature"), count("answers", "Answers"), ReportColumn("share", "Share", "share")),
        tuple((label, number, number / total) for label, number in zip(found.labels, found.counts, strict=True)),
        f"Of {total:,} answers with a verdict." if total else "", "No answer has a verdict yet.")


def _disagreements(found: Signatures) -> ReportTable:
    differing: Counter[tuple[str, str]] = Counter()
    for pair in found.pairs:
        for (a, b), items in pair.table.items():
            if a != b:
                differing[min(a, b), max(a, b)] += items
    # Not most_common(), whose order of ties depends on the order of pairs.
    common = sorted(differing.items(), key=lambda one: (-one[1], one[0]))
    note = "Each item counts once for each pair of people who disagree on it."
    return ReportTable(
        "disagreements", "Most common disagreements",
        (text("one", "Label A"), text("other", "Label B"), count("times", "Pairs")),
        tuple((*names, times) for names, times in common[:_COMMON]),
        note + (f" The {_COMMON} most common of {len(common):,}." if len(common) > _COMMON else ""),
        "No pair of people disagrees on any item." if any(pair.n for pair in found.pairs) else NO_PAIR)
