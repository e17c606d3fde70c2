"""Phrases the built-in language model understands, as tuples of words, and what each means.

The garment words come from :mod:`cir_core.lexicon`; this module adds other ways to say
them, and the words that say what to *do* with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from cir_core.language.builtin.words import tokenise
from cir_core.lexicon import GROUPS, NONE

Kind = Literal[
    "value",    # attribute values to set: pairs of (group, value)
    "step",     # one rung up (+1) or down (-1) the ladder of a group
    "part",     # the bare name of a group: "sleeves", "neckline", "pattern"
    "noun",     # a garment that is none of the lexicon's categories: "skirt"
    "simpler",  # fewer things on it
    "not", "without", "instead", "replace", "alter", "from", "to",
    "keep", "other", "more", "less", "as", "much",
    "and", "or", "but", "break", "with", "in", "the", "a", "verb", "stop",
    "word",     # everything else
]


@dataclass(frozen=True)
class Sense:
    """What a phrase means. ``pairs`` for values, ``group`` and ``direction`` for steps and parts."""

    kind: Kind
    pairs: tuple[tuple[str, str], ...] = ()
    group: str = ""
    direction: int = 0
    is_noun: bool = False     # "stripes", not "striped": a colour before it is its own
    loosely: bool = False     # a near value was taken, which a note should say


_SYNONYMS: dict[tuple[str, str], str] = {
    ("category", "dress"): "dress, gown, frock, sundress, maxi gown",
    ("category", "shirt"): "shirt, dress shirt, button down shirt, button up shirt",
    ("category", "toptee"): "top, blouse, tee, t shirt, tshirt, tee shirt",
    ("colour", "grey"): "silver grey, light grey",
    ("colour", "white"): "off white, snow white",
    ("colour", "beige"): "creme",
    ("colour", "blue"): "light blue, royal blue, bright blue, baby blue",
    ("colour", "pink"): "hot pink, light pink, bright pink",
    ("colour", "red"): "bright red",
    ("colour", "navy"): "midnight blue, darker blue",
    ("pattern", "plain"): "unpatterned, one colour, single colour, patternless, solid colour",
    ("pattern", "stripes"): "striped, stripy, stripey, horizontal striped",
    ("pattern", "pinstripes"): "pinstripe, vertical striped",
    ("pattern", "dots"): "dotty, polka dotted",
    ("pattern", "checks"): "gingham, tartan, chequered",
    ("pattern", "floral"): "flower patterned, botanical",
    ("pattern", "graphic"): "graphic",
    ("pattern", "colourblock"): "colour blocked, two toned, colourblock, colourblocked",
    ("sleeves", "sleeveless"): "sleevless, no sleeve",
    ("sleeves", "straps"): "spaghetti strap, thin strap, shoulder straps, spaghetti strapped, with straps",
    ("sleeves", "short"): "short sleeve, cap sleeves, cap sleeved, short sleeves",
    ("sleeves", "elbow"): "three quarter sleeve, three quarter length sleeves, three quarter sleeved, "
                          "3/4 sleeves, 3/4 sleeve, 3/4 length sleeves, elbow sleeves, half sleeves, "
                          "elbow length sleeve, mid length sleeve, quarter sleeves, half sleeved",
    ("sleeves", "long"): "long sleeve, full sleeves, full length sleeves, full sleeved",
    ("neckline", "crew"): "crewneck, crew neckline, round necked, rounded neck, rounded neckline, "
                          "round collar, circular neckline",
    ("neckline", "vneck"): "vneck, v neckline, v necked, deep v, deep v neck, v cut, plunging neckline, v collar",
    ("neckline", "scoop"): "scoop neckline, scooped neck, scoopneck, u neck, u neckline, scoop necked",
    ("neckline", "square"): "square necked, squared neckline",
    ("neckline", "turtleneck"): "turtle neck, mock neck, polo neck, high neckline, high collar, high necked, "
                                "turtlenecked, funnel neck",
    ("neckline", "collar"): "pointy collar, collars",
    ("length", "short"): "minidress, above the knee, thigh length, crop, short length, short dress length",
    ("length", "medium"): "midi, knee length, below the knee, to the knee, medium length, normal length, calf length",
    ("length", "long"): "floor length, ankle length, full length, ankle, long length, to the floor, maxidress",
    ("fit", "slim"): "tight fit, tight fitting, form fitting, fitted fit, slim, figure hugging, bodycon, "
                     "close fitting, slim fitting",
    ("fit", "regular"): "regular fitting, straight cut, normal fit",
    ("fit", "loose"): "baggy, loose fitting, flowy, relaxed fit, relaxed, roomy, billowy, over sized",
    ("trim", "buttons"): "button, buttoned, buttons down the front, button down, button up, button front, "
                         "buttons on the front",
    ("trim", "pocket"): "pockets, breast pocket",
    ("trim", "belt"): "belted, waist belt, belt at the waist, waistband, sashes",
    ("trim", "ruffle"): "ruffle, ruffled, frilly, frill, ruffled hem, frilled, flounce",
    ("trim", "bow"): "bows, ribbons, bow at the neck",
    ("trim", "piping"): "piping, contrasting trim, contrasting edges, contrast piping",
}
_LOOSE: dict[tuple[str, str], str] = {
    ("colour", "red"): "maroon, burgundy, wine, ruby, dark red, cherry",
    ("colour", "pink"): "fuchsia, magenta, salmon, blush, dark pink",
    ("colour", "purple"): "lavender, lilac, plum, light purple, dark purple, mauve",
    ("colour", "green"): "olive, mint, lime, emerald, dark green, light green, bright green",
    ("colour", "orange"): "coral, peach, rust",
    ("colour", "yellow"): "gold, golden, light yellow, bright yellow",
    ("colour", "grey"): "silver, charcoal, dark grey",
    ("colour", "white"): "ivory, eggshell",
    ("colour", "teal"): "aqua, cyan, aquamarine",
    ("colour", "blue"): "denim blue, cobalt",
    ("colour", "beige"): "khaki, nude, sand, light brown",
    ("colour", "brown"): "dark brown, coffee",
    ("pattern", "graphic"): "lettering, slogan",
}
_NOUNS: dict[tuple[str, str], str] = {
    ("pattern", "stripes"): "stripe, stripes, horizontal stripes, horizontal stripe",
    ("pattern", "pinstripes"): "vertical stripes, pinstripes, vertical stripe",
    ("pattern", "dots"): "polka dots, dots, spots, dot",
    ("pattern", "checks"): "checks, plaid checks, checkers, checkerboard",
    ("pattern", "floral"): "flowers, flower, floral print, flower print, floral pattern, florals, roses, floral design",
    ("pattern", "graphic"): "graphic print, logo, logos, graphics, picture, graphic design, graphic on the chest, "
                            "graphic on front, printed logo, printed graphic",
}
_COMPOUND: dict[str, tuple[tuple[str, str], ...]] = {
    "tank top": (("category", "toptee"), ("sleeves", "sleeveless")),
    "tank": (("category", "toptee"), ("sleeves", "sleeveless")),
    "crop top": (("category", "toptee"), ("length", "short")),
    "tunic": (("category", "toptee"), ("length", "long")),
    "polo shirt": (("category", "shirt"), ("neckline", "collar")),
    "shirt dress": (("category", "dress"), ("neckline", "collar")),
    "maxi dress": (("category", "dress"), ("length", "long")),
    "mini dress": (("category", "dress"), ("length", "short")),
    "black and white": (("colour", "black"), ("second_colour", "white")),
}
_STEPS: dict[tuple[str, int], str] = {
    ("shade", 1): "darker, deeper colour, darker shade, dark coloured, darker colour, darker coloured",
    ("shade", -1): "lighter, paler, lighter shade, lighter colour, lighter coloured, light coloured",
    ("length", 1): "longer, lengthier, more length, lower hem, lower hemline",
    ("length", -1): "shorter, less length, higher hem, higher hemline",
    ("sleeves", 1): "longer sleeves, longer sleeve, longer sleeved, more sleeves, more sleeve",
    ("sleeves", -1): "shorter sleeves, shorter sleeve, shorter sleeved, less sleeves, less sleeve",
    ("fit", 1): "looser, baggier, roomier, wider, flowier, less form fitting, less fitting",
    ("fit", -1): "tighter, slimmer, snugger, narrower, more form fitting, more fitting, closer fitting",
    ("neckline", 1): "lower neckline, lower neck, deeper neckline, lower cut, more open neckline",
    ("neckline", -1): "higher neckline, higher neck",
}
_PARTS: dict[str, str] = {
    "sleeves": "sleeve, sleeves, sleeved, arms",
    "neckline": "neck, neckline, necked",
    "colour": "colour, colours, coloured, shade, hue, colouring",
    "pattern": "pattern, patterns, print, prints, design, designs, patterned",
    "length": "length, hem, hemline",
    "fit": "fit, fits, cut, silhouette",
    "trim": "trim, trims, detail, details, decoration, decorations, embellishment, embellishments",
}
_WORDS: dict[Kind, str] = {
    "simpler": "simpler, plainer, less busy, less patterned, more plain, more simple, cleaner, minimal",
    "not": "not, no, isnt, arent, doesnt, dont, never, nor, neither, no longer, not any, lacks, lacking, minus, "
           "wont, shouldnt, hasnt, non",
    "without": "without, remove, removing, lose, drop, delete, eliminate, take off, get rid of, take away, "
               "free of, omit, skip, leave out, lose the",
    "instead": "instead of, rather than, as opposed to, unlike",
    "replace": "replace, replaced, replacing, swap, swapped, exchange, switch, substitute",
    "alter": "change, changed, turn, transform, convert",
    "from": "from",
    "to": "to, into, by",
    "keep": "keep, same, retain, still, keeping, similar, identical, maintain, leave",
    "other": "different, another, other",
    "more": "more",
    "less": "less, fewer",
    "as": "as, so, too, quite, that",
    "much": "much, far, lot, lots, way, considerably",
    "and": "and, &, also, plus, additionally, \",\", then",
    "or": "or",
    "but": "but, however, though, although, except, only",
    "break": ".",
    "with": "with, having, featuring, w, wit",
    "in": "in",
    "the": "the, this, its, my, these, those",
    "a": "a, an, some, any, single, few, couple",
    "verb": "is, are, be, being, make, makes, made, has, have, had, add, adding, added, give, should, want, "
            "looks, look, looking, does, do, has a, put, show, find, need, prefer, was",
    "stop": "it, of, for, on, i, me, you, we, would, like, please, one, ones, item, items, piece, garment, clothing, "
            "thing, something, very, really, slightly, somewhat, bit, little, just, entirely, completely, totally, "
            "all, both, overall, style, styled, kind, type, which, who, and/or, there, at, front, around, "
            "background, base, fabric, instead, being, photo, picture of, image, can, could, will, if, "
            "but/and, second, their, they, them, he, she, her, his, your, our, own, search, mostly, mainly, "
            "such, else, now, here, again, exactly, exact, everything, about, anything, much of, product, than, "
            "rather, up, down, where, while, when, what, s, let, lets, us, get, bottom, on top",
}
OTHER_NOUNS = tuple(
    "skirt, jacket, coat, sweater, jumper, cardigan, hoodie, sweatshirt, jeans, trousers, pants, shorts, suit, "
    "vest, waistcoat, jumpsuit, romper, blazer, leggings, polo, pullover, kimono, cape, poncho, overalls".split(", ")
)
GARMENT_GROUPS = frozenset({"category", "sleeves", "neckline"})
"""A description that fills one of these slots speaks of a garment."""

# Never read as misspelt garment words, though they are close to some.
_INNOCENT = frozenset(
    "dragon dollar press dresses stress lace leather cotton silk satin linen wool velvet denim tunnel large "
    "small shiny sport sporty formal casual elegant summer winter white while shore store strip street string "
    "bright brighter colourful vibrant strapless halter asymmetrical sheer shoulder shoulders back chest waist "
    "sequins sequin zipper hood lined line bold pleated pleats layered layers texture bird birds brand grown "
    "shot shirtless blank snow letters words text cats stars heart hearts tie night light dark bottle pattern".split()
)


@lru_cache(maxsize=1)
def phrases() -> dict[tuple[str, ...], Sense]:
    """Every known phrase (up to seven words) and its sense."""
    table: dict[tuple[str, ...], Sense] = {}

    def add(words: str, sense: Sense) -> None:
        table[tuple(tokenise(words))] = sense

    for kind, listed in _WORDS.items():
        for words in listed.split(", "):
            add(words.strip('"'), Sense(kind))
    table[(",",)] = Sense("and")
    for noun in OTHER_NOUNS:
        add(noun, Sense("noun"))
        add(noun + "s", Sense("noun"))
    for group, listed in _PARTS.items():
        for words in listed.split(", "):
            add(words, Sense("part", group=group))
    for (group, direction), listed in _STEPS.items():
        for words in listed.split(", "):
            add(words, Sense("step", group=group, direction=direction))
    for group_record in GROUPS:
        if group_record.key == "second_colour":
            continue
        for value in group_record.values:
            if value.key == NONE:
                continue
            pair = ((group_record.key, value.key),)
            for phrase in value.phrases:
                bare = phrase.removeprefix("with ").removeprefix("a ")
                noun = group_record.key == "trim" or (group_record.key == "pattern" and phrase != bare)
                add(bare, Sense("value", pair, is_noun=noun))
                if group_record.key == "category":
                    add(bare + ("es" if bare.endswith("s") else "s"), Sense("value", pair))
    for source, noun, loosely in ((_SYNONYMS, False, False), (_LOOSE, False, True), (_NOUNS, True, False)):
        for (group, key), listed in source.items():
            for words in listed.split(", "):
                add(words, Sense("value", ((group, key),), is_noun=noun or group == "trim", loosely=loosely))
    for words, pairs in _COMPOUND.items():
        add(words, Sense("value", pairs))
        add(words + "s", Sense("value", pairs))
    return table


@lru_cache(maxsize=1)
def spelling() -> tuple[frozenset[str], tuple[str, ...]]:
    """All known words, and those that a misspelt word may stand for."""
    known = frozenset(word for phrase in phrases() for word in phrase)
    meant = {word for phrase, sense in phrases().items()
             if sense.kind in ("value", "step", "part", "noun") for word in phrase}
    return known | _INNOCENT, tuple(sorted(word for word in meant if len(word) > 3))
