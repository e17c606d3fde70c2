"""Assign colours to their owner: the cloth, the pattern, the trim, or a single piece."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from cir_core.language.builtin.reading.parts import is_kept, is_piece, piece_after, shows_second
from cir_core.language.builtin.reading.reader import ReadItem

JOINERS = frozenset({"and", "&", ",", "with", "plus", "w", "wit", "having", "featuring"})
_PRINTS = frozenset({"print", "prints", "printed", "pattern", "design", "graphic"})
_FRONT = frozenset({"front", "chest", "breast"})
_LINKS = frozenset({"can", "could", "will", "would", "only", "just", "please", "now", "instead", "all", "to be",
                    "rather", "maybe", "perhaps", "then", "both", "entirely", "completely"})
_ADJECTIVES = ("ed", "ly")
_ADDING = frozenset({"has", "have", "had", "add", "adding", "give", "put", "it", "try", "now", "want", "need", "make"})


@dataclass(frozen=True)
class ColourRun:
    """Colours from one position on, by owner. ``end`` is the position after them."""

    colours: tuple[str, ...]
    end: int
    colour: str = ""
    second: str = ""
    of: str = ""                   # "pattern", "print", "trim" if the last colour belongs to one
    piece: str = ""                # "white sleeves": a piece whose colour has no slot
    piece_end: int = 0             # the position after the words of that piece
    piece_at: int | None = None    # position of a piece without further information
    equal: bool = False            # "black and white": none of the colours is said to be the ground
    others: tuple[str, ...] = ()   # that the owner may have as well: "blue with red and white flowers"
    added: bool = False            # "with red and white stripes": they may all be the owner's
    joined: bool = False           # "red and white buttons": not "red with white buttons"


def colour_run(
    items: Sequence[ReadItem], place: int, negated: Collection[int], joiners: Collection[str] = JOINERS
) -> ColourRun:
    """The colours that start at ``place``: "red", "red and white", "red with white (stripes)".

    ``joiners`` are the words allowed between them. Two colours side by side
    ("red/white") need none, unless ``joiners`` is empty: "not red white" is about red only.
    """
    colours = [_colour(items, place)]
    between: list[str] = []
    end = place + 1
    while joiners and len(colours) < 3:
        skip = 0
        if _kind(items, end) in ("and", "with"):
            if items[end].text not in joiners:
                break
            skip = 2 if _kind(items, end) == "with" and _kind(items, end + 1) == "a" else 1
        while _kind(items, end + skip) == "shade":
            skip += 1
        if not _colour(items, end + skip):
            break
        between += [item.text for item in items[end : end + skip] if item.kind in ("and", "with")]
        colours.append(_colour(items, end + skip))
        end += skip + 1
    found = tuple(dict.fromkeys(colours))  # "rose pink" is one colour
    owner, owner_at = _owner_after(items, end)
    last, added = found[-1], _after_with(items, place)
    if owner in ("pattern", "print") and (on := piece_after(items, owner_at + 1)) is not None:
        words = " ".join(item.text for item in items[end : on + 1])
        return ColourRun(found, on + 1, piece=" and ".join(found) + f" {words}", piece_end=on + 1)
    if owner == "piece":
        rest = (*found[:-1], "", "")
        piece_item = items[owner_at]
        says_more = piece_item.kind == "value"
        return ColourRun(found, end, rest[0], rest[1], "", f"{last} {piece_item.text}", owner_at + 1,
                         None if says_more else owner_at)
    on_it = owner_at + 1 < len(items) and items[owner_at + 1].text == "on"  # "a navy print on it"
    first_said = len(found) == 1 and (place == 0 or _kind(items, place - 1) == "in")   # not "and beige checks"
    if owner in ("pattern", "print") and _is_whole(items[owner_at], first_said) and not added and not on_it:
        owner = ""
    if not owner and len(found) == 1:
        owner = _owner_before(items, place, negated)
        if owner == "piece":
            return ColourRun(found, end, piece=f"{last} {_piece_before(items, place)}", piece_end=end)
    if owner == "second" or (owner and len(found) == 1):
        first = found[0] if len(found) > 1 else ""
        return ColourRun(found, end, first, last, owner, added=added)
    joined = bool(between) and set(between) <= {"and", "&"}
    equal = len(found) > 1 and owner != "trim" and "with" not in between and not (owner and "," in between)
    others = found[2:] if owner and between[:1] == ["with"] and "with" not in between[1:] else ()
    return ColourRun(found, end, found[0], found[1] if len(found) > 1 else "", owner, equal=equal, others=others,
                     added=added, joined=joined)


def _piece_before(items: Sequence[ReadItem], place: int) -> str:
    return next(item.text for item in reversed(items[:place]) if is_piece(item))


def _owner_after(items: Sequence[ReadItem], place: int) -> tuple[str, int]:
    """The owner of the colour before ``place``: "red polka dots", "a red belt", "red sleeves"."""
    words = [word for item in items[place : place + 4] for word in item.words]
    if words[:4] in (["as", "the", "second", "colour"], ["as", "a", "second", "colour"]):
        return "second", place
    for look in range(place, min(place + 3, len(items))):
        item = items[look]
        if is_piece(item):
            return "piece", look
        if item.kind == "part" and item.sense.group in ("trim", "second_colour"):
            return "trim" if item.sense.group == "trim" else "second", look
        if item.kind == "part" and item.text in _PRINTS:
            return "print", look
        if item.value_of("neckline"):
            return "", look
        if item.value_of("trim"):
            return "" if item.words[-1].endswith(_ADJECTIVES) else "trim", look  # "black belted" is about the cloth
        if item.value_of("pattern"):
            before_noun = _kind(items, look + 1) == "head" or bool(_value(items, look + 1, "category"))
            return ("pattern" if item.sense.is_noun and not before_noun else ""), look
        is_bare_part = item.kind == "part" and item.sense.group == "colour"
        if not is_bare_part and not (item.kind == "word" and look == place):
            break
    return "", place


def _owner_before(items: Sequence[ReadItem], place: int, negated: Collection[int]) -> str:
    """The owner before the colour at ``place``, as in "stripes in white", "the belt is red"."""
    look = place - 1
    while look >= 0 and _links(items[look]):
        look -= 1
    if _kind(items, place - 1) == "with" and place > 1 and (place - 2) not in negated:
        before = _value(items, place - 2, "pattern")
        return "pattern" if before not in ("", "plain") else ""  # "striped with navy"
    if _kind(items, look) == "but" and is_kept(items, look - 1) and items[look - 1].kind == "value":
        look -= 1  # "the same dots but pink"
    if (thing := _thing_alone(items, look)) is not None:
        look = thing
    if look < 0 or look in negated:
        return ""
    item, apart = items[look], look < place - 1 or _kind(items, look - 1) == "the"
    apart = apart or (item.kind == "value" and _kind(items, look - 1) in ("", "and", "break"))
    apart = apart or (item.kind == "part" and item.sense.group == "second_colour")
    if apart and is_piece(item) and not _is_shaped(items, look):
        return "piece"
    if item.kind == "part" and item.sense.group in ("pattern", "trim", "second_colour") and apart:
        kept = any(_kind(items, before) in ("same", "keep") for before in (look - 1, look - 2))
        return "" if kept or item.text.startswith("design") else "trim" if item.sense.group == "trim" else "second"
    if item.kind == "part" and item.sense.group == "colour" and look and (look - 1) not in negated:
        return "second" if shows_second(items[look - 1]) else ""  # "the bow's colour should be green"
    if item.kind == "value" and item.value_of("pattern") == "graphic" and _kind(items, look - 1) == "the":
        return "pattern"  # "the graphic should be blue"
    if item.kind != "value" or not item.sense.is_noun:
        return ""
    if item.value_of("trim"):
        return "trim"
    return "pattern" if item.value_of("pattern") else ""


def _thing_alone(items: Sequence[ReadItem], place: int) -> int | None:
    """Where the thing is of which the "but" at ``place`` begins to say more, and nothing else: "the belt, but red"."""
    if _kind(items, place) != "but":
        return None
    look = place - 1
    while look >= 0 and items[look].text == ",":
        look -= 1
    before = look - 1
    is_thing = look > 0 and items[look].kind == "value" and items[look].sense.is_noun
    alone = _kind(items, before) == "the" and (before == 0 or _kind(items, before - 1) == "break")
    return look if is_thing and alone else None


def _links(item: ReadItem) -> bool:
    """Whether ``item`` may be between a thing and its colour: "the buttons should be in red"."""
    small = item.kind in ("in", "a", "the", "shade", "verb", "to") or item.text in _LINKS
    return small and item.text not in _ADDING


def _is_shaped(items: Sequence[ReadItem], place: int) -> bool:
    """Whether the piece at ``place`` is asked for itself: "shorter sleeves in red"."""
    before = _kind(items, place - 1)
    return before in ("step", "more", "less", "with") or (before == "value" and not _colour(items, place - 1))


def _after_with(items: Sequence[ReadItem], place: int) -> bool:
    look = place - 1
    while _kind(items, look) in ("a", "the", "shade"):
        look -= 1
    return _kind(items, look) == "with" or (look >= 0 and items[look].text in _ADDING)


def _is_whole(item: ReadItem, first_said: bool) -> bool:
    """Whether it may be that of the whole cloth: "a red print", but not "a red print on the front"; "in red checks"."""
    if first_said and item.value_of("pattern") == "checks":
        return True
    return bool(_PRINTS & set(item.words)) and not _FRONT & set(item.words)


def _kind(items: Sequence[ReadItem], place: int) -> str:
    return items[place].kind if 0 <= place < len(items) else ""


def _value(items: Sequence[ReadItem], place: int, group: str) -> str:
    return (items[place].value_of(group) or "") if 0 <= place < len(items) else ""


def _colour(items: Sequence[ReadItem], place: int) -> str:
    return _value(items, place, "colour")
