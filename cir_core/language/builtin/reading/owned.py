"""Colours said apart from the thing that has them: "black for the belt", "stripes, but white ones", "a print that's
blue". Each is put before its thing. What "one" and "them" stand for after "without"."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from cir_core.garments.tables import listed, table
from cir_core.language.builtin.reading.reader import ReadItem
from cir_core.language.builtin.reading.vocabulary import Sense

_Found = tuple[int, list[ReadItem], int]   # what the items from one position to another are in plainer words
_PLACES = frozenset({"bottom", "top", "front", "back", "side", "waist", "chest", "hem", "neck", "it", "edge", "edges"})
_WITH = ReadItem(Sense("with"), ("with",))


def owned(items: Sequence[ReadItem]) -> list[ReadItem]:
    """``items`` with each colour before the thing that has it."""
    found = list(items)
    place = 0
    while place < len(found):
        if found[place].value_of("colour"):
            for rule in (_for_the, _that_is, _ones, _perhaps, _stays_but, _turns, _patterned_in, _instead_of_its_own,
                         _alone):
                if (other := rule(found, place)) is not None:
                    start, thing, end = other
                    found[start:end] = thing
                    place = start + len(thing) - 1
                    break
        place += 1
    return found


def is_coloured(item: ReadItem) -> bool:
    """Whether ``item`` names what has the second colour."""
    if item.kind == "part":
        return item.sense.group in ("pattern", "trim")
    is_noun = item.sense.is_noun or item.words[-1] in ("pattern", "print", "design")
    return item.kind == "value" and is_noun and item.sense.pairs[0][0] in ("pattern", "trim")


def _beside(colour: ReadItem, thing: ReadItem) -> list[ReadItem]:
    lead = [_WITH] if thing.kind == "part" else []   # a print of that colour is new
    return [*lead, colour, thing]


def _for_the(items: Sequence[ReadItem], place: int) -> _Found | None:
    """"Black for the belt", "more yellow in the checks", "the green the stripes"."""
    look = place + 1
    if look < len(items) and items[look].text in ("for", "on", "to", "in"):
        look += 1
    elif not (place and items[place - 1].kind == "the"):
        return None
    named = look + 1 < len(items) and items[look].kind == "the" and is_coloured(items[look + 1])
    return (place, _beside(items[place], items[look + 1]), look + 2) if named else None


def _that_is(items: Sequence[ReadItem], place: int) -> _Found | None:
    """"A print that's blue", "a ruffle at the bottom which is grey", "some print in white"."""
    back = place - 1
    while back >= 0 and items[back].kind in ("verb", "in", "a", "shade"):
        back -= 1
    if back >= 0 and items[back].text in ("that", "which"):
        back -= 1
        while back >= 0 and (items[back].text in ("at", "on", *_PLACES) or items[back].kind == "the"):
            back -= 1
    elif not (back == place - 2 and items[back + 1].kind == "in" and back and items[back].text == "print"
              and (items[back - 1].kind == "a" or items[back - 1].text in ("kind of", "sort"))):
        return None
    if back < 0 or not is_coloured(items[back]) or _has_colour(items, back):
        return None
    return back, [*_beside(items[place], items[back])], place + 1


def _ones(items: Sequence[ReadItem], place: int) -> _Found | None:
    """"Stripes, but white ones", "a print on it, a white one"."""
    if place + 1 >= len(items) or items[place + 1].text not in ("one", "ones"):
        return None
    back = _thing_back(items, place)
    joined = back is not None and any(item.kind in ("but", "and") for item in items[back + 1 : place])
    return (back, _beside(items[place], items[back]), place + 2) if back is not None and joined else None


def _perhaps(items: Sequence[ReadItem], place: int) -> _Found | None:
    """"A belt, maybe red", "different buttons, black"."""
    back = _thing_back(items, place)
    if back is None or not any(item.words == (",",) for item in items[back + 1 : place]):
        return None
    after = place + 1 < len(items) and items[place + 1].text in _words("perhaps")
    before = any(item.text in _words("perhaps") for item in items[back + 1 : place])
    other = back and items[back - 1].kind == "other"
    if not (after or before or other):
        return None
    return back - bool(other), _beside(items[place], items[back]), place + 1 + after


def _stays_but(items: Sequence[ReadItem], place: int) -> _Found | None:
    """"The dots should stay but in orange"."""
    back = place - 1
    while back >= 0 and (items[back].kind in ("in", "but", "keep") or items[back].text in (
            "should", "can", "must", "may", "only", "are", "is", "ok")):
        back -= 1
    kinds = [item.kind for item in items[back + 1 : place]]
    if back < 0 or not is_coloured(items[back]) or not {"keep", "but"} <= set(kinds):
        return None
    return back, _beside(items[place], items[back]), place + 1


def _turns(items: Sequence[ReadItem], place: int) -> _Found | None:
    """"The dots turn red", "dots go red", "dots the colour of a lemon"."""
    back = place - 1
    while back >= 0 and (items[back].kind in ("a", "the", "verb") or items[back].text in _words("turning")
                         or items[back].text in ("of", "to", "should") or items[back].sense.group == "colour"):
        back -= 1
    between = items[back + 1 : place]
    turned = any(item.text in _words("turning") for item in between)
    likened = {"part", "a"} <= {item.kind for item in between} and between[0].kind in ("a", "the")
    if back < 0 or not (turned or likened) or not is_coloured(items[back]) or _has_colour(items, back):
        return None
    return back, _beside(items[place], items[back]), place + 1


def _patterned_in(items: Sequence[ReadItem], place: int) -> _Found | None:
    """"Black, spotted in orange": of two colours the pattern has the one beside it."""
    back = place - 1
    if back < 1 or items[back].kind not in ("in", "with") or items[back - 1].value_of("pattern") in (
            None, "plain", "colourblock") or items[back - 1].sense.is_noun:
        return None
    if not any(item.value_of("colour") for item in items[max(0, back - 4) : back - 1]):
        return None
    thing = ReadItem(Sense("value", items[back - 1].sense.pairs, is_noun=True, either=items[back - 1].sense.either),
                     items[back - 1].words)
    return back - 1, [_WITH, items[place], thing], place + 1


def _instead_of_its_own(items: Sequence[ReadItem], place: int) -> _Found | None:
    """"The flowers are pink, I want red"."""
    back = place - 1
    while back >= 0 and (items[back].kind in ("in", "verb", "and", "but", "break", "a", "the") or items[back].text in (
            "i", "id", "we", "like", "would", "want", "should", "be", "to be", "rather")):
        back -= 1
    wished = {item.text for item in items[back + 1 : place]}
    if back < 2 or not items[back].value_of("colour") or not wished & {"want", "like", "need", "prefer", "should"}:
        return None
    if items[back - 1].text not in ("is", "are", "was", "were") or not is_coloured(items[back - 2]):
        return None
    return back - 2, _beside(items[place], items[back - 2]), place + 1


def _alone(items: Sequence[ReadItem], place: int) -> _Found | None:
    """"Belt, red"; "I want a belt. It should be green": where nothing else is named before."""
    back = _thing_back(items, place, {"break", "stop"})
    if back is None or any(item.kind not in ("a", "the", "verb", "stop", "with", "as") for item in items[:back]) or any(
            item.kind not in ("stop", "break") for item in items[place + 1 :]):
        return None
    between = items[back + 1 : place]
    said = {item.text for item in between}
    pronoun = said & {"it", "they", "these", "those"} and said & {"should", "must", "is", "are", "be", "could"}
    added = items[0].kind == "verb" and items[back - 1].kind == "a"   # "add a bow, red"
    first = (added or items[0].kind in ("value", "part", "a", "the", "with")) and [
        item.words for item in between] == [(",",)]
    ended = any(item.kind == "break" for item in between)
    return (back, _beside(items[place], items[back]), place + 1) if first or (pronoun and ended) else None


def _thing_back(items: Sequence[ReadItem], place: int, more: set[str] | None = None) -> int | None:
    """Where the thing without a colour is, before small words that come before the colour at ``place``."""
    back = place - 1
    while back >= 0 and (items[back].kind in {"a", "the", "in", "with", "but", "and", "verb", "shade", *(more or ())}
                         or items[back].text in ("it", "on", "only", *_words("perhaps"))):
        back -= 1
    if back < 0 or back == place - 1 or not is_coloured(items[back]) or _has_colour(items, back):
        return None
    return back


def _has_colour(items: Sequence[ReadItem], place: int) -> bool:
    return bool(place and items[place - 1].value_of("colour"))


def referred(items: Sequence[ReadItem]) -> list[ReadItem]:
    """"I keep losing my belts, so without one": the thing that is meant."""
    found: list[ReadItem] = []
    for place, item in enumerate(items):
        before = found[-1] if found else None
        ends = place + 1 == len(items) or items[place + 1].kind in ("break", "and", "but") or (
            items[place + 1].text in ("please", "pls", "anymore"))
        if before is not None and before.kind == "without" and item.text in ("one", "it", "them", "any") and ends:
            thing = next((one for one in reversed(found[:-1]) if _can_be_left_out(one)), None)
            item = thing or item
        found.append(item)
    return found


def _can_be_left_out(item: ReadItem) -> bool:
    if item.kind == "part":
        return item.sense.group in ("sleeves", "pattern", "trim")
    return item.kind == "value" and (is_coloured(item) or item.value_of("neckline") in ("collar", "turtleneck"))


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(listed(table("constructions")[name]))
