"""Several audits as tables and figures, and as one HTML page: CIRCUS's Tables 1 and 2, its chart of Composition Gaps
and its table of Recall@K. Several finished audits read together: CIRCUS's Table 1 and Composition Gaps over its
benchmarks.

Each audit is the ``summary.json`` that ``cirque audit`` wrote. Nothing is computed anew but differences, so that the
numbers are those of the audits.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from cir_core.audit.gap import GAP_MEASURES, Gap, GapMeasure, GapReport
from cir_core.audit.page import MEASURE_NAMES, SUBSETS, gap_figure, in_words
from cir_core.audit.records import Label
from cir_core.audit.summary import Summary
from cir_core.errors import DatasetError
from cir_core.reports import figures
from cir_core.reports.cells import axis_names
from cir_core.reports.page import html_page
from cir_core.reports.records import Estimate, ReportTable, Section, count, number, ranged, share, text
from cir_core.support.texts import counted, quoted

_FILE = "summary.json"


class _Card(BaseModel):
    retriever: str
    ablation: str
    instruction: str | None = None


class _SummaryFile(BaseModel):
    dataset: str
    retrievers: list[_Card]
    summary: dict[str, Any]
    composition_gap: dict[str, Any]


@dataclass(frozen=True)
class JoinedAudit:
    """One audit. ``name`` is the data set's, or the one that it was given."""

    name: str
    path: Path
    retrievers: tuple[str, ...]
    ablation: str
    instructions: tuple[str, ...]          # of its retrievers, without those that take none
    summary: Summary
    gaps: GapReport


@dataclass(frozen=True)
class JoinedAudits:
    """``notes``: where the audits differ in what makes their numbers comparable."""

    audits: tuple[JoinedAudit, ...]
    notes: tuple[str, ...] = ()

    @property
    def subsets(self) -> tuple[str, ...]:
        """Those that any of the audits has, of all queries, shortcut-free ones and validated ones."""
        return tuple(name for name in ("full", "shortcut_free", "validated")
                     if any(name in audit.gaps.subsets for audit in self.audits))


def join_audits(sources: Sequence[tuple[str, Path]]) -> JoinedAudits:
    """Read the audits at ``sources``: a name each ("": the data set's) and a folder or summary file.

    Raises ``DatasetError`` for fewer than two, for a file that is no audit's summary, for two audits of one name, and
    for audits with different K, M or ablation, whose labels mean different things.
    """
    if len(sources) < 2:
        raise DatasetError("Name two audits or more: the folders that cirque audit wrote.")
    audits = [_read(name, path) for name, path in sources]
    twice = [name for name, count in Counter(audit.name for audit in audits).items() if count > 1]
    if twice:
        raise DatasetError(f"Two audits are called {quoted(twice[0])}. Give one another name: NAME=FOLDER.")
    for what, values in (
        ("K (--k)", [audit.summary.k for audit in audits]),
        ("M (--min-support)", [audit.summary.min_support for audit in audits]),
        ("ablation (--ablation)", [audit.ablation for audit in audits]),
    ):
        if len(set(values)) > 1:
            listing = ", ".join(f"{audit.name} {value}" for audit, value in zip(audits, values, strict=True))
            raise DatasetError(f"These audits differ in {what}: {listing}. Audit them alike: stored ranks are reused.")
    return JoinedAudits(tuple(audits), tuple(_differences(audits)))


def _read(name: str, source: Path) -> JoinedAudit:
    path = source / _FILE if source.is_dir() else source
    if not path.is_file():
        raise DatasetError(f"{path} is missing. Name folders that cirque audit wrote (cirque audit DATASET --out "
                           "FOLDER).")
    try:
        file = _SummaryFile.model_validate(json.loads(path.read_text("utf-8")))
        if "one_input" not in file.composition_gap:
            raise DatasetError(f"{path} was written by an earlier version of cirque, which computes the mean gap "
                               "differently. Run the same cirque audit again: stored ranks are reused.")
        summary = TypeAdapter(Summary).validate_python(file.summary)
        gaps = TypeAdapter(GapReport).validate_python(file.composition_gap)
    except (ValueError, ValidationError) as error:
        raise DatasetError(f"{path} is not the summary of an audit. Name the folder that cirque audit wrote.") \
            from error
    ablations = sorted({card.ablation for card in file.retrievers})
    instructions = sorted({card.instruction for card in file.retrievers if card.instruction})
    return JoinedAudit(name or file.dataset, path, tuple(card.retriever for card in file.retrievers),
                       ", ".join(ablations), tuple(instructions), summary, gaps)


def _differences(audits: Sequence[JoinedAudit]) -> list[str]:
    notes = []
    if len({audit.retrievers for audit in audits}) > 1:
        common = set(audits[0].retrievers).intersection(*(audit.retrievers for audit in audits))
        notes.append(f"The audits have different retrievers ({len(common)} in all of them): labels and mean gaps of "
                     "different pools are not strictly comparable.")
    if len({audit.instructions for audit in audits}) > 1:
        notes.append("The audits have different instructions before the text.")
    without = [audit.name for audit in audits if "validated" not in audit.gaps.subsets]
    if 0 < len(without) < len(audits):
        notes.append(f"No validated queries: {', '.join(without)}.")
    left = {audit.name: audit.gaps.one_input for audit in audits if audit.gaps.one_input}
    if left:
        names = sorted({name for one in left.values() for name in one})
        notes.append(f"Left out of mean gaps, as they take one input alone: {', '.join(names)}.")
    return notes


def joined_json(joined: JoinedAudits) -> Mapping[str, Any]:
    """All numbers of the tables as plain JSON, by audit."""
    return {
        "k": joined.audits[0].summary.k, "min_support": joined.audits[0].summary.min_support,
        "ablation": joined.audits[0].ablation, "notes": list(joined.notes),
        "audits": [{
            "name": audit.name, "retrievers": list(audit.retrievers), "one_input": list(audit.gaps.one_input),
            "queries": audit.summary.queries, "labelled": audit.summary.labelled,
            "labels": dict(audit.summary.labels), "shortcut_free": audit.summary.shortcut_free,
            "subsets": dict(audit.gaps.subsets),
            "composition_gap": {
                subset: {mean.measure: {"value": mean.gap.value, "ci95": _ends(mean.gap.low, mean.gap.high),
                                        "retrievers": mean.retrievers, "reason": mean.gap.reason}
                         for mean in audit.gaps.means if mean.subset == subset}
                for subset in joined.subsets if subset in audit.gaps.subsets},
            "recall": {name: {
                row.subset: row.means["recall"]["multimodal"] if row.means else None
                for row in audit.gaps.retrievers if row.retriever == name and row.subset in joined.subsets}
                for name in audit.retrievers},
        } for audit in joined.audits],
    }


def _ends(low: float | None, high: float | None) -> list[float] | None:
    return None if low is None or high is None else [low, high]


_LABELS: Mapping[Label, str] = {
    "shortcut_solvable": "Shortcut-solvable", "composition_required": "Composition required",
    "unresolved": "Unresolved",
}


def joined_page(joined: JoinedAudits) -> str:
    """The page; the same audits give the same text."""
    first = joined.audits[0]
    names = ", ".join(audit.name for audit in joined.audits)
    facts = (f"{names}. Every query is ranked with image and text, with the text alone, and with the image alone. "
             f"Found means among the first {first.summary.k}. A query needs both inputs if no retriever finds it by "
             f"one and at least {counted(first.summary.min_support, 'retriever')} by both. Ablation: {first.ablation}.")
    sections = joined_sections(joined)
    if joined.notes:
        sections.append(Section("notes", "To know", "", tables=(
            ReportTable("notes", "Notes", (text("note", "Note"),), tuple((note,) for note in joined.notes)),)))
    return html_page(counted(len(joined.audits), "benchmark"), "Shortcut audits", facts, sections)


def joined_sections(joined: JoinedAudits) -> list[Section]:
    """The sections with numbers."""
    sections = [_labels(joined), _gaps(joined), _recall(joined)]
    if "validated" in joined.subsets:
        sections.insert(1, Section(
            "validated", "Which of them did people find well-formed?",
            "Validated queries by their label: solved are those that need both inputs and are found with them.",
            tables=(validated_table(joined),)))
    return sections


def labels_table(joined: JoinedAudits) -> ReportTable:
    """CIRCUS's Table 1."""
    rows = tuple((audit.name, of.labelled, of.labels["composition_required"], of.labels["unresolved"], of.shortcut_free,
                  of.labels["shortcut_solvable"], of.share(of.labels["shortcut_solvable"]))
                 for audit in joined.audits for of in (audit.summary,))
    return ReportTable(
        "labels", "Queries by label",
        (text("benchmark", "Benchmark"), count("total", "Total"),
         count("composition_required", "Composition required"), count("unresolved", "Unresolved"),
         count("shortcut_free", "Shortcut-free"), count("shortcut_solvable", "Shortcut-solvable"),
         share("share", "Solvable share")),
        rows, "Shortcut-free: composition required or unresolved. Total: the queries with a label.")


def validated_table(joined: JoinedAudits) -> ReportTable:
    """CIRCUS's Table 2, of the audits with validated queries."""
    rows = tuple((audit.name, of["composition_required"], of["validated_solved"], of["unresolved"],
                  of["validated_unsolved"], of["validated"])
                 for audit in joined.audits for of in (audit.gaps.subsets,) if "validated" in of)
    return ReportTable(
        "validated", "Validated queries",
        (text("benchmark", "Benchmark"), count("composition_required", "Composition required"),
         count("validated_solved", "Validated, solved"), count("unresolved", "Unresolved"),
         count("validated_unsolved", "Validated, unsolved"), count("validated", "Validated in all")),
        rows, "Validated in all also counts validated queries with a shortcut, if the file has any.")


def gaps_table(joined: JoinedAudits, measure: GapMeasure) -> ReportTable:
    """The mean gap of each benchmark on each subset, and how far it moves from all queries to the last subset."""
    last = joined.subsets[-1]
    rows = []
    for audit in joined.audits:
        means = [mean_gap(audit, subset, measure) for subset in joined.subsets]
        begin, end = means[0].value, means[-1].value
        moved = None if begin is None or end is None or len(means) < 2 else end - begin
        pooled = next(mean for mean in audit.gaps.means if (mean.subset, mean.measure) == ("full", measure))
        rows.append((audit.name, pooled.retrievers,
                     *(each for gap in means for each in (gap.value, gap.low, gap.high)), moved))
    return ReportTable(
        f"gaps-{measure}", f"Composition Gap ({MEASURE_NAMES[measure]}), averaged over retrievers",
        (text("benchmark", "Benchmark"), count("retrievers", "Retrievers"),
         *(column for subset in joined.subsets for column in ranged(subset, SUBSETS[subset])),
         number("moved", f"Full to {SUBSETS[last].lower()}")),
        tuple(rows), "1 − max(image, text) / both, with 95 % intervals over queries. Retrievers that take one input "
        "alone are left out: their gap is 0 by construction.")


def mean_gap(audit: JoinedAudit, subset: str, measure: GapMeasure) -> Gap:
    """The mean over retrievers; without a value if the audit has no such subset."""
    if subset not in audit.gaps.subsets:
        return Gap(None, reason="no such queries")
    return audit.gaps.mean(subset, measure).gap


def recall_table(joined: JoinedAudits) -> ReportTable:
    """Recall@K with both inputs: a row for each retriever, the subsets of each benchmark side by side."""
    columns = [(audit, subset) for audit in joined.audits for subset in joined.subsets if subset in audit.gaps.subsets]
    names = list(dict.fromkeys(name for audit in joined.audits for name in audit.retrievers))
    rows = tuple((name, *(_recall_of(audit, name, subset) for audit, subset in columns)) for name in names)
    return ReportTable(
        "recall", f"Recall@{joined.audits[0].summary.k} with both inputs",
        (text("retriever", "Retriever"), *(share(f"{audit.name}_{subset}", f"{audit.name}, {SUBSETS[subset].lower()}")
                                           for audit, subset in columns)), rows,
        "On shortcut-free queries no retriever of its audit finds a target by one input alone.")


def _recall_of(audit: JoinedAudit, name: str, subset: str) -> float | None:
    if name not in audit.retrievers:
        return None
    row = audit.gaps.of(name, subset)
    return row.means["recall"]["multimodal"] if row.means else None


def _labels(joined: JoinedAudits) -> Section:
    parts = [f"{of.share(of.labels['shortcut_solvable']) or 0:.1%} of {audit.name}"
             for audit in joined.audits for of in (audit.summary,)]
    sentence = f"A target is found by the text or the image alone for {in_words(parts)}."
    names, note = axis_names([audit.name for audit in joined.audits])
    series = [figures.Series(words, tuple(
        Estimate(audit.summary.share(audit.summary.labels[label]), audit.summary.labelled)
        for audit in joined.audits)) for label, words in _LABELS.items()]
    drawn = figures.dots("labels", "Queries by label", sentence, names, series, axis="share of queries", share=True)
    return Section("labels", "Which queries need both inputs?", f"{sentence} {note}".strip(), figures=(drawn,),
                   tables=(labels_table(joined),))


def _gaps(joined: JoinedAudits) -> Section:
    names, _ = axis_names([audit.name for audit in joined.audits])
    drawn = []
    for measure in GAP_MEASURES:
        series = [figures.Series(SUBSETS[subset], tuple(
            Estimate(gap.value, audit.gaps.subsets.get(subset, 0), gap.low, gap.high, gap.reason)
            for audit in joined.audits for gap in (mean_gap(audit, subset, measure),))) for subset in joined.subsets]
        drawn.append(gap_figure(measure, ", averaged over retrievers, by benchmark and subset", names, series))
    return Section(
        "gaps", "How much comes from composing?",
        "The share of ranking quality that neither input gives alone, averaged over the retrievers of each audit that "
        "take both inputs. A larger gap on shortcut-free queries is partly how they were chosen.",
        figures=tuple(drawn), tables=tuple(gaps_table(joined, measure) for measure in GAP_MEASURES))


def _recall(joined: JoinedAudits) -> Section:
    return Section("recall", "How well does each retriever do?", "With image and text, on each benchmark and subset.",
                   tables=(recall_table(joined),))
