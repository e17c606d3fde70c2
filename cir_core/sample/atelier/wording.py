"""Vocabulary and small grammar of the caption writer."""

from __future__ import annotations

from collections.abc import Sequence

from cir_core.garments.lexicon import COLOUR

#: Plain words are listed several times, to be chosen more often than their synonyms.
NOUNS = {
    "dress": ("dress", "dress", "dress", "gown", "frock"),
    "shirt": ("shirt",),
    "toptee": ("top", "top", "blouse", "tee"),
}
COLOUR_WORDS: dict[str, tuple[str, ...]] = {
    value.key: (value.phrase,) * 3 + value.phrases[1:] for value in COLOUR.values
}
PATTERN_BEFORE = {
    "plain": ("plain", "plain", "solid", "solid coloured"),
    "stripes": ("striped", "striped", "horizontally striped"),
    "pinstripes": ("vertically striped", "vertically striped", "pinstriped"),
    "dots": ("polka dot", "polka dot", "dotted", "spotted"),
    "checks": ("checked", "checked", "plaid", "checkered"),
    "floral": ("floral", "floral", "flowered", "flowery"),
    "graphic": ("graphic print", "graphic print", "printed", "graphic"),
    "colourblock": ("colour block", "colour block", "two-tone", "color block"),
}
PATTERN_AFTER = {
    "stripes": ("stripes", "horizontal stripes"),
    "pinstripes": ("vertical stripes", "pinstripes"),
    "dots": ("polka dots", "dots"),
    "checks": ("checks", "plaid checks"),
    "floral": ("flowers", "floral print"),
    "graphic": ("graphic print", "graphic on the chest", "logo"),
}
SLEEVE_WORDS = {
    "sleeveless": ("no sleeves", "no sleeves"),
    "straps": ("thin straps", "spaghetti straps", "straps"),
    "short": ("short sleeves",),
    "elbow": ("three-quarter sleeves", "elbow length sleeves", "mid-length sleeves"),
    "long": ("long sleeves",),
}
NECK_WORDS = {
    "crew": ("a round neck", "a crew neck", "a round neckline"),
    "vneck": ("a v-neck", "a v neck", "a v-shaped neckline"),
    "scoop": ("a scoop neck", "a low round neck", "a scooped neckline"),
    "square": ("a square neck", "a square neckline"),
    "turtleneck": ("a turtleneck", "a high neck", "a roll neck"),
    "collar": ("a collar", "a shirt collar", "a pointed collar"),
}
FIT_WORDS = {
    "slim": ("slim fit", "slim fit", "fitted", "tight"),
    "regular": ("regular fit", "regular fit", "straight fit"),
    "loose": ("loose fit", "loose fit", "loose", "oversized"),
}
LENGTH_CAPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "dress": {"short": ("short", "short", "mini"), "medium": ("knee-length", "mid-length"),
              "long": ("long", "long", "maxi")},
    "shirt": {"short": ("cropped",), "medium": ("regular length",), "long": ("long",)},
    "toptee": {"short": ("cropped", "cropped", "short"), "medium": ("regular length",),
               "long": ("tunic length", "long")},
}
#: Trim in words: whether it takes an article, and the noun a colour can precede.
DETAIL_WORDS: dict[str, tuple[tuple[bool, str], ...]] = {
    "buttons": ((False, "buttons"), (False, "buttons down the front"), (True, "button front")),
    "pocket": ((True, "pocket"), (True, "chest pocket")),
    "belt": ((True, "belt"), (True, "belt at the waist"), (True, "sash")),
    "ruffle": ((False, "ruffles"), (True, "ruffled hem"), (False, "frills")),
    "bow": ((True, "bow"), (True, "ribbon"), (True, "bow at the neck")),
    "piping": ((False, "contrast trim"), (False, "contrast edges"),
               (False, "contrasting cuffs and hem")),
}


def article(words: str) -> str:
    """The indefinite article that ``words`` take."""
    return "an" if words[0] in "aeiou" else "a"


def join(parts: Sequence[str]) -> str:
    """``a``, ``a and b`` or ``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return ", ".join(parts[:-1]) + " and " + parts[-1]
