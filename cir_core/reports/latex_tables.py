"""Tables of a report as LaTeX that fits, in one and in two columns.

A table stands in a column if it is estimated to fit there, else across the page (``table*``). Texts are broken into
lines, sentences become numbered notes under the table, and a table that is still too wide or too high is split into
parts, each with the columns that name its rows. The estimate is that of :func:`~cir_core.reports.latex_text.width`;
where it is wrong, `assets/report/preamble.tex` scales the table to the width there is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cir_core.reports.cells import NONE, PROSE, for_readers, shown, shown_interval
from cir_core.reports.latex_text import latex_text, longest_word, width
from cir_core.reports.records import ReportTable

COLUMN, PAGE = 218.0, 342.0    # points: of the narrowest column and page of usual classes, and a little less
MOST_ROWS = 400                # of a table; programs read longer ones
_LINES = 44                    # of a part, with its notes
_BETWEEN = 6.0                 # points: \tabcolsep of 3 pt on both sides
_MARK = 7.0                    # points, of the number of a note
_LEAST = 44.0                  # points of a column of texts
_SHORT_NOTE = 16               # characters of sentences that stay in their column
_NUMBER = re.compile(r"([+-]?)(\d+)(?:\.(\d+))?")


@dataclass(frozen=True)
class _Column:
    """``kind``: "S", numbers aligned by their point; "r"; "l", texts. ``joined``: an interval, beside its value and
    without a heading; ``beside``: its width, which the heading of the value has too. ``fixed``: width in points to
    which texts are broken; 0: as wide as the longest."""

    head: str
    kind: str
    cells: tuple[str, ...]
    joined: bool = False
    beside: float = 0.0
    fixed: float = 0.0

    @property
    def natural(self) -> float:
        return max(self.content, max(map(width, self.head_lines), default=0.0) - self.beside)

    @property
    def content(self) -> float:
        if self.kind == "S":
            whole, places, signed = self.format
            number = 4.25 * (whole + places) + 2.4 * bool(places) + 6.7 * bool(signed) + 2.4 * ((whole - 1) // 3)
            return max([number, *(width(cell) for cell in self.cells if not _NUMBER.fullmatch(_digits(cell)))])
        return max(map(width, self.cells), default=0.0)

    @property
    def least(self) -> float:
        """The least width to which texts can be broken."""
        if self.kind != "l":
            return self.natural
        return max([min(_LEAST, self.natural), *map(longest_word, (*self.cells, self.head))])

    @property
    def head_lines(self) -> list[str]:
        """The heading, folded to the width of the cells."""
        room = self.fixed or max(self.content + self.beside, longest_word(self.head))
        lines: list[str] = []
        for word in self.head.split():
            if lines and width(f"{lines[-1]} {word}") <= room:
                lines[-1] += f" {word}"
            else:
                lines.append(word)
        return lines or [""]

    @property
    def format(self) -> tuple[int, int, str]:
        """Digits before and behind the point, and the sign, if any."""
        found = [match for cell in self.cells if (match := _NUMBER.fullmatch(_digits(cell)))]
        return (max((len(one[2]) for one in found), default=1), max((len(one[3] or "") for one in found), default=0),
                "-" if any(one[1] for one in found) else "")


def latex_table(table: ReportTable) -> str:
    """The table as one or several floats. It needs `preamble.tex`, which is written beside it."""
    head, table = "% Needs preamble.tex.\n", for_readers(table)
    if not table.rows:
        return head + _float(table, "", "table", rf"\begin{{tabular}}{{@{{}}l@{{}}}}\toprule "
                             rf"{latex_text(table.empty or 'No rows.')} \\ \bottomrule\end{{tabular}}", ())
    columns, marks, texts = _columns(table)
    parts = [part for group in _across(columns) for part in _down(group, marks, texts, table.note)]
    return head + "\n".join(
        _float(table, f" (part {number} of {len(parts)})" if len(parts) > 1 else "",
               "table" if _total(part) <= COLUMN else "table*", _tabular(part, rows, marks),
               [(mark, texts[mark - 1]) for mark in sorted({marks[row] for row in rows} - {0})], number)
        for number, (part, rows) in enumerate(parts, 1))


def _columns(table: ReportTable) -> tuple[list[_Column], list[int], list[str]]:
    """The columns without sentences, the number of each row's note (0: none), and the notes."""
    keys = [column.key for column in table.columns]
    found: list[_Column] = []
    said: list[list[str]] = [[] for _ in table.rows]
    place = 0
    while place < len(table.columns):
        column, values = table.columns[place], [row[place] for row in table.rows]
        texts = tuple(shown(value, column.kind) for value in values)
        bounds = keys[place + 1:place + 3] == [f"{column.key}_low", f"{column.key}_high"]
        if column.kind == "text":
            long = max(map(len, texts)) > _SHORT_NOTE
            if any(values) and column.key in PROSE and place and len(keys) > 2 and long:
                for row, text in zip(said, texts, strict=True):
                    row.extend([text] if text and text != NONE else [])
            elif any(values) or not found:
                found.append(_Column(column.name, "l", texts))
        else:
            unit = " (%)" if column.kind == "share" else ""
            found.append(_Column(f"{column.name}{unit}", "S", tuple(one.removesuffix(" %") for one in texts)))
            if bounds:
                intervals = tuple(shown_interval(row[place + 1], row[place + 2], column.kind).replace(" %", "")
                                  for row in table.rows)
                if any(intervals):
                    found[-1] = replace(found[-1], head=f"{column.name}{unit} [95 %]",
                                        beside=3 + max(map(width, intervals)))
                    found.append(_Column("", "r", intervals, joined=True))
        place += 3 if bounds else 1
    numbers: dict[str, int] = {}
    marks = [numbers.setdefault("; ".join(row), len(numbers) + 1) if row else 0 for row in said]
    return found, marks, list(numbers)


def _total(columns: Sequence[_Column]) -> float:
    joined = sum(column.joined for column in columns)
    cells = sum(column.fixed or column.natural for column in columns)
    return cells + _BETWEEN * (len(columns) - 1 - joined) + 3 * joined + _MARK


def _fitted(columns: Sequence[_Column], room: float) -> list[_Column] | None:
    """With texts broken so that all fit into ``room`` points; None if they cannot."""
    if _total(columns) <= room:
        return list(columns)
    texts = [column for column in columns if column.kind == "l"]
    left = room - _total(columns) + sum(column.natural for column in texts)
    if not texts or sum(column.least for column in texts) > left:
        return None
    spare, wanted = left - sum(one.least for one in texts), sum(one.natural - one.least for one in texts)
    share = min(1.0, spare / wanted) if wanted else 0.0
    return [replace(one, fixed=round(one.least + share * (one.natural - one.least), 1)) if one.kind == "l" else one
            for one in columns]


def _across(columns: Sequence[_Column]) -> Iterator[list[_Column]]:
    """Groups of columns that fit: all of them in a column or across the page, else several, each with the names."""
    natural = _total(columns)
    for room in (COLUMN, PAGE):
        # Texts are not squeezed into a column where the page has room for them.
        if (natural <= 1.6 * room or room == PAGE) and (fitted := _fitted(columns, room)):
            yield fitted
            return
    named = next((place for place, one in enumerate(columns) if one.kind != "l"), 1) or 1
    names = list(columns[:min(named, 2)])
    rest = [list(group) for group in _units(columns[len(names):])]
    if not rest:
        yield [replace(one, fixed=PAGE / len(columns) - _BETWEEN) for one in columns]
        return
    room_of_names = PAGE / 2
    names = _fitted(names, room_of_names) or [
        replace(one, fixed=room_of_names / len(names) - _BETWEEN) for one in names]
    group: list[_Column] = []
    for unit in rest:
        if group and _fitted([*names, *group, *unit], PAGE) is None:
            yield _fitted([*names, *group], PAGE) or [*names, *group]
            group = []
        group += unit
    yield _fitted([*names, *group], PAGE) or [*names, *group]


def _units(columns: Sequence[_Column]) -> Iterator[list[_Column]]:
    """A column, or a value and its interval, which stay together."""
    unit: list[_Column] = []
    for column in columns:
        if unit and not column.joined:
            yield unit
            unit = []
        unit.append(column)
    if unit:
        yield unit


def _down(columns: list[_Column], marks: Sequence[int], texts: Sequence[str], note: str) -> Iterator[
        tuple[list[_Column], list[int]]]:
    """Parts of rows that are not higher than a page."""
    room = COLUMN if _total(columns) <= COLUMN else PAGE
    fixed = 4 + max(len(column.head_lines) for column in columns) + math.ceil(width(note) / room)
    rows: list[int] = []
    used, known = fixed, set[int]()
    for row in range(len(columns[0].cells)):
        high = max(math.ceil(1.15 * width(one.cells[row]) / one.fixed) if one.fixed else 1 for one in columns)
        noted = marks[row] and marks[row] not in known
        high += math.ceil(width(texts[marks[row] - 1]) / room) if noted else 0
        if rows and used + high > _LINES:
            yield columns, rows
            rows, used, known = [], fixed, set()
        rows.append(row)
        known.add(marks[row])
        used += high
    yield columns, rows


def _tabular(columns: Sequence[_Column], rows: Sequence[int], marks: Sequence[int]) -> str:
    lines = [_row([rf"\multicolumn{{2}}{{c}}{{{_head(column)}}}" if joined else _head(column)
                   for column, joined in _with_joined(columns)])]
    lines += [r"    \midrule"]
    lines += [_row([*(f"{_cell(column, row)}{_mark(marks[row]) if not place else ''}"
                      for place, column in enumerate(columns))]) for row in rows]
    spec = "".join(_spec(column) for column in columns)
    return "\n".join([rf"  \begin{{tabular}}{{@{{}}{spec}@{{}}}}", r"    \toprule", *lines, r"    \bottomrule",
                      r"  \end{tabular}"])


def _with_joined(columns: Sequence[_Column]) -> Iterator[tuple[_Column, bool]]:
    for place, column in enumerate(columns):
        if not column.joined:
            yield column, place + 1 < len(columns) and columns[place + 1].joined


def _spec(column: _Column) -> str:
    if column.kind == "S":
        whole, places, sign = column.format
        return f"S[table-format={sign}{whole}.{places}]"
    if column.joined:
        return r"@{\hspace{3pt}}r"
    return rf"L{{{column.fixed:g}pt}}" if column.fixed else "l"


def _head(column: _Column) -> str:
    lines = column.head_lines
    if column.kind == "l":
        return latex_text(column.head, breakable=True) if column.fixed or len(lines) == 1 else _stack("l", lines)
    return f"{{{latex_text(lines[0])}}}" if len(lines) == 1 else f"{{{_stack('c', lines)}}}"


def _stack(place: str, lines: Sequence[str]) -> str:
    written = r" \\ ".join(map(latex_text, lines))
    return rf"\cirquehead{{{place}}}{{{written}}}"


def _cell(column: _Column, row: int) -> str:
    cell = column.cells[row]
    if column.kind == "S":
        digits = _digits(cell)
        return digits if _NUMBER.fullmatch(digits) else f"{{{latex_text(cell)}}}"
    return latex_text(cell, breakable=bool(column.fixed))


def _digits(cell: str) -> str:
    """A number as siunitx reads it."""
    return cell.replace("−", "-").replace(",", "")


def _mark(number: int) -> str:
    return rf"\tnote{{{number}}}" if number else ""


def _row(cells: Sequence[str]) -> str:
    return f"    {' & '.join(cells)} \\\\"


def _float(table: ReportTable, part: str, environment: str, tabular: str, notes: Sequence[tuple[int, str]],
           number: int = 1) -> str:
    said = [rf"    \item[{mark}] {latex_text(text, breakable=True)}" for mark, text in notes]
    said += [rf"    \item[] {latex_text(table.note, breakable=True)}"] if table.note else []
    label = f"tab:{table.key}" + (f"-{number}" if number > 1 else "")
    return "\n".join([
        rf"\begin{{{environment}}}[!htbp]", rf"  \caption{{{latex_text(table.title + part, breakable=True)}}}",
        rf"  \label{{{label}}}", r"  \begin{cirquetable}", tabular,
        *([r"  \begin{tablenotes}", *said, r"  \end{tablenotes}"] if said else []), r"  \end{cirquetable}",
        rf"\end{{{environment}}}", ""])
