"""Parts of a garment that a request names beside its main colour: what has a colour of its own, and what has none."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from cir_core.garments.tables import listed, table
from cir_core.language.builtin.reading.reader import ReadItem
from cir_core.language.builtin.reading.vocabulary import Sense

_COLOURED = frozenset({"pattern", "trim", "second_colour"})   # groups whose things show the second colour
_HEMS = frozenset({"hem", "hemline"})
_AT = frozenset({"on", "at", "along", "around", "over", "for", "only", "just", "all", "of", "both"})
_AS = frozenset({"of", "like", "as", "from", "on"})
_SAYING = frozenset({"exactly", "exact", "all", "entirely", "overall", "just", "everything"})
_CLOTH = frozenset({"fabric", "cloth", "background", "ground", "base", "the rest"})
_EDGED = frozenset({"edged", "trimmed", "outlined", "piped", "bordered", "bound", "tipped", "rimmed"})
_PIPING = ReadItem(Sense("value", (("trim", "piping"),), is_noun=True), ("piping",))


def halved(items: Sequence[ReadItem]) -> tuple[ReadItem, ...]:
    """``items`` with "half black, half orange" as a colour block of both."""
    halves = [place for place, item in enumerate(items) if item.text == "half" and _colour(items, place + 1)]
    if len(halves) < 2:
        return tuple(items)
    block = ReadItem(Sense("value", (("pattern", "colourblock"),), is_noun=True), ("half",))
    return tuple(block if place == halves[0] else item for place, item in enumerate(items)
                 if place == halves[0] or place not in halves)


def crossed(items: Sequence[ReadItem]) -> tuple[ReadItem, ...]:
    """``items`` with "red turns white and white turns red" or "the dots the base colour and the base the dots' colour"
    as one that exchanges the colours."""
    for ends in (_colour_at, _owner_at):
        places = [place for place in range(len(items)) if ends(items, place)]
        if len(places) != 4:
            continue
        first, second, third, fourth = (ends(items, place) for place in places)
        inner, middle, last = (items[one + 1 : other] for one, other in zip(places, places[1:], strict=False))
        if first != second and (first, second) == (fourth, third) and any(item.kind in _APART for item in middle) and (
                not any(item.kind in _APART or item.kind in _SETS_OFF for item in (*inner, *last))):
            return (*items[: places[0]], ReadItem(Sense("swap"), ("swap",)), *items[places[3] + 1 :])
    return tuple(items)


_APART = frozenset({"and", "break"})
_SETS_OFF = frozenset({"not", "without", "instead", "with", "or"})


def _colour_at(items: Sequence[ReadItem], place: int) -> str:
    return _colour(items, place)


def _owner_at(items: Sequence[ReadItem], place: int) -> str:
    """Whether the thing at ``place`` shows the main colour or the second one; "" for neither."""
    if shows_second(items[place]):
        return "second"
    return "cloth" if items[place].text.removesuffix(" colour") in _CLOTH else ""


def edged(items: Sequence[ReadItem]) -> tuple[ReadItem, ...]:
    """"Edged in black" as "with black piping"."""
    found: list[ReadItem] = []
    place = 0
    while place < len(items):
        ahead = items[place + 1 : place + 3]
        if items[place].text in _EDGED and len(ahead) == 2 and ahead[0].kind in ("in", "with") \
                and ahead[1].value_of("colour"):
            found += [ReadItem(Sense("with"), ("with",)), ahead[1], _PIPING]
            place += 3
        else:
            found.append(items[place])
            place += 1
    return tuple(found)


def likened(items: Sequence[ReadItem]) -> tuple[ReadItem, ...]:
    """``items`` with "the same colour as the bow" or "in the colour of the dots" as one of the kind "alike", whose
    group is that of the colour."""
    found: list[ReadItem] = []
    place = 0
    while place < len(items):
        end, group = _likeness(items, place)
        if group and _is_recoloured(items, end):
            while found and found[-1].kind in ("the", "a"):
                found.pop()
            # "The colour of the belt should be pink" is about the belt.
            found.append(items[place] if shows_second(items[place]) else items[end - 1])
            place = end
            continue
        if not group:
            found.append(items[place])
            place += 1
            continue
        words: tuple[str, ...] = ()
        while found and (found[-1].kind in ("in", "the", "same", "a", "to") or found[-1].text in _SAYING):
            words = (*found.pop().words, *words)
        found.append(ReadItem(Sense("alike", group=group),
                              (*words, *(word for item in items[place:end] for word in item.words))))
        place = end
    return tuple(found)


def _likeness(items: Sequence[ReadItem], place: int) -> tuple[int, str]:
    """Where the likeness of colours that begins at ``place`` ends, and whose colour it is; "" if there is none."""
    if shows_second(items[place]) and _is_colour(items, place + 1) and _follows_in(items, place):
        return place + 2, "second_colour"   # "in the stripes' colour"
    if not _is_colour(items, place):
        return place, ""
    look = place + 1
    if look >= len(items) or (items[look].text not in _AS and items[look].kind != "as"):
        return place, ""
    look += 1
    while look < len(items) and items[look].kind in ("the", "same", "keep"):
        look += 1
    if look >= len(items):
        return place, ""
    item = items[look]
    if shows_second(item):
        return look + 1, "second_colour"
    cloth = item.value_of("category") or item.kind == "head" or item.text in _CLOTH
    return (look + 1, "colour") if cloth else (place, "")


def _is_colour(items: Sequence[ReadItem], place: int) -> bool:
    return place < len(items) and items[place].kind == "part" and items[place].sense.group == "colour"


def _follows_in(items: Sequence[ReadItem], place: int) -> bool:
    while place and items[place - 1].kind in ("the", "a", "same"):
        place -= 1
    return place > 0 and items[place - 1].kind in ("in", "to")


def _is_recoloured(items: Sequence[ReadItem], place: int) -> bool:
    look = place
    while look < len(items) and items[look].kind in ("verb", "to", "in", "a", "the", "more", "much", "stop"):
        look += 1
    return look > place and look < len(items) and (bool(_colour(items, look)) or items[look].sense.group == "shade")


def shows_second(item: ReadItem) -> bool:
    """Whether the second colour is that of the thing ``item`` names: stripes, a belt, the trim."""
    if item.kind == "part":
        return item.sense.group in _COLOURED
    return bool(item.value_of("trim") or (item.value_of("pattern") not in (None, "plain") and item.sense.is_noun))


def shades_second(items: Sequence[ReadItem], place: int) -> bool:
    """Whether "darker" at ``place`` is about a part: "the belt darker", "lighter stripes"."""
    ahead = place + 1
    while ahead < len(items) and items[ahead].kind in ("a", "the"):
        ahead += 1
    if ahead < len(items) and shows_second(items[ahead]):
        return True
    back = place - 1
    while back >= 0 and (items[back].kind in ("verb", "to", "much", "as", "more", "a", "in", "the")
                         or (items[back].kind == "stop" and items[back].text != "it")):
        back -= 1
    if back >= 0 and items[back].kind == "but" and is_kept(items, back - 1):
        back -= 1
        if items[back].kind == "part" and items[back].sense.group == "pattern":
            return False   # "the same pattern but darker" is the garment
    return back >= 0 and shows_second(items[back])


def is_kept(items: Sequence[ReadItem], place: int) -> bool:
    """Whether the thing at ``place`` is to stay: "the same dots", "keep the bow"."""
    look = place - 1
    while look >= 0 and items[look].kind in ("the", "a"):
        look -= 1
    return place >= 0 and look >= 0 and items[look].kind in ("same", "keep")


@cache
def _pieces() -> frozenset[str]:
    return frozenset(listed(table("phrasebook")["pieces"]))


def is_piece(item: ReadItem) -> bool:
    """Whether ``item`` names a piece without a colour of its own: sleeves, a collar, the hem."""
    if item.kind == "part":
        return item.sense.group in ("sleeves", "neckline") or item.text in _HEMS
    if item.kind == "value":
        return bool(item.value_of("neckline")) and item.words[-1] in ("collar", "collars") and item.words[0] != "with"
    return item.kind == "word" and item.text in _pieces()


def piece_after(items: Sequence[ReadItem], place: int) -> int | None:
    """Where the piece is that what ends before ``place`` lies on: "stripes on the sleeves"."""
    look = place
    while look < len(items) and (items[look].text in _AT or items[look].kind in ("the", "in")):
        look += 1
    on = any(item.text in ("on", "at", "along", "around", "over", "in") for item in items[place:look])
    return look if on and look < len(items) and is_piece(items[look]) else None


def _colour(items: Sequence[ReadItem], place: int) -> str:
    return (items[place].value_of("colour") or "") if place < len(items) else ""
