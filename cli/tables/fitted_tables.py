"""Tables that adapt to the terminal width. Numbers are never truncated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rich.cells import cell_len
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table

from cir_core.reports.cells import PROSE, for_readers, reading, rests_on, shown, shown_interval
from cir_core.reports.records import Headline, ReportTable, Section
from cir_core.support.texts import counted
from cli.console import out

_TEXT_WIDTH = 56      # a cell of text is folded there
_NAME_WIDTH = 12      # and, where there is little room, there at the least
_PIPED = 10_000


@dataclass(frozen=True)
class Grid:
    """``right``: right-aligned number columns; ``prose``: sentences, which may move below the table."""

    names: tuple[str, ...]
    right: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    prose: frozenset[int] = frozenset()


@dataclass
class Footnotes:
    """Sentences of several tables, each once, by number from 1."""

    numbers: dict[str, int] = field(default_factory=dict)

    def mark(self, sentence: str) -> str:
        return f"[{self.numbers.setdefault(sentence, len(self.numbers) + 1)}]"

    def print(self) -> None:
        for sentence, number in self.numbers.items():
            say(f"[{number}] {sentence}")


def print_section(section: Section, most: int | None = None, notes: Footnotes | None = None) -> None:
    """Print headlines with intervals, then the tables, of each at most ``most`` rows. Figures are only in files."""
    say(section.title.upper())
    if section.intro:
        say(section.intro)
    if section.headlines:
        out.print()
        print_headlines(section.headlines, notes)
    for table in section.tables:
        out.print()
        print_table(table, most, notes)


def print_headlines(headlines: Sequence[Headline], notes: Footnotes | None = None) -> None:
    print_grid(_headlines(headlines), notes)


def print_table(table: ReportTable, most: int | None = None, notes: Footnotes | None = None) -> None:
    """Print a table with its title and note, as wide as the terminal. ``notes``: what its remarks go to."""
    table = for_readers(table)
    if table.title:
        say(table.title)
    if not table.rows:
        say(table.empty or "Nothing.")
    elif len(table.columns) == 1:   # sentences
        for row in table.rows:
            say(f"- {row[0]}")
    else:
        print_grid(_grid(table, most), notes)
        if most is not None and (more := len(table.rows) - most) > 0:
            say(f"… {counted(more, 'more row')}: --out or --json has them.")
    if table.note:
        say(table.note)


def print_grid(grid: Grid, notes: Footnotes | None = None) -> None:
    """Print a table; on narrow terminals with sentences below it and intervals under their values; on still narrower
    ones each row as a paragraph. Piped output keeps its full width. ``notes``: what sentences go to in any case; a
    table of names and sentences alone keeps them."""
    width = out.width if out.is_terminal else _PIPED
    if notes is not None and len(grid.names) > 2:
        grid = _without_prose(grid, notes)
    table = _table(grid, _TEXT_WIDTH)
    if (needed := _needed(table)) <= width:
        _put(table, needed)
        return
    remarks = Footnotes()
    narrow = _without_prose(grid, remarks)
    table = _table(_stacked(narrow), _NAME_WIDTH)
    if _needed(table) <= width:
        for column in table.columns:
            column.max_width = None if column.no_wrap else _TEXT_WIDTH
        _put(table, min(width, _needed(table)))
        remarks.print()
    else:
        _print_rows(grid)


def say(text: str, indent: int = 0) -> None:
    """Print text wrapped between words; piped output is not wrapped."""
    if out.is_terminal:
        out.print(Padding(text, (0, 0, 0, indent), expand=False) if indent else text)
    else:
        out.print(" " * indent + text, soft_wrap=True)


def _table(grid: Grid, text_width: int) -> Table:
    """Numbers at their full width, texts folded at ``text_width``."""
    made = Table(box=None, padding=(0, 1), collapse_padding=True, pad_edge=False)
    for place, (name, right) in enumerate(zip(grid.names, grid.right, strict=True)):
        cells = [name, *(row[place] for row in grid.rows)]
        longest = max(cell_len(line) for cell in cells for line in cell.split("\n"))
        if right:
            made.add_column(name, justify="right", no_wrap=True, min_width=longest)
        else:
            made.add_column(name, overflow="fold", min_width=min(longest, text_width), max_width=text_width)
    for row in grid.rows:
        made.add_row(*row)
    return made


def _needed(table: Table) -> int:
    return Measurement.get(out, out.options.update(width=_PIPED), table).maximum


def _put(table: Table, width: int) -> None:
    table.width = width
    out.print(table, crop=False, overflow="ignore", no_wrap=True)


def _without(grid: Grid, gone: frozenset[int]) -> Grid:
    kept = [place for place in range(len(grid.names)) if place not in gone]

    def of(values: Sequence[str]) -> tuple[str, ...]:
        return tuple(values[place] for place in kept)

    return Grid(of(grid.names), tuple(grid.right[place] for place in kept), tuple(map(of, grid.rows)),
                frozenset(new for new, place in enumerate(kept) if place in grid.prose))


def _without_prose(grid: Grid, notes: Footnotes) -> Grid:
    """The grid with footnote numbers instead of sentences. A single leading prose column stays."""
    prose = grid.prose - {0}
    if not prose:
        return grid
    marks = ["".join(notes.mark(row[place]) for place in sorted(prose) if row[place]) for row in grid.rows]
    plain = _without(grid, prose)
    rows = tuple((*row, mark) for row, mark in zip(plain.rows, marks, strict=True))
    return replace(plain, names=(*plain.names, ""), right=(*plain.right, False), rows=rows)


def _stacked(grid: Grid) -> Grid:
    """Intervals under their values, and headings of number columns one word per line."""
    names = tuple(name.replace(" %", "\xa0%").replace(" ", "\n") if right else name
                  for name, right in zip(grid.names, grid.right, strict=True))
    return replace(grid, names=names, rows=tuple(
        tuple(cell.replace(" [", "\n[") if right else cell for cell, right in zip(row, grid.right, strict=True))
        for row in grid.rows))


def _print_rows(grid: Grid) -> None:
    """Rows as paragraphs; texts before the first number are the row's name."""
    head = next((place for place, right in enumerate(grid.right) if right or place in grid.prose), len(grid.names))
    for row in grid.rows:
        say(", ".join(row[:head]))
        parts = [f"{name}: {cell}" if name else cell
                 for name, cell in zip(grid.names[head:], row[head:], strict=True) if cell]
        say("; ".join(parts), indent=2)


def _headlines(headlines: Sequence[Headline]) -> Grid:
    return Grid(("", "", "95 %", "n", ""), (False, True, True, True, False), tuple((
        one.label, shown(one.estimate.value, one.kind), shown_interval(one.estimate.low, one.estimate.high, one.kind),
        rests_on(one), "; ".join(dict.fromkeys(part for part in (one.estimate.reason, one.note) if part)),
    ) for one in headlines), prose=frozenset({4}))


def _grid(table: ReportTable, most: int | None) -> Grid:
    read = reading(table)
    return Grid(read.names, read.right, read.rows[:most],
                frozenset(place for place, key in enumerate(read.keys) if key in PROSE and not read.right[place]))
