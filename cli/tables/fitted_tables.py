"""Tables that fit the terminal. A number is never cut: one that is not whole is another number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table

from cli.console import out

_TEXT_WIDTH = 56      # a cell of text is folded there
_NAME_WIDTH = 12      # and, where there is little room, there at the least
_PIPED = 10_000


@dataclass(frozen=True)
class Grid:
    """``right``: numbers, at the right; ``prose``: sentences, which may move below; ``codes``: columns that say again
    what another says, and are left out where there is little room."""

    names: tuple[str, ...]
    right: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    prose: frozenset[int] = frozenset()
    codes: frozenset[int] = frozenset()


def print_grid(grid: Grid) -> None:
    """As a table; where the terminal is too narrow with sentences below it and intervals under their values; where it
    is too narrow for that as well, each row as a paragraph. What is piped into a file is as wide as it is."""
    width = out.width if out.is_terminal else _PIPED
    table = _table(grid, _TEXT_WIDTH)
    if (needed := _needed(table)) <= width:
        _put(table, needed)
        return
    narrow, remarks = _without_prose(_without(grid, grid.codes))
    table = _table(_stacked(narrow), _NAME_WIDTH)
    if _needed(table) <= width:
        for column in table.columns:
            column.max_width = None if column.no_wrap else _TEXT_WIDTH
        _put(table, min(width, _needed(table)))
        for number, remark in enumerate(remarks, 1):
            say(f"[{number}] {remark}")
    else:
        _print_rows(_without(grid, grid.codes))


def say(text: str, indent: int = 0) -> None:
    """Text that breaks between words; what is piped is not broken."""
    if out.is_terminal:
        out.print(Padding(text, (0, 0, 0, indent), expand=False) if indent else text)
    else:
        out.print(" " * indent + text, soft_wrap=True)


def _table(grid: Grid, text_width: int) -> Table:
    """Numbers as wide as they are, texts folded at ``text_width``."""
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


def _without_prose(grid: Grid) -> tuple[Grid, list[str]]:
    """With numbers in place of its sentences, and these. One column of them that is the first stays."""
    prose = grid.prose - {0}
    if not prose:
        return grid, []
    remarks: dict[str, int] = {}
    marks = []
    for row in grid.rows:
        said = [row[place] for place in sorted(prose) if row[place]]
        marks.append("".join(f"[{remarks.setdefault(one, len(remarks) + 1)}]" for one in said))
    plain = _without(grid, prose)
    rows = tuple((*row, mark) for row, mark in zip(plain.rows, marks, strict=True))
    return replace(plain, names=(*plain.names, ""), right=(*plain.right, False), rows=rows), list(remarks)


def _stacked(grid: Grid) -> Grid:
    """Intervals under their values, and the words of a column of numbers under each other."""
    names = tuple(name.replace(" %", "\xa0%").replace(" ", "\n") if right else name
                  for name, right in zip(grid.names, grid.right, strict=True))
    return replace(grid, names=names, rows=tuple(
        tuple(cell.replace(" [", "\n[") if right else cell for cell, right in zip(row, grid.right, strict=True))
        for row in grid.rows))


def _print_rows(grid: Grid) -> None:
    """Texts before the first number are a row's name."""
    head = next((place for place, right in enumerate(grid.right) if right or place in grid.prose), len(grid.names))
    for row in grid.rows:
        say(", ".join(row[:head]))
        parts = [f"{name}: {cell}" if name else cell
                 for name, cell in zip(grid.names[head:], row[head:], strict=True) if cell]
        say("; ".join(parts), indent=2)
