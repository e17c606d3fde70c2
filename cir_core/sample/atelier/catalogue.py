"""Catalogue of the sample gallery: its garments, in families, in three splits.

Training and validation garments spread over all combinations of attributes, so that an encoder learns
each attribute by itself. The test garments, which the gallery shows, are what a shop has: designs.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from cir_core.garments.lexicon import BY_KEY, CATEGORY, GROUPS, NONE
from cir_core.sample.atelier.rules import is_wearable, may_have_accent, may_pair, needs_accent

__all__ = ["DEFAULT_SIZES", "Garment", "catalogue", "families", "is_wearable"]

DEFAULT_SEED = 20261121
DEFAULT_SIZES: Mapping[str, int] = MappingProxyType({"train": 14000, "val": 1000, "test": 6000})

#: Relative frequencies, by category where the categories differ. Unnamed values weigh 1.
_WEIGHTS: dict[str, dict[str, dict[str, float]]] = {
    "sleeves": {
        "dress": {"sleeveless": 1.3, "straps": 1.5, "short": 1.0, "elbow": 0.9, "long": 1.1},
        "shirt": {"sleeveless": 0.5, "straps": 0.0, "short": 1.5, "elbow": 1.0, "long": 1.7},
        "toptee": {"sleeveless": 1.1, "straps": 1.4, "short": 1.1, "elbow": 1.0, "long": 1.0},
    },
    "neckline": {
        "shirt": {"crew": 1.2, "vneck": 1.1, "scoop": 0.0, "square": 0.0, "turtleneck": 0.8,
                  "collar": 2.4},
        "dress": {"collar": 0.8, "scoop": 1.2, "square": 1.2},
        "toptee": {"collar": 0.7, "scoop": 1.2, "square": 1.2},
    },
    "pattern": {
        "dress": {"plain": 2.6, "floral": 1.3},
        "shirt": {"plain": 2.6, "checks": 1.3},
        "toptee": {"plain": 2.6},
    },
    "trim": {
        "dress": {NONE: 2.8, "buttons": 1.0, "belt": 1.8, "ruffle": 1.2, "bow": 1.1, "piping": 1.1},
        "shirt": {NONE: 2.6, "buttons": 1.6, "pocket": 1.6, "piping": 1.2},
        "toptee": {NONE: 2.6, "buttons": 1.0, "pocket": 1.1, "ruffle": 1.2, "bow": 1.2,
                   "piping": 1.1},
    },
}
#: How often a variant changes a group: colour and pattern first, as in shoppers' requests.
_CHANGE_WEIGHTS = {
    "colour": 1.6, "pattern": 1.3, "sleeves": 1.5, "neckline": 1.2, "length": 1.2, "fit": 0.9,
    "trim": 1.3, "second_colour": 0.8,
}
_FAMILY_SIZES = (5, 6, 7, 8)
#: What people ask to be changed, in percent of requests; 30 more ask for a colour, in which each cut comes.
_ASKED = {
    "sleeves": 15, "pattern": 15, "length": 10, "trim": 10, "neckline": 8, "fit": 5, "second_colour": 5,
}
_SHOP_SPLITS = frozenset({"test", "designs"})   # "designs": drawn only to train the relevance model
_LINE = 4   # designs that are alike: each changes two groups of the same garment, two have the same second colour
_CUTS = 11  # of a design: its first, and those that change one group of it


@dataclass(frozen=True)
class Garment:
    """One item of the gallery: id, split and attributes. ``seed`` decides the drawing's other details, the
    same for all garments of a design; ``family`` is the number of the family or design."""

    item_id: str
    split: str
    attributes: Mapping[str, str]
    seed: int
    family: int = 0

    @property
    def category(self) -> str:
        return self.attributes["category"]

    def __reduce__(self) -> tuple[Callable[..., Garment], tuple[object, ...]]:
        # A mapping proxy cannot be pickled; spawned drawing workers need it to be.
        return (_revive, (self.item_id, self.split, dict(self.attributes), self.seed, self.family))


def _revive(item_id: str, split: str, attributes: dict[str, str], seed: int, family: int) -> Garment:
    return Garment(item_id, split, MappingProxyType(attributes), seed, family)


def catalogue(
    seed: int = DEFAULT_SEED, sizes: Mapping[str, int] = DEFAULT_SIZES
) -> tuple[Garment, ...]:
    """All garments of the gallery, the same for the same ``seed`` and ``sizes``.

    No two garments share a combination of attributes, so no item of one split is
    a duplicate of one in another, and a family stays in one split. A family of the
    training and validation splits is a base and variants that change one to four
    attributes; one of the test split is a design (:func:`_designs`).
    """
    rng = random.Random(f"atelier/{seed}")
    taken: set[tuple[str, ...]] = set()
    garments: list[Garment] = []
    counter, family = 0, 0
    for split, size in sizes.items():
        drafts: list[tuple[int, dict[str, str]]] = []
        shop = split in _SHOP_SPLITS
        for place, category in enumerate(CATEGORY.keys):
            wanted = size // len(CATEGORY.keys) + (place < size % len(CATEGORY.keys))
            made = 0
            designs = _designs(category, rng, taken)
            while made < wanted:
                family += 1
                room = wanted - made
                for attributes in _some(next(designs), room, rng) if shop else _family(category, rng, taken, room):
                    taken.add(_key(attributes))
                    drafts.append((family, attributes))
                    made += 1
        rng.shuffle(drafts)  # the order must not reveal the families
        for number, attributes in drafts:
            counter += 1
            # A garment of a shop is known by what it is, and drawn as its design is.
            digest = _digest(seed, "/".join(_key(attributes)) if shop else counter)
            garments.append(Garment(
                item_id="AT" + base64.b32encode(digest[:5]).decode(),
                split=split,
                attributes=MappingProxyType({g.key: attributes[g.key] for g in GROUPS}),
                seed=int.from_bytes((_digest(seed, f"design {number}") if shop else digest)[5:], "big"),
                family=number,
            ))
    if len({garment.item_id for garment in garments}) != len(garments):
        raise ValueError(f"seed {seed} gives colliding item ids; choose another")
    return tuple(garments)


def families(garments: tuple[Garment, ...]) -> dict[int, list[Garment]]:
    """The garments by family, families in order of first appearance."""
    grouped: dict[int, list[Garment]] = {}
    for garment in garments:
        grouped.setdefault(garment.family, []).append(garment)
    return grouped


def _family(
    category: str, rng: random.Random, taken: set[tuple[str, ...]], room: int
) -> Iterator[dict[str, str]]:
    """A new base garment and its variants, at most ``room`` of them, none in ``taken``."""
    base = _draw_base(category, rng)
    while _key(base) in taken:
        base = _draw_base(category, rng)
    taken.add(_key(base))
    yield base
    members = [base]
    target = min(rng.choice(_FAMILY_SIZES), room)
    for _ in range(200):
        if len(members) >= target:
            return
        # Mostly variants of the base; now and then a variant of a variant.
        parent = base if rng.random() < 0.7 else rng.choice(members)
        variant = _vary(parent, rng)
        if variant is None or _key(variant) in taken:
            continue
        taken.add(_key(variant))
        members.append(variant)
        yield variant


def _designs(category: str, rng: random.Random, taken: set[tuple[str, ...]]) -> Iterator[list[dict[str, str]]]:
    """Designs without end: each a first cut and cuts that change one group of it, all in every possible colour.

    Designs come in lines of much the same, so that what one of them lacks is not far away.
    """
    cuts: set[tuple[str, ...]] = set()
    accents = itertools.cycle(rng.sample(BY_KEY["colour"].keys, len(BY_KEY["colour"].keys)))
    while True:
        head = _draw_base(category, rng)
        for place in range(_LINE):
            if place % 2 == 0:
                accent = next(accents)
            design = [_recut({**head, "second_colour": accent}, 2, accent, rng, cuts)]
            while len(design) < _CUTS:
                design.append(_recut(design[0], 1, accent, rng, cuts))
            yield [garment for cut in design for garment in _colourways(cut) if _key(garment) not in taken]


def _recut(
    parent: Mapping[str, str], changes: int, accent: str, rng: random.Random, cuts: set[tuple[str, ...]]
) -> dict[str, str]:
    """A cut that is not among ``cuts`` yet and changes as many groups of ``parent``, asked for as people ask.

    A second colour comes (``accent``) or goes with what can show it.
    """
    while True:
        cut = dict(parent)
        for group in rng.choices(tuple(_ASKED), weights=tuple(_ASKED.values()), k=changes):
            cut[group] = _pick(group, parent["category"], rng, avoid=parent[group])
        if not may_have_accent(cut["pattern"], cut["trim"]):
            cut["second_colour"] = NONE
        elif cut["second_colour"] == NONE:  # also a pocket, which is hardly seen in the cloth's own colour
            cut["second_colour"] = accent
        if _cut(cut) not in cuts and _colourways(cut):
            cuts.add(_cut(cut))
            return cut


def _colourways(cut: Mapping[str, str]) -> list[dict[str, str]]:
    """``cut`` in every colour it can be worn in."""
    each = ({**cut, "colour": colour} for colour in BY_KEY["colour"].keys)
    return [garment for garment in each if is_wearable(garment)]


def _some(garments: list[dict[str, str]], room: int, rng: random.Random) -> list[dict[str, str]]:
    return rng.sample(garments, min(room, len(garments)))


def _draw_base(category: str, rng: random.Random) -> dict[str, str]:
    while True:
        attributes = {"category": category}
        for group in GROUPS[1:]:
            if group.key != "second_colour":
                attributes[group.key] = _pick(group.key, category, rng)
        _settle_accent(attributes, rng)
        if is_wearable(attributes):
            return attributes


def _vary(parent: Mapping[str, str], rng: random.Random) -> dict[str, str] | None:
    """``parent`` with one to four attributes changed, or ``None`` if the attempt fails."""
    wanted = rng.choices((1, 2, 3), weights=(4, 4, 2))[0]
    variant = dict(parent)
    groups = list(_CHANGE_WEIGHTS)
    for _ in range(wanted):
        group = rng.choices(groups, weights=[_CHANGE_WEIGHTS[g] for g in groups])[0]
        groups.remove(group)
        if group == "second_colour":
            variant[group] = rng.choice(BY_KEY["colour"].keys)
        else:
            variant[group] = _pick(group, parent["category"], rng, avoid=parent[group])
    if variant["second_colour"] == NONE or not may_have_accent(variant["pattern"], variant["trim"]):
        _settle_accent(variant, rng)
    changed = sum(variant[key] != parent[key] for key in variant)
    return variant if 1 <= changed <= 4 and is_wearable(variant) else None


def _settle_accent(attributes: dict[str, str], rng: random.Random) -> None:
    """Gives ``attributes`` a second colour where the rules ask for one."""
    pattern, trim = attributes["pattern"], attributes["trim"]
    optional = may_have_accent(pattern, trim) and rng.random() < 0.5
    if needs_accent(pattern, trim) or optional:
        choices = [c for c in BY_KEY["colour"].keys if may_pair(attributes["colour"], c)]
        attributes["second_colour"] = rng.choice(choices)
    else:
        attributes["second_colour"] = NONE


def _pick(group: str, category: str, rng: random.Random, avoid: str | None = None) -> str:
    weights = _WEIGHTS.get(group, {}).get(category, {})
    keys = [key for key in BY_KEY[group].keys if key != avoid]
    return rng.choices(keys, weights=[weights.get(key, 1.0) for key in keys])[0]


def _key(attributes: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(attributes[group.key] for group in GROUPS)


def _cut(attributes: Mapping[str, str]) -> tuple[str, ...]:
    """All but the colour."""
    return tuple(attributes[group.key] for group in GROUPS if group.key != "colour")


def _digest(seed: int, name: object) -> bytes:
    return hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=9).digest()
