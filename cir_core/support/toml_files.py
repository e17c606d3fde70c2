"""Parse untrusted TOML within limits of size and depth.

``tomllib`` overflows the interpreter's stack on deeply nested values, takes time quadratic in the length of a dotted
key, and reports neither in a readable message.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Sequence
from typing import Any

_LONGEST = 2**18        # characters
_LONGEST_LINE = 10_000
_DEEPEST = 50


def load_toml(text: str) -> dict[str, Any]:
    """The tables in ``text``. Raises ``ValueError`` with a sentence fragment that names the problem."""
    if len(text) > _LONGEST:
        raise ValueError(f"it has more than {_LONGEST:,} characters")
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > _LONGEST_LINE:
            raise ValueError(f"line {number} has more than {_LONGEST_LINE:,} characters")
    try:
        content = tomllib.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    level: list[Any] = [content]
    for _ in range(_DEEPEST):
        level = [value for one in level for value in (one.values() if isinstance(one, dict) else one)
                 if isinstance(value, dict | list)]
        if not level:
            return content
    raise ValueError(_TOO_DEEP)


def line_of(text: str, place: Sequence[str | int]) -> int:
    """The line, from 1, of the value at ``place``, such as ``("flags", 2, "name")``. If it is not there, that
    of the innermost table or array around it; 0 outside all. Best effort: ``text`` is valid TOML, with headers and
    keys each at the beginning of a line."""
    wanted, best, found = tuple(place), 0, 0
    at: tuple[str | int, ...] = ()
    here: tuple[str | int, ...]
    counts: Counter[tuple[str | int, ...]] = Counter()
    inside = ""      # the quotes of a text over several lines
    for number, line in enumerate(text.splitlines(), 1):
        told = line.strip()
        here = ()
        if inside:
            inside = "" if inside in told else inside
            continue
        if told.startswith("["):
            array, names = told.startswith("[["), told.partition("]")[0].strip("[").split(".")
            at = _resolved([name.strip(" \"'") for name in names], counts, array)
            here = at
        elif "=" in told and not told.startswith("#"):
            here = (*at, told.partition("=")[0].strip(" \"'"))
            inside = next((quotes for quotes in ('"""', "'''") if told.count(quotes) % 2), "")
        if here and len(here) > best and wanted[:len(here)] == here:
            best, found = len(here), number
    return found


def _resolved(
    names: Sequence[str], counts: Counter[tuple[str | int, ...]], array: bool
) -> tuple[str | int, ...]:
    """``names`` of a header with the place of each table in its array. Counts the header, if it is of an array."""
    at: tuple[str | int, ...] = ()
    for number, name in enumerate(names, 1):
        at = (*at, name)
        if array and number == len(names):
            counts[at] += 1
        if counts[at]:
            at = (*at, counts[at] - 1)
    return at


_TOO_DEEP = f"it is nested more than {_DEEPEST} levels deep"
