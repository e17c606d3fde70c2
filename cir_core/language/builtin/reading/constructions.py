"""Constructions of English that say the same as plainer ones: "between mini and maxi", "more spotty than stripy",
"stripes, but white ones". Their items are replaced before the text is parsed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from cir_core.garments.tables import listed, table
from cir_core.language.builtin.reading.edits import middle
from cir_core.language.builtin.reading.frames import compared
from cir_core.language.builtin.reading.owned import is_coloured, owned, referred
from cir_core.language.builtin.reading.reader import ReadItem
from cir_core.language.builtin.reading.vocabulary import Sense

_AS_SLEEVES = {"short": "short", "medium": "elbow", "long": "long"}
_INSTEAD = ReadItem(Sense("instead"), ("instead of",))
_NOT = ReadItem(Sense("not"), ("not",))
_BREAK = ReadItem(Sense("break"), (".",))
_SMALL = frozenset({"a", "the", "stop", "verb", "as", "much"})


def constructed(items: Sequence[ReadItem]) -> tuple[ReadItem, ...]:
    """``items`` with plainer ones for each construction."""
    for construction in _CONSTRUCTIONS:
        items = construction(items)
    return tuple(items)


def _between(items: Sequence[ReadItem]) -> list[ReadItem]:
    """"Between mini and maxi", "halfway from red to white", "neither tight nor loose", "a mix of blue and green"."""
    found: list[ReadItem] = []
    place = 0
    while place < len(items):
        start, joints = _begins(items, place)
        pair = _pair(items, start, joints) if start else None
        if pair is None:
            found.append(items[place])
            place += 1
            continue
        group, values, end = pair
        if group == "length" and any(item.kind == "part" and item.sense.group == "sleeves" for item in items):
            group, values = "sleeves", (_AS_SLEEVES[values[0]], _AS_SLEEVES[values[1]])
        if group == "colour":   # "not red or blue" asks for neither, and not for purple
            amid: tuple[str, ...] = () if items[place].text in ("neither", "not") else (_mixed(*values),)
        else:
            amid = middle(group, *values)
        between = [value for value in amid if value] or ([] if "between" not in items[place].words else list(values))
        if not between:
            found.append(items[place])
            place += 1
            continue
        while found and items[place].kind == "word" and found[-1].text in _words("somewhere"):
            found.pop()
        words = tuple(word for item in items[place:end] for word in item.words)
        found.append(ReadItem(Sense("value", ((group, between[0]),), either=tuple(between[1:])), words))
        place = end
    return found


def _begins(items: Sequence[ReadItem], place: int) -> tuple[int, frozenset[str]]:
    """Where the first of two ends may be, 0 if none, and what joins them."""
    item, ahead = items[place], items[place + 1].text if place + 1 < len(items) else ""
    if item.words[-1] == "between" and item.kind == "word":
        return place + 1, frozenset({"and", "to", "or"})
    if item.text in ("halfway", "half way", "midway") and ahead == "from":
        return place + 2, frozenset({"to"})
    if item.text in _words("mixtures") and ahead == "of":
        return place + 2, frozenset({"and"})
    if item.text in ("neither", "not"):
        return place + 1, frozenset({"nor", "not", "and not", "or"})
    return 0, frozenset()


def _pair(
    items: Sequence[ReadItem], place: int, joints: frozenset[str],
) -> tuple[str, tuple[str, str], int] | None:
    """The group of two values, these, and the position after them."""
    look, ends = place, list[tuple[str, str]]()
    joined: list[str] = []
    while look < len(items) and look < place + 12:
        item = items[look]
        if item.kind == "value" and len(item.sense.pairs) == 1:
            ends.append(item.sense.pairs[0])
            if len(ends) == 2:
                break
        elif ends and (item.kind in ("and", "or", "to", "not", "but") or item.words == (",",)):
            joined.append(item.text)
        elif item.kind not in _SMALL and item.kind != "part" and item.kind != "head":
            return None
        look += 1
    if len(ends) < 2 or ends[0][0] != ends[1][0] or ends[0] == ends[1] or not joints.intersection(joined):
        return None
    return ends[0][0], (ends[0][1], ends[1][1]), look + 1


@cache
def _mixtures() -> dict[frozenset[str], str]:
    return {frozenset(pair.split()): colour for pair, colour in table("constructions")["mixed"].items()}


def _mixed(first: str, second: str) -> str:
    return _mixtures().get(frozenset({first, second}), "")


def _than(items: Sequence[ReadItem]) -> list[ReadItem]:
    """"More spotty than stripy" as "spotty instead of stripy"; "less stripy than spotty" the other way."""
    found = list(items)
    for place, item in enumerate(items):
        if item.text != "than":
            continue
        back = next((at for at in range(place - 1, -1, -1) if items[at].kind == "value"), None)
        ahead = next((at for at in range(place + 1, len(items)) if items[at].kind not in _SMALL
                      and items[at].text not in ("in", "like", "of")), None)
        if back is None or ahead is None or items[ahead].kind != "value":
            continue
        kinds = [one.kind for one in items[max(0, back - 5) : place]]
        group = items[back].sense.pairs[0][0]
        if items[ahead].sense.pairs[0][0] != group or group == "colour" or "break" in kinds or any(
                one.kind == "step" for one in items[back + 1 : place]):
            continue
        if "more" in kinds:
            found[place] = _INSTEAD
        elif "less" in kinds:
            found[back], found[ahead] = items[ahead], items[back]
            found[place] = _INSTEAD
            found[max(0, back - 5) : back] = [one for one in found[max(0, back - 5) : back] if one.kind != "less"]
            return _than(found)
    return found


def _nearly(items: Sequence[ReadItem]) -> list[ReadItem]:
    """"Darker, almost black": the colour says only how dark; alone, "almost black" is black."""
    found: list[ReadItem] = []
    shaded = False
    place = 0
    while place < len(items):
        item = items[place]
        shaded = item.kind != "break" and (shaded or (item.kind == "step" and item.sense.group == "shade"))
        ahead = items[place + 1] if place + 1 < len(items) else None
        if item.text in _words("nearly") and ahead is not None and ahead.value_of("colour"):
            place += 2 if shaded else 1
            continue
        found.append(item)
        place += 1
    return found


def _portions(items: Sequence[ReadItem]) -> list[ReadItem]:
    """"The stripy part" is the stripes."""
    found: list[ReadItem] = []
    for item in items:
        before = found[-1] if found else None
        if item.text in _words("portions") and before is not None and before.kind in ("value", "part"):
            if before.kind == "value" and before.sense.pairs[0][0] in ("pattern", "trim"):
                found[-1] = ReadItem(Sense("value", before.sense.pairs, is_noun=True, either=before.sense.either),
                                     before.words)
            continue
        found.append(item)
    return found


def _other_colour(items: Sequence[ReadItem]) -> list[ReadItem]:
    """"Another colour, white" is "in white"; "a different colour than blue" is not blue."""
    found: list[ReadItem] = []
    place = 0
    while place < len(items):
        item = items[place]
        part = items[place + 1] if place + 1 < len(items) else None
        if item.kind == "other" and part is not None and part.kind == "part" and part.sense.group == "colour":
            look = place + 2
            while look < len(items) and (items[look].kind in ("and", "verb") or items[look].words == (".",) or items[
                    look].text in ("than", "from", "like", "say", "maybe", "perhaps", "such", "as")):
                look += 1
            if look > place + 2 and look < len(items) and items[look].value_of("colour"):
                if found and found[-1].words == (",",) and len(found) > 1 and is_coloured(found[-2]):
                    found.pop()   # "the same dots, another colour: orange"
                denied = any(one.text in ("than", "from") for one in items[place + 2 : look])
                while found and found[-1].kind == "a":
                    found.pop()
                found.append(_NOT if denied else ReadItem(Sense("in"), ("in",)))
                place = look
                continue
        found.append(item)
        place += 1
    return found


def _neck_shapes(items: Sequence[ReadItem]) -> list[ReadItem]:
    """"Neckline pointier, less round": adjectives that say the shape of a neckline beside its name."""
    found: list[ReadItem] = []
    for place, item in enumerate(items):
        value = _shapes().get(item.text) if item.kind in ("word", "value") else None
        found.append(ReadItem(Sense("value", (("neckline", value),)), item.words)
                     if value and (item.kind == "word") and _near_neck(items, place) else item)
    return found


def _near_neck(items: Sequence[ReadItem], place: int) -> bool:
    for way in (1, -1):
        look = place + way
        while 0 <= look < len(items) and items[look].kind != "break" and abs(look - place) < 9:
            item = items[look]
            if (item.kind == "part" and item.sense.group == "neckline") or item.text == "front":
                return True
            if (item.kind == "part" and item.sense.group != "fit") or item.kind == "noun" or item.value_of("sleeves"):
                break
            look += way
    return False


@cache
def _shapes() -> dict[str, str]:
    found: dict[str, str] = {}
    for value, texts in table("constructions")["neck_shapes"].items():
        for word in listed(texts):
            found.setdefault(word, value)
            for form in compared(word):
                found.setdefault(form, value)
    return found


def _fresh(items: Sequence[ReadItem]) -> list[ReadItem]:
    """"Forget the bow, think ruffles" is two sentences; before "to", a comma says nothing: "the stripes, to yellow"."""
    found: list[ReadItem] = []
    for place, item in enumerate(items):
        ahead = items[place + 1] if place + 1 < len(items) else None
        if item.words == (",",) and ahead is not None:
            if ahead.text in _words("fresh"):
                item = _BREAK
            elif ahead.kind == "to" and any(one.kind in ("alter", "replace") for one in found):
                continue
        found.append(item)
    return found


def _aimless(items: Sequence[ReadItem]) -> list[ReadItem]:
    """"Change the pink", into whatever else, is "not pink"."""
    found: list[ReadItem] = []
    for place, item in enumerate(items):
        if item.text in ("change", "alter") and [one.kind for one in items[place + 1 : place + 2]] == ["the"] and (
                _ends_with_colour(items, place + 2)):
            item = _NOT
        found.append(item)
    return found


def _ends_with_colour(items: Sequence[ReadItem], place: int) -> bool:
    colour = place < len(items) and items[place].value_of("colour")
    return bool(colour) and (place + 1 == len(items) or items[place + 1].kind == "break") and not any(
        one.kind == "to" for one in items[place + 1 : place + 8])


def _denied(items: Sequence[ReadItem]) -> list[ReadItem]:
    """"I can't go sleeveless" is "not sleeveless"."""
    found: list[ReadItem] = []
    for place, item in enumerate(items):
        if item.kind == "word" and item.text in ("cant", "cannot", "couldnt"):
            ahead = next((one for one in items[place + 1 : place + 5] if one.kind not in _SMALL), None)
            if ahead is not None and ahead.kind in ("value", "part", "in", "with") and place + 1 < len(items):
                item = _NOT
        found.append(item)
    return found


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(listed(table("constructions")[name]))


_CONSTRUCTIONS: tuple[Callable[[Sequence[ReadItem]], Sequence[ReadItem]], ...] = (
    _fresh, _aimless, _denied, _portions, _neck_shapes, _between, _than, _nearly, _other_colour, owned, referred,
)
