"""Cells of a report's tables as they are read. Names beside a figure, where there is room for a few characters of
each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from cir_core.reports.records import Headline, ReportTable

NONE = "–"
PROSE = frozenset({"reason", "assumption", "how", "note", "value"})   # columns of sentences; other texts are names
_MINUS = "−"
_ROWS = 3         # of a table with a count that is the same in each


def shown(cell: Any, kind: str) -> str:
    """A cell as in prose: "0.456", "81.1 %", "1,689", "< 0.001", and a dash for what is not there. ``kind`` is that of
    a :class:`~cir_core.reports.records.ReportColumn`. A share that is not 0 or 1 is never rounded to look like it."""
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
    if kind in ("percent", "points", "difference"):
        return _places(cell, kind, 3 if kind == "difference" else 2)
    return _signed(f"{cell:.2f}" if kind == "score" else f"{cell:.3f}")


def shown_interval(low: float | None, high: float | None, kind: str) -> str:
    """ "[0.412, 0.501]"; "" where there is none. Percent have a decimal less than the value."""
    if low is None or high is None:
        return ""
    if kind not in ("percent", "points", "difference"):
        return f"[{shown(low, kind)}, {shown(high, kind)}]"
    places = 3 if kind == "difference" else 1
    star = "*" if kind != "percent" and (low > 0 or high < 0) else ""
    return f"[{_places(low, kind, places)}, {_places(high, kind, places)}]{star}"


def rests_on(one: Headline) -> str:
    """What a headline rests on: "36 pairs", "1 pair"."""
    unit = one.unit.removesuffix("s") if one.estimate.n == 1 else one.unit
    return f"{shown(one.estimate.n, 'count')} {unit}".rstrip()


@dataclass(frozen=True)
class Reading:
    """A table as it is read: a value and the bounds of its interval, three columns in files, are one, and a text that
    no row has is none. ``right``: whether a column stands at the right."""

    keys: tuple[str, ...]
    names: tuple[str, ...]
    right: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]


def for_readers(table: ReportTable) -> ReportTable:
    """Without codes, beside which there are names, and without counts that are the same in each row, which the note
    says instead."""
    same: dict[str, list[str]] = {}
    kept = []
    for place, column in enumerate(table.columns):
        cells = {row[place] for row in table.rows}
        if place and column.kind == "count" and len(table.rows) >= _ROWS and len(cells) == 1 and None not in cells:
            same.setdefault(shown(table.rows[0][place], "count"), []).append(column.name)
        elif column.kind != "code":
            kept.append(place)
    if len(kept) == len(table.columns):
        return table
    said = [f"{', '.join(names)}: {value} in each row." for value, names in same.items()]
    return replace(table, columns=tuple(table.columns[place] for place in kept),
                   rows=tuple(tuple(row[place] for place in kept) for row in table.rows),
                   note=" ".join(filter(None, (table.note, *said))))


def reading(table: ReportTable) -> Reading:
    """Of a table :func:`for_readers`."""
    places = [column.key for column in table.columns]
    bounds = {number: (number + 1, number + 2) for number, key in enumerate(places)
              if places[number + 1:number + 3] == [f"{key}_low", f"{key}_high"]}
    inside = {number for both in bounds.values() for number in both}
    keys, names, right, columns = [], [], [], []
    for number, column in enumerate(table.columns):
        cells = [shown(row[number], column.kind) for row in table.rows]
        if number in inside or (column.kind == "text" and cells and not any(row[number] for row in table.rows)):
            continue
        low, high = bounds.get(number, (None, None))
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


def _share(value: float) -> str:
    if 0 < value < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= value < 1:
        return "> 99.9 %"
    return _signed(f"{value * 100:.1f}") + " %"


def _places(value: float, kind: str, places: int) -> str:
    """With a plus sign before differences."""
    text = _signed(f"{value if kind == 'difference' else 100 * value:.{places}f}")
    return f"+{text}" if kind != "percent" and not text.startswith((_MINUS, "-")) else text


def _signed(text: str) -> str:
    """With a minus sign in place of a hyphen, and without any before a zero."""
    number = text.removeprefix("-")
    return number if number == text or not number.strip("0.,") else _MINUS + number


LONGEST = 18      # characters
_TAIL = 9         # of them behind the gap, where the middle is cut out


def axis_names(names: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The names, none longer than :data:`LONGEST` and no two alike that differ, and a legend; "" where none is needed.

    Long ones lose their end, or else their middle, or else what all of them begin and end with. Where some would
    still look the same, a long name is a number, and the legend says whose.
    """
    long = sorted({name for name in names if len(name) > LONGEST})
    middles = _middles(long) if long else {}
    ways: tuple[Callable[[str], str], ...] = (_head, _ends, lambda name: _head(middles[name]))
    for way in ways:
        short = {name: way(name) if name in middles else name for name in names}
        if len({one.casefold() for one in short.values()}) == len(short):
            return tuple(short[name] for name in names), ""
    numbers = {name: f"({number})" for number, name in enumerate(dict.fromkeys(n for n in names if n in middles), 1)}
    legend = "; ".join(f"{number} {name}" for name, number in numbers.items())
    return tuple(numbers.get(name, name) for name in names), f"Names too long for the figure: {legend}."


def _head(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[:LONGEST - 1].rstrip()}…"


def _ends(name: str) -> str:
    return f"{name[:LONGEST - 1 - _TAIL].rstrip()}…{name[-_TAIL:].lstrip()}"


def _middles(names: Sequence[str]) -> dict[str, str]:
    """Each without what all begin and end with, in whole words."""
    before = _shared(names)
    rest = [name[before:] for name in names]
    behind = _shared([one[::-1] for one in rest])
    return {name: ("…" if before else "") + one[:len(one) - behind] + ("…" if behind else "")
            for name, one in zip(names, rest, strict=True)}


def _shared(names: Sequence[str]) -> int:
    """How many characters all begin with, in whole words."""
    first, last = min(names), max(names)
    alike = next((place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(map(len, names)))
    return next((place for place in range(alike, 0, -1) if not first[place - 1].isalnum()), 0)
