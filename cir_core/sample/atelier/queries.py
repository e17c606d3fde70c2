"""Composed queries over the sample gallery, in FashionIQ's caption-file format."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cir_core.garments.lexicon import CATEGORY
from cir_core.sample.atelier.captions import relative_captions
from cir_core.sample.atelier.catalogue import Garment, families

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
