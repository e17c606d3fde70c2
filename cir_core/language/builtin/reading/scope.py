"""Context queries on the items around a position."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cir_core.language.builtin.reading.edits import Edit
from cir_core.language.builtin.reading.reader import ReadItem
from cir_core.language.builtin.reading.vocabulary import Sense

FILLERS = frozenset({"stop", "a", "the", "much", "as"})


def following(items: Sequence[ReadItem], place: int) -> ReadItem | None:
    """The next item after ``place`` that is not a filler word."""
    return next((item for item in items[place + 1 :] if item.kind not in FILLERS), None)


def has_goal(items: Sequence[ReadItem], place: int) -> bool:
    """Whether a "to", "into" or "with" follows before the sentence ends."""
    for item in items[place + 1 :]:
        if item.kind in ("break", "but"):
            return False
        if item.kind in ("to", "with"):
            return True
    return False


def fronted(items: Sequence[ReadItem]) -> tuple[ReadItem, ...]:
    """``items`` with a negation before what "has to go" or "isn't for me", instead of after it."""
    found: list[ReadItem] = []
    for item in items:
        if item.kind != "away":
            found.append(item)
            continue
        start = len(found)
        while start and not _ends_clause(found, start - 1):
            start -= 1
        found.insert(start, ReadItem(Sense("without"), ("without",)))
        found.append(ReadItem(Sense("break"), (".",)))
    return tuple(found)


def _ends_clause(items: Sequence[ReadItem], place: int) -> bool:
    kind = items[place].kind
    between = kind == "and" and items[place - 1].value_of("colour") and items[place + 1 :][:1]
    return kind in ("break", "but", "and") and not (between and items[place + 1].value_of("colour"))


def owner_near(items: Sequence[ReadItem], place: int) -> str:
    """The part that a comparative at ``place`` is about: "wider sleeves", "the neckline should be lower"."""
    if place + 1 < len(items) and items[place + 1].kind == "part":
        return items[place + 1].sense.group
    back = place - 1
    while back >= 0 and items[back].kind in ("verb", "stop", "to", "much", "as", "more", "a"):
        back -= 1
    return items[back].sense.group if back >= 0 and items[back].kind == "part" else ""


def is_recoloured(last: Edit, items: Sequence[ReadItem], place: int, negated: Collection[int]) -> bool:
    """Whether the thing that ``last`` drops only gets the colour at ``place``: "change the belt to red"."""
    back = place - 1
    while back >= 0 and items[back].kind in ("to", "a", "the", "in", "stop", "shade", "with"):
        back -= 1
    goal = any(item.kind in ("to", "with") or item.text == "for" for item in items[back + 1 : place])
    dropped = last.operation == "drop" and last.group in ("pattern", "trim", "sleeves", "neckline")
    replaced = back >= 0 and (back in negated or items[back].kind == "part")
    verb = any(item.kind in ("alter", "replace", "from") for item in items[max(0, back - 5) : max(0, back)])
    return goal and dropped and replaced and verb


def is_reference(items: Sequence[ReadItem], place: int) -> bool:
    """Whether the noun at ``place`` is the reference garment, not the wanted one."""
    for item in reversed(items[max(0, place - 4) : place]):
        if item.kind in ("the", "keep", "same"):
            return True
        if item.kind not in ("value", "word", "stop", "as"):
            return False
    return False


def bind_sleeves(items: Sequence[ReadItem]) -> tuple[frozenset[int], frozenset[int]]:
    """Positions of "long" or "longer" that refer to sleeves, and of those sleeves.

    "Longer" alone is the garment's length. Directly before "sleeves" (colours may come
    between) or after them ("the sleeves are longer") it refers to them.
    """
    owned: set[int] = set()
    parts: set[int] = set()
    for place, item in enumerate(items):
        if item.kind != "part" or item.sense.group != "sleeves":
            continue
        back = place - 1
        small = ("stop", "the", "a", "in")
        while back >= 0 and (items[back].kind in small or items[back].value_of("colour")):
            back -= 1
        ahead = place + 1
        while ahead < len(items) and items[ahead].kind in ("stop", "verb", "to", "much", "as", "more", "a"):
            ahead += 1
        for other in (back, ahead):
            if 0 <= other < len(items) and other not in owned and _is_length(items[other]):
                owned.add(other)
                parts.add(place)
                break
    return frozenset(owned), frozenset(parts)


def _is_length(item: ReadItem) -> bool:
    if item.kind == "step":
        return item.sense.group == "length"
    return item.kind == "value" and item.sense.pairs[0][0] == "length" and len(item.sense.pairs) == 1
