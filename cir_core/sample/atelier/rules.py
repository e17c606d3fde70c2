"""Valid attribute combinations: wearable garments whose attributes are visible."""

from __future__ import annotations

from collections.abc import Mapping

from cir_core.garments.lexicon import GROUPS, NONE

TRIMS: dict[str, frozenset[str]] = {
    "dress": frozenset({NONE, "buttons", "belt", "ruffle", "bow", "piping"}),
    "shirt": frozenset({NONE, "buttons", "pocket", "piping"}),
    "toptee": frozenset({NONE, "buttons", "pocket", "ruffle", "bow", "piping"}),
}
#: Trims that may be made of the garment's own cloth; all others need an accent colour.
SELF_COLOURED_TRIMS = frozenset({"pocket", "ruffle"})
STRAP_NECKLINES = frozenset({"vneck", "scoop", "square"})

_TOO_CLOSE = frozenset(
    frozenset(pair)
    for pair in (
        ("black", "navy"), ("black", "brown"), ("navy", "purple"), ("navy", "blue"),
        ("white", "beige"), ("white", "grey"), ("beige", "grey"), ("beige", "yellow"),
        ("beige", "pink"), ("teal", "green"), ("teal", "blue"), ("red", "orange"),
        ("red", "pink"), ("orange", "yellow"), ("orange", "brown"), ("red", "brown"),
        ("brown", "purple"), ("blue", "purple"), ("navy", "brown"), ("grey", "teal"),
        ("grey", "blue"), ("grey", "green"), ("grey", "brown"), ("blue", "green"),
        ("navy", "green"), ("green", "brown"), ("orange", "pink"), ("red", "purple"),
        ("white", "yellow"),
    )
)


def may_pair(colour: str, accent: str) -> bool:
    """Whether ``accent`` is visible on ``colour``."""
    return colour != accent and frozenset((colour, accent)) not in _TOO_CLOSE


def needs_accent(pattern: str, trim: str) -> bool:
    """Whether the second colour must be set: some part is drawn in it."""
    return pattern != "plain" or (trim != NONE and trim not in SELF_COLOURED_TRIMS)


def may_have_accent(pattern: str, trim: str) -> bool:
    """Whether the second colour may be set: some part could show it."""
    return pattern != "plain" or trim != NONE


def is_wearable(attributes: Mapping[str, str]) -> bool:
    """Whether the complete set of ``attributes`` is a garment that can be rendered.

    Two kinds of rules: taste (no belt on a shirt) and legibility (every
    attribute that is set must be visible, so no navy dots on black).
    """
    if any(attributes.get(group.key) not in group.keys for group in GROUPS):
        return False
    category, pattern = attributes["category"], attributes["pattern"]
    sleeves, neckline = attributes["sleeves"], attributes["neckline"]
    trim, accent = attributes["trim"], attributes["second_colour"]
    if accent == NONE:
        if needs_accent(pattern, trim):
            return False
    elif not may_have_accent(pattern, trim) or not may_pair(attributes["colour"], accent):
        return False
    if trim not in TRIMS[category]:
        return False
    if sleeves == "straps" and (category == "shirt" or neckline not in STRAP_NECKLINES):
        return False
    if category == "shirt" and neckline in {"scoop", "square"}:
        return False
    # Details that would overlap and hide one another.
    if pattern == "graphic" and trim in {"buttons", "pocket", "bow", "belt"}:
        return False
    if pattern == "colourblock" and trim in {"piping", "belt"}:
        return False
    if trim == "buttons" and neckline == "turtleneck":
        return False
    return not (trim == "pocket" and sleeves == "straps")
