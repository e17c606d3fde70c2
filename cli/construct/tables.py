"""Tables of ``cirque construct``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from cli.console import out, print_notes

if TYPE_CHECKING:
    from cir_core.construct.filtering.conditions import SubsetConditions
    from cir_core.construct.sessions.run import ConstructionReport
    from cir_core.jobs.estimate import Estimate
    from cir_core.jobs.job import JobReport
    from cir_core.types.composition import Usage

_LISTED = 10


def print_estimate(found: Estimate, heading: str) -> None:
    """What is ahead, before it begins."""
    out.print(heading, soft_wrap=True)
    if not found.sessions:
        return
    table = table_of("estimate", "requests", "at most", "prompt tokens", "answer tokens")
    for name, role in found.roles.items():
        table.add_row(name, f"{role.calls:,.0f}", f"{role.most:,}", _number(role.prompt_tokens),
                      _number(role.completion_tokens))
    if found.roles:
        out.print(table)
    cost = "" if found.cost is None else f", cost {found.cost:,.2f}"
    out.print(f"Time: {found.time}{cost}; basis: {found.basis}.", soft_wrap=True)


def print_report(report: ConstructionReport, folder: Path) -> None:
    """What was constructed, what failed and why, what it cost."""
    table = table_of("subset", "queries", "sessions", "found the target", "failed")
    for name, one in report.counts.items():
        table.add_row(name, f"{one.queries:,}", f"{one.sessions:,}", f"{one.successes:,}", f"{one.failures:,}")
    out.print(table)
    _print_usage(report.seconds, report.usage, report.answers)
    _print_failures([(f"{one['subset']} {one['query_id']}", one["reason"]) for one in report.failures], folder)
    print_notes(report.notes)
    if not report.outputs:
        why = report.stopped or "stopped"
        out.print(f"Stopped after {report.done:,} of {report.total:,} sessions: {why}. They are kept in {folder}: add "
                  "--resume to go on, with a larger limit.", soft_wrap=True)
        return
    for path in report.outputs.values():
        out.print(f"Wrote {path}", soft_wrap=True)
    out.print(f"Filter them: cirque construct filter {folder} --out FOLDER", soft_wrap=True)


def print_job(report: JobReport, failures: Sequence[tuple[str, str]], folder: Path, things: str) -> None:
    """What a long job asked, what failed (name and reason), and why it ended."""
    _print_usage(report.seconds, report.usage, report.answers)
    _print_failures(failures, folder)
    if not report.complete:
        out.print(f"Stopped after {report.done:,} of {report.total:,} {things}: {report.stopped}. They are kept in "
                  f"{folder}: add --resume to go on, with a larger limit.", soft_wrap=True)


def _print_usage(seconds: float, usage: Usage, by_role: Mapping[str, int]) -> None:
    answers = ", ".join(f"{number:,} {role}" for role, number in by_role.items())
    out.print(f"{duration(seconds)}; answers in this run: {answers or 'none'}.", soft_wrap=True)
    if usage.calls or usage.cached:
        cost = "" if usage.cost is None else f", cost {usage.cost:,.2f}"
        out.print(f"All runs: {usage.calls:,} requests, {usage.cached:,} answers from the cache, "
                  f"{usage.prompt_tokens:,} prompt and {usage.completion_tokens:,} answer tokens{cost}.",
                  soft_wrap=True)


def _print_failures(failures: Sequence[tuple[str, str]], folder: Path) -> None:
    for name, reason in failures[:_LISTED]:
        out.print(f"  {name}: {reason}", soft_wrap=True)
    if len(failures) > _LISTED:
        out.print(f"  ... and {len(failures) - _LISTED:,} more in {folder / 'failures.json'}", soft_wrap=True)
    if failures:
        out.print("--resume --retry-failed tries these queries again.")


def counts_table(first: str, columns: Sequence[str], rows: Mapping[str, Sequence[int]]) -> Table:
    """A row of counts for each name, and their sums if there are several."""
    table = table_of(first, *columns)
    for name, counts in rows.items():
        table.add_row(name, *(f"{count:,}" for count in counts))
    if len(rows) > 1:
        table.add_section()
        table.add_row("all", *(f"{sum(column):,}" for column in zip(*rows.values(), strict=True)))
    return table


def conditions_table(rows: Sequence[SubsetConditions]) -> Table:
    """Sessions by subset, and how far each condition is from being broken."""
    table = table_of("subset", "sessions", "over ε", "worst setback", "at τ", "highest cosine")
    for row in rows:
        table.add_row(
            row.subset, f"{row.sessions:,}", "–" if row.inconsistent is None else f"{row.inconsistent:,}",
            "–" if row.worst_setback is None else f"{row.worst_setback:,}", f"{row.repetitive:,}",
            "–" if row.closest_texts is None else f"{row.closest_texts:.3f}")
    return table


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def table_of(first: str, *numbers: str) -> Table:
    """An empty table: a column of names, and columns of numbers."""
    table = Table(first, *numbers, box=None)
    table.columns[0].no_wrap = True
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def _number(value: float) -> str:
    return f"{value:,.0f}" if value else "–"
