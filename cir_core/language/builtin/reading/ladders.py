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
    ("sleeves", 1): "the sleeves are the longest already",
    ("sleeves", -1): "there are no sleeves to shorten",
    ("length", 1): "it is the longest already",
    ("length", -1): "it is the shortest already",
    ("fit", 1): "it is the loosest already",
    ("fit", -1): "it is the tightest already",
    ("neckline", 1): "the neckline cannot be put lower",
    ("neckline", -1): "the neckline cannot be put higher",
    ("shade", 1): "no darker colour is known",
    ("shade", -1): "no lighter colour is known",
}
"""What to say when :func:`step` has nowhere to go."""
