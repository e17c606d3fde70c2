"""Read and write a pool's labels in CIRCUS's aggregate format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import NonNegativeInt, PositiveInt

from cir_core.audit.circus.circus_files import run_content
from cir_core.audit.circus.circus_form import (
    OURS,
    check_same_queries,
    common_metadata,
    gallery_of,
    lines_of,
    sample,
    summary_of,
    write_document,
)
from cir_core.audit.circus.circus_samples import Asked, QueryFinder, Strict
from cir_core.audit.records import (
    CUTOFF,
    VARIANTS,
    Aggregate,
    Detail,
    Label,
    Legacy,
    QueryLabel,
    Ranking,
    RetrieverRun,
    Variant,
)
from cir_core.audit.summary import INPUTS, summarise
from cir_core.datasets.content import Content, Source
from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import first_value, read_object, validated
from cir_core.datasets.records import Benchmark
from cir_core.support.texts import quoted

_DEFINITION = {
    "composition_required": "best_text_rank > K and best_image_rank > K and multimodal support >= M",
    "unresolved": "best_text_rank > K and best_image_rank > K and multimodal support < M",
    "shortcut_solvable": "best_text_rank <= K or best_image_rank <= K",
}


class _Labelled(Strict):
    label: Label
    detail_label: Detail
    legacy_category: Legacy
    best_retriever_by_modality: dict[Variant, str | None]
    retriever_support_at_k: dict[str, NonNegativeInt]


class _Sample(Asked):
    ranks: dict[Variant, PositiveInt]
    aggregation: _Labelled


class _Aggregation(Strict):
    retrievers: list[str]
    min_mm_success_retrievers: PositiveInt = 1


class _Metadata(Strict):
    k: PositiveInt = CUTOFF
    aggregation: _Aggregation


def write_aggregate(
    path: Path, benchmark: Benchmark, runs: Sequence[RetrieverRun], aggregate: Aggregate, *,
    source_files: Sequence[str] = (), whole: Benchmark | None = None,
) -> None:
    """``runs`` are those from which ``aggregate`` was computed; ``whole`` as in
    :func:`~cir_core.audit.circus.circus_files.write_run`; each input's ``retrievals`` are those of
    the retriever that ranks best under it. Raises ``DatasetError`` for runs of other queries."""
    for run in runs:
        check_same_queries(benchmark, run)
    position = {query.query_id: place for place, query in enumerate(benchmark.queries)}
    of = {run.card.retriever: run for run in runs}
    metadata = common_metadata(benchmark, runs, len(aggregate.labels), aggregate.k)
    gallery, lines = gallery_of(benchmark, runs), lines_of(benchmark, whole)
    samples = []
    for label in aggregate.labels:
        place = position[label.query_id]
        best: dict[Variant, Ranking] = {
            variant: of[label.best_retriever[variant]].queries[place].rankings[variant] for variant in VARIANTS
        }
        samples.append({
            **sample(benchmark, place, gallery, best, line=lines[place], category=label.legacy, k=aggregate.k,
                     instruction=metadata["query_instruction"]),
            "aggregation": labelled(label),
        })
    summary = summarise(runs, aggregate)
    head = {
        "metadata": {
            **metadata, "retriever_module": "cirque.aggregate", "retriever_class": "AggregatedRetriever",
            "aggregation": {
                "name": "best_rank_mm_recoverable", "retrievers": list(aggregate.retrievers),
                "source_files": list(source_files), "rank_aggregation": dict.fromkeys(VARIANTS, "min"),
                "query_alignment_key": "query_idx", "min_mm_success_retrievers": aggregate.min_support,
                "definition": _DEFINITION,
            },
        },
        "summary": {
            **summary_of(samples),
            "aggregate_counts": dict(summary.labels),
            "aggregate_detail_counts": dict(summary.details),
            "retriever_support_histograms_at_k": {
                name: {str(support): count for support, count in enumerate(summary.support[name]) if count}
                for name in INPUTS
            },
            "source_retriever_stats": {
                row.retriever: {"recall_at_k": {v: round(100 * share, 2) for v, share in row.means["recall"].items()}}
                for row in summary.retrievers if row.means
            },
        },
        OURS: {"skipped": dict(aggregate.skipped), "cards": [asdict(run.card) for run in runs]},
    }
    write_document(path, head, gallery, samples)


def labelled(label: QueryLabel) -> dict[str, Any]:
    """The ``aggregation`` entry of a sample or trace."""
    return {
        "label": label.label, "detail_label": label.detail, "legacy_category": label.legacy,
        "best_retriever_by_modality": {variant: label.best_retriever.get(variant) for variant in VARIANTS},
        "retriever_support_at_k": dict(label.support),
    }


def content(source: Source) -> Content:
    """Of a per-retriever file or an aggregate: only the latter says how retrievers were combined."""
    if first_value(source.path, "metadata.aggregation") is None:
        return run_content(source)
    aggregate = read_aggregate(source.path, source.faults)
    labels = Counter(label.label for label in aggregate.labels)
    details = Counter(label.detail for label in aggregate.labels if label.label == "shortcut_solvable")
    return Content({
        "retrievers": len(aggregate.retrievers), "K": aggregate.k, "queries": len(aggregate.labels),
        **dict(sorted(labels.items())),
        **{f"shortcut_solvable, {name}": number for name, number in sorted(details.items())},
        "shortcut_free": sum(label.shortcut_free for label in aggregate.labels),
        "queries left out": len(aggregate.skipped),
    })


def read_aggregate(path: Path, faults: ValidationIssues = RAISE, *, benchmark: Benchmark | None = None) -> Aggregate:
    """Labels as in the file, CIRCUS's or ours; they are not recomputed.

    CIRCUS's own files involve a retriever that they do not name: support may exceed the
    number of retrievers, and a best retriever may be missing (no entry for that input).

    Args:
        benchmark: gives CIRCUS's samples their query ids and is checked against their texts;
            without it a query without an id is identified by its line.

    Raises ``DatasetError`` with file and record unless ``faults`` collects.
    """
    document = read_object(path, faults)
    metadata = validated(_Metadata, document.get("metadata") or {}, path, "metadata", faults)
    records = document.get("samples")
    if not isinstance(records, list):
        faults.add(path, "", "it has no list of samples", "Check that it is an audit's aggregate")
        records = []
    queries = QueryFinder(benchmark)
    labels: dict[str, QueryLabel] = {}
    for number, record in enumerate(records):
        where = f"sample {number}"
        if (one := validated(_Sample, record, path, where, faults)) is None:
            continue
        query_id = queries.find(path, where, one, faults)
        if lacking := [variant for variant in VARIANTS if variant not in one.ranks]:
            faults.add(path, where, f"it has no rank under {', '.join(lacking)}", "Aggregate the runs again")
        elif query_id in labels:
            faults.add(path, where, f"query {quoted(query_id)} occurs twice", "Keep one of the two")
        elif query_id is not None:
            labels[query_id] = _label(query_id, one)
    own = document.get(OURS)
    skipped = own.get("skipped", {}) if isinstance(own, Mapping) else {}
    aggregation = metadata.aggregation if metadata else _Aggregation(retrievers=[])
    return Aggregate(
        tuple(aggregation.retrievers), metadata.k if metadata else CUTOFF, aggregation.min_mm_success_retrievers,
        tuple(labels.values()), {str(query_id): str(reason) for query_id, reason in skipped.items()},
    )


def _label(query_id: str, one: _Sample) -> QueryLabel:
    found = one.aggregation
    best = {variant: name for variant, name in found.best_retriever_by_modality.items() if name is not None}
    return QueryLabel(query_id, found.label, found.detail_label, found.legacy_category, one.ranks, best,
                      found.retriever_support_at_k)
