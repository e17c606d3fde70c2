"""Modification texts to suggest for a reference, each with enough answers in the gallery.

Answers are counted by the encoder's zero-shot reading of the gallery, of at most ``MOST_READ`` of its images. In a
gallery of garments an answer is of the reference's category and shows the value that is asked for, which the reference
does not; of the values of a group, the one with the most answers like the reference is suggested. In other galleries an
answer is nearer to a caption of what is asked than to one of its opposite. Pictures of something that the encoder does
not know (:mod:`cir_core.garments.known`) are no answers, and get no suggestions.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache

from cir_core.garments.known import unlike_garments
from cir_core.garments.lexicon import BY_KEY, COLOUR
from cir_core.garments.tables import table
from cir_core.garments.zero_shot import ZeroShotAttributes, attributes_of
from cir_core.search.searcher import Searcher
from cir_core.types.records import Matrix, Vector
from cir_core.types.vectors import TextEncoder

FEWEST = 5           # answers of a text that is suggested
MOST = 6             # texts
MOST_READ = 20_000   # images
_CHUNK = 4096
_LIKE = 4            # shared values of the other groups that make an answer like the reference

Codes = npt.NDArray[np.int8]   # [n, groups]: place of the value in its group's keys

#: Text, caption of what is asked, caption of its opposite.
OPPOSITES: Sequence[tuple[str, str, str]] = (
    ("in black and white", "a black and white photo", "a colour photo"),
    ("with more colour", "a photo in bright colours", "a photo in muted colours"),
    ("seen from closer", "a close-up photo", "a photo taken from far away"),
    ("seen from farther away", "a photo taken from far away", "a close-up photo"),
    ("outdoors", "a photo taken outdoors", "a photo taken indoors"),
    ("indoors", "a photo taken indoors", "a photo taken outdoors"),
    ("at night", "a photo taken at night", "a photo taken by day"),
    ("with fewer things in it", "a photo of one thing", "a photo of many things"),
)
_OTHER_THINGS = (
    "a photo of a dog", "a photo of a cat", "a photo of an animal", "a photo of a landscape", "a photo of a building",
    "a photo of food", "a photo of a vehicle", "a photo of furniture", "a photo of a street", "a page of text",
)
_GARMENTS = ("a photo of a dress", "a photo of a shirt", "a photo of a top", "a person wearing a garment")


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


def for_picture(gallery: Matrix, reference: Vector, encoder: TextEncoder, *, fewest: int = FEWEST,
                most: int = MOST) -> tuple[str, ...]:
    """Texts for any picture: ``gallery`` ``[n, dim]``, ``reference`` ``[dim]``."""
    wanted = np.asarray(encoder.encode_texts([one for _, one, _ in OPPOSITES]), dtype=np.float32)
    against = np.asarray(encoder.encode_texts([one for _, _, one in OPPOSITES]), dtype=np.float32)
    direction = (wanted - against).T
    answers, already = (gallery @ direction > 0).sum(axis=0), reference @ direction > 0
    return tuple(text for (text, _, _), count, has in zip(OPPOSITES, answers, already, strict=True)
                 if count >= fewest and not has)[:most]


@dataclass(frozen=True)
class _Reading:
    """``codes`` are None where the gallery does not show garments."""

    features: Matrix
    attributes: ZeroShotAttributes
    codes: Codes | None


class Suggestions:
    """Suggested texts by gallery and reference, cached. Thread-safe; a gallery is read once."""

    def __init__(self) -> None:
        self._readings: LRUCache[tuple[str, str, str], _Reading] = LRUCache(4)
        self._texts: LRUCache[tuple[str, str, str, str], tuple[str, ...]] = LRUCache(2048)
        self._lock, self._reading = threading.Lock(), threading.Lock()

    def known(self, searcher: Searcher, reference_id: str) -> tuple[str, ...] | None:
        with self._lock:
            return self._texts.get((*_key(searcher), reference_id))

    def of(self, searcher: Searcher, reference_id: str, features: Vector) -> tuple[str, ...]:
        """Texts for the reference with these ``features`` ``[dim]``."""
        texts = self.known(searcher, reference_id)
        if texts is None:
            reading = self._read(searcher)
            if unlike_garments(features, searcher.encoder)[0]:
                texts = ()
            elif reading.codes is None:
                texts = for_picture(reading.features, features, searcher.encoder)
            else:
                texts = for_garment(reading.codes, _codes(reading.attributes, features[None])[0])
            with self._lock:
                self._texts[(*_key(searcher), reference_id)] = texts
        return texts

    def _read(self, searcher: Searcher) -> _Reading:
        key = _key(searcher)
        with self._reading:
            reading = self._readings.get(key)
            if reading is None:
                size = len(searcher.gallery)
                rows = np.unique(np.linspace(0, max(0, size - 1), min(size, MOST_READ)).astype(np.intp))
                features = np.asarray(searcher.gallery.features[rows], dtype=np.float32)
                features = features[~unlike_garments(features, searcher.encoder)]
                attributes = attributes_of(searcher.encoder)
                garments = searcher.domain not in ("scene", "circo") and _shows_garments(features, searcher.encoder)
                reading = _Reading(features, attributes, _codes(attributes, features) if garments else None)
                self._readings[key] = reading
            return reading


def _key(searcher: Searcher) -> tuple[str, str, str]:
    return searcher.gallery.name, searcher.gallery.digest, searcher.encoder.identity.revision


def _codes(attributes: ZeroShotAttributes, features: Matrix) -> Codes:
    parts = []
    for start in range(0, len(features), _CHUNK):
        scores = attributes.scores(features[start:start + _CHUNK])
        parts.append(np.stack([scores[group].argmax(axis=1) for group in _groups()], axis=1).astype(np.int8))
    return np.concatenate(parts) if parts else np.empty((0, len(_groups())), np.int8)


def _shows_garments(features: Matrix, encoder: TextEncoder) -> bool:
    """Whether most images are nearer to a garment than to other things."""
    garments, others = encoder.encode_texts(list(_GARMENTS)), encoder.encode_texts(list(_OTHER_THINGS))
    nearer = (features @ garments.T).max(axis=1, initial=-1) >= (features @ others.T).max(axis=1, initial=-1)
    return bool(nearer.mean() > 0.5) if len(features) else False
