"""Tables of an audit: labels, retrievers, Composition Gap, excluded queries."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Column, Table

from cir_core.audit.gap import GAP_MEASURES, Gap
from cir_core.audit.records import VARIANTS
from cli.console import out, print_notes
from cli.tables.report_tables import print_table

if TYPE_CHECKING:
    from cir_core.audit.joining.reading import JoinedAudits
    from cir_core.audit.report import AuditReport
    from cir_core.audit.store import StoredRun
    from cir_core.datasets.records import Benchmark

_LISTED = 10
_NAMES = {
    "composition_required": "composition required", "unresolved": "unresolved",
    "shortcut_solvable": "shortcut-solvable", "both_unimodal": "  by either input", "text_only": "  by text only",
    "image_only": "  by image only",
}
_SUBSETS = {"full": "all queries", "shortcut_free": "shortcut-free", "validated": "validated"}


def print_audit(benchmark: Benchmark, report: AuditReport) -> None:
    summary = report.summary
    images = sum(len(pool) for pool in benchmark.pools.values() if pool is not None)
    facts = [f"{summary.labelled} of {summary.queries} queries", f"{len(summary.retrievers)} retrievers"]
    facts += [f"{images} images"] if images else []  # the pools of ranks from files may be unknown
    out.print(f"{benchmark.name}: {', '.join(facts)}; found means rank {summary.k} or better, M = "
              f"{summary.min_support}", soft_wrap=True)
    print_notes(benchmark.notes)
    if len(summary.retrievers) == 1:
        out.print("Note: labels from one retriever are weak evidence: every further retriever makes them stricter.")
    out.print(_labels(report))
    out.print(_retrievers(report))
    out.print(_gaps(report))
    print_notes(report.gaps.notes)
    _skipped(report)


def print_runs(runs: Sequence[StoredRun]) -> None:
    """``cirque audit --list``."""
    if not runs:
        out.print("No audit yet. A first one: cirque audit sample --retrievers text-only,image-only,slerp,cirevl")
        return
    table = Table("data set", "retriever", "ablation", "ranked", "problems", "started", "state", box=None)
    for run in runs:
        table.add_row(
            run.card.dataset, run.card.retriever, run.card.ablation, f"{run.done} of {run.total}",
            str(run.problems or ""), f"{run.begun_at:%Y-%m-%d %H:%M}", "complete" if run.finished_at else "unfinished")
    out.print(table)


def runs_json(runs: Sequence[StoredRun]) -> str:
    """``cirque audit --list --json``."""
    return json.dumps([{
        "digest": run.card.digest, "card": dataclasses.asdict(run.card), "total": run.total, "done": run.done,
        "problems": run.problems, "begun_at": run.begun_at.isoformat(),
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
    } for run in runs], indent=1)


def print_joined(joined: JoinedAudits) -> None:
    """``cirque audit join``: the tables of the page."""
    from cir_core.audit.joining.page import gaps_table, labels_table, recall_table, validated_table

    tables = [labels_table(joined), *([validated_table(joined)] if "validated" in joined.subsets else []),
              *(gaps_table(joined, measure) for measure in GAP_MEASURES), recall_table(joined)]
    for number, table in enumerate(tables):
        if number:
            out.print()
        print_table(table)


def _labels(report: AuditReport) -> Table:
    summary = report.summary
    table = Table("\nlabel", "\nqueries", "\nshare", box=None)

    def add(name: str, count: int) -> None:
        share = summary.share(count)
        table.add_row(name, str(count), "" if share is None else f"{100 * share:.1f} %")

    add(_NAMES["shortcut_solvable"], summary.labels["shortcut_solvable"])
    for detail in ("both_unimodal", "text_only", "image_only"):
        add(_NAMES[detail], summary.details[detail])
    add(_NAMES["composition_required"], summary.labels["composition_required"])
    add(_NAMES["unresolved"], summary.labels["unresolved"])
    add("shortcut-free (the last two)", summary.shortcut_free)
    return table


def _retrievers(report: AuditReport) -> Table:
    heads = [f"{measure}\n{name}" for measure in (f"R@{report.summary.k}", "nDCG", "MRR")
             for name in ("both", "text", "image")]
    table = Table(Column("\nretriever", overflow="fold"), *heads, "\nproblems", box=None)
    for row in report.summary.retrievers:
        shown = [f"{100 * row.means[measure][variant]:.1f}" if row.means else ""
                 for measure in ("recall", "ndcg", "mrr") for variant in VARIANTS]
        table.add_row(row.retriever, *shown, str(row.problems or ""))
    return table


def _gaps(report: AuditReport) -> Table:
    gaps = report.gaps
    subsets = [name for name in _SUBSETS if name in gaps.subsets]
    table = Table(Column("\nComposition Gap", overflow="fold"), *(
        f"{measure}\n{_SUBSETS[name]} ({gaps.subsets[name]})"
        for measure in ("nDCG", "MRR") for name in subsets), box=None)
    for run in report.runs:
        name = run.card.retriever
        table.add_row(name, *(_gap(gaps.of(name, subset).gaps[measure])
                              for measure in GAP_MEASURES for subset in subsets))
    mean = "mean of those that compose" if gaps.one_input else "mean"
    table.add_row(mean, *(_gap(gaps.mean(subset, measure).gap) for measure in GAP_MEASURES for subset in subsets))
    return table


def _gap(gap: Gap) -> str:
    if gap.value is None:
        return "undefined"
    value = _two(gap.value)
    return value if gap.low is None or gap.high is None else f"{value}\n{_two(gap.low)} to {_two(gap.high)}"


def _two(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"  # 0.0 takes the sign of a zero away


def _skipped(report: AuditReport) -> None:
    skipped = sorted(report.summary.skipped.items(), key=lambda one: (-one[1], one[0]))
    if not skipped:
        return
    total = sum(report.summary.skipped.values())
    out.print(f"\n{total} {'query has' if total == 1 else 'queries have'} no label:")
    for reason, count in skipped[:_LISTED]:
        out.print(f"  {count}: {reason}", soft_wrap=True)
    if len(skipped) > _LISTED:
        rest = skipped[_LISTED:]
        out.print(f"  ... and {sum(count for _, count in rest)} for {len(rest)} other reasons")


