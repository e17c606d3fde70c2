"""Context queries on the items around a position."""

from __future__ import annotations

from collections.abc import Sequence

from cir_core.language.builtin.reading.reader import Item

FILLERS = frozenset({"stop", "a", "the", "much", "as"})


def following(items: Sequence[Item], place: int) -> Item | None:
    """The next item after ``place`` that is not a filler word."""
    return next((item for item in items[place + 1 :] if item.kind not in FILLERS), None)


def has_goal(items: Sequence[Item], place: int) -> bool:
    """Whether a "to", "into" or "with" follows before the sentence ends."""
    for item in items[place + 1 :]:
        if item.kind in ("break", "but"):
            return False
        if item.kind in ("to", "with"):
            return True
    return False


def is_reference(items: Sequence[Item], place: int) -> bool:
    """Whether the noun at ``place`` is the reference garment, not the wanted one."""
    for item in reversed(items[max(0, place - 4) : place]):
        if item.kind in ("the", "keep"):
            return True
        if item.kind not in ("value", "word", "stop", "as"):
            return False
    return False


def bind_sleeves(items: Sequence[Item]) -> tuple[frozenset[int], frozenset[int]]:
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


def _is_length(item: Item) -> bool:
    if item.kind == "step":
        return item.sense.group == "length"
    return item.kind == "value" and item.sense.pairs[0][0] == "length" and len(item.sense.pairs) == 1
