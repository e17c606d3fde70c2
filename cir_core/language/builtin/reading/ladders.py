"""Ordered values for comparatives: one step of "longer", "darker" or "looser", and everything beyond."""

from __future__ import annotations

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
    if group == "shade":
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
    ladder = _LADDERS[group]
    place = _rung(ladder, value)
    if place is None:
        return frozenset()
    rungs = ladder[place + 1 :] if direction > 0 else ladder[:place]
    if group == "sleeves" and direction < 0 and place > 1:
        rungs = rungs[1:]
    return frozenset(one for rung in rungs for one in rung)


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
