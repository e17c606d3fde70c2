"""The tables of ``cirque evaluate sample``."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from cir_core.evaluation.evaluate_single import MEASURES, STAGES, SingleTurn
from cir_core.evaluation.metrics.bootstrap import MeanEstimate
from cir_core.sample.evaluate_sample import Difference, SampleReport, SessionsReport
from cir_core.types.composition import Usage
from cli.console import out
from cli.tables.measures import PERCENT, measures_table
from cli.tables.request_tables import print_requests

_DIFFERENCE = "percentage points, 95 % paired bootstrap; * if the interval excludes zero"


def print_report(report: SampleReport, max_turns: int) -> None:
    """Print everything but the ranks, which only the JSON file has."""
    total = sum(map(len, report.queries.values()))
    out.print(f"Sample benchmark, {total} queries, FashionIQ's protocol: each category ranked separately, reference "
              f"kept, two captions joined by “and”. Mean of the {len(report.queries)} categories, {PERCENT}; "
              f"seed {report.seed}." + (f" CIRQRS: 100 × the mean relevance score of the first images, relevance model "
                                        f"{report.relevance}." if report.relevance else ""))
    measured = tuple(report.single[0].measures) if report.single else MEASURES
    out.print(measures_table(measured, [(one.title, one.measures, one.protocol.digest) for one in report.single]))
    _print_differences(report.differences, measured)
    _print_notes(report)
    _print_times(report.single)
    if report.requests is not None:
        print_requests(report.requests)
    for sessions in report.sessions:
        _print_sessions(sessions, max_turns)
    for name, why in report.skipped.items():
        out.print(f"Left out {name}: {why}.")


def _print_sessions(report: SessionsReport, max_turns: int) -> None:
    fixed = report.fixed
    how = {
        "neutral": f"no search made them, every one has {fixed.longest} turns",
        "built": f"a simulated person searched with CIReVL and eq. 9, 2 to {max_turns} turns, until the first hit: "
                 "CIReVL cannot hit before a session's last turn, others can",
    }[fixed.kind]
    out.print(f"\n{fixed.kind.capitalize()} sessions ({len(fixed.sessions)}, digest {fixed.digest}): {how}. "
              f"The same for every method; means over sessions, {PERCENT}.")
    out.print(measures_table(fixed.measures, [(one.title, one.measures, one.protocol.digest) for one in report.scores]))
    if report.live is not None:
        hits = ", ".join(f"{100 * value:.2f}" for value in report.live.hits_at_10)
        out.print(f"The search that built them, over all its {report.live.sessions} sessions: Hits@10 by turn {hits}; "
                  f"Final Recall@10 {100 * report.live.final_recall_at_10:.2f}, AUC {100 * report.live.auc:.2f}.")
    _print_differences(report.differences, fixed.measures)


def _print_differences(differences: Sequence[Difference], names: Sequence[str]) -> None:
    if not differences:
        return
    out.print(f"Less {differences[0].base} ({_DIFFERENCE}):")
    table = Table("method", *names, box=None)
    for one in differences:
        table.add_row(one.method, *(_difference(one.measures[name]) for name in names))
    out.print(table)


def _print_times(rows: Sequence[SingleTurn]) -> None:
    if not rows:
        return
    stages = [stage for stage in STAGES if any(stage in row.spent.stages for row in rows)]
    asked = any(row.spent.usage.calls or row.spent.usage.cached for row in rows)
    out.print("Milliseconds a query, mean; “whole turn” includes the time between stages:")
    table = Table("method", *stages, "whole turn", *(("model calls", "from cache", "cost") if asked else ()), box=None)
    for row in rows:
        times = [f"{row.spent.stages[stage]:.1f}" if stage in row.spent.stages else "" for stage in stages]
        table.add_row(row.title, *times, f"{row.spent.total:.1f}", *(_spending(row.spent.usage) if asked else ()))
    out.print(table)


def _print_notes(report: SampleReport) -> None:
    """Print notes that apply to most queries of a method, as it hardly ran as named."""
    total = sum(map(len, report.queries.values()))
    for row in report.single:
        for note, count in row.notes.items():
            if 2 * count > total:
                out.print(f"Note: {row.title}, {count} of {total} queries: {note}")


def _difference(estimate: MeanEstimate) -> str:
    value = f"{100 * estimate.value:+.2f}"
    if estimate.low is None or estimate.high is None:
        return value
    star = "*" if estimate.clear_of_zero else ""
    return f"{value} ({100 * estimate.low:+.1f} to {100 * estimate.high:+.1f}){star}"


def _spending(usage: Usage) -> tuple[str, str, str]:
    cost = "" if usage.cost is None else f"{usage.cost:.4f}"
    return str(usage.calls), str(usage.cached), cost
