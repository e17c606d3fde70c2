"""Requests about a garment, with their meaning: what people ask for when they look at a reference.

A request is drawn for a reference from the phrases of :mod:`cir_core.sample.request_wording`, and what satisfies it is
known from the ground truth. There need not be one exact target. Evaluation only: no search may read this.
"""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from cir_core.garments.lexicon import BY_KEY, NONE
from cir_core.sample.atelier.rules import is_wearable
from cir_core.sample.request_wording import MEASURED, TUNING, Wording

Kind = Literal["single", "double", "negated", "comparative"]
Purpose = Literal["measured", "tuning"]
Attributes = Mapping[str, str]
Wants = Mapping[str, frozenset[str]]
"""Attribute group -> the values that satisfy a request."""

WORDINGS: Mapping[Purpose, Wording] = {"measured": MEASURED, "tuning": TUNING}
SPLITS: Mapping[Purpose, tuple[str, ...]] = {"measured": ("test",), "tuning": ("val", "train")}
"""Splits that the references come from, and the images that are ranked."""

#: How often people ask for a group, in percent: colour, sleeves and pattern most.
GROUP_SHARES: Mapping[str, int] = {
    "colour": 26, "pattern": 17, "sleeves": 17, "trim": 10, "length": 9, "neckline": 8, "category": 5, "fit": 5,
    "second_colour": 3,
}
#: Values from one end of a group to the other ("down" to "up"); those of one rung are equal.
LADDERS: Mapping[str, tuple[frozenset[str], ...]] = {
    "sleeves": tuple(map(frozenset, (("short",), ("elbow",), ("long",)))),
    "length": tuple(map(frozenset, (("short",), ("medium",), ("long",)))),
    "fit": tuple(map(frozenset, (("slim",), ("regular",), ("loose",)))),
    "neckline": tuple(map(frozenset, (("vneck", "scoop", "square"), ("crew", "collar"), ("turtleneck",)))),
    "colour": tuple(map(frozenset, (
        ("black", "navy", "brown"), ("grey", "red", "orange", "green", "teal", "blue", "purple"),
        ("white", "beige", "pink", "yellow"),
    ))),
}


@dataclass(frozen=True)
class Request:
    """``about``: the groups asked for; ``wants`` also has those that the words presuppose ("with red stripes")."""

    text: str
    kind: Kind
    about: tuple[str, ...]
    wants: Wants


@dataclass(frozen=True)
class Meaning:
    """A request before it is put into words: any of ``phrases`` says it."""

    kind: Kind
    about: tuple[str, ...]
    wants: Wants
    phrases: tuple[str, ...]

    @property
    def key(self) -> str:
        return repr((self.kind, self.about, sorted((group, sorted(values)) for group, values in self.wants.items())))


def satisfies(attributes: Attributes, wants: Wants) -> bool:
    return all(attributes[group] in values for group, values in wants.items())


def in_principle(reference: Attributes, wants: Wants) -> bool:
    """Whether ``reference`` can be worn with the wanted values instead, and its other attributes as they are but for
    the second colour, which has to suit pattern and trim."""
    free = {"second_colour": frozenset(BY_KEY["second_colour"].keys), **wants}
    worn = (dict(zip(free, values, strict=True)) for values in itertools.product(*free.values()))
    return any(is_wearable({**reference, **changed}) for changed in worn)


def meanings(reference: Attributes, group: str, wording: Wording) -> Iterator[Meaning]:
    """All that can be asked for in one group of ``reference`` and that it does not satisfy yet. Not all of it can be
    worn."""
    if group == "second_colour":
        yield from _accents(reference, wording)
    for name, said in wording.values.get(group, {}).items():
        if (values := _values(group, name, reference)) and reference[group] not in values:
            yield Meaning("single", (group,), {group: values}, _split(said))
    if group == "colour":
        for value, said in wording.colours.items():
            if value != reference[group]:
                phrases = tuple(f"in {word}" for word in _split(said))
                yield Meaning("single", (group,), {group: frozenset({value})}, phrases)
    for name, said in wording.negated.get(group, {}).items():
        unwanted = frozenset({reference[group]} - {NONE}) if name == "*" else _values(group, name, reference)
        if reference[group] in unwanted:
            old = _split(wording.colours.get(reference[group], ""))[0]
            phrases = tuple(phrase.replace("{old}", old) for phrase in _split(said))
            yield Meaning("negated", (group,), {group: frozenset(BY_KEY[group].keys) - unwanted}, phrases)
    for direction, said in wording.steps.get(group, {}).items():
        if values := beyond(group, reference[group], direction):
            yield Meaning("comparative", (group,), {group: values}, _split(said))


def beyond(group: str, value: str, direction: str) -> frozenset[str]:
    """The values past ``value`` on the group's ladder, "up" or "down"; empty if ``value`` is not on it."""
    ladder = LADDERS[group]
    place = next((place for place, rung in enumerate(ladder) if value in rung), None)
    if place is None:
        return frozenset()
    return frozenset().union(*(ladder[place + 1:] if direction == "up" else ladder[:place]))


def pattern_with_accent(reference: Attributes, wording: Wording) -> Iterator[Meaning]:
    """Requests such as "with red stripes" for a garment that has none."""
    for pattern, said in wording.accents.items():
        if pattern not in BY_KEY["pattern"].keys or reference["pattern"] in _alike(pattern):
            continue
        for colour, words in wording.colours.items():
            wants = {"pattern": _alike(pattern), "second_colour": frozenset({colour})}
            if colour != reference["second_colour"]:
                yield Meaning("double", ("pattern", "second_colour"), wants, (_coloured(said, words),))


def together(one: Meaning, other: Meaning, wording: Wording) -> Meaning | None:
    """Both in one request; None if they cannot be joined. Fragments only, and what begins with "with" comes last."""
    pairs = itertools.product(_fragments(one), _fragments(other))
    joined = tuple(
        frame.format(a=first, b=second)
        for a, b in pairs for frame in wording.doubles
        for first, second in [(b, a) if a.startswith("with") and not b.startswith("with") else (a, b)]
    )
    if not joined or one.wants.keys() & other.wants.keys():
        return None
    said = tuple(f"! {text}" for text in joined)
    return Meaning("double", (*one.about, *other.about), {**one.wants, **other.wants}, said)


def worded(meaning: Meaning, wording: Wording, salt: str) -> Request:
    """``meaning`` in words: the same ones for the same ``salt``."""
    rng = random.Random(f"{salt}/{meaning.key}")
    phrase = rng.choice(meaning.phrases)
    if phrase.startswith("!"):
        text = phrase.removeprefix("!").strip()
    else:
        first, _, rest = phrase.partition(" ")
        text = rng.choice(wording.frames[first]).format(rest) if first in wording.frames else \
            rng.choice(wording.frames[""]).format(phrase)
    return Request(text, meaning.kind, meaning.about, meaning.wants)


def shuffled(found: list[Meaning], salt: str) -> list[Meaning]:
    """In an order that depends on each meaning and ``salt`` alone: what else could be asked for does not matter."""
    return sorted(found, key=lambda one: hashlib.blake2b(f"{salt}/{one.key}".encode(), digest_size=8).digest())


def _accents(reference: Attributes, wording: Wording) -> Iterator[Meaning]:
    """Another second colour for the pattern that is there, or for the trim of a plain garment."""
    part = "pattern" if reference["pattern"] != "plain" else "trim"
    if (said := wording.accents.get(reference[part])) is None:
        return
    kept = _alike(reference[part]) if part == "pattern" else frozenset({reference[part]})
    for colour, words in wording.colours.items():
        if colour != reference["second_colour"]:
            wants = {"second_colour": frozenset({colour}), part: kept}
            yield Meaning("single", ("second_colour",), wants, (_coloured(said, words),))


def _alike(pattern: str) -> frozenset[str]:
    """Stripes are stripes, whichever way they go."""
    stripes = frozenset({"stripes", "pinstripes"})
    return stripes if pattern in stripes else frozenset({pattern})


def _coloured(said: str, words: str) -> str:
    colour = _split(words)[0]
    article = "an" if colour[0] in "aeiou" else "a"
    return said.replace("{c}", colour).replace("{ac}", f"{article} {colour}")


def _values(group: str, name: str, reference: Attributes) -> frozenset[str]:
    """The values of a name in the wording, such as "long", "dress.long" or "short+long"; none if it is for another
    category of garment."""
    category, _, value = name.rpartition(".")
    if group == "length" and (category == "dress") != (reference["category"] == "dress"):
        return frozenset()
    return frozenset(value.split("+"))


def _fragments(meaning: Meaning) -> list[str]:
    return [phrase for phrase in meaning.phrases if not phrase.startswith("!")]


def _split(said: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in said.split("|"))
