"""Garment vocabulary: attribute groups, their values and phrases. Generate a plain English description of a garment
from its attributes.

One table (``tables/lexicon.toml``) is shared by the caption writer of the sample gallery, the zero-shot
prompts of the built-in language model, and its rules for editing a description.
It holds *words only*. Which garment has which attribute is not stored here: that
is the sample gallery's ground truth, which retrieval must not see.

The sample gallery's caption writer and the built-in language model both use :func:`describe`, so that a merged query
reads like the captions the bundled encoder was trained on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from cir_core.garments.tables import listed, table
from cir_core.support.texts import quoted

NONE = "none"


@dataclass(frozen=True)
class Value:
    """One value of an attribute group.

    ``phrases`` are ways to say it, the plainest first, all lower case. For ``colour``
    they are adjectives, for the other groups they are fragments that
    :func:`cir_core.sample.atelier.captions.full_caption` can join.
    """

    key: str
    phrases: tuple[str, ...]

    @property
    def phrase(self) -> str:
        return self.phrases[0]


@dataclass(frozen=True)
class Group:
    """An attribute group: a slot that takes exactly one value."""

    key: str
    values: tuple[Value, ...]

    def __getitem__(self, key: str) -> Value:
        for value in self.values:
            if value.key == key:
                return value
        raise KeyError(f"{self.key} has no value {quoted(key)}")

    @cached_property
    def keys(self) -> tuple[str, ...]:
        return tuple(value.key for value in self.values)


_TABLE = {name: Group(name, tuple(Value(key, listed(texts)) for key, texts in values.items()))
          for name, values in table("lexicon").items()}
CATEGORY, COLOUR = _TABLE["category"], _TABLE["colour"]
# The accent: the other colour of the pattern, or of the trim when the cloth is plain.
SECOND_COLOUR = Group("second_colour", (Value(NONE, ("no second colour",)), *COLOUR.values))
GROUPS: tuple[Group, ...] = (CATEGORY, COLOUR, SECOND_COLOUR, *list(_TABLE.values())[2:])
BY_KEY: dict[str, Group] = {group.key: group for group in GROUPS}


LENGTH_WORDS: dict[str, dict[str, str]] = {
    "dress": {"short": "short", "medium": "knee-length", "long": "long"},
    "shirt": {"short": "cropped", "medium": "regular length", "long": "long"},
    "toptee": {"short": "cropped", "medium": "regular length", "long": "tunic length"},
}
_NOUN = {"dress": "dress", "shirt": "shirt", "toptee": "top"}
_FIT = {"slim": "slim fit", "regular": "regular fit", "loose": "loose fit"}
_PATTERN = {
    "plain": "plain", "stripes": "striped", "pinstripes": "vertically striped",
    "dots": "polka dot", "checks": "checked", "floral": "floral",
    "graphic": "graphic print", "colourblock": "colour block",
}
_SLEEVES = {
    "sleeveless": "no sleeves", "straps": "thin straps", "short": "short sleeves",
    "elbow": "three-quarter sleeves", "long": "long sleeves",
}
_NECK = {
    "crew": "a round neck", "vneck": "a v-neck", "scoop": "a scoop neck",
    "square": "a square neck", "turtleneck": "a turtleneck", "collar": "a collar",
}
_TRIM = {
    "buttons": "buttons", "pocket": "a pocket", "belt": "a belt",
    "ruffle": "ruffles", "bow": "a bow", "piping": "contrast trim",
}


def describe(slots: Mapping[str, str]) -> str:
    """Describe the garment with the attributes ``slots``.

    ``slots`` maps attribute group to value (see :mod:`cir_core.garments.lexicon`); missing groups
    are not mentioned. Unknown groups or values raise ``KeyError``.

    >>> describe({"category": "dress", "colour": "red", "sleeves": "long"})
    'a red dress with long sleeves'
    """
    for group, value in slots.items():
        BY_KEY[group][value]
    category = slots.get("category")
    words: list[str] = []
    if fit := slots.get("fit"):
        words.append(_FIT[fit])
    if length := slots.get("length"):
        words.append(LENGTH_WORDS[category or "dress"][length])
    colour, second = slots.get("colour"), slots.get("second_colour", NONE)
    pattern = slots.get("pattern")
    accent_on_trim = pattern == "plain" and second != NONE
    if colour and second != NONE and not accent_on_trim:
        words.append(f"{colour} and {second}")
    elif colour:
        words.append(colour)
    elif second != NONE and not accent_on_trim:
        words.append(second)
    if pattern:
        words.append(_PATTERN[pattern])
    words.append(_NOUN[category] if category else "garment")

    details: list[str] = []
    if sleeves := slots.get("sleeves"):
        details.append(_SLEEVES[sleeves])
    if neckline := slots.get("neckline"):
        details.append(_NECK[neckline])
    trim = slots.get("trim", NONE)
    if trim != NONE:
        phrase = _TRIM[trim]
        if accent_on_trim:
            article, _, noun = phrase.rpartition("a ")
            phrase = f"a {second} {noun}" if article == "" and phrase.startswith("a ") else f"{second} {phrase}"
        details.append(phrase)

    noun_phrase = " ".join(words)
    article = "an" if noun_phrase[0] in "aeiou" else "a"
    text = f"{article} {noun_phrase}"
    if details:
        joined = details[0] if len(details) == 1 else ", ".join(details[:-1]) + " and " + details[-1]
        text += f" with {joined}"
    return text
