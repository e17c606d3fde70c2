"""The catalogue: distinct, wearable, in families and designs, the same every time."""

from __future__ import annotations

import hashlib
import pickle
import random
from collections import Counter

import pytest

from cir_core.garments.lexicon import BY_KEY, GROUPS
from cir_core.sample.atelier.captions import changed
from cir_core.sample.atelier.catalogue import Garment, catalogue, families
from cir_core.sample.atelier.rules import is_wearable, may_pair

SIZES = {"train": 300, "val": 90, "test": 150}
SHIRT = {
    "category": "shirt", "colour": "blue", "second_colour": "none", "pattern": "plain",
    "sleeves": "long", "neckline": "collar", "length": "medium", "fit": "regular", "trim": "none",
}


@pytest.fixture(scope="module")
def garments() -> tuple[Garment, ...]:
    return catalogue(5, SIZES)


def test_same_seed_gives_same_catalogue(garments: tuple[Garment, ...]) -> None:
    assert catalogue(5, SIZES) == garments
    assert catalogue(6, SIZES) != garments


def test_sizes_are_met_and_categories_balanced(garments: tuple[Garment, ...]) -> None:
    assert Counter(g.split for g in garments) == SIZES
    assert set(Counter((g.split, g.category) for g in garments).values()) == {100, 30, 50}


def test_no_combination_occurs_twice_in_the_shipped_catalogue(shipped: tuple[Garment, ...]) -> None:
    combinations = {tuple(g.attributes[group.key] for group in GROUPS) for g in shipped}
    assert len(combinations) == len(shipped) == 21000
    assert len({g.item_id for g in shipped}) == len(shipped)
    assert all(is_wearable(g.attributes) for g in shipped)


@pytest.mark.parametrize("split", ["train", "val", "test"])
def test_every_value_is_reasonably_frequent(shipped: tuple[Garment, ...], split: str) -> None:
    garments = [g for g in shipped if g.split == split]
    for group in GROUPS:
        seen = Counter(g.attributes[group.key] for g in garments)
        assert min(seen[key] for key in group.keys) >= 0.01 * len(garments), group.key


def test_a_family_stays_in_one_split_and_close_together(garments: tuple[Garment, ...]) -> None:
    for family in families(garments).values():
        assert len({(g.split, g.category) for g in family}) == 1
        if len(family) > 1:
            assert all(any(1 <= len(changed(g, h)) <= 4 for h in family if h is not g) for g in family)


def test_the_bundled_encoders_own_splits_stay_as_they_were_trained_on(shipped: tuple[Garment, ...]) -> None:
    kept = [(g.item_id, g.split, sorted(g.attributes.items()), g.seed, g.family)
            for g in shipped if g.split != "test"]
    assert hashlib.sha256(repr(kept).encode()).hexdigest()[:16] == "e34016dcd1ce9edd"


def test_the_test_split_is_designs_drawn_alike(shipped: tuple[Garment, ...]) -> None:
    shop = tuple(g for g in shipped if g.split == "test")
    designs = families(shop).values()
    assert len(designs) >= 50 and len({design[0].seed for design in designs}) == len(designs)
    assert all(len({g.seed for g in design}) == 1 for design in designs)


def test_what_people_ask_for_is_near(shipped: tuple[Garment, ...]) -> None:
    shop = [g.attributes for g in shipped if g.split == "test"]
    rng, asked = random.Random(1), {"colour": 30, "sleeves": 15, "pattern": 15, "length": 10, "trim": 10, "neckline": 8,
                                    "fit": 5, "second_colour": 5, "category": 2}
    shared: dict[str, list[int]] = {group: [] for group in asked}
    for group in rng.choices(tuple(asked), weights=tuple(asked.values()), k=300):
        reference = rng.choice(shop)
        value = rng.choice([key for key in BY_KEY[group].keys if key != reference[group]])
        accents = [reference["second_colour"]] if group == "colour" else BY_KEY["second_colour"].keys
        if not any(is_wearable({**reference, "second_colour": accent, group: value}) for accent in accents):
            continue
        near = [sum(one[key] == reference[key] for key in reference) for one in shop if one[group] == value]
        assert len(near) >= 50
        shared[group].append(max(near))
    assert sum(count == 8 for count in shared["colour"]) >= 0.9 * len(shared["colour"])
    counts = [count for group in shared.values() for count in group]
    assert sum(counts) / len(counts) >= 6.5


def test_item_ids_say_nothing(garments: tuple[Garment, ...]) -> None:
    assert all(len(g.item_id) == 10 and g.item_id.startswith("AT") for g in garments)


def test_garments_survive_pickling(garments: tuple[Garment, ...]) -> None:
    assert pickle.loads(pickle.dumps(garments[0])) == garments[0]


@pytest.mark.parametrize("change", [
    {"second_colour": "red"},  # nothing would show it
    {"pattern": "stripes"},  # needs a second colour
    {"pattern": "stripes", "second_colour": "blue"},
    {"pattern": "dots", "second_colour": "navy"},  # invisible on blue
    {"trim": "piping"},
    {"trim": "belt", "second_colour": "red"},
    {"trim": "ruffle"},
    {"sleeves": "straps", "neckline": "vneck"},
    {"category": "dress", "sleeves": "straps"},  # with a collar
    {"category": "dress", "trim": "pocket"},
    {"neckline": "turtleneck", "trim": "buttons", "second_colour": "white"},
    {"colour": "mauve"},
])
def test_unwearable(change: dict[str, str]) -> None:
    assert is_wearable(SHIRT)
    assert not is_wearable({**SHIRT, **change})


def test_incomplete_attributes_are_unwearable() -> None:
    assert not is_wearable({key: SHIRT[key] for key in list(SHIRT)[:-1]})


def test_pairing_is_symmetric() -> None:
    assert not may_pair("navy", "black") and not may_pair("black", "navy")
    assert may_pair("navy", "white")
