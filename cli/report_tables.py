"""Reports of studies in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.measure import Measurement
from rich.table import Table

from cir_core.texts import counted
from cli.console import out

if TYPE_CHECKING:
    from annotation.analysis.records import About, Headline, ReportTable, Section
    from annotation.records import MetricScores

_TEXT_WIDTH = 56   # a cell of text is folded there
_LISTED = 40       # rows; files have all of them


def print_report(about: About, sections: Sequence[Section]) -> None:
    """Numbers that are looked for first, with their intervals, then the tables. Figures are in the files alone."""
    out.print(f"{about.study}: {about.answered:,} of {about.planned:,} answers", soft_wrap=True)
    for section in sections:
        out.print(f"\n{section.title.upper()}", soft_wrap=True)
        if section.intro:
            out.print(section.intro)
        if section.headlines:
            out.print()
            _print_wide(_headlines(section.headlines))
        for table in section.tables:
            out.print()
            _print_table(table)


def print_scores(study: str, scores: Sequence[MetricScores], sets: int) -> None:
    """Metrics that are kept with a study of so many ``sets``."""
    if not scores:
        out.print(f"{study} keeps no scores. Recall of its sets is computed without any.\n"
                  "  From a file: cirque report scores STUDY --add FILE.csv\n"
                  "  By a method: cirque report scores STUDY --method slerp --gallery GALLERY", soft_wrap=True)
        return
    table = Table("scores", "sets", "what", box=None)
    table.columns[1].justify, table.columns[1].no_wrap = "right", True
    for one in scores:
        table.add_row(one.name, f"{len(one.scores):,} of {sets:,}", " ".join((one.description, *one.notes)))
    out.print(table)


def _headlines(headlines: Sequence[Headline]) -> Table:
    from annotation.analysis.formats import shown, shown_interval

    table = Table("", "", "95 %", "n", "", box=None)
    for column in table.columns[1:4]:
        column.justify, column.no_wrap = "right", True
    table.columns[4].overflow, table.columns[4].max_width = "fold", _TEXT_WIDTH
    for one in headlines:
        of = one.estimate
        table.add_row(
            one.label, shown(of.value, one.kind), shown_interval(of.low, of.high, one.kind),
            f"{of.n:,} {one.unit}".rstrip(), "; ".join(part for part in (of.reason, one.note) if part))
    return table


def _print_table(table: ReportTable) -> None:
    out.print(table.title, soft_wrap=True)
    if not table.rows:
        out.print(table.empty or "Nothing.", soft_wrap=True)
    elif len(table.columns) == 1:   # sentences
        for row in table.rows:
            out.print(f"- {row[0]}", soft_wrap=True)
    else:
        _print_wide(_as_rich(table))
        if (more := len(table.rows) - _LISTED) > 0:
            out.print(f"… and {counted(more, 'more row')}: --out writes all of them.", soft_wrap=True)
    if table.note:
        out.print(table.note, soft_wrap=True)


def _as_rich(table: ReportTable) -> Table:
    from annotation.analysis.formats import reading

    read = reading(table)
    made = Table(box=None)
    for name, right in zip(read.names, read.right, strict=True):
        if right:
            made.add_column(name, justify="right", no_wrap=True)
        else:
            made.add_column(name, overflow="fold", max_width=_TEXT_WIDTH)
    for row in read.rows[:_LISTED]:
        made.add_row(*row)
    return made


def _print_wide(table: Table) -> None:
    """Wider than the terminal rather than cut: a number that is not whole is another number."""
    needed = Measurement.get(out, out.options.update(width=10_000), table).maximum
    if needed > out.width:
        table.width = needed
    out.print(table, crop=False, overflow="ignore", no_wrap=True)
