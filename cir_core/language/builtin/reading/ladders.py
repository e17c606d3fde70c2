"""Comparatives: where one more step of "longer", "darker" or "looser" leads."""

from __future__ import annotations

SLEEVES = ("sleeveless", "short", "elbow", "long")
LENGTH = ("short", "medium", "long")
FIT = ("slim", "regular", "loose")
NECKLINE = ("turtleneck", "crew", "scoop")  # from high to low

_ORDERED = {"sleeves": SLEEVES, "length": LENGTH, "fit": FIT, "neckline": NECKLINE}

# No exact science: the neighbour that a shop would hang next to it. A colour that is
# missing on a side is the lightest or darkest of its kind the vocabulary has.
_DARKER = {
    "white": "beige", "beige": "brown", "brown": "black", "grey": "black", "pink": "red", "red": "brown",
    "yellow": "orange", "orange": "brown", "green": "teal", "teal": "navy", "blue": "navy", "navy": "black",
    "purple": "navy",
}
_LIGHTER = {
    "black": "grey", "grey": "white", "navy": "blue", "brown": "beige", "beige": "white", "red": "pink",
    "pink": "white", "orange": "yellow", "yellow": "beige", "purple": "pink", "teal": "blue",
}


def step(group: str, value: str | None, direction: int) -> str | None:
    """The next value of ``group`` from ``value``; None at the end of the ladder or off it.

    ``direction`` +1 is longer, looser, lower or darker. A missing ``value`` goes straight
    to the end that is asked for; a missing colour has no such end and stays missing.
    """
    if group == "shade":
        return (_DARKER if direction > 0 else _LIGHTER).get(value or "")
    ladder = _ORDERED[group]
    if value is None:
        return ladder[-1] if direction > 0 else ladder[0]
    if value == "straps":
        return "short" if direction > 0 else "sleeveless"
    if value not in ladder:
        return None
    place = ladder.index(value) + direction
    return ladder[place] if 0 <= place < len(ladder) else None


END_WORDS = {
    ("sleeves", 1): "The sleeves are already the longest",
    ("sleeves", -1): "There are no sleeves to shorten",
    ("length", 1): "It is already the longest",
    ("length", -1): "It is already the shortest",
    ("fit", 1): "It is already the loosest",
    ("fit", -1): "It is already the tightest",
    ("neckline", 1): "The neckline cannot be lower",
    ("neckline", -1): "The neckline cannot be higher",
    ("shade", 1): "There is no darker colour in the vocabulary",
    ("shade", -1): "There is no lighter colour in the vocabulary",
}
"""What to say when :func:`step` has nowhere to go."""
