"""Write full, partial and relative captions of garments. Composed queries over the sample gallery, in FashionIQ's
caption-file format."""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cir_core.garments.lexicon import CATEGORY, GROUPS, NONE, describe
from cir_core.sample.atelier.catalogue import Garment, families
from cir_core.sample.atelier.relative import relative_captions
from cir_core.sample.atelier.wording import (
    COLOUR_WORDS,
    DETAIL_WORDS,
    FIT_WORDS,
    LENGTH_CAPTIONS,
    NECK_WORDS,
    NOUNS,
    PATTERN_AFTER,
    PATTERN_BEFORE,
    SLEEVE_WORDS,
    article,
    join,
)

__all__ = ["full_caption", "partial_caption", "relative_captions"]


def full_caption(attributes: Mapping[str, str], rng: random.Random) -> str:
    """A sentence that names every attribute the garment has, in one of many wordings.

    About one caption in four is the canonical :func:`cir_core.garments.lexicon.describe`;
    the rest vary order, synonyms and sentence frame.
    """
    if rng.random() < 0.25:
        return describe(attributes)
    return partial_caption(attributes, [group.key for group in GROUPS], rng)


def partial_caption(attributes: Mapping[str, str], groups: Collection[str],
                    rng: random.Random) -> str:
    """A phrase that mentions the given ``groups`` of the garment and no others.

    ``second_colour`` is mentioned together with ``pattern`` or ``trim`` if these are
    included. An absent trim or second colour is not mentioned; if nothing
    remains, the phrase is just the garment's category.
    """
    said = {key: attributes[key] for key in attributes if key in groups}
    if said.get("second_colour") == NONE:
        del said["second_colour"]
    if said.get("trim") == NONE:
        del said["trim"]
    on_trim = _accent_on_trim(attributes)
    # `describe` cannot express whose accent it is unless pattern and trim are mentioned too.
    if len(said) <= 2 and not (on_trim and "second_colour" in said) and rng.random() < 0.3:
        return describe(said) if said else "a garment"
    return _compose(said, rng, accent_on_trim=on_trim)


def _accent_on_trim(attributes: Mapping[str, str]) -> bool:
    return attributes.get("pattern") == "plain" and attributes.get("trim", NONE) != NONE


def _compose(said: Mapping[str, str], rng: random.Random, accent_on_trim: bool) -> str:
    category, second = said.get("category"), said.get("second_colour")
    before: list[str] = []
    after: list[str] = []
    if fit := said.get("fit"):
        before.append(rng.choice(FIT_WORDS[fit]))
    if length := said.get("length"):
        before.append(rng.choice(LENGTH_CAPTIONS[category or "dress"][length]))
    rng.shuffle(before)

    details: list[str] = []
    trim_words: str | None = None
    if trim := said.get("trim"):
        owner = rng.choice(COLOUR_WORDS[second]) if second and accent_on_trim else None
        singular, noun = rng.choice(DETAIL_WORDS[trim])
        words = f"{owner} {noun}" if owner else noun
        trim_words = f"{article(words)} {words}" if singular else words
        if owner:
            second = None
    pattern = said.get("pattern")
    colours = rng.choice(COLOUR_WORDS[said["colour"]]) if "colour" in said else None
    accent = rng.choice(COLOUR_WORDS[second]) if second else None
    pattern_said = False
    if colours and accent and accent_on_trim:  # the trim itself is not to be named
        before.append(colours)
        details.append(f"{accent} details")
    elif colours and accent:
        if pattern in PATTERN_AFTER and rng.random() < 0.35:
            after.append(f"with {accent} {rng.choice(PATTERN_AFTER[pattern])}")
            pattern_said = True
        else:
            colours = rng.choice((f"{colours} and {accent}", f"{colours} and {accent}",
                                  f"{colours}/{accent}"))
        before.append(colours)
    elif colours:
        before.append(colours)
    elif accent and accent_on_trim:
        details.append(f"{accent} details")
    elif accent:
        if pattern in PATTERN_AFTER and rng.random() < 0.5:
            after.append(f"with {accent} {rng.choice(PATTERN_AFTER[pattern])}")
            pattern_said = True
        else:
            details.append(f"{accent} as the second colour")
    if pattern and not pattern_said:
        word = rng.choice(PATTERN_BEFORE[pattern])
        before.insert(len(before) if rng.random() < 0.75 or not colours else len(before) - 1, word)
    if sleeves := said.get("sleeves"):
        details.append(rng.choice(SLEEVE_WORDS[sleeves]))
    if neckline := said.get("neckline"):
        details.append(rng.choice(NECK_WORDS[neckline]))
    if trim_words:
        details.append(trim_words)
    rng.shuffle(details)

    if not before and not after and category is None:
        return join(details) if details else "a garment"
    noun = rng.choice(NOUNS[category]) if category else rng.choice(("garment", "piece", "item"))
    text = " ".join([*before, noun, *after])
    # A caption may open with a frame, as people's captions do.
    frame = rng.random()
    if frame < 0.70:
        text = f"{article(text)} {text}"
    elif frame < 0.78:
        text = f"this is {article(text)} {text}"
    elif frame < 0.84:
        text = f"photo of {article(text)} {text}"
    if details:
        text += (", " if after else " with ") + join(details)
    return text


#: Queries per category, by split.
PER_CATEGORY = {"train": 2000, "val": 200, "test": 300}
MAX_CHANGES = 4
Pairs = Mapping[str, Sequence[tuple[Garment, Garment]]]   # reference and target, by category


@dataclass(frozen=True)
class Triplet:
    """A composed query: reference image, two relative captions, and target."""

    reference_id: str
    target_id: str
    captions: tuple[str, str]
    category: str
    changed: tuple[str, ...]

    def record(self) -> dict[str, object]:
        """The entry of a FashionIQ caption file."""
        return {"target": self.target_id, "candidate": self.reference_id,
                "captions": list(self.captions)}


def make_triplets(garments: Iterable[Garment], seed: int,
                  per_category: int = PER_CATEGORY["test"]) -> list[Triplet]:
    """At most ``per_category`` queries for each category, from pairs within families.

    The pairs differ in one to four attributes. Each garment is the target of at
    most two queries, so that no family dominates the figures.
    """
    return triplets_of(close_pairs(garments), seed, per_category)


def close_pairs(garments: Iterable[Garment]) -> Pairs:
    """All pairs within families that differ in one to four attributes, by category."""
    by_category: dict[str, list[tuple[Garment, Garment]]] = {key: [] for key in CATEGORY.keys}
    for family in families(tuple(garments)).values():
        for reference, target in itertools.permutations(family, 2):
            if 1 <= len(changed(reference, target)) <= MAX_CHANGES:
                by_category[reference.category].append((reference, target))
    return by_category


def triplets_of(close: Pairs, seed: int, per_category: int) -> list[Triplet]:
    """:func:`make_triplets` of pairs that were found already."""
    rng = random.Random(f"atelier-queries/{seed}")
    triplets: list[Triplet] = []
    for category, found in close.items():
        pairs = list(found)
        rng.shuffle(pairs)
        aimed_at: dict[str, int] = {}
        made = 0
        for reference, target in pairs:
            if made == per_category:
                break
            if aimed_at.get(target.item_id, 0) == 2:
                continue
            captions = relative_captions(reference.attributes, target.attributes, rng)
            if len(captions) != 2:
                continue
            aimed_at[target.item_id] = aimed_at.get(target.item_id, 0) + 1
            made += 1
            triplets.append(Triplet(reference.item_id, target.item_id, (captions[0], captions[1]),
                                    category, changed(reference, target)))
    return triplets


def changed(reference: Garment, target: Garment) -> tuple[str, ...]:
    """The attribute groups in which two garments differ."""
    return tuple(key for key in reference.attributes
                 if reference.attributes[key] != target.attributes[key])
