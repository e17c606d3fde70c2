"""Classes of requests, by what was understood of them: for figures over many turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from cir_core.language.builtin.reading.edits import Edit, target
from cir_core.language.builtin.reading.parse import parse_edits
from cir_core.language.builtin.seeing import GARMENTS

RequestClass = Literal[
    "colour", "pattern", "cut", "trim", "parts", "several", "negation", "comparison", "other", "not understood",
    "not read", "no words",
]
"""``cut``: kind of garment, sleeves, neckline, length, fit. ``parts``: the colour of a part. ``other``: what garments
do not have, such as a place. ``not read``: by a method that takes no request apart, about no garment."""
CLASSES: tuple[RequestClass, ...] = get_args(RequestClass)

# A word of an aspect's name tells its class; a language model names aspects as it likes.
_WORDS: dict[RequestClass, frozenset[str]] = {
    "parts": frozenset({"second", "secondary", "accent", "part", "parts"}),
    "colour": frozenset({"colour", "color", "colours", "colors", "shade", "hue", "tone"}),
    "pattern": frozenset({"pattern", "print", "motif", "texture"}),
    "trim": frozenset({"trim", "detail", "details", "decoration", "belt", "bow", "button", "buttons", "closure", "edge",
                       "edges", "embellishment", "pocket", "pockets", "ruffle", "ruffles"}),
    "cut": frozenset({"category", "type", "kind", "garment", "cut", "silhouette", "shape", "style", "fit", "length",
                      "hem", "hemline", "sleeve", "sleeves", "neck", "neckline", "collar", "strap", "straps", "waist"}),
}
_OWNERS: tuple[RequestClass, ...] = ("trim", "pattern")   # what may have the colour of a part
_AWAY, _STEPS = frozenset({"drop", "other"}), frozenset({"step", "simpler"})
_DENIALS = ("not ", "no ", "without ")


def request_class(text: str, asked: Sequence[tuple[str, str]] | None, domain: str) -> RequestClass:
    """The class of the request ``text``.

    Args:
        asked: names and labels of the aspects that the turn asked for, as they were stored; None for a turn of a method
            that takes no request apart. The built-in rules then read the text, if it is about garments.
        domain: what the images show.
    """
    if not text.strip():
        return "no words"
    if asked is None and domain not in GARMENTS:
        return "not read"
    wishes, stays = _read(text) if domain in GARMENTS else ((), frozenset())
    if asked is None:
        names = [target(one) for one in wishes]
    else:
        names = [name for name, _ in asked if _plain(name) not in stays]
    # Once each: the rules make two edits of "dots for stripes".
    found = [_of_name(name) for name in dict.fromkeys(names)]
    if not found:
        return "not understood"
    operations = {one.operation for one in wishes}
    if "swap" in operations and set(found) <= {"colour", "parts"}:
        return "parts"
    if "parts" in found:
        rest = [one for one in found if one != "parts"]
        owned = next((rest.index(one) for one in _OWNERS if one in rest), None)
        if owned is not None:
            del rest[owned]
        return "several" if rest else "parts"
    if len(found) > 1:
        return "several"
    if operations and operations <= _STEPS:
        return "comparison"
    if operations <= _AWAY if operations else all(label.startswith(_DENIALS) for _, label in asked or ()):
        return "negation"
    return found[0]


def _read(text: str) -> tuple[tuple[Edit, ...], frozenset[str]]:
    """What the built-in rules read in ``text``, and the groups of what is to stay."""
    read = parse_edits(text)
    wishes = tuple(one for one in read.edits if one.operation != "keep")
    noun = (Edit("set", "category"),) if read.noun else ()
    return (*wishes, *noun), frozenset(target(one) for one in read.edits) - {target(one) for one in wishes}


def _plain(name: str) -> str:
    return name.casefold().replace(" ", "_")


def _of_name(name: str) -> RequestClass:
    words = set(name.casefold().replace("_", " ").replace("-", " ").split())
    return next((one for one, known in _WORDS.items() if words & known), "other")
