"""Attribute values in words, for lists and sentences; attributes appended to a modification text, in its own style."""

from __future__ import annotations

from collections.abc import Sequence

from cir_core.garments.lexicon import BY_KEY, LENGTH_WORDS, NONE, describe

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


_THIRD_PERSON = frozenset({"is", "has", "are", "it", "the", "this", "looks", "comes"})
_CLAUSE_ABSENT = {"trim": "no trim", "second_colour": "only one colour"}


def also(text: str, values: Sequence[tuple[str, str]], category: str) -> str:
    """``text`` with ``values`` (group, value) added: "is longer" becomes "is longer and has a v-neck",
    "make it longer" becomes "make it longer, with a v-neck". Capital and full stop are preserved."""
    text = " ".join(text.split())
    stop = "." if text.endswith(".") else ""
    body = text.rstrip(" .").replace(". ", " and ")
    third = (body.split(" ", 1)[0].lower() in _THIRD_PERSON) if body else True
    looks = [_look(group, value, category, third) for group, value in values if _is_look(group)]
    has = [_detail(group, value) for group, value in values if not _is_look(group)]
    if third:
        parts = [f"is {joined(looks)}"] if looks else []
        parts += [f"has {joined(has)}"] if has else []
        return " and ".join([body, *parts] if body else parts) + stop
    added = looks + ([f"with {joined(has)}"] if has else [])
    return ", ".join([body, *added]) + stop


def _is_look(group: str) -> bool:
    return group in ("category", "colour", "pattern", "length", "fit")


def _look(group: str, value: str, category: str, third: bool) -> str:
    words = phrase(group, value, category)
    if group == "category":
        return f"a {words}" if third else f"as a {words}"
    if third or group in ("length", "fit"):
        return words
    return f"in {words}" if group == "colour" else f"in a {words} design"


def _detail(group: str, value: str) -> str:
    if value == NONE:
        return _CLAUSE_ABSENT[group]
    if group == "second_colour":
        return phrase(group, value)
    return describe({group: value}).partition(" with ")[2]
