"""Modification texts to suggest for a reference, each with enough answers in the gallery. Requests that the gallery
can hardly satisfy, by the encoder's reading of all of it.

Answers are counted by the encoder's reading of the gallery, of at most ``MOST_READ`` of its images, and by the
gallery's reader. Pictures of something that the encoder does not know get no suggestions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from cachetools import LRUCache

from cir_core.language.readers.choosing import undescribed
from cir_core.methods.guidance import Aspect, ticks
from cir_core.search.searcher import Searcher
from cir_core.types.composition import Composition
from cir_core.types.records import Hit, Vector

MOST_READ = 20_000   # images


class Suggestions:
    """Suggested texts by gallery and reference, cached. Thread-safe; a gallery is read once."""

    def __init__(self) -> None:
        self._readings: LRUCache[tuple[str, str, str], Callable[[Vector], tuple[str, ...]]] = LRUCache(4)
        self._texts: LRUCache[tuple[str, str, str, str], tuple[str, ...]] = LRUCache(2048)
        self._lock, self._reading = threading.Lock(), threading.Lock()

    def known(self, searcher: Searcher, reference_id: str) -> tuple[str, ...] | None:
        with self._lock:
            return self._texts.get((*_key(searcher), reference_id))

    def of(self, searcher: Searcher, reference_id: str, features: Vector) -> tuple[str, ...]:
        """Texts for the reference with these ``features`` ``[dim]``."""
        texts = self.known(searcher, reference_id)
        if texts is None:
            unknown = undescribed(features, searcher.encoder)[0]
            texts = () if unknown else self._read(searcher)(features)
            with self._lock:
                self._texts[(*_key(searcher), reference_id)] = texts
        return texts

    def _read(self, searcher: Searcher) -> Callable[[Vector], tuple[str, ...]]:
        key = _key(searcher)
        with self._reading:
            reading = self._readings.get(key)
            if reading is None:
                features = searcher.some_features(MOST_READ)
                known = features[~undescribed(features, searcher.encoder)]
                reading = searcher.reader.suggestions(known, searcher.encoder)
                self._readings[key] = reading
            return reading


def _key(searcher: Searcher) -> tuple[str, str, str]:
    return searcher.gallery.name, searcher.gallery.digest, searcher.encoder.identity.revision


FEWEST = 5       # images that show what is asked, in a gallery that has it
_CHUNK = 65_536


@dataclass(frozen=True)
class Scarce:
    """``seen``: number of images that are nearer to the request ``label`` than to any alternative."""

    label: str
    seen: int


def scarce(searcher: Searcher, composition: Composition | None, hits: Sequence[Hit]) -> list[Scarce]:
    """Requests that none of ``hits`` shows and fewer than ``FEWEST`` images of the gallery do. The gallery is read
    only for the former: a guided ranking puts what there is on the first page, unless other requests weigh more."""
    shown: dict[str, bool] = {}
    for read in ticks(composition, (hit.parts for hit in hits)):
        for label, seen in read:
            shown[label] = shown.get(label, False) or seen == "yes"
    aspects: Sequence[Aspect] = (composition.part("aspects") or ()) if composition else ()
    counted = [Scarce(one.label, _count(searcher, one)) for one in aspects if not shown.get(one.label, True)]
    return [one for one in counted if one.seen < FEWEST]


def _count(searcher: Searcher, aspect: Aspect) -> int:
    wanted, others = _vectors(searcher, aspect.wanted), _vectors(searcher, aspect.others)
    count = 0
    for start in range(0, len(searcher.gallery), _CHUNK):
        features = np.asarray(searcher.gallery.features[start:start + _CHUNK], dtype=np.float32)
        count += int(np.sum((features @ wanted).max(axis=1) >= (features @ others).max(axis=1, initial=-np.inf)))
    return count


def _vectors(searcher: Searcher, texts: Sequence[str]) -> Vector:
    return np.stack([searcher.text_vector(text) for text in texts], axis=1) if texts else np.empty(
        (searcher.encoder.dim, 0), np.float32)
