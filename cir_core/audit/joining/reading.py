"""Several finished audits read together: CIRCUS's Table 1 and Composition Gaps over its benchmarks.

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

from cir_core.audit.gap import GapReport
from cir_core.audit.summary import Summary
from cir_core.errors import DatasetError
from cir_core.support.texts import quoted

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
            raise DatasetError(f"{path} was written by an earlier version of cirque, whose mean gap is another. Run "
                               "the same cirque audit again: stored ranks are reused.")
        summary = TypeAdapter(Summary).validate_python(file.summary)
        gaps = TypeAdapter(GapReport).validate_python(file.composition_gap)
    except (ValueError, ValidationError) as error:
        raise DatasetError(f"{path} is no summary of an audit. Name the folder that cirque audit wrote.") from error
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
