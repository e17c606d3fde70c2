"""Terminal output of study reports: what matters on one screen, or all of it. Remarks are footnotes at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.table import Table

from cir_core.reports.records import ReportTable, Section
from cir_core.support.texts import counted
from cli.console import out
from cli.tables.fitted_tables import Footnotes, print_headlines, print_section, print_table, say

if TYPE_CHECKING:
    from annotation.kinds.reports import WholeReport
    from annotation.records import MetricScores, Study

LINES = 60         # of a report that is not asked for as a whole
_LISTED = 40       # rows; files have all of them
_FEW = 12          # rows of a table that matters
_FIRST, _METHOD = frozenset({"notes", "precision"}), "method"    # tables that are said, or asked for, before others
_HEADLINES = -1


def print_report(whole: WholeReport, *, everything: bool = False) -> None:
    """Print key numbers with intervals, and the first short table of each section, in at most :data:`LINES` lines; or
    ``everything``: all tables, and what they mean. Figures are only in files."""
    notes = Footnotes()
    if everything:
        _print_head(whole)
        for section in whole.sections:
            out.print()
            print_section(section, _LISTED, notes)
        _print_notes(notes)
        return
    sections = [_brief(section) for section in whole.sections if section.key != _METHOD]
    shown = _as_much_as_fits(sections, LINES - _lines(lambda: _print_head(whole)) - 2)
    _print_head(whole)
    for place, section in enumerate(sections):
        parts = [part for part in _parts(place, section) if part in shown]
        if parts:
            out.print()
            say(section.title.upper())
        for number, part in enumerate(parts):
            if number:
                out.print()
            _print_part(section, part, notes)
    _print_notes(notes)
    every = sum(bool(table.rows) for section in whole.sections for table in section.tables)
    left = every - sum(number != _HEADLINES for _, number in shown)
    out.print()
    say(f"{counted(left, 'more table')} with --all, or as files with --out.")


_Part = tuple[int, int]
"""Number of a section, and of a table in it, or :data:`_HEADLINES`."""


def _brief(section: Section) -> Section:
    """With the tables of few rows, without rows of zeros."""
    tables = (_without_zeros(replace(table, note="")) for table in section.tables)
    return replace(section, tables=tuple(table for table in tables if 0 < len(table.rows) <= _FEW))


def _parts(place: int, section: Section) -> list[_Part]:
    return [*([(place, _HEADLINES)] if section.headlines else ()),
            *((place, number) for number in range(len(section.tables)))]


def _as_much_as_fits(sections: Sequence[Section], room: int) -> set[_Part]:
    """Notes and a plan, then headlines, then the first table of each section, unless it would be more than ``room``
    lines."""
    every = [part for place, section in enumerate(sections) for part in _parts(place, section)]
    first = [part for part in every if part[1] != _HEADLINES and sections[part[0]].tables[part[1]].key in _FIRST]
    ordered = [*first, *(part for part in every if part[1] == _HEADLINES),
               *(part for part in every if part[1] == 0 and part not in first)]
    shown: set[_Part] = set()
    remarks = Footnotes()
    for part in ordered:
        place, tried = part[0], Footnotes(dict(remarks.numbers))
        lines = _lines(lambda: _print_part(sections[place], part, tried))  # noqa: B023
        lines += 1 if any(one == place for one, _ in shown) else 2
        new = Footnotes({said: number for said, number in tried.numbers.items() if said not in remarks.numbers})
        lines += _lines(new.print) + (not remarks.numbers and bool(new.numbers))
        if lines <= room:
            room -= lines
            remarks = tried
            shown.add(part)
    return shown


def _print_part(section: Section, part: _Part, notes: Footnotes) -> None:
    if part[1] == _HEADLINES:
        print_headlines(section.headlines, notes)
        return
    table = section.tables[part[1]]
    print_table(replace(table, title="") if table.title == section.title else table, notes=notes)


def _lines(print_it: Callable[[], None]) -> int:
    with out.capture() as captured:
        print_it()
    return captured.get().count("\n")


def _print_head(whole: WholeReport) -> None:
    from annotation.analysis.rendering import selected

    about = whole.report.about
    say(f"{about.study}: {about.answered:,} of {about.planned:,} answers")
    if chosen := selected(whole.report):
        say(f"Selected: {chosen}")


def _print_notes(notes: Footnotes) -> None:
    if notes.numbers:
        out.print()
        notes.print()


def _without_zeros(table: ReportTable) -> ReportTable:
    """Without rows of numbers that are all zero, such as a flag that nobody set, whose coefficients may be 1 as well.
    Counts stand for what a number rests on where there are other numbers."""
    keys = {column.key for column in table.columns}
    bounds = {f"{key}_{bound}" for key in keys for bound in ("low", "high")}
    numbers = [place for place, column in enumerate(table.columns)
               if column.kind not in ("text", "code") and column.key not in bounds]
    told = [place for place in numbers if table.columns[place].kind != "count"] or numbers

    def zero(row: Sequence[Any]) -> bool:
        cells = {place: row[place] for place in told if row[place] is not None}
        return bool(cells) and not row[told[0]] and not any(
            cell and not (cell == 1 and table.columns[place].kind == "number") for place, cell in cells.items())

    return replace(table, rows=tuple(row for row in table.rows if not zero(row)))


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
