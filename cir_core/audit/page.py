"""An audit as one HTML page that needs no network: a sentence, figures and a table for each question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cir_core.audit.gap import GAP_MEASURES, Gap, GapMeasure, GapReport
from cir_core.audit.records import VARIANTS, Detail, Label, Variant
from cir_core.audit.summary import MEASURES, Summary
from cir_core.reports import figures
from cir_core.reports.cells import axis_names, shown
from cir_core.reports.page import html_page
from cir_core.reports.records import (
    Estimate,
    Figure,
    Headline,
    ReportTable,
    Section,
    count,
    number,
    ranged,
    share,
    text,
)
from cir_core.support.texts import counted

SUBSETS = {"full": "Full", "shortcut_free": "Shortcut-free", "validated": "Validated"}
_SUBSET_WORDS = {"full": "all queries", "shortcut_free": "shortcut-free ones", "validated": "validated ones"}
_DETAILS: Mapping[Detail, tuple[str, Label]] = {
    "composition_required": ("Both inputs are needed", "composition_required"),
    "unresolved": ("No retriever finds it", "unresolved"),
    "text_only": ("The text alone is enough", "shortcut_solvable"),
    "image_only": ("The image alone is enough", "shortcut_solvable"),
    "both_unimodal": ("Either alone is enough", "shortcut_solvable"),
}
_INPUTS: Mapping[Variant, str] = {"multimodal": "both", "text_only": "text", "image_only": "image"}
MEASURE_NAMES: Mapping[GapMeasure, str] = {"ndcg": "nDCG", "mrr": "MRR"}
_GAP = "1 − max(image, text) / both, with 95 % intervals; recall_gap is the difference of Recall instead."
_CAUTION = ("Shortcut-free queries are those that no retriever here finds by one input, so a larger gap on them is "
            "partly how they were chosen.")


def page(name: str, summary: Summary, gaps: GapReport) -> str:
    """The whole page. ``name`` is the data set's; the same arguments give the same text."""
    return html_page(name, "Shortcut audit", _basis(summary), [*results(summary, gaps), _method(summary, gaps)])


def results(summary: Summary, gaps: GapReport) -> list[Section]:
    """The sections with numbers: labels, inputs, gaps, queries without a label."""
    sections = [_labels(summary), _inputs(gaps), _gaps(gaps)] if summary.labelled else []
    return [*sections, *_skipped(summary)]


def _basis(summary: Summary) -> str:
    pool = counted(len(summary.retrievers), "retriever")
    names = ", ".join(row.retriever for row in summary.retrievers)
    basis = (f"{pool} ({names}) ranked every query three times: with image and text, with the text alone, and with "
             f"the image alone. Found means among the first {summary.k}.")
    if not summary.labelled:
        return f"{basis} No query could be labelled: each has a problem, listed below."
    if len(summary.retrievers) == 1:
        basis += " Labels of one retriever are weak evidence: another may find what this one does not."
    return basis


def _labels(summary: Summary) -> Section:
    solvable, free = summary.labels["shortcut_solvable"], summary.shortcut_free
    sentence = (f"Of {counted(summary.labelled, 'query', 'queries')}, {solvable:,} "
                f"({_percent(summary.share(solvable))}) can be solved by a shortcut: some retriever finds the target "
                f"from the text or the image alone. {free:,} ({_percent(summary.share(free))}) are shortcut-free: "
                f"{summary.labels['composition_required']:,} need both inputs, and for "
                f"{summary.labels['unresolved']:,} not even both are enough.")
    rows = [*((words, summary.details[detail], summary.share(summary.details[detail]), label)
              for detail, (words, label) in _DETAILS.items()),
            ("All labelled queries", summary.labelled, summary.share(summary.labelled), "")]
    support = tuple(
        (words, *summary.support[key]) for key, words in (
            ("multimodal", "both inputs"), ("text_only", "the text"), ("image_only", "the image"),
            ("either_unimodal", "text or image")))
    return Section(
        "labels", "Which queries need both inputs?", sentence,
        tuple(Headline(words, Estimate(summary.share(of), summary.labelled), "share", "queries")
              for words, of in (("Solvable by a shortcut", solvable), ("Shortcut-free", free))),
        (figures.rows("labels", "Queries by label", sentence, [words for words, _ in _DETAILS.values()],
                      [summary.details[detail] for detail in _DETAILS], axis="queries"),),
        (ReportTable("labels", "How many queries have which label",
                     (text("detail", ""), count("queries", "Queries"), share("share", "Share"), text("label", "Label")),
                     tuple(rows)),
         ReportTable("support", "How many queries are found by how many retrievers",
                     (text("input", "Found by"),
                      *(count(str(n), str(n)) for n, _ in enumerate(summary.support["multimodal"]))), support)),
    )


def _inputs(gaps: GapReport) -> Section:
    names, subsets = _retrievers(gaps), _shown(gaps)
    rows = [gaps.of(name, subset) for name in names for subset in subsets]
    short, note = axis_names(names)
    labels = [f"{name}, {SUBSETS[subset].lower()}" for name in short for subset in subsets]

    top = {measure: max((max(row.means[measure].values()) for row in rows if row.means), default=1.0)
           for measure in GAP_MEASURES}

    def drawn(measure: GapMeasure) -> Figure:
        title = f"Mean {MEASURE_NAMES[measure]} under each input"
        series = [figures.Series(words, tuple(Estimate(row.means[measure][variant] if row.means else None, row.queries)
                                              for row in rows)) for variant, words in _INPUTS.items()]
        return replace(figures.dots(
            f"inputs-{measure}", title, f"{title}, by retriever and subset; the numbers are in the table below.",
            labels, series, axis=MEASURE_NAMES[measure], bounds=(0, 1.06 * top[measure])), note=note)

    head = [number(f"{measure}_{variant}", f"{_INPUTS[variant]} {title}")
            for measure, title in zip(MEASURES, (f"R@{gaps.k}", "nDCG", "MRR"), strict=True) for variant in VARIANTS]
    return Section(
        "inputs", "How well does each retriever do with which input?",
        " ".join(_inputs_sentence(gaps, measure, names, subsets) for measure in GAP_MEASURES),
        figures=tuple(drawn(measure) for measure in GAP_MEASURES),
        tables=(ReportTable(
            "inputs", "Means over the queries of a subset",
            (text("retriever", "Retriever"), text("subset", "Subset"), count("queries", "Queries"), *head),
            tuple((row.retriever, SUBSETS[row.subset], row.queries,
                   *(row.means[m][v] if row.means else None for m in MEASURES for v in VARIANTS)) for row in rows)),),
    )


def _inputs_sentence(gaps: GapReport, measure: GapMeasure, names: Sequence[str], subsets: Sequence[str]) -> str:
    found = []
    for subset in subsets:
        rows = [gaps.of(name, subset) for name in names]
        if rows[0].means:
            means = [row.means[measure] for row in rows]
            mean = sum(of["multimodal"] for of in means) / len(means)
            alone = sum(max(of["text_only"], of["image_only"]) for of in means) / len(means)
            found.append(f"{mean:.2f} ({alone:.2f}) on {_SUBSET_WORDS[subset]}")
    pool = "" if len(names) == 1 else ", averaged over the retrievers"
    what = f"{MEASURE_NAMES[measure]} with both inputs, and in brackets with the better input alone"
    return f"{what}{pool}: {in_words(found)}."


def _gaps(gaps: GapReport) -> Section:
    names, subsets = _retrievers(gaps), _shown(gaps)
    short, note = axis_names(names)
    pooled = len(names) > 1
    mean = "Mean of those that compose" if gaps.one_input else "Mean of the retrievers"

    def drawn(measure: GapMeasure) -> Figure:
        series = []
        for subset in subsets:
            found = [*([gaps.mean(subset, measure).gap] if pooled else []),
                     *(gaps.of(name, subset).gaps[measure] for name in names)]
            series.append(figures.Series(SUBSETS[subset], tuple(
                Estimate(gap.value, gaps.subsets[subset], gap.low, gap.high, gap.reason) for gap in found)))
        return replace(gap_figure(measure, " by retriever and subset", [*([mean] if pooled else []), *short], series),
                       note=note)

    rows = [(mean, SUBSETS[subset], gaps.subsets[subset],
             *_values(*(gaps.mean(subset, measure).gap for measure in GAP_MEASURES), Gap(None)))
            for subset in (subsets if pooled else [])]
    rows += [(row.retriever, SUBSETS[row.subset], row.queries,
              *_values(*(row.gaps[measure] for measure in GAP_MEASURES), row.recall_gap))
             for row in (gaps.of(name, subset) for name in names for subset in subsets)]
    return Section(
        "gaps", "How much comes from composing?",
        " ".join([*(_gap_sentence(gaps, measure, subsets) for measure in GAP_MEASURES), _CAUTION]),
        figures=tuple(drawn(measure) for measure in GAP_MEASURES),
        tables=(ReportTable(
            "gaps", "Composition Gap",
            (text("retriever", "Retriever"), text("subset", "Subset"), count("queries", "Queries"),
             *ranged("ndcg", "CompGap nDCG"), *ranged("mrr", "CompGap MRR"),
             *ranged("recall", f"recall_gap@{gaps.k}"), text("reason", "Remark")), tuple(rows), _GAP),),
    )


def gap_figure(measure: GapMeasure, by: str, names: Sequence[str], series: Sequence[figures.Series]) -> Figure:
    """Composition Gaps with intervals; ``by`` says what the rows and colours are."""
    title = f"Composition Gap, {MEASURE_NAMES[measure]}"
    ends = [end for one in series for of in one.estimates for end in (of.value, of.low, of.high) if end is not None]
    return figures.dots(
        f"gaps-{measure}", title, f"{title}{by}; the numbers are in the table below.", names, series, axis=title,
        share=True, at=0, bounds=(min([0.0, *ends]) - 0.03, max([0.0, *ends]) + 0.03))


def _gap_sentence(gaps: GapReport, measure: GapMeasure, subsets: Sequence[str]) -> str:
    found = []
    for subset in subsets:
        gap = gaps.mean(subset, measure).gap
        if gap.value is not None:
            ends = "" if gap.low is None or gap.high is None else (
                f" (95 % interval {_percent(gap.low)} to {_percent(gap.high)})")
            found.append(f"{_percent(gap.value)}{ends} on {_SUBSET_WORDS[subset]}")
    if not found and len(gaps.one_input) == len(_retrievers(gaps)):
        return "Every retriever takes one input alone, so that its gap is 0 by construction."
    if not found:
        return f"The gap of {MEASURE_NAMES[measure]} is not defined on any subset."
    who = "The share" if len(gaps.retrievers) == len(gaps.subsets) else f"Averaged over {_pool(gaps)}, the share"
    negative = any((gaps.mean(s, measure).gap.value or 0) < 0 for s in subsets)
    end = " A negative share means that one input alone does better than both." if negative else ""
    return f"{who} of {MEASURE_NAMES[measure]} that neither input gives alone is {in_words(found)}.{end}"


def _pool(gaps: GapReport) -> str:
    """The retrievers that a mean is over, in words."""
    if not gaps.one_input:
        return "the retrievers"
    left = in_words(gaps.one_input)
    return f"the retrievers that take both inputs (without {left}, whose gap is 0 by construction)"


def _skipped(summary: Summary) -> tuple[Section, ...]:
    if not summary.skipped:
        return ()
    left = f"{sum(summary.skipped.values()):,} of {summary.queries:,} queries"
    return (Section("skipped", "Queries without a label", f"{left} could not be ranked by every retriever.", tables=(
        ReportTable("skipped", f"{left}, by reason", (text("reason", "Reason"), count("queries", "Queries")),
                    tuple(sorted(summary.skipped.items(), key=lambda one: (-one[1], one[0])))),
        ReportTable("problems", "Problems by retriever",
                    (text("retriever", "Retriever"), count("problems", "Problems")), tuple(
                        (row.retriever, row.problems) for row in summary.retrievers if row.problems)))),)


def _method(summary: Summary, gaps: GapReport) -> Section:
    need = counted(summary.min_support, "retriever")
    notes = ReportTable("notes", "To know", (text("note", "Note"),), tuple((note,) for note in gaps.notes))
    return Section(
        "method", "Method",
        "Ranks are over all images that a query is ranked against (its category, where the data set ranks each by "
        f"itself), the reference image among them. A query needs both inputs if no retriever finds it by one and at "
        f"least {need} by both. Intervals: percentile bootstrap over queries, {gaps.drawings:,} drawings, seed "
        f"{gaps.seed}; labels are not drawn again. Measures and labels follow CIRCUS (arXiv 2605.14787).",
        tables=(notes,) if gaps.notes else (),
    )


def _retrievers(gaps: GapReport) -> list[str]:
    return list(dict.fromkeys(row.retriever for row in gaps.retrievers))


def _shown(gaps: GapReport) -> list[str]:
    return [subset for subset in SUBSETS if subset in gaps.subsets]


def _values(*gaps: Gap) -> tuple[float | str | None, ...]:
    """A value and two bounds each, then why there are none."""
    bounds = [end for gap in gaps for end in (gap.value, gap.low, gap.high)]
    return *bounds, "; ".join(dict.fromkeys(f"not defined: {gap.reason}" for gap in gaps if gap.reason))


def _percent(value: float | None) -> str:
    return shown(value, "share")


def in_words(parts: Sequence[str]) -> str:
    """As in "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else "no query"
