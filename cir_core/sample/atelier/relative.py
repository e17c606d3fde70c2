"""Relative captions: how a shopper describes the change from reference to target.

Each differing *aspect* (colour, pattern with its accent, sleeves, ...) yields some
``(verb, complement)`` pairs such as ``("has", "longer sleeves")``; captions are
joined from these. Every statement is true of the target relative to the reference.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from cir_core.garments.lexicon import NONE
from cir_core.sample.atelier.wording import (
    COLOUR_WORDS,
    DETAIL_WORDS,
    LENGTH_CAPTIONS,
    NECK_WORDS,
    NOUNS,
    PATTERN_AFTER,
    PATTERN_BEFORE,
    SLEEVE_WORDS,
    article,
)

Saying = tuple[str, str]
Attributes = Mapping[str, str]

_DARK = frozenset({"black", "navy", "brown"})
_LIGHT = frozenset({"white", "beige", "yellow", "pink"})
_SLEEVE_ORDER = {"short": 0, "elbow": 1, "long": 2}
_LENGTH_ORDER = {"short": 0, "medium": 1, "long": 2}
_FIT_ORDER = {"slim": 0, "regular": 1, "loose": 2}
_HIGH_NECKS, _LOW_NECKS = frozenset({"turtleneck", "crew"}), frozenset({"vneck", "scoop"})
_HIGHER = frozenset((low, high) for low in (*_LOW_NECKS, "square") for high in _HIGH_NECKS) | {
    ("crew", "turtleneck"), ("collar", "turtleneck"),
}


def relative_captions(reference: Attributes, target: Attributes, rng: random.Random,
                      max_mentions: int = 2) -> tuple[str, ...]:
    """One or two captions that turn ``reference`` into ``target``.

    Each mentions at most ``max_mentions`` aspects; together they cover all
    differences, as far as two captions can. A single difference is expressed twice in
    different words. Identical garments give no caption.
    """
    aspects = [
        sayings for aspect in _ASPECTS if (sayings := aspect(reference, target))
    ]
    if not aspects:
        return ()
    rng.shuffle(aspects)
    if len(aspects) == 1:
        shares = [aspects, aspects]
    else:
        first = min(max_mentions, rng.randint(1, len(aspects)))
        rest = aspects[first:first + max_mentions] or aspects[:max_mentions][::-1]
        shares = [aspects[:first], rest]
    captions: list[str] = []
    for share in shares:
        for _ in range(6):  # try for wording that does not repeat the first caption
            caption = _say([rng.choice(sayings) for sayings in share],
                           complete=len(share) == len(aspects), rng=rng)
            if caption not in captions:
                captions.append(caption)
                break
    return tuple(captions)


def _say(sayings: list[Saying], complete: bool, rng: random.Random) -> str:
    """Join sayings, under a shared verb if they have one."""
    only_has = all(verb == "has" for verb, _ in sayings)
    if complete and only_has and rng.random() < 0.25:
        opening = rng.choice(("is the same but with", "is similar but with", "is identical but with"))
        words = " and ".join(complement for _, complement in sayings)
        return f"{opening} {words}".replace("with no ", "without ")
    if only_has and rng.random() < 0.12:
        opening = rng.choice(("a version with", "one with", "the same idea with"))
        return f"{opening} " + " and ".join(complement for _, complement in sayings)
    parts: list[str] = []
    last = ""
    for verb, complement in sayings:
        parts.append(complement if verb == last else f"{verb} {complement}")
        last = verb
    return " and ".join(parts)


def _category(ref: Attributes, tgt: Attributes) -> list[Saying]:
    if ref["category"] == tgt["category"]:
        return []
    noun, old = NOUNS[tgt["category"]][0], NOUNS[ref["category"]][0]
    return [("is", f"a {noun}"), ("is", f"a {noun} instead of a {old}"), ("is", f"a {noun}, not a {old}")]


def _colour(ref: Attributes, tgt: Attributes) -> list[Saying]:
    old, new = ref["colour"], tgt["colour"]
    if old == new:
        return []
    words = sorted(set(COLOUR_WORDS[new]))
    plain, other = COLOUR_WORDS[new][0], COLOUR_WORDS[old][0]
    sayings = [("is", plain), ("is", f"{plain} instead of {other}"), ("is", f"{plain} in colour"),
               ("is", f"{plain} rather than {other}"),
               ("has", f"{article(plain)} {plain} colour"), *[("is", word) for word in words]]
    if ref["second_colour"] == tgt["second_colour"] and ref["pattern"] == tgt["pattern"]:
        if old in _LIGHT and new in _DARK:
            sayings += [("is", f"darker, in {plain}"), ("is", f"a darker {plain} colour")]
        elif old in _DARK and new in _LIGHT:
            sayings += [("is", f"lighter, in {plain}"), ("is", f"a lighter {plain} colour")]
    return sayings


def _pattern(ref: Attributes, tgt: Attributes) -> list[Saying]:
    """Pattern, with the accent if it belongs to the pattern."""
    old, new = ref["pattern"], tgt["pattern"]
    accent = tgt["second_colour"]
    if old == new and (new == "plain" or accent == ref["second_colour"]):
        return []
    word, was = PATTERN_BEFORE[new][0], PATTERN_BEFORE[old][0]
    if new == "plain":
        sayings = [("is", "plain"), ("is", f"plain instead of {was}"), ("is", "a solid colour"),
                   ("has", "no pattern"), ("is", "solid coloured")]
        return sayings + ([("has", f"no {PATTERN_AFTER[old][0]}")] if old in PATTERN_AFTER else [])
    colour = COLOUR_WORDS[accent][0]
    if new == "colourblock":
        pair = f"{COLOUR_WORDS[tgt['colour']][0]} and {colour}"
        sayings = [("is", f"colour block with {colour}"), ("is", f"two-tone {pair}"),
                   ("is", f"{pair} colour block")]
    else:
        mark = [_counted(new, f"{colour} {noun}") for noun in PATTERN_AFTER[new]]
        sayings = [("has", words) for words in mark]
        if old != new:
            sayings.append(("is", f"{word} with {colour}"))
            if old in PATTERN_AFTER:
                sayings.append(("has", f"{mark[0]} instead of {PATTERN_AFTER[old][0]}"))
    if old == new:
        if new != "colourblock":
            before = COLOUR_WORDS[ref["second_colour"]][0]
            now = _counted(new, f"{colour} {PATTERN_AFTER[new][0]}")
            sayings.append(("has", f"{now} instead of {before}"))
        return sayings
    if accent == ref["second_colour"]:  # unchanged colours: naming the pattern is enough
        sayings += [("is", option) for option in sorted(set(PATTERN_BEFORE[new]))]
        sayings += [("is", f"{word} instead of {was}"), ("is", f"{word}, not {was}")]
    return sayings


def _counted(pattern: str, words: str) -> str:
    """``words``, with an article if the pattern is a single thing ("a red logo")."""
    single = pattern in {"floral", "graphic"} and not words.endswith("s")
    return f"{article(words)} {words}" if single else words


def _sleeves(ref: Attributes, tgt: Attributes) -> list[Saying]:
    old, new = ref["sleeves"], tgt["sleeves"]
    if old == new:
        return []
    sayings: list[Saying] = [("has", words) for words in sorted(set(SLEEVE_WORDS[new]))]
    if new == "sleeveless":
        sayings += [("is", "sleeveless")]
        if old == "straps":
            sayings += [("is", "sleeveless instead of having straps")]
        else:
            sayings += [("is", f"sleeveless instead of having {SLEEVE_WORDS[old][0]}")]
    elif new == "straps":
        sayings += [("has", "thin straps instead of sleeves" if old in _SLEEVE_ORDER
                     else "thin straps instead of wide shoulders")]
    elif old in _SLEEVE_ORDER:
        longer = _SLEEVE_ORDER[new] > _SLEEVE_ORDER[old]
        far = abs(_SLEEVE_ORDER[new] - _SLEEVE_ORDER[old]) == 2
        word = "longer" if longer else "shorter"
        was = SLEEVE_WORDS[old][0].removesuffix(" sleeves")
        sayings += [("has", f"{SLEEVE_WORDS[new][0]} instead of {was} ones")]
        # A bare comparative is enough only if one step reaches the end of the scale.
        if far or new in {"short", "long"}:
            sayings += [("has", f"{word} sleeves")]
            sayings += [("has", f"much {word} sleeves")] if far else []
    else:
        sayings += [("has", f"{SLEEVE_WORDS[new][0]} instead of "
                     + ("straps" if old == "straps" else "no sleeves"))]
    return sayings


def _neckline(ref: Attributes, tgt: Attributes) -> list[Saying]:
    old, new = ref["neckline"], tgt["neckline"]
    if old == new:
        return []
    word, was = NECK_WORDS[new][0], NECK_WORDS[old][0]
    sayings: list[Saying] = [("has", option) for option in NECK_WORDS[new]]
    sayings += [("has", f"{word} instead of {was}"), ("has", f"{word} rather than {was}")]
    if old == "collar":
        sayings += [("has", f"{word} and no collar"), ("has", f"{word} without a collar")]
    elif (old, new) in _HIGHER:
        sayings += [("has", f"a higher neckline, {word}")]
    elif (new, old) in _HIGHER:
        sayings += [("has", f"a lower neckline, {word}")]
    return sayings


def _length(ref: Attributes, tgt: Attributes) -> list[Saying]:
    steps = _LENGTH_ORDER[tgt["length"]] - _LENGTH_ORDER[ref["length"]]
    if not steps:
        return []
    word = "longer" if steps > 0 else "shorter"
    if abs(steps) == 2:
        sayings = [("is", f"much {word}"), ("is", f"a lot {word}"), ("has", f"a much {word} length")]
    else:
        sayings = [("is", word), ("is", f"a bit {word}"), ("is", f"slightly {word}"),
                   ("has", f"a {word} length")]
    named = sorted(set(LENGTH_CAPTIONS[tgt["category"]][tgt["length"]]))
    return sayings + [("is", option) for option in named]


def _fit(ref: Attributes, tgt: Attributes) -> list[Saying]:
    steps = _FIT_ORDER[tgt["fit"]] - _FIT_ORDER[ref["fit"]]
    if not steps:
        return []
    much = "much " if abs(steps) == 2 else ""
    if steps > 0:
        sayings = [("is", f"{much}looser"), ("has", f"a {much}looser fit"), ("is", f"{much}less fitted")]
    else:
        sayings = [("is", f"{much}tighter"), ("has", f"a {much}tighter fit"), ("is", f"{much}more fitted")]
    ends = {"slim": [("is", "slim fit"), ("is", "fitted")], "regular": [("has", "a regular fit")],
            "loose": [("is", "loose fit"), ("is", "oversized")]}
    return sayings + ends[tgt["fit"]]


def _trim(ref: Attributes, tgt: Attributes) -> list[Saying]:
    """Trim, with the accent if it belongs to the trim."""
    old, new = ref["trim"], tgt["trim"]
    on_trim = tgt["pattern"] == "plain" and tgt["second_colour"] != NONE
    recoloured = on_trim and ref["second_colour"] != tgt["second_colour"]
    uncoloured = (tgt["pattern"] == ref["pattern"] == "plain" and tgt["second_colour"] == NONE
                  and ref["second_colour"] != NONE)
    if new == old and (new == NONE or not (recoloured or uncoloured)):
        return []
    if new == NONE:
        was = [noun for _, noun in DETAIL_WORDS[old]]
        return [("has", f"no {noun}") for noun in was] + [("is", f"without the {noun}") for noun in was]
    colour = COLOUR_WORDS[tgt["second_colour"]][0] if on_trim else ""
    sayings: list[Saying] = []
    for singular, noun in DETAIL_WORDS[new]:
        words = f"{colour} {noun}".strip()
        sayings.append(("has", f"{article(words)} {words}" if singular else words))
    first = sayings[0][1]
    if new == old:
        if uncoloured:
            noun = DETAIL_WORDS[new][0][1]
            return [("has", f"{first} in its own colour"), ("has", f"{noun} in the same colour as the cloth")]
        if ref["pattern"] == "plain" and ref["second_colour"] != NONE:
            sayings.append(("has", f"{first} instead of {COLOUR_WORDS[ref['second_colour']][0]}"))
        return sayings
    if old != NONE:
        singular, noun = DETAIL_WORDS[old][0]
        was_words = f"{article(noun)} {noun}" if singular else noun
        sayings += [("has", f"{first} instead of {was_words}"), ("has", f"{first} and no {noun}")]
    return sayings


_ASPECTS: tuple[Callable[[Attributes, Attributes], list[Saying]], ...] = (
    _category, _colour, _pattern, _sleeves, _neckline, _length, _fit, _trim,
)
