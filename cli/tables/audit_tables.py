"""Tables of an audit: labels, retrievers, Composition Gap, excluded queries. Progress bar of an audit."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import TimeElapsedColumn

from cir_core.reports.records import ReportTable, count, text
from cli.console import bars
from cli.tables.output import Part

if TYPE_CHECKING:
    from cir_core.audit.records import StoredRun
    from cir_core.audit.report import AuditReport
    from cir_core.audit.runner import AuditProgress
    from cir_core.datasets.records import Benchmark
    from cir_core.gallery.progress import IndexProgress

def audit_parts(benchmark: Benchmark, report: AuditReport) -> Iterator[Part]:
    """The sections of its page."""
    from cir_core.audit.page import results

    summary = report.summary
    images = sum(len(pool) for pool in benchmark.pools.values() if pool is not None)
    facts = [f"{summary.labelled} of {summary.queries} queries", f"{len(summary.retrievers)} retrievers"]
    facts += [f"{images} images"] if images else []  # the pools of ranks from files may be unknown
    yield (f"{benchmark.name}: {', '.join(facts)}; found means rank {summary.k} or better, M = "
           f"{summary.min_support}")
    yield from (f"Note: {note}" for note in benchmark.notes)
    if len(summary.retrievers) == 1:
        yield "Note: labels from one retriever are weak evidence: every further retriever makes them stricter."
    yield from results(summary, report.gaps)
    yield ""
    yield from (f"Note: {note}" for note in report.gaps.notes)


def runs_table(runs: Sequence[StoredRun]) -> ReportTable:
    """``cirque audit --list``."""
    return ReportTable(
        "runs", "", (text("dataset", "data set"), text("retriever", "retriever"), text("ablation", "ablation"),
                     text("ranked", "ranked"), count("problems", "problems"), text("started", "started"),
                     text("state", "state")),
        tuple((run.card.dataset, run.card.retriever, run.card.ablation, f"{run.done} of {run.total}", run.problems,
               f"{run.begun_at:%Y-%m-%d %H:%M}", "complete" if run.finished_at else "unfinished") for run in runs),
        empty="No audit yet. A first one: cirque audit sample --retrievers text-only,image-only,slerp,cirevl")


def runs_json(runs: Sequence[StoredRun]) -> str:
    """``cirque audit --list --json``."""
    return json.dumps([{
        "digest": run.card.digest, "card": dataclasses.asdict(run.card), "total": run.total, "done": run.done,
        "problems": run.problems, "begun_at": run.begun_at.isoformat(),
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
    } for run in runs], indent=1)


@contextmanager
def run_bar() -> Iterator[tuple[Callable[[AuditProgress], None], Callable[[str, IndexProgress], None]]]:
    """Progress bar for ranking and indexing. Silent without a terminal."""
    from cir_core.audit.runner import INPUTS

    with bars(TimeElapsedColumn()) as bar:
        task = bar.add_task("Auditing", total=None)

        def ranked(progress: AuditProgress) -> None:
            bar.update(task, description=f"{progress.retriever}: {INPUTS[progress.variant]}",
                       completed=progress.done, total=progress.total)

        def indexed(name: str, progress: IndexProgress) -> None:
            bar.update(task, description=f"Indexing {name}", completed=progress.done, total=progress.total)

        yield ranked, indexed
