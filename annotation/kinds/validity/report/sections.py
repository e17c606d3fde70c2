"""Sections of a validity report, with headlines, figures and tables. Sections of a validity report on flags: each
flag, and signatures (sets of flags). Heatmaps and tables of pairwise agreement.

The heatmap and the table of the same pairs have the same key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from annotation.analysis.people.profiles import people_figure, people_how, people_tables
from annotation.analysis.people.time_section import times_section
from annotation.analysis.records import Estimate, Figure, Precision, Rater, ReportColumn, ReportTable, Section
from annotation.analysis.rendering import (
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
from annotation.analysis.statistics.coefficients.fleiss import FLEISS
from annotation.analysis.statistics.coefficients.krippendorff import ALPHA
from annotation.kinds.validity.report.records import PairAgreement, SignaturePair, TwoWay, ValidityReport
from annotation.kinds.validity.report.verdicts import FEW
from cir_core.reports.cells import shown, shown_interval
from cir_core.reports.figures import MatrixCell, Series, dots, matrix
from cir_core.reports.records import code, count, number, ranged, text

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
            below, above = sorted((place[pair.a_seat], place[pair.b_seat]), reverse=True)
            cells[below, above] = MatrixCell(
                estimate.value, hover, f"n = {pair.n}" if pair.n < FEW else "",
                {"a": pair.a_seat, "b": pair.b_seat, "key": of} if pair.n else None)
    return (matrix(key, title, alt, [rater.name for rater in people], cells, scale=scale,
                   bounds=(-1, 1) if kind == "number" else (0, 1), diverging=kind == "number",
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
        "Pairs: those with a defined κ; undefined ones are used in no other number.")


def described(estimates: Sequence[Estimate]) -> str:
    """ "36 pairs, from 0.211 to 0.633; undefined for 2": a heatmap in words."""
    there = [estimate.value for estimate in estimates if estimate.value is not None]
    parts = [f"{len(estimates):,} pair{'' if len(estimates) == 1 else 's'}"]
    if there:
        parts.append(f"from {shown(min(there), 'number')} to {shown(max(there), 'number')}")
    missing = len(estimates) - len(there)
    return ", ".join(parts) + (f"; undefined for {missing:,}" if missing else "")


_NOMINAL = statistics_of("nominal")
_COMMON = 20      # listed disagreements on the signature


def flags_section(report: ValidityReport) -> Section:
    flags = report.flags
    table = ReportTable(
        "flags", "Agreement on each flag",
        (text("flag", "Flag"), code("code", "Code"), *ranged("positive_rate", "Set", "share"),
         count("answers", "Answers"),
         *(column for one in _NOMINAL for column in ranged(one.column, one.symbol)), count("items", "Items"),
         text("reason", "Remark")),
        tuple((flag.label, flag.key, *values(flag.positive_rate), flag.positive_rate.n,
               *(cell for one in _NOMINAL for cell in values(flag.agreement[one.key])), flag.agreement[ALPHA.key].n,
               reasons({"Set": flag.positive_rate, **{one.symbol: flag.agreement[one.key] for one in _NOMINAL}}))
              for flag in flags),
        "Set: share of answers that set the flag. Items: those with two answers or more; "
        f"{FLEISS.name} takes those with the most common number of answers.")
    keys = [f"pairwise-kappa-{flag.key}" for flag in flags]
    matrices = tuple(one for key, flag in zip(keys, flags, strict=True)
                     for one in kappa_matrix(key, report.raters, flag))
    pairs = tuple(kappa_table(key, flag) for key, flag in zip(keys, flags, strict=True)
                  if any(pair.n for pair in flag.pairs))
    return Section(
        "flags", "Flags",
        "Each flag is a separate yes-or-no answer; a valid item has none. κ and α of a rare flag depend on few items, "
        "and can be low although nearly all answers agree: AC1 and Brennan–Prediger’s coefficient are not.",
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
        matrix, (pairs, _frequency(report), _disagreements(report)))


def _plots(report: ValidityReport) -> tuple[Figure, ...]:
    flags = report.flags
    labels = [flag.label for flag in flags]
    rates = tuple(flag.positive_rate for flag in flags)
    found = {one: tuple(flag.agreement[one.key] for flag in flags) for one in _NOMINAL}
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


def _named(report: ValidityReport, signature: str) -> str:
    """The names of a signature's flags."""
    names = {flag.key: flag.label for flag in report.flags}
    return " + ".join(names.get(one, one.replace("_", " ").capitalize()) for one in signature.split("+"))


def _frequency(report: ValidityReport) -> ReportTable:
    found = report.signature
    total = sum(found.counts)
    return ReportTable(
        "signatures", "Signatures by frequency",
        (text("name", "Signature"), code("signature", "Codes"), count("answers", "Answers"),
         ReportColumn("share", "Share", "share")),
        tuple((_named(report, label), label, number, number / total)
              for label, number in zip(found.labels, found.counts, strict=True)),
        f"Of {total:,} answers with a verdict." if total else "", "No answer has a verdict yet.")


def _disagreements(report: ValidityReport) -> ReportTable:
    found = report.signature
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
        (text("one_name", "Signature A"), text("other_name", "Signature B"), code("one", "Codes A"),
         code("other", "Codes B"), count("times", "Pairs")),
        tuple((_named(report, one), _named(report, other), one, other, times)
              for (one, other), times in common[:_COMMON]),
        note + (f" The {_COMMON} most common of {len(common):,}." if len(common) > _COMMON else ""),
        "No pair of people disagrees on any item." if any(pair.n for pair in found.pairs) else NO_PAIR)


def validity_sections(report: ValidityReport, plan: Sequence[Precision] = ()) -> tuple[Section, ...]:
    """All sections in order; ``plan`` adds the needed numbers of items or people."""
    return (_glance(report), _binary(report), flags_section(report), signature_section(report), _people(report),
            *(times_section(report.times, "Judged valid", "share", "item") if report.times else ()),
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
              for one in _NOMINAL),
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
        "shared. Clusters are by the whole signature.",
        figures=people_figure(report.people, "items") if report.people else (),
        tables=(table, *(people_tables(report.people, "Says valid more often by") if report.people else ())))


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
        ("What counts", "Answers that say valid or not valid. Unsure answers are counted, but used in no other "
                        "number."),
        ("Cohen’s κ", "Over the items that both judged."),
        *sorted((one.name, one.method("item")) for one in _NOMINAL),
        *(people_how(report.people) if report.people else ()),
        ("Unanimous", "Share of these items on which all say valid, or all say not valid."),
        ("Exactly the same flags", "Share of these items on which all set exactly the same flags."),
        ("Undefined", undefined),
        ("Intervals", interval_sentence(options, options.resample) + (
            " Agreement is resampled from the items that two people or more judged, shares of answers from all items. "
            "If a κ or an α of a yes-or-no answer has fewer than 20 items, or the rarer answer fewer than about 10, "
            "its interval tends to be too narrow and too low; a remark is then shown." if options.draws
            else "")),
    ]
