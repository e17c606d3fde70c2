"""Tables of ``cirque construct``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cir_core.reports.columns import count, number, text
from cir_core.reports.records import ReportTable
from cli.console import out, print_notes
from cli.tables.fitted_tables import print_table
from cli.tables.output import give

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
    if found.roles:
        print_table(count_table("estimate", "estimate", ("requests", "at most", "prompt tokens", "answer tokens"), {
            name: (round(role.calls), role.most, round(role.prompt_tokens) or None,
                   round(role.completion_tokens) or None) for name, role in found.roles.items()}))
    cost = "" if found.cost is None else f", cost {found.cost:,.2f}"
    out.print(f"Time: {found.time}{cost}; basis: {found.basis}.", soft_wrap=True)


def print_report(report: ConstructionReport, folder: Path, tables: Path | None = None) -> None:
    """What was constructed, what failed and why, what it cost."""
    give([count_table("sessions", "subset", ("queries", "sessions", "found the target", "failed"), {
        name: (one.queries, one.sessions, one.successes, one.failures) for name, one in report.counts.items()},
    )], tables, between=lambda: _print_rest(report, folder))


def _print_rest(report: ConstructionReport, folder: Path) -> None:
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
    answers = ", ".join(f"{asked:,} {role}" for role, asked in by_role.items())
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


def count_table(
    key: str, first: str, columns: Sequence[str], rows: Mapping[str, Sequence[int | None]], *, sums: bool = False
) -> ReportTable:
    """A row of counts for each name, and their sums, if wanted and there are several."""
    every = [(name, *counts) for name, counts in rows.items()]
    if sums and len(rows) > 1:
        every.append(("all", *(sum(filter(None, column)) for column in zip(*rows.values(), strict=True))))
    return ReportTable(key, "", (text("name", first), *(count(name, name) for name in columns)), tuple(every))


def conditions_table(rows: Sequence[SubsetConditions]) -> ReportTable:
    """Sessions by subset, and how far each condition is from being broken."""
    return ReportTable(
        "conditions", "",
        (text("subset", "subset"), count("sessions", "sessions"), count("inconsistent", "over ε"),
         count("worst_setback", "worst setback"), count("repetitive", "at τ"),
         number("closest_texts", "highest cosine")),
        tuple((row.subset, row.sessions, row.inconsistent, row.worst_setback, row.repetitive, row.closest_texts)
              for row in rows))


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
