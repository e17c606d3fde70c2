"""Terminal output of study reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from cir_core.support.texts import counted
from cli.console import out
from cli.tables.fitted_tables import Grid, print_grid, say

if TYPE_CHECKING:
    from annotation.analysis.records import Headline, ReportTable
    from annotation.kinds.reports import WholeReport
    from annotation.records import MetricScores, Study

_LISTED = 40       # rows; files have all of them
_CODES = frozenset({"code"})


def print_report(whole: WholeReport) -> None:
    """Print headline numbers with intervals, then the tables. Figures are only in files."""
    from annotation.analysis.rendering.report_parts import selected

    about = whole.report.about
    say(f"{about.study}: {about.answered:,} of {about.planned:,} answers")
    if chosen := selected(whole.report):
        say(f"Selected: {chosen}")
    for section in whole.sections:
        say(f"\n{section.title.upper()}")
        if section.intro:
            out.print(section.intro)
        if section.headlines:
            out.print()
            print_grid(_headlines(section.headlines))
        for table in section.tables:
            out.print()
            print_table(table)


def print_scores(study: Study, scores: Sequence[MetricScores], most: int) -> None:
    """Print the scores stored with a study in which ``most`` sets or questions can have one."""
    from annotation.kinds.table import KINDS
    from annotation.records.scores import SCORED

    has_sets = KINDS[study.kind].has_sets
    if not scores and not has_sets:
        out.print(f"{study.name} has no stored scores of language models.\n"
                  "  cirque construct judge writes them, cirque report scores STUDY --add judged.json adds them",
                  soft_wrap=True)
        return
    if not scores:
        out.print(f"{study.name} has no stored scores. Recall of its sets needs none.\n"
                  "  From a file: cirque report scores STUDY --add FILE.csv\n"
                  "  By a method: cirque report scores STUDY --method slerp --gallery GALLERY", soft_wrap=True)
        return
    table = Table("scores", f"{SCORED[study.kind].what}s", "what", box=None)
    table.columns[1].justify, table.columns[1].no_wrap = "right", True
    for one in scores:
        table.add_row(one.name, f"{len(one.scores):,} of {most:,}", " ".join((one.description, *one.notes)))
    out.print(table)


def _headlines(headlines: Sequence[Headline]) -> Grid:
    from cir_core.reports.cells import rests_on, shown, shown_interval

    return Grid(("", "", "95 %", "n", ""), (False, True, True, True, False), tuple((
        one.label, shown(one.estimate.value, one.kind), shown_interval(one.estimate.low, one.estimate.high, one.kind),
        rests_on(one), "; ".join(dict.fromkeys(part for part in (one.estimate.reason, one.note) if part)),
    ) for one in headlines), prose=frozenset({4}))


def print_table(table: ReportTable) -> None:
    """Print a table with its title and note, as wide as the terminal."""
    say(table.title)
    if not table.rows:
        say(table.empty or "Nothing.")
    elif len(table.columns) == 1:   # sentences
        for row in table.rows:
            say(f"- {row[0]}")
    else:
        print_grid(_grid(table))
        if (more := len(table.rows) - _LISTED) > 0:
            say(f"… {counted(more, 'more row')}: --out or --json has them.")
    if table.note:
        say(table.note)


def _grid(table: ReportTable) -> Grid:
    from cir_core.reports.cells import PROSE, reading

    read = reading(table)
    return Grid(read.names, read.right, read.rows[:_LISTED],
                frozenset(place for place, key in enumerate(read.keys) if key in PROSE and not read.right[place]),
                frozenset(place for place, key in enumerate(read.keys) if key in _CODES))
