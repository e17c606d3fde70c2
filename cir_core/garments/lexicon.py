"""Garment vocabulary: attribute groups, their values and phrases.

One table is shared by the caption writer of the sample gallery, the zero-shot
prompts of the built-in language model, and its rules for editing a description.
It holds *words only*. Which garment has which attribute is not stored here: that
is the sample gallery's ground truth, which retrieval must not see.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

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


def _group(key: str, **values: tuple[str, ...]) -> Group:
    return Group(key, tuple(Value(name, phrases) for name, phrases in values.items()))


CATEGORY = _group("category", dress=("dress", "gown", "frock"), shirt=("shirt",), toptee=("top", "blouse", "tee"))

COLOUR = _group(
    "colour",
    black=("black",),
    white=("white",),
    grey=("grey", "gray"),
    beige=("beige", "tan", "cream"),
    brown=("brown", "chocolate"),
    red=("red", "crimson", "scarlet"),
    pink=("pink", "rose"),
    orange=("orange",),
    yellow=("yellow", "mustard"),
    green=("green",),
    teal=("teal", "turquoise"),
    blue=("blue", "sky blue"),
    navy=("navy", "navy blue", "dark blue"),
    purple=("purple", "violet"),
)

# The accent: the other colour of the pattern, or of the trim when the cloth is plain.
SECOND_COLOUR = Group("second_colour", (Value(NONE, ("no second colour",)), *COLOUR.values))

PATTERN = _group(
    "pattern",
    plain=("plain", "solid", "solid coloured"),
    stripes=("striped", "horizontally striped", "with stripes"),
    pinstripes=("vertically striped", "pinstriped", "with vertical stripes"),
    dots=("polka dot", "dotted", "with polka dots", "spotted"),
    checks=("checked", "plaid", "checkered", "with checks"),
    floral=("floral", "flowered", "with a floral print", "flowery"),
    graphic=("graphic print", "with a graphic print", "with a logo", "printed"),
    colourblock=("colour block", "two-tone", "color block", "half and half"),
)

SLEEVES = _group(
    "sleeves",
    sleeveless=("sleeveless", "no sleeves", "without sleeves"),
    straps=("spaghetti straps", "thin straps", "straps", "strappy"),
    short=("short sleeves", "short sleeved"),
    elbow=("three-quarter sleeves", "elbow length sleeves", "mid-length sleeves"),
    long=("long sleeves", "long sleeved"),
)

NECKLINE = _group(
    "neckline",
    crew=("crew neck", "round neck", "round neckline"),
    vneck=("v-neck", "v neck", "v-shaped neckline"),
    scoop=("scoop neck", "low round neck", "scooped neckline"),
    square=("square neck", "square neckline"),
    turtleneck=("turtleneck", "high neck", "roll neck"),
    collar=("collar", "shirt collar", "pointed collar", "collared"),
)

LENGTH = _group(
    "length",
    short=("short", "cropped", "mini"),
    medium=("regular length", "knee-length", "mid-length"),
    long=("long", "maxi", "tunic length"),
)

FIT = _group(
    "fit",
    slim=("slim fit", "fitted", "tight"),
    regular=("regular fit", "straight fit"),
    loose=("loose fit", "loose", "oversized", "flowing"),
)

TRIM = _group(
    "trim",
    none=("no trim", "no details"),
    buttons=("buttons", "button front", "a row of buttons"),
    pocket=("pocket", "chest pocket", "a pocket"),
    belt=("belt", "a belt", "belted waist", "sash"),
    ruffle=("ruffles", "a ruffled hem", "frills", "ruffle hem"),
    bow=("bow", "a bow", "ribbon"),
    piping=("contrast edges", "contrast trim", "contrasting cuffs and hem"),
)

GROUPS: tuple[Group, ...] = (CATEGORY, COLOUR, SECOND_COLOUR, PATTERN, SLEEVES, NECKLINE, LENGTH, FIT, TRIM)
BY_KEY: dict[str, Group] = {group.key: group for group in GROUPS}
