"""Cells as they are read, and tables as files: CSV, JSON, Markdown, LaTeX.

CSV and JSON are for programs: column keys, cells unrounded, a missing value is empty or null. Markdown and LaTeX are
for papers: column names, cells rounded, a missing value is a dash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

from annotation.analysis.records import Headline, ReportTable
from annotation.tables.files import csv_file

Form = Literal["csv", "json", "md", "tex"]
FORMS: tuple[Form, ...] = ("csv", "json", "md", "tex")
NONE = "–"
PROSE = frozenset({"reason", "assumption", "how", "note", "value"})   # columns of sentences; other texts are names
_MINUS = "−"

_MARKDOWN = re.compile(r"[\\`*\[\]<>|~$&]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
# What OT1 fonts print as something else is escaped too, and "[", which is an optional argument at the start of a row.
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "[": "{[}", "]": "{]}", "–": "--", "−": "$-$", "≥": r"$\ge$", "≤": r"$\le$", "×": r"$\times$",
    "±": r"$\pm$", "→": r"$\to$", "≻": r"$\succ$", "κ": r"$\kappa$", "α": r"$\alpha$", "ρ": r"$\rho$", "τ": r"$\tau$",
    "“": "``", "”": "''",
}
_LATEX_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))


def shown(cell: Any, kind: str) -> str:
    """A cell as in prose: "0.456", "81.1 %", "1,689", "< 0.001", and a dash for what is not there.

    ``kind`` is that of a :class:`~annotation.analysis.records.ReportColumn`. A share that is not 0 or 1 is never
    rounded to look like it.
    """
    if cell is None or (isinstance(cell, float) and not isfinite(cell)):
        return NONE
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if kind == "text" or isinstance(cell, str):
        return str(cell)
    if kind == "count":
        return _signed(f"{cell:,.0f}" if cell == round(cell) else f"{cell:,.1f}")
    if kind == "share":
        return _share(cell)
    if kind == "p":
        return "< 0.001" if cell < 0.001 else f"{cell:.3f}"
    return _signed(f"{cell:.3f}")


def shown_interval(low: float | None, high: float | None, kind: str) -> str:
    """ "[0.412, 0.501]"; "" where there is none."""
    return "" if low is None or high is None else f"[{shown(low, kind)}, {shown(high, kind)}]"


def rests_on(one: Headline) -> str:
    """What a headline rests on: "36 pairs", "1 pair"."""
    unit = one.unit.removesuffix("s") if one.estimate.n == 1 else one.unit
    return f"{shown(one.estimate.n, 'count')} {unit}".rstrip()


def table_file(table: ReportTable, form: Form) -> bytes:
    """The table as a file, UTF-8. CSV as :mod:`annotation.tables.files` writes it; JSON has rows as objects by column
    key; LaTeX needs booktabs and nothing else."""
    if form == "csv":
        return csv_file([column.key for column in table.columns], [[_finite(cell) for cell in row]
                                                                     for row in table.rows])
    if form == "json":
        return (json.dumps(table_json(table), ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()
    return (markdown_table(table) if form == "md" else latex_table(table)).encode()


def table_json(table: ReportTable) -> dict[str, Any]:
    return {
        "key": table.key, "title": table.title, "note": table.note,
        "columns": [{"key": column.key, "name": column.name, "kind": column.kind} for column in table.columns],
        "rows": [{column.key: _finite(cell) for column, cell in zip(table.columns, row, strict=True)}
                 for row in table.rows],
    }


@dataclass(frozen=True)
class Reading:
    """A table as it is read: a value and the bounds of its interval, three columns in files, are one, and a text that
    no row has is none. ``right``: whether a column stands at the right."""

    keys: tuple[str, ...]
    names: tuple[str, ...]
    right: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]


def reading(table: ReportTable) -> Reading:
    place = {column.key: number for number, column in enumerate(table.columns)}
    bounds = {key: (low, high) for key in place
              if (low := place.get(f"{key}_low")) is not None and (high := place.get(f"{key}_high")) is not None}
    inside = {number for both in bounds.values() for number in both}
    keys, names, right, columns = [], [], [], []
    for number, column in enumerate(table.columns):
        cells = [shown(row[number], column.kind) for row in table.rows]
        if number in inside or (column.kind == "text" and cells and not any(row[number] for row in table.rows)):
            continue
        low, high = bounds.get(column.key, (None, None))
        intervals = [] if low is None or high is None else [
            shown_interval(row[low], row[high], column.kind) for row in table.rows]
        columns.append([f"{cell} {interval}".rstrip() for cell, interval in zip(cells, intervals, strict=True)]
                       if intervals else cells)
        names.append(f"{column.name} [95 %]" if any(intervals) else column.name)
        keys.append(column.key)
        right.append(column.kind != "text")
    return Reading(tuple(keys), tuple(names), tuple(right), tuple(zip(*columns, strict=True)))


def shown_rows(table: ReportTable) -> list[list[str]]:
    """The rows as they are read."""
    return [[shown(cell, column.kind) for column, cell in zip(table.columns, row, strict=True)] for row in table.rows]


def markdown_table(table: ReportTable) -> str:
    """Title, table, note."""
    parts = [f"**{markdown_text(table.title)}**"]
    if table.rows:
        read = reading(table)
        parts.append(markdown_grid(read.names, read.rows, read.right))
    else:
        parts.append(f"*{markdown_text(table.empty or 'No rows.')}*")
    if table.note:
        parts.append(markdown_text(table.note))
    return "\n\n".join(parts) + "\n"


def markdown_grid(names: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """A pipe table; ``right``: columns that stand at the right."""
    lines = [names, ["---:" if one else "---" for one in right]]
    head, rule = (f"| {' | '.join(line)} |" for line in ([*map(markdown_text, lines[0])], lines[1]))
    return "\n".join([head, rule, *(f"| {' | '.join(map(markdown_text, row))} |" for row in rows)])


def markdown_text(text: str) -> str:
    """Text of people's own as one line that Markdown takes for text and nothing else."""
    return _MARKDOWN.sub(lambda found: f"\\{found.group()}", _one_line(text))


def latex_table(table: ReportTable) -> str:
    read = reading(table)
    right = "".join("r" if right else "l" for right in read.right)
    empty = rf"\multicolumn{{{len(read.names)}}}{{l}}{{{latex_text(table.empty or 'No rows.')}}} \\"
    rows = [_latex_row(row) for row in read.rows] or [empty]
    note = [rf"  \par\smallskip{{\footnotesize {latex_text(table.note)}}}"] if table.note else []
    return "\n".join([
        r"% \usepackage{booktabs}", r"\begin{table}[t]", r"  \centering", rf"  \caption{{{latex_text(table.title)}}}",
        rf"  \label{{tab:{table.key}}}", rf"  \begin{{tabular}}{{{right}}}", r"    \toprule",
        f"    {_latex_row(read.names)}", r"    \midrule",
        *(f"    {row}" for row in rows), r"    \bottomrule", r"  \end{tabular}", *note, r"\end{table}", "",
    ])


def latex_text(text: str) -> str:
    """As LaTeX that prints it. Letters that are not ASCII stay as they are."""
    return _LATEX_SPECIAL.sub(lambda found: _LATEX[found.group()], _one_line(text))


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(latex_text, cells)) + r" \\"


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _share(value: float) -> str:
    if 0 < value < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= value < 1:
        return "> 99.9 %"
    return _signed(f"{value * 100:.1f}") + " %"


def _signed(text: str) -> str:
    """With a minus sign in place of a hyphen, and without any before a zero."""
    number = text.removeprefix("-")
    return number if number == text or not number.strip("0.,") else _MINUS + number


def _finite(cell: Any) -> Any:
    return None if isinstance(cell, float) and not isfinite(cell) else cell
