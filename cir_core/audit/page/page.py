"""Self-contained HTML report of an audit: a sentence, a plot and a table per question."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from string import Template

from cir_core.audit.gap import GAP_MEASURES, Gap, GapMeasure, GapReport
from cir_core.audit.measures import MEASURES
from cir_core.audit.page.page_parts import joined, section, table, text
from cir_core.audit.page.plots import (
    DARK,
    DETAILS,
    MEASURE_NAMES,
    SUBSETS,
    Figure,
    gap_figure,
    input_figure,
    label_figure,
    percent,
)
from cir_core.audit.records import VARIANTS, Detail, Label
from cir_core.audit.summary import Summary
from cir_core.support.texts import counted

_LABEL_OF: Mapping[Detail, Label] = {
    "composition_required": "composition_required", "unresolved": "unresolved", "text_only": "shortcut_solvable",
    "image_only": "shortcut_solvable", "both_unimodal": "shortcut_solvable",
}


def page(name: str, summary: Summary, gaps: GapReport) -> str:
    """The whole page. ``name`` is the data set's; deterministic."""
    from plotly.offline import get_plotlyjs

    figures: dict[str, Mapping[str, Figure]] = {}
    parts = [f"<h1>Shortcut audit of {text(name)}</h1>", f'<p class="soft">{text(_basis(summary))}</p>']
    if summary.labelled:
        figures["labels"] = {"ndcg": label_figure(summary)}
        parts += [_labels(summary), _switch(), _inputs(gaps, figures), _gaps(gaps, figures)]
    parts.append(_footer(summary, gaps))
    content = json.dumps({"figures": figures, "dark": DARK}, sort_keys=True, ensure_ascii=True)
    template = Template(files("cir_core.audit").joinpath("report_page.html").read_text("utf-8"))
    return template.substitute(
        name=text(name), body="\n".join(parts), plotly=get_plotlyjs(), figures=content.replace("<", "\\u003c"),
    )


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


def _labels(summary: Summary) -> str:
    solvable, free = summary.labels["shortcut_solvable"], summary.shortcut_free
    sentence = (
        f"Of {counted(summary.labelled, 'query', 'queries')}, {solvable:,} ({percent(summary.share(solvable))}) "
        "can be solved by a shortcut: some retriever finds the target from the text or the image alone. "
        f"{free:,} ({percent(summary.share(free))}) are shortcut-free: {summary.labels['composition_required']:,} need "
        f"both inputs, and for {summary.labels['unresolved']:,} not even both are enough."
    )
    rows = [[DETAILS[d], f"{summary.details[d]:,}", percent(summary.share(summary.details[d])), _LABEL_OF[d]]
            for d in DETAILS]
    rows.append(["All labelled queries", f"{summary.labelled:,}", percent(summary.share(summary.labelled)), ""])
    numbers = table("How many queries have which label", ["", "Queries", "Share", "Label"], rows)
    most = max((n for n, _ in enumerate(summary.support["multimodal"])), default=0)
    support = table(
        "How many queries are found by how many retrievers", ["Found by", *map(str, range(most + 1))],
        [[words, *(f"{count:,}" for count in summary.support[key])] for key, words in (
            ("multimodal", "both inputs"), ("text_only", "the text"), ("image_only", "the image"),
            ("either_unimodal", "text or image"))],
    )
    plot = f'<div class="plot narrow" id="labels" role="img" aria-label="{text(sentence)}"></div>'
    return section("Which queries need both inputs?", f"<p>{text(sentence)}</p>", plot, numbers, support)


def _switch() -> str:
    radios = "".join(
        f'<label><input type="radio" name="measure" value="{measure}"{" checked" if measure == "ndcg" else ""}>'
        f"{MEASURE_NAMES[measure]}</label>" for measure in GAP_MEASURES
    )
    return f"<fieldset><legend>Measured over all ranked images by</legend>{radios}</fieldset>"


def _inputs(gaps: GapReport, figures: dict[str, Mapping[str, Figure]]) -> str:
    subsets = _shown(gaps)
    names = list(dict.fromkeys(row.retriever for row in gaps.retrievers))
    tops = {measure: max((max(row.means[measure].values()) for row in gaps.retrievers
                          if row.means and row.subset in subsets), default=1.0) for measure in GAP_MEASURES}
    facets = []
    for number, name in enumerate(names):
        figures[f"inputs-{number}"] = {
            measure: input_figure(gaps, name, measure, subsets, tops[measure]) for measure in GAP_MEASURES
        }
        label = f"{name}: mean nDCG and MRR under each input, by subset; the numbers are in the table below"
        facets.append(f'<div><h3>{text(name)}</h3><div class="plot" id="inputs-{number}" role="img" '
                      f'aria-label="{text(label)}"></div></div>')
    sentences = "".join(f'<p class="{m}">{text(_inputs_sentence(gaps, m, names, subsets))}</p>' for m in GAP_MEASURES)
    head = ["Retriever", "Subset", "Queries",
            *(f"{words} {title}" for title in (f"R@{gaps.k}", "nDCG", "MRR") for words in ("both", "text", "image"))]
    rows = [
        [row.retriever, SUBSETS[row.subset], f"{row.queries:,}",
         *(f"{row.means[m][v]:.3f}" if row.means else "–" for m in MEASURES for v in VARIANTS)]
        for row in (gaps.of(name, subset) for name in names for subset in subsets)
    ]
    numbers = table("Means over the queries of a subset", head, rows, words=2)
    return section("How well does each retriever do with which input?", sentences,
                    f'<div class="facets">{"".join(facets)}</div>', numbers)


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
    return f"{what}{pool}: {joined(found)}."


_SUBSET_WORDS = {"full": "all queries", "shortcut_free": "shortcut-free ones", "validated": "validated ones"}


def _gaps(gaps: GapReport, figures: dict[str, Mapping[str, Figure]]) -> str:
    subsets = _shown(gaps)
    figures["gaps"] = {measure: gap_figure(gaps, measure, subsets) for measure in GAP_MEASURES}
    sentences = "".join(f'<p class="{m}">{text(_gap_sentence(gaps, m, subsets))}</p>' for m in GAP_MEASURES)
    rows: list[list[str]] = []
    names = list(dict.fromkeys(row.retriever for row in gaps.retrievers))
    if len(names) > 1:
        rows += [["Mean of the retrievers", SUBSETS[subset], f"{gaps.subsets[subset]:,}",
                  *(_interval(gaps.mean(subset, measure).gap) for measure in GAP_MEASURES), ""] for subset in subsets]
    rows += [[row.retriever, SUBSETS[row.subset], f"{row.queries:,}",
              *(_interval(row.gaps[measure]) for measure in GAP_MEASURES), _interval(row.recall_gap)]
             for row in (gaps.of(name, subset) for name in names for subset in subsets)]
    numbers = table(
        "1 − max(image, text) / both, with 95% intervals; recall_gap is the difference of Recall instead",
        ["Retriever", "Subset", "Queries", "CompGap nDCG", "CompGap MRR", f"recall_gap@{gaps.k}"], rows, words=2,
    )
    plot = '<div class="plot narrow" id="gaps" role="img" aria-label="Composition Gap by retriever and subset; the ' \
           'numbers are in the table below"></div>'
    caution = ('<p class="soft">Shortcut-free queries are those that no retriever here finds by one input, so a larger '
               "gap on them is partly how they were chosen.</p>")
    return section("How much comes from composing?", sentences, plot, caution, numbers)


def _gap_sentence(gaps: GapReport, measure: GapMeasure, subsets: Sequence[str]) -> str:
    found = []
    for subset in subsets:
        mean = gaps.mean(subset, measure)
        if mean.gap.value is not None:
            ends = "" if mean.gap.low is None or mean.gap.high is None else (
                f" (95% interval {percent(mean.gap.low)} to {percent(mean.gap.high)})")
            found.append(f"{percent(mean.gap.value)}{ends} on {_SUBSET_WORDS[subset]}")
    if not found:
        return "The gap is not defined on any subset."
    who = "The share" if len(gaps.retrievers) == len(gaps.subsets) else "Averaged over the retrievers, the share"
    negative = any((gaps.mean(s, measure).gap.value or 0) < 0 for s in subsets)
    end = " A negative share means that one input alone does better than both." if negative else ""
    return f"{who} of {MEASURE_NAMES[measure]} that neither input gives alone is {joined(found)}.{end}"


def _footer(summary: Summary, gaps: GapReport) -> str:
    parts = []
    if summary.skipped:
        parts.append(section("Queries without a label", table(
            f"{sum(summary.skipped.values()):,} of {summary.queries:,} queries, by reason", ["Reason", "Queries"],
            [[reason, f"{count:,}"] for reason, count in summary.skipped.items()])))
    notes = "".join(f"<p>{text(note)}</p>" for note in gaps.notes)
    need = counted(summary.min_support, "retriever")
    parts.append(
        f"<footer>{notes}<p>Ranks are over all images that a query is ranked against (its category, where the "
        "data set ranks each by itself), the reference image among them. A query needs both inputs if "
        f"no retriever finds it by one and at least {need} by both. Intervals: percentile bootstrap over queries, "
        f"{gaps.drawings:,} drawings, seed {gaps.seed}; labels are not drawn again. Measures and labels follow "
        "CIRCUS (arXiv 2605.14787).</p></footer>"
    )
    return "\n".join(parts)


def _shown(gaps: GapReport) -> list[str]:
    return [subset for subset in SUBSETS if subset in gaps.subsets]


def _interval(gap: Gap) -> str:
    if gap.value is None:
        return f"not defined: {gap.reason}"
    ends = "" if gap.low is None or gap.high is None else f" [{gap.low:.3f}, {gap.high:.3f}]"
    return f"{gap.value:.3f}{ends}".replace("-", "−")
