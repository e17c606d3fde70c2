"""Edits of a description: records, and their effect on attribute slots. Pure functions. Ordered values for
comparatives: one step of "longer", "darker" or "looser", and everything beyond.

>>> apply_edits({"category": "dress", "sleeves": "short"}, parse_edits("longer sleeves, in red"))
{'category': 'dress', 'sleeves': 'elbow', 'colour': 'red'}
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Literal

from cir_core.garments.lexicon import BY_KEY, NONE

Ladder = tuple[tuple[str, ...], ...]
"""Rungs from one end to the other. The values of a rung are equal; the first stands for it."""

_LADDERS: dict[str, Ladder] = {
    "sleeves": (("sleeveless", "straps"), ("short",), ("elbow",), ("long",)),
    "length": (("short",), ("medium",), ("long",)),
    "fit": (("slim",), ("regular",), ("loose",)),
    "neckline": (("turtleneck",), ("crew", "collar"), ("scoop", "vneck", "square")),  # from high to low
    "shade": (
        ("white", "beige", "pink", "yellow"), ("grey", "red", "orange", "green", "teal", "blue", "purple"),
        ("black", "navy", "brown"),
    ),
}
# Approximate: the neighbour that a shop would hang next to it. A colour that is
# missing on a side is the lightest or darkest of its kind in the vocabulary.
_DARKER = {
    "white": "grey", "beige": "brown", "brown": "black", "grey": "black", "pink": "red", "red": "brown",
    "yellow": "orange", "orange": "brown", "green": "navy", "teal": "navy", "blue": "navy", "navy": "black",
    "purple": "navy",
}
_LIGHTER = {
    "black": "grey", "grey": "white", "navy": "blue", "brown": "beige", "beige": "white", "red": "pink",
    "pink": "white", "orange": "yellow", "yellow": "white", "green": "yellow", "purple": "pink", "teal": "white",
    "blue": "white",
}


def step(group: str, value: str | None, direction: int) -> str | None:
    """The next value of ``group`` from ``value``; None at the end of the ladder or off it.

    ``direction`` +1 is longer, looser, lower or darker. A missing ``value`` goes straight
    to the requested end; a missing colour has no such end and stays missing.
    """
    if group in _SHADES:
        return (_DARKER if direction > 0 else _LIGHTER).get(value or "")
    ladder = _LADDERS[group]
    if value is None:
        return ladder[-1 if direction > 0 else 0][0]
    if value == "straps" and direction < 0:
        return "sleeveless"
    place = _rung(ladder, value)
    following = None if place is None else place + direction
    return ladder[following][0] if following is not None and 0 <= following < len(ladder) else None


def beyond(group: str, value: str, direction: int) -> frozenset[str]:
    """Every value past ``value``: three-quarter and long sleeves are both longer than short ones. Shorter sleeves are
    still sleeves, except where the next step is to have none."""
    ladder = _LADDERS["shade" if group in _SHADES else group]
    place = _rung(ladder, value)
    if place is None:
        return frozenset()
    rungs = ladder[place + 1 :] if direction > 0 else ladder[:place]
    if group == "sleeves" and direction < 0 and place > 1:
        rungs = rungs[1:]
    return frozenset(one for rung in rungs for one in rung)


# Of the many colours that are lighter or darker, those that a person means who compares with this one.
_AKIN: dict[tuple[str, int], tuple[str, ...]] = {
    ("navy", -1): ("blue", "teal", "grey"), ("brown", -1): ("beige", "orange", "yellow"),
    ("beige", 1): ("brown", "grey"), ("pink", 1): ("red", "purple", "brown"), ("yellow", 1): ("orange", "brown"),
}


def past(group: str, value: str, direction: int) -> frozenset[str]:
    """What satisfies a comparison with ``value``: :func:`beyond`, and of colours those akin to it. Purple and pink are
    lighter than navy, and no lighter navy.

    >>> sorted(past("shade", "navy", -1))
    ['blue', 'grey', 'teal']
    """
    found = beyond(group, value, direction)
    akin = _AKIN.get((value, direction)) if group in _SHADES else None
    return found.intersection(akin) if akin else found


def middle(group: str, first: str, second: str) -> tuple[str, ...]:
    """The values halfway between two of ``group``; none where they are neighbours or ``group`` has no order.

    >>> middle("length", "short", "long")
    ('medium',)
    """
    ladder = _LADDERS.get(group, ())
    ends = sorted(place for value in (first, second) if (place := _rung(ladder, value)) is not None)
    return ladder[sum(ends) // 2] if len(ends) == 2 and ends[1] - ends[0] > 1 else ()


def _rung(ladder: Ladder, value: str) -> int | None:
    return next((place for place, rung in enumerate(ladder) if value in rung), None)


END_WORDS = {
    ("sleeves", 1): "the sleeves are already the longest",
    ("sleeves", -1): "there are no sleeves to shorten",
    ("length", 1): "it is already the longest",
    ("length", -1): "it is already the shortest",
    ("fit", 1): "it is already the loosest",
    ("fit", -1): "it is already the tightest",
    ("neckline", 1): "the neckline cannot be lowered",
    ("neckline", -1): "the neckline cannot be raised",
    ("shade", 1): "there is no darker colour in the vocabulary",
    ("shade", -1): "there is no lighter colour in the vocabulary",
}
"""Notes for a :func:`step` beyond the end of its ladder."""


_SHADES = {"shade": "colour", "second_shade": "second_colour"}


Slots = Mapping[str, str]
Operation = Literal["set", "drop", "other", "keep", "swap", "match", "step", "simpler", "sleeved", "covering"]


@dataclass(frozen=True)
class Edit:
    """One change. ``drop`` removes ``value`` (any if empty); ``other`` asks for anything but what is there; ``keep``
    holds ``value`` (whatever is there if empty); ``sleeved`` requests sleeves of any kind; ``swap`` exchanges the
    colours; ``match`` gives the garment the colour of its pattern or trim."""

    operation: Operation
    group: str = ""
    value: str = ""
    direction: int = 0             # of a step; two rungs are +2 or -2
    of_trim: bool = False          # a second colour that belongs to the trim
    either: tuple[str, ...] = ()   # other values that would do as well: "red or orange"
    words: str = ""                # as typed, of what is kept or measured by another
    traded: bool = False           # of a dropped one, for what is set: "exchange red with green"
    definite: bool = False         # "the stripes"


@dataclass(frozen=True)
class Edits:
    """Everything a modification text requests."""

    edits: tuple[Edit, ...] = ()
    noun: str = ""                   # another kind of garment, outside the lexicon: "skirt"
    extras: tuple[str, ...] = ()     # phrases outside the vocabulary, used as typed
    unwanted: tuple[str, ...] = ()   # words outside the vocabulary to be removed
    unused: tuple[str, ...] = ()     # words that nothing was made of
    notes: tuple[str, ...] = ()
    pieces: tuple[str, ...] = ()     # as typed, whose colour or pattern no attribute holds: "blue sleeves"
    rest: tuple[str, ...] = ()       # the words besides those, where there are any
    whole: bool = False              # all else is to stay, as the text says: "keep this but long"

    @property
    def is_empty(self) -> bool:
        """Whether no attribute, garment or word to be removed was recognised."""
        return not (self.edits or self.noun or self.unwanted)

    def of(self, group: str) -> tuple[Edit, ...]:
        """The edits of an attribute group."""
        return tuple(edit for edit in self.edits if target(edit) == group)


def settled(slots: Slots, edits: Edits) -> Edits:
    """``edits`` with the part that covers more or less of the skin, for a garment with ``slots``: its sleeves where
    those are short, or else the neckline or the length."""
    edits = _besides_what_is(slots, _of_these_stripes(slots, edits))
    if not any(edit.operation == "covering" for edit in edits.edits):
        return edits
    named = {target(edit) for edit in edits.edits}
    steps = tuple(_covering(slots, edit.direction, named) if edit.operation == "covering" else edit
                  for edit in edits.edits)
    return replace(edits, edits=tuple(dict.fromkeys(filter(None, steps))))


def _of_these_stripes(slots: Slots, edits: Edits) -> Edits:
    """"Keep the stripes", "the stripes in white" about what has pinstripes: those, which are stripes, too."""
    there = slots.get("pattern", "")
    if there not in ("stripes", "pinstripes"):
        return edits
    return replace(edits, edits=tuple(
        replace(edit, value=there, either=()) if (edit.operation == "keep" or (edit.definite and there == "pinstripes"))
        and edit.group == "pattern" and edit.value == "stripes" and edit.either == ("pinstripes",) else edit
        for edit in edits.edits))


def _besides_what_is(slots: Slots, edits: Edits) -> Edits:
    """"It clings, so less clingy": a value that the image has is named as it is where a step away from it is asked."""
    stepped = {target(edit) for edit in edits.edits if edit.operation == "step"} & {"fit", "length", "sleeves"}
    return replace(edits, edits=tuple(
        edit for edit in edits.edits if not (edit.operation == "set" and edit.group in stepped and not edit.words
                                             and slots.get(edit.group) == edit.value)))


_COVERING: dict[int, tuple[tuple[str, tuple[str, ...], int], ...]] = {
    1: (("sleeves", ("sleeveless", "straps"), 1), ("neckline", ("vneck", "scoop", "square"), -1),
        ("sleeves", ("short",), 1), ("length", ("short", "medium"), 1), ("sleeves", ("elbow",), 1),
        ("neckline", ("crew", "collar"), -1)),
    -1: (("sleeves", ("long", "elbow"), -1), ("length", ("long",), -1),
         ("neckline", ("turtleneck", "crew", "collar"), 1), ("sleeves", ("short",), -1), ("length", ("medium",), -1)),
}


def _covering(slots: Slots, direction: int, named: AbstractSet[str]) -> Edit | None:
    """None where a part is named beside it: "more covered, with long sleeves"."""
    if named & {"sleeves", "neckline", "length"}:
        return None
    return next((Edit("step", group, direction=way, words="covering") for group, values, way in _COVERING[direction]
                 if slots.get(group) in values), None)


def target(edit: Edit) -> str:
    """The group that ``edit`` changes."""
    return _SHADES.get(edit.group, edit.group)


def apply_edits(slots: Slots, edits: Edits) -> dict[str, str]:
    """``slots`` (group to value) after ``edits``; the input is not modified."""
    return apply_with_notes(slots, edits)[0]


def apply_with_notes(slots: Slots, edits: Edits) -> tuple[dict[str, str], tuple[str, ...]]:
    """:func:`apply_edits`, with notes on edits that had no or an uncertain effect."""
    edits = settled(slots, traded(slots, edits))
    new, notes = dict(slots), []
    wanted = _set(slots, edits)
    second = _second(edits)
    on_trim = second is not None and second.of_trim
    dropped = {(edit.group, edit.value) for edit in edits.edits if edit.operation == "drop"}
    if _means_second_colour(slots, wanted, dropped, edits):
        wanted["second_colour"] = wanted.pop("colour")
    for group, value in sorted(dropped):
        if group not in wanted:
            notes += _drop(new, group, value)
    for edit in edits.edits:
        if edit.operation == "other" and edit.group not in wanted and new.pop(edit.group, ""):
            notes.append(f"any other {_name(edit.group)} will do")
    for group, value in wanted.items():
        new[group] = value
    for edit in dict.fromkeys(edits.edits):
        if edit.operation == "step" and target(edit) not in wanted:
            notes += _step(new, edit)
            notes += [f"what covers more or less was left to choose: {edit.group} assumed"] if edit.words else []
        elif edit.operation == "sleeved" and "sleeves" not in wanted:
            notes += _sleeved(new)
        elif edit.operation == "simpler":
            notes += [] if _is_simpler(slots, new) else _simplify(new, wanted)
        elif edit.operation == "swap":
            notes += [] if {"colour", "second_colour"} <= wanted.keys() else _swap(new)
            new.update({group: wanted[group] for group in ("colour", "second_colour") if group in wanted})
        elif edit.operation == "match":
            notes += _match(new)
    if edits.noun:
        new.pop("category", None)
    notes += [f"The trim has the colour of the pattern here, so {_phrase('colour', edit.value)} was left out"
              for edit in edits.edits if edit.operation == "set" and edit.group == "second_colour" and edit.of_trim
              and not on_trim and edit.value != wanted.get("second_colour")]
    notes += _settle_second_colour(slots, new, wanted, on_trim)
    notes += [f"unchanged: {edit.words}" for edit in edits.edits
              if edit.operation == "keep" and _stayed(edit, slots, new)]
    return new, tuple(dict.fromkeys(notes))


def traded(slots: Slots, edits: Edits) -> Edits:
    """``edits`` with "exchange red with green" as a swap of the colours, where those are the two of ``slots``."""
    gone = next((edit for edit in edits.edits if edit.traded), None)
    there = {slots.get("colour"), slots.get("second_colour")}
    come = [edit for edit in edits.edits if edit.operation == "set" and edit.group in ("colour", "second_colour")]
    if gone is None or len(come) != 1 or {gone.value, come[0].value} != there or len(there) < 2:
        return edits
    return replace(edits, edits=tuple(Edit("swap", "colour") if edit is gone else edit for edit in edits.edits
                                      if edit is not come[0]))


def _second(edits: Edits) -> Edit | None:
    """What sets the second colour: that of the pattern rather than of the trim, where both have one."""
    found = [edit for edit in edits.edits if edit.operation == "set" and edit.group == "second_colour"]
    of_pattern = [edit for edit in found if not edit.of_trim]
    return next(reversed(of_pattern or found), None)


def _set(slots: Slots, edits: Edits) -> dict[str, str]:
    """The values to set, the last one of each group. To keep what is not there asks for it: "the same, striped"."""
    wanted: dict[str, str] = {}
    refused = _refused(edits)
    for edit in edits.edits:
        if edit.operation == "set" and (edit.group, edit.value) not in refused:
            wanted[edit.group] = edit.value
        elif edit.operation == "drop" and not edit.value:
            wanted.pop(edit.group, None)  # "it goes with the flowers, but no pattern"
    if "second_colour" in wanted and (second := _second(edits)):
        wanted["second_colour"] = second.value
    kept = {edit.group: edit.value for edit in edits.edits if edit.operation == "keep" and edit.value}
    for group, value in kept.items():
        shown = {slots.get(group), slots.get("second_colour") if group == "colour" else None}
        if value not in shown:
            wanted.setdefault(group, value)
    return wanted


def _refused(edits: Edits) -> set[tuple[str, str]]:
    """What is named as it is and refused: "the belt kept slipping, it has to go"; asked for after it was refused, it is
    wanted. Where two values change places, each is refused and wanted."""
    dropped = {(edit.group, edit.value) for edit in edits.edits if edit.operation == "drop" and edit.value}
    last = {(edit.group, edit.value): edit.operation for edit in edits.edits if edit.operation in ("set", "drop")}
    both = dropped & {(edit.group, edit.value) for edit in edits.edits if edit.operation == "set"}
    return {one for one in both if last[one] == "drop" and sum(group == one[0] for group, _ in both) == 1}


def _means_second_colour(slots: Slots, wanted: Slots, dropped: set[tuple[str, str]], edits: Edits) -> bool:
    """"Green instead of white", for a garment whose second colour is white; "green, leave the red" for a red one."""
    if "colour" not in wanted or "second_colour" in wanted:
        return False
    first, second = slots.get("colour"), slots.get("second_colour", NONE)
    if any(edit.operation == "keep" and edit.group == "colour" and edit.value == first for edit in edits.edits):
        return wanted["colour"] != first
    return second != NONE and first != second and ("colour", second) in dropped and ("colour", first) not in dropped


def _stayed(edit: Edit, old: Slots, new: Slots) -> bool:
    if edit.group == "colour" and edit.value:
        return edit.value in (new.get("colour"), new.get("second_colour")) \
            and edit.value in (old.get("colour"), old.get("second_colour"))
    return old.get(edit.group) == new.get(edit.group) and edit.value in ("", old.get(edit.group))


def _drop(new: dict[str, str], group: str, value: str) -> list[str]:
    if group == "colour" and value and new.get("second_colour", NONE) == value:
        _open_second_colour(new)
        return []
    current = new.get(group)
    if value and current is not None and current != value:
        if group == "pattern" and {value, current} == {"stripes", "pinstripes"}:
            value = current  # stripes are stripes, whichever way they go
        elif (group, value, current) == ("sleeves", "sleeveless", "straps"):
            pass  # so is a garment with straps
        else:
            missing = _phrase(group, value)
            return [] if group == "category" else [f"nothing to remove: '{missing}' is not in the description"]
    if group == "sleeves":
        if value == "sleeveless":
            return _sleeved(new)
        if value in ("", "straps"):
            new[group] = "sleeveless"
            return []
    default = {"pattern": "plain", "trim": NONE, "second_colour": NONE, "fit": "regular"}.get(group)
    if group == "neckline" and value in ("collar", "turtleneck"):
        default = "crew"
    if default is not None and value != default:
        if current == default and group in ("pattern", "trim"):
            return [f"nothing to remove: there is no {group} in the description"]
        new[group] = default
        return []
    new.pop(group, None)
    return [f"any {_name(group)} but {_phrase(group, current)} will do"] if current else []


def _open_second_colour(new: dict[str, str]) -> None:
    """Without its second colour a print has another one; a plain garment has none."""
    if new.get("pattern", "plain") != "plain" or new.get("trim", NONE) not in (NONE, "pocket", "ruffle"):
        new.pop("second_colour")
    else:
        new["second_colour"] = NONE


def _step(new: dict[str, str], edit: Edit) -> list[str]:
    sign = 1 if edit.direction > 0 else -1
    for taken in range(abs(edit.direction)):
        following = step(edit.group, new.get(target(edit)), sign)
        if target(edit) == "second_colour" and following == new.get("colour"):
            following = step(edit.group, following, sign)   # it differs from the cloth's
        if following is None:
            return [END_WORDS["shade" if edit.group in _SHADES else edit.group, sign]] if taken == 0 else []
        new[target(edit)] = following
    return []


def _sleeved(new: dict[str, str]) -> list[str]:
    if new.get("sleeves") in ("sleeveless", "straps"):
        new["sleeves"] = "short"
        return ["No sleeve length given: short sleeves assumed"]
    return []


def _is_simpler(old: Slots, new: Slots) -> bool:
    """Whether a pattern or trim went by name: "simpler, without the bow"."""
    return any(old.get(group, bare) != bare == new.get(group) for group, bare in (("pattern", "plain"), ("trim", NONE)))


def _simplify(new: dict[str, str], wanted: Slots) -> list[str]:
    if new.get("pattern") != "plain" and "pattern" not in wanted:
        new["pattern"] = "plain"
    elif new.get("trim", NONE) != NONE and "trim" not in wanted:
        new["trim"] = NONE
    elif not wanted:
        return ["It is already as simple as the vocabulary allows"]
    return []


def _swap(new: dict[str, str]) -> list[str]:
    if new.get("second_colour", NONE) == NONE or "colour" not in new:
        return ["nothing to swap: the description has only one colour"]
    new["colour"], new["second_colour"] = new["second_colour"], new["colour"]
    return []


def _match(new: dict[str, str]) -> list[str]:
    if new.get("second_colour", NONE) == NONE:
        return ["nothing to match: the description has only one colour"]
    new["colour"] = new["second_colour"]
    _open_second_colour(new)
    return []


def _settle_second_colour(old: Slots, new: dict[str, str], wanted: Slots, on_trim: bool) -> list[str]:
    """Retain the second colour if something can show it: the pattern, or the trim of a plain garment."""
    notes: list[str] = []
    named = "second_colour" in wanted
    pattern = new.get("pattern")
    if on_trim and pattern is None:
        pattern = new["pattern"] = "plain"
    if on_trim and pattern == "plain" and new.get("trim") == NONE and "trim" not in wanted:
        new["trim"] = "piping"
        notes.append("No kind of trim given: contrast trim assumed")
    if on_trim and pattern != "plain":
        # A garment has two colours: a belt on stripes has that of the stripes.
        notes.append(f"The pattern is {_phrase('second_colour', wanted['second_colour'])} then, like the trim")
    elif not named and "pattern" in old and (pattern == "plain") != (old["pattern"] == "plain"):
        new["second_colour"] = NONE  # it belonged to the removed pattern, or to the trim alone
    if pattern == "plain" and new.get("trim", NONE) == NONE and new.get("second_colour", NONE) != NONE:
        if named and "pattern" not in wanted:
            del new["pattern"]  # "red and white" is not plain, but the pattern is not specified
        else:
            new["second_colour"] = NONE
    if new.get("second_colour", NONE) == new.get("colour"):
        if named and "colour" not in wanted:
            notes += [f"{wanted['second_colour']} is the main colour already, and a second colour differs from it",
                      f"any colour but {new.pop('colour')} will do"]
        else:
            new["second_colour"] = NONE
    if new.get("second_colour") == NONE and "second_colour" not in old:
        del new["second_colour"]
    return notes


def _name(group: str) -> str:
    return "kind of garment" if group == "category" else group.replace("_", " ")


def _phrase(group: str, value: str) -> str:
    return BY_KEY[group][value].phrase
