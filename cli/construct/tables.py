"""Tables of ``cirque construct``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cir_core.reports.records import ReportTable, count, number, text
from cli.console import out
from cli.tables.fitted_tables import print_table

if TYPE_CHECKING:
    from cir_core.construct.filtering.conditions import SubsetConditions
    from cir_core.jobs.estimate import Estimate
    from cir_core.jobs.job import FilesReport, JobReport

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


def print_files(
    report: FilesReport[Any], failures: Sequence[tuple[str, str]], folder: Path, things: str, then: str = "",
    most: int | None = None,
) -> None:
    """:func:`print_job`, the first ``most`` files of each subset, and what to do ``then``."""
    print_job(report, failures, folder / "failures.json", things, f"They are kept in {folder}:")
    for path in (path for paths in report.outputs.values() for path in paths[:most]):
        out.print(f"Wrote {path}", soft_wrap=True)
    if report.outputs and then:
        out.print(then, soft_wrap=True)


def print_job(report: JobReport, failures: Sequence[tuple[str, str]], rest: Path, things: str, kept: str) -> None:
    """What a long job asked, what failed (name and reason; the ``rest`` is in that file), and why it ended: what it
    has done is ``kept``."""
    usage = report.usage
    answers = ", ".join(f"{asked:,} {role}" for role, asked in report.answers.items())
    out.print(f"{_duration(report.seconds)}; answers in this run: {answers or 'none'}.", soft_wrap=True)
    if usage.calls or usage.cached:
        cost = "" if usage.cost is None else f", cost {usage.cost:,.2f}"
        out.print(f"All runs: {usage.calls:,} requests, {usage.cached:,} answers from the cache, "
                  f"{usage.prompt_tokens:,} prompt and {usage.completion_tokens:,} answer tokens{cost}.",
                  soft_wrap=True)
    for name, reason in failures[:_LISTED]:
        out.print(f"  {name}: {reason}", soft_wrap=True)
    if len(failures) > _LISTED:
        out.print(f"  ... and {len(failures) - _LISTED:,} more in {rest}", soft_wrap=True)
    if failures:
        out.print("--resume --retry-failed tries these again.")
    if not report.complete:
        out.print(f"Stopped after {report.done:,} of {report.total:,} {things}: {report.stopped}. {kept} add --resume "
                  "to continue, with a larger limit.", soft_wrap=True)


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


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
