"""Attribute values in words, for lists and sentences."""

from __future__ import annotations

from cir_core.garments.describe import LENGTH_WORDS, describe
from cir_core.garments.lexicon import BY_KEY, NONE

SALIENCE = ("category", "colour", "pattern", "sleeves", "length", "neckline", "trim", "fit", "second_colour")
"""Attribute groups by salience."""

PATTERN_NOUNS = {
    "stripes": "{colour} stripes", "pinstripes": "{colour} vertical stripes", "dots": "{colour} polka dots",
    "checks": "{colour} checks", "floral": "{colour} flowers", "graphic": "a {colour} logo",
}
"""Patterns as countable things with a colour; excludes colour block."""

_ABSENT = {"trim": "no trim", "second_colour": "one colour"}


def phrase(group: str, value: str, category: str = "dress") -> str:
    """``value`` of ``group`` as in descriptions, without an article.

    >>> phrase("sleeves", "long"), phrase("length", "medium"), phrase("neckline", "vneck")
    ('long sleeves', 'knee-length', 'v-neck')
    """
    if value == NONE:
        return _ABSENT[group]
    if group == "category":
        return describe({group: value}).partition(" ")[2]
    if group == "length":
        return LENGTH_WORDS[category][value]
    if group == "second_colour":
        return f"{value} as the second colour"
    if (group, value) == ("sleeves", "sleeveless"):
        return value
    text = describe({group: value})
    before, _, detail = text.partition(" with ")
    return detail.removeprefix("a ") if detail else before.split(" ", 1)[1].removesuffix(" garment")


def name(group: str) -> str:
    """The group's name: "second colour"."""
    return BY_KEY[group].key.replace("_", " ")


def joined(parts: list[str]) -> str:
    """"a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)
