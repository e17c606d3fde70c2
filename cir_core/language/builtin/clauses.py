"""Append attributes to a modification text, in its own style."""

from __future__ import annotations

from collections.abc import Sequence

from cir_core.garments.describe import describe
from cir_core.garments.lexicon import NONE
from cir_core.language.builtin.phrases import joined, phrase

_THIRD_PERSON = frozenset({"is", "has", "are", "it", "the", "this", "looks", "comes"})
_ABSENT = {"trim": "no trim", "second_colour": "only one colour"}


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
        return _ABSENT[group]
    if group == "second_colour":
        return phrase(group, value)
    return describe({group: value}).partition(" with ")[2]
