"""Names beside a figure, where there is room for a few characters of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
