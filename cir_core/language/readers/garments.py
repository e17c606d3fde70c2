"""Requests over garments: pointing by :mod:`.pointing`, and texts to suggest.

An answer of a suggested text is of the reference's category and shows the value that is asked for, which the reference
does not; of the values of a group, the one with the most answers like the reference is suggested.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from cir_core.garments.known import unlike_garments
from cir_core.garments.learned import LearnedReader, reader_of
from cir_core.garments.lexicon import BY_KEY, COLOUR
from cir_core.garments.tables import table
from cir_core.garments.zero_shot import ZeroShotAttributes, attributes_of
from cir_core.language.builtin.reading.foreign import translate
from cir_core.language.readers.dialogue.earlier import resolve
from cir_core.language.readers.plain import FEWEST, MOST
from cir_core.language.readers.pointing import follow
from cir_core.language.readers.reader import Pointed
from cir_core.language.readers.scene import Scene
from cir_core.types.records import Matrix, Vector
from cir_core.types.vectors import TextEncoder

_CHUNK = 4096
_LIKE = 4            # shared values of the other groups that make an answer like the reference
_OTHER_THINGS = (
    "a photo of a dog", "a photo of a cat", "a photo of an animal", "a photo of a landscape", "a photo of a building",
    "a photo of food", "a photo of a vehicle", "a photo of furniture", "a photo of a street", "a page of text",
)
_GARMENTS = ("a photo of a dress", "a photo of a shirt", "a photo of a top", "a person wearing a garment")

Codes = npt.NDArray[np.int8]   # [n, groups]: place of the value in its group's keys


class GarmentReader:
    """See the module."""

    def follow(self, text: str, scene: Scene) -> Pointed:
        """The reference and the text that ``text`` means in ``scene``: as it is where it points at nothing, in English
        where it does, whatever its language. Never fails."""
        plain = self.in_english(text)
        back = resolve(plain, scene)
        if back is not None and (back.unclear or back.held is not None):
            return back
        found = follow(back.text if back else plain, scene)
        found = replace(found, notes=(*back.notes, *found.notes), released=back.released) if back else found
        return replace(found, text=text) if found.text == plain else found

    def in_english(self, text: str) -> str:
        """``text`` with the words of other languages in English."""
        return translate(text).text

    def suggestions(self, gallery: Matrix, encoder: TextEncoder) -> Callable[[Vector], tuple[str, ...]]:
        """Answers are counted by the encoder's reading of ``gallery``: its learned one, or else by texts."""
        attributes = reader_of(encoder) or attributes_of(encoder)
        codes = _codes(attributes, gallery[~unlike_garments(gallery, encoder)])
        return lambda reference: for_garment(codes, _codes(attributes, reference[None])[0])


@cache
def _phrases() -> Mapping[str, Mapping[str, str]]:
    """Group to value to text, the groups in the order in which people ask for them."""
    return {**table("suggestions"), "colour": {key: f"in {key}" for key in COLOUR.keys}}


def _groups() -> tuple[str, ...]:
    return "category", *_phrases()


def for_garment(codes: Codes, reference: Codes, *, fewest: int = FEWEST, most: int = MOST) -> tuple[str, ...]:
    """Texts for a reference with the values ``reference`` ``[groups]`` in a gallery with ``codes`` ``[n, groups]``."""
    same = codes == reference
    alike = same[:, 0]
    found: list[tuple[str, npt.NDArray[np.bool_]]] = []
    for column, group in enumerate(_phrases(), start=1):
        best: tuple[int, str, npt.NDArray[np.bool_]] | None = None
        near = same[:, 1:].sum(axis=1) - same[:, column] >= _LIKE
        for value, text in _phrases()[group].items():
            code = BY_KEY[group].keys.index(value)
            answers = alike & (codes[:, column] == code)
            if code == reference[column] or answers.sum() < fewest:
                continue
            liked = int((answers & near).sum())
            if best is None or liked > best[0]:
                best = liked, text, answers
        if best is not None:
            found.append(best[1:])
    texts = [text for text, _ in found[:most]]
    for (one, by_one), (other, by_other) in combinations(found[:3], 2):   # a double request takes the last place
        if (by_one & by_other).sum() >= fewest and other.startswith("with"):
            return (*texts[:most - 1], f"{one} {other}" if not one.startswith("with") else f"{one} and {other[5:]}")
    return tuple(texts)


def _codes(attributes: ZeroShotAttributes | LearnedReader, features: Matrix) -> Codes:
    parts = []
    for start in range(0, len(features), _CHUNK):
        scores = attributes.scores(features[start:start + _CHUNK])
        parts.append(np.stack([scores[group].argmax(axis=1) for group in _groups()], axis=1).astype(np.int8))
    return np.concatenate(parts) if parts else np.empty((0, len(_groups())), np.int8)


def shows_garments(features: Matrix, encoder: TextEncoder) -> bool:
    """Whether most images are nearer to a garment than to other things."""
    garments, others = encoder.encode_texts(list(_GARMENTS)), encoder.encode_texts(list(_OTHER_THINGS))
    nearer = (features @ garments.T).max(axis=1, initial=-1) >= (features @ others.T).max(axis=1, initial=-1)
    return bool(nearer.mean() > 0.5) if len(features) else False
