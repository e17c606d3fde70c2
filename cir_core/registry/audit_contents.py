"""Contents of shortcut-audit files (CIRCUS): one retriever's ranks, a pool's labels, traces."""

from __future__ import annotations

from collections import Counter
from typing import Any

from pydantic import BaseModel, ConfigDict, NonNegativeInt

from cir_core.datasets.files.json_files import first_value, read_lines, validated
from cir_core.registry.contents import Content, Source


def circus_audit(source: Source) -> Content:
    """A per-retriever file or an aggregate: only the latter says how retrievers were combined."""
    if first_value(source.path, "metadata.aggregation") is not None:
        return _aggregate(source)
    return _run(source)


def _run(source: Source) -> Content:
    from cir_core.audit.circus.circus_files import read_run
    from cir_core.audit.records import VARIANTS

    run = read_run(source.path, source.faults)
    ranked = [answer for answer in run.queries if not answer.problem]
    found = {
        f"in the first {run.card.k}, {variant}": sum(one.rankings[variant].best <= run.card.k for one in ranked)
        for variant in VARIANTS
    }
    return Content({
        "retriever": run.card.retriever,
        "data set": run.card.dataset,
        "ablation": run.card.ablation,
        "queries": len(run.queries),
        "queries without ranks": len(run.queries) - len(ranked),
        **found,
    })


def _aggregate(source: Source) -> Content:
    from cir_core.audit.circus.aggregate_files import read_aggregate

    aggregate = read_aggregate(source.path, source.faults)
    labels = Counter(label.label for label in aggregate.labels)
    details = Counter(label.detail for label in aggregate.labels if label.label == "shortcut_solvable")
    return Content({
        "retrievers": len(aggregate.retrievers),
        "K": aggregate.k,
        "queries": len(aggregate.labels),
        **dict(sorted(labels.items())),
        **{f"shortcut_solvable, {name}": number for name, number in sorted(details.items())},
        "shortcut_free": sum(label.shortcut_free for label in aggregate.labels),
        "queries left out": len(aggregate.skipped),
    })


class _Trace(BaseModel):
    model_config = ConfigDict(strict=True)
    query_idx: NonNegativeInt
    dataset: str = ""
    hidden_category: str | None = None
    aggregate_label: str | None = None
    validated: bool | None = None


def circus_traces(source: Source) -> Content:
    """Lines of validated or shortcut-free queries. A repeated query is a fault."""
    datasets: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    decisions: Counter[str] = Counter()
    first: dict[tuple[str, int], int] = {}
    for line, record in read_lines(source.path, source.faults):
        trace = validated(_Trace, record, source.path, f"line {line}", source.faults)
        if trace is None:
            continue
        if (seen := first.setdefault((trace.dataset, trace.query_idx), line)) != line:
            problem = f"query {trace.query_idx} of {trace.dataset or 'the data set'} is on line {seen} already"
            source.faults.add(source.path, f"line {line}", problem, "Keep one of the two")
            continue
        datasets[trace.dataset] += 1
        labels[trace.hidden_category or trace.aggregate_label or "no label"] += 1
        if "validated" in record:
            decisions[_DECISIONS[trace.validated]] += 1
    counts: dict[str, Any] = {"queries": len(first)}
    if set(datasets) - {""}:
        counts |= {f"queries, {name or 'no data set'}": number for name, number in sorted(datasets.items())}
    return Content(counts | dict(sorted(labels.items())) | dict(decisions))


_DECISIONS = {True: "valid", False: "not valid", None: "not decided"}
