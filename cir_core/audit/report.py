"""Report of a finished audit: labels, summary and Composition Gap, with their files."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cir_core.audit.aggregate import aggregate
from cir_core.audit.circus.aggregate_files import write_aggregate
from cir_core.audit.circus.circus_files import pools_on_card, write_run
from cir_core.audit.circus.circus_form import TASK_ID
from cir_core.audit.circus.traces import write_queries, write_query_index, write_shortcut_free
from cir_core.audit.gap import GapReport, gaps, subsets_of
from cir_core.audit.page import page
from cir_core.audit.records import CUTOFF, Aggregate, RetrieverRun
from cir_core.audit.summary import Summary, summarise
from cir_core.datasets.records import Benchmark
from cir_core.support.files import write_atomically

_AGGREGATED = "aggregated_best_rank_mm"


@dataclass(frozen=True)
class AuditReport:
    """``runs`` by retriever name; ``validated`` as passed in, None without annotations."""

    dataset: str
    runs: Sequence[RetrieverRun]
    aggregate: Aggregate
    summary: Summary
    gaps: GapReport
    validated: frozenset[str] | None = None


def make_report(
    benchmark: Benchmark, runs: Sequence[RetrieverRun], *, k: int = CUTOFF, min_support: int = 1,
    validated: Collection[str] | None = None, seed: int = 0,
) -> AuditReport:
    """Aggregate the runs and measure them on every subset.

    Args:
        k, min_support: see :func:`~cir_core.audit.aggregate.aggregate`.
        validated: ids of queries that annotators found well-formed.
        seed: of the intervals.

    Raises ``DatasetError`` for runs that do not match, and for validated queries of another data set.
    """
    # Ranks do not depend on a file's own K; files are written with the labels' K.
    ordered = sorted(runs, key=lambda run: run.card.retriever)
    ordered = [RetrieverRun(dataclasses.replace(run.card, k=k), run.queries) for run in ordered]
    labels = aggregate(ordered, k=k, min_support=min_support)
    measured = gaps(ordered, subsets_of(labels, validated), k=k, seed=seed)
    kept = None if validated is None else frozenset(validated)
    return AuditReport(benchmark.name, tuple(ordered), labels, summarise(ordered, labels), measured, kept)


def write_files(
    folder: Path, benchmark: Benchmark, report: AuditReport, *, whole: Benchmark | None = None,
    keep: Collection[Path] = (),
) -> tuple[Path, ...]:
    """Write all files and return their paths: one per retriever, the aggregate, every
    query with its panel, the shortcut-free ones as JSONL, CSV and line numbers, ``summary.json``
    and ``gap.html``. Deterministic; files are replaced one by one.

    Retriever files from an earlier audit of the data set that are not part of this one are
    deleted, since they would be taken for part of this pool.

    Args:
        whole: the benchmark as in its files, if ``benchmark`` is a part of it.
        keep: files to leave in place, such as those that ranks were read from.
    """
    whole = whole or benchmark
    stem = f"retrieval_data_{_safe(benchmark.name)}_task{TASK_ID}"   # the names CIRCUS's tools expect
    written: list[Path] = []
    for run, name in zip(report.runs, _file_names([run.card.retriever for run in report.runs]), strict=True):
        written.append(folder / f"{stem}_{name}.json")
        write_run(written[-1], run, benchmark, whole=whole)
    _remove_others(folder, stem, {*written, *keep})
    sources = [path.name for path in written]
    written.append(folder / f"{stem}_{_pool_name(report.aggregate)}.json")
    write_aggregate(written[-1], benchmark, report.runs, report.aggregate, source_files=sources, whole=whole)
    name = _safe(benchmark.name)
    written.append(folder / f"{name}_queries.jsonl")
    write_queries(written[-1], whole, report.runs, report.aggregate, accepted=report.validated)
    written += write_shortcut_free(folder / f"{name}_shortcut_free.jsonl", whole, report.aggregate)
    free = [label.query_id for label in report.aggregate.labels if label.shortcut_free]
    index = folder / f"{name}_shortcut_free_query_indices.json"
    if free:
        write_query_index(index, whole, "aggregation.label", "shortcut_free", free)
        written.append(index)
    else:
        index.unlink(missing_ok=True)   # an earlier audit's list would be mistaken for this one's
    written.append(folder / "summary.json")
    write_atomically(written[-1], (json.dumps(summary_json(report), sort_keys=True, indent=2) + "\n").encode())
    written.append(folder / "gap.html")
    write_atomically(written[-1], page(benchmark.name, report.summary, report.gaps).encode())
    return tuple(written)


def _remove_others(folder: Path, stem: str, kept: Collection[Path]) -> None:
    """Delete retriever files of this form that cirque wrote and that are not in ``kept``."""
    stay = {path.resolve() for path in kept}
    for path in sorted(folder.glob(f"{stem}_*.json")):
        if path.resolve() not in stay and path.is_file() and pools_on_card(path):
            path.unlink()


def summary_json(report: AuditReport) -> dict[str, Any]:
    """Summary and gaps as plain JSON: undefined values are null, with a reason."""
    return {
        "dataset": report.dataset,
        "retrievers": [{**asdict(run.card), "digest": run.card.digest} for run in report.runs],
        "summary": asdict(report.summary),
        "composition_gap": asdict(report.gaps),
    }


def _pool_name(labels: Aggregate) -> str:
    if labels.min_support == 1:
        return f"{_AGGREGATED}_any"
    return f"{_AGGREGATED}_atleast{labels.min_support}of{len(labels.retrievers)}"


def _file_names(retrievers: Sequence[str]) -> list[str]:
    """One per retriever. A name equal to the aggregate's, or to another's up to case, gets a few digits."""
    same = Counter(name.lower() for name in retrievers)
    return [_marked(name) if same[name.lower()] > 1 or name.lower().startswith(_AGGREGATED) else _safe(name)
            for name in retrievers]


def _safe(name: str) -> str:
    """A valid file name. Altered names get a few digits, so that no two become equal."""
    return name if _plain(name) == name else _marked(name)


def _marked(name: str) -> str:
    return f"{_plain(name)}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._@+-]+", "-", name).strip(".-")[:80]
