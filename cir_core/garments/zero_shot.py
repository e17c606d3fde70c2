"""Zero-shot attribute prediction: the words that fit an image best under the encoder.

Used by the built-in captioner, by the evaluation of the bundled encoder and by its training, with the same prompts. It
knows words (:mod:`cir_core.garments.lexicon`) and nothing about any particular garment.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import cache
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from cir_core.garments.lexicon import BY_KEY, CATEGORY, GROUPS, LENGTH_WORDS, NONE, describe
from cir_core.types.vectors import TextEncoder

Features = npt.NDArray[np.float32]  # [n, dim], unit rows

_ABSENT = {
    "trim": ("a {noun} with no trim", "a {noun} with no details"),
    "second_colour": ("a {noun} with no second colour", "a {noun} in one colour"),
}


@cache
def prompts(group: str, value: str, category: str) -> tuple[str, ...]:
    """The texts that represent ``value`` of ``group`` on a garment of ``category``. For the category itself
    ``category`` is ignored. Every tuple has at least one text; their features are averaged."""
    if group == "category":
        words = BY_KEY[group][value].phrases
        return (describe({"category": value}), *(f"photo of a {word}" for word in words))
    noun = CATEGORY[category].phrase
    if value == NONE:
        return tuple(text.format(noun=noun) for text in _ABSENT[group])
    if group == "second_colour":
        return (f"a {noun} with {value} as the second colour", f"a {noun} with {value} details")
    plain = describe({"category": category, group: value})
    if group == "colour":
        return (plain, f"photo of {plain}")
    if group == "length":
        return (plain, f"{LENGTH_WORDS[category][value]} {noun}")
    if group in {"fit", "pattern"}:
        return (plain, plain.partition(" ")[2])
    return (plain, f"{noun} with {_detail(plain)}")


@cache
def _captions() -> Mapping[str, tuple[str, str]]:
    return {prompts(group.key, value, category)[0]: (group.key, value)
            for group in GROUPS for value in group.keys for category in CATEGORY.keys}


def named_value(caption: str) -> tuple[str, str] | None:
    """Group and value of which ``caption`` is the first of the :func:`prompts`; None for other texts."""
    return _captions().get(caption)


def _detail(description: str) -> str:
    """The part after "with" and its article: "a dress with a bow" gives "bow"."""
    detail = description.partition(" with ")[2]
    return detail.removeprefix("a ")


class ZeroShotAttributes:
    """Assigns one value per attribute group to each image's features.

    The category is decided first; the prompts of the other groups then name it ("a dress with long sleeves"). Two rules
    settle the second colour (see :data:`cir_core.garments.lexicon.SECOND_COLOUR`): it is the other colour of the
    pattern or the trim, so a patterned garment has one, a plain one without trim has none; and it differs from the
    first colour.
    """

    def __init__(self, encoder: TextEncoder) -> None:
        self._values: dict[tuple[str, str], Features] = {}
        wanted = [(group.key, category) for group in GROUPS for category in CATEGORY.keys]
        texts = sorted(
            {
                text
                for group, category in wanted
                for value in BY_KEY[group].keys
                for text in prompts(group, value, category)
            }
        )
        rows = np.asarray(encoder.encode_texts(texts), dtype=np.float32)
        features = dict(zip(texts, rows, strict=True))
        for group, category in wanted:
            means = [
                np.mean([features[text] for text in prompts(group, value, category)], axis=0)
                for value in BY_KEY[group].keys
            ]
            matrix = np.stack(means)
            matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
            self._values[group, category] = matrix.astype(np.float32)

    def scores(self, features: Features) -> dict[str, npt.NDArray[np.float32]]:
        """For each group ``[n, values]``: the cosine of each image and each value's prompts. Columns are in the order
        of the group's ``keys``. All groups but the category use the prompts of each image's best category."""
        features = np.atleast_2d(np.asarray(features, dtype=np.float32))
        first = features @ self._values["category", CATEGORY.keys[0]].T
        chosen = first.argmax(axis=1)
        result: dict[str, npt.NDArray[np.float32]] = {"category": first}
        for group in GROUPS[1:]:
            every = np.stack([features @ self._values[group.key, c].T for c in CATEGORY.keys])
            result[group.key] = every[chosen, np.arange(len(features))]
        return result

    def predict(self, features: Features) -> list[dict[str, str]]:
        """For each row of ``features`` (``[n, dim]``) one value of every group."""
        return decided_rows(self.scores(features))

    def draw(self, features: Features, rng: np.random.Generator, temperature: float) -> list[dict[str, str]]:
        """Like :meth:`predict`, with each value sampled from the softmax of its group's scores.

        ``temperature`` is in units of cosine: 0 predicts; larger values sample others than
        the best more often. The rules for the second colour hold.
        """
        # Gumbel-max trick: the argmax of scores with Gumbel noise is a sample from their softmax.
        return decided_rows({
            key: table + np.float32(temperature) * rng.gumbel(size=table.shape).astype(np.float32)
            for key, table in self.scores(features).items()
        })


_made: WeakKeyDictionary[TextEncoder, ZeroShotAttributes] = WeakKeyDictionary()
_making = threading.Lock()


def attributes_of(encoder: TextEncoder) -> ZeroShotAttributes:
    """Those of ``encoder``, whose weights do not change: made at the first call, which takes about a second."""
    with _making:
        if (made := _made.get(encoder)) is None:
            made = _made[encoder] = ZeroShotAttributes(encoder)
        return made


def decided_rows(scores: Mapping[str, Features]) -> list[dict[str, str]]:
    """:func:`decided` as a value of every group, for each image."""
    codes = decided(scores)
    names = {group.key: np.array(group.keys)[codes[group.key]].tolist() for group in GROUPS}
    return [dict(zip(names, values, strict=True)) for values in zip(*names.values(), strict=True)]


def decided(scores: Mapping[str, Features]) -> dict[str, npt.NDArray[np.intp]]:
    """For each group ``[n]``: the place of each image's value among the group's ``keys``, by ``scores`` as
    :meth:`ZeroShotAttributes.scores` gives them and the rules for the second colour."""
    best = {key: table.argmax(axis=1) for key, table in scores.items()}
    plain = best["pattern"] == BY_KEY["pattern"].keys.index("plain")
    keys = BY_KEY["second_colour"].keys
    place = np.array([keys.index(colour) for colour in BY_KEY["colour"].keys])
    allowed = scores["second_colour"].astype(np.float64)
    allowed[np.arange(len(allowed)), place[best["colour"]]] = -np.inf
    allowed[~plain, keys.index(NONE)] = -np.inf
    bare = plain & (best["trim"] == BY_KEY["trim"].keys.index(NONE))
    best["second_colour"] = np.where(bare, keys.index(NONE), allowed.argmax(axis=1))
    return best
