"""Zero-shot attributes: prompts, and the decision made from their scores."""

from __future__ import annotations

import gc
import hashlib
import weakref
from collections.abc import Sequence

import numpy as np
import pytest

from cir_core.garments.lexicon import BY_KEY, CATEGORY, GROUPS, NONE
from cir_core.garments.zero_shot import ZeroShotAttributes, attributes_of, prompts


class HashEncoder:
    """Texts to random but repeatable directions; counts what it is asked."""

    dim = 512

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        self.calls.append(list(texts))
        rows = []
        for text in texts:
            seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
            row = np.random.default_rng(seed).normal(size=self.dim)
            rows.append(row / np.linalg.norm(row))
        return np.asarray(rows, dtype=np.float32)


def features_of(attributes: dict[str, str]) -> np.ndarray:
    """Image features that lie where the prompts of ``attributes`` lie."""
    encoder = HashEncoder()
    texts = [t for g, v in attributes.items() for t in prompts(g, v, attributes["category"])]
    total = encoder.encode_texts(texts).sum(axis=0)
    return (total / np.linalg.norm(total)).astype(np.float32)


DRESS = {
    "category": "dress", "colour": "red", "second_colour": "white", "pattern": "dots",
    "sleeves": "straps", "neckline": "square", "length": "long", "fit": "loose", "trim": "belt",
}
PLAIN_TOP = {
    "category": "toptee", "colour": "teal", "second_colour": NONE, "pattern": "plain",
    "sleeves": "short", "neckline": "crew", "length": "medium", "fit": "slim", "trim": NONE,
}


def test_every_value_has_prompts_of_its_own() -> None:
    for category in CATEGORY.keys:
        for group in GROUPS:
            texts = [prompts(group.key, value, category) for value in group.keys]
            assert all(texts)
            flat = [text for one in texts for text in one]
            assert len(set(flat)) == len(flat), (group.key, category)


def test_prompts_name_the_category() -> None:
    assert "a dress with long sleeves" in prompts("sleeves", "long", "dress")
    assert "a cropped shirt" in prompts("length", "short", "shirt")
    assert prompts("trim", NONE, "toptee")[0] == "a top with no trim"


def test_predict_reads_back_what_the_features_are_made_of() -> None:
    judge = ZeroShotAttributes(HashEncoder())
    guesses = judge.predict(np.stack([features_of(DRESS), features_of(PLAIN_TOP)]))
    assert guesses == [DRESS, PLAIN_TOP]
    assert list(guesses[0]) == [group.key for group in GROUPS]


def test_scores_have_one_column_per_value_and_are_cosines() -> None:
    judge = ZeroShotAttributes(HashEncoder())
    scores = judge.scores(np.stack([features_of(DRESS)] * 3))
    assert set(scores) == set(BY_KEY)
    for group in GROUPS:
        assert scores[group.key].shape == (3, len(group.keys))
        assert np.abs(scores[group.key]).max() <= 1 + 1e-5


def test_texts_are_encoded_once() -> None:
    encoder = HashEncoder()
    judge = ZeroShotAttributes(encoder)
    features = features_of(DRESS)
    judge.predict(features)
    judge.scores(features)
    assert len(encoder.calls) == 1


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        # A pattern has two colours, whatever "no second colour" scores …
        ({"second_colour": NONE}, "not none"),
        # … a plain garment without trim has nothing that could show a second one …
        ({"pattern": "plain", "trim": NONE}, NONE),
        # … and the second colour is another than the first.
        ({"second_colour": "red"}, "not red"),
    ],
)
def test_second_colour_agrees_with_the_rest(change: dict[str, str], expected: str) -> None:
    guess = ZeroShotAttributes(HashEncoder()).predict(features_of({**DRESS, **change}))[0]
    if expected.startswith("not "):
        assert guess["second_colour"] != expected.removeprefix("not ")
    else:
        assert guess["second_colour"] == expected


def test_no_images_no_guesses() -> None:
    judge = ZeroShotAttributes(HashEncoder())
    assert judge.predict(np.zeros((0, HashEncoder.dim), dtype=np.float32)) == []


def test_an_encoder_is_asked_once_and_let_go() -> None:
    encoder = HashEncoder()
    assert attributes_of(encoder) is attributes_of(encoder) is not attributes_of(HashEncoder())
    assert len(encoder.calls) == 1
    alive = weakref.ref(encoder)
    del encoder
    gc.collect()
    assert alive() is None
