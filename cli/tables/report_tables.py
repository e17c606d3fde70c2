"""Terminal output of study reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from cli.console import out
from cli.tables.fitted_tables import print_section, say

if TYPE_CHECKING:
    from annotation.kinds.reports import WholeReport
    from annotation.records import MetricScores, Study

_LISTED = 40       # rows; files have all of them


def print_report(whole: WholeReport) -> None:
    """Print headline numbers with intervals, then the tables. Figures are only in files."""
    from annotation.analysis.rendering import selected

    about = whole.report.about
    say(f"{about.study}: {about.answered:,} of {about.planned:,} answers")
    if chosen := selected(whole.report):
        say(f"Selected: {chosen}")
    for section in whole.sections:
        out.print()
        print_section(section, _LISTED)


def print_scores(study: Study, scores: Sequence[MetricScores], most: int) -> None:
    """Print the scores stored with a study in which ``most`` sets or questions can have one."""
    from annotation.kinds.table import KINDS
    from annotation.records.studies import SCORED

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
