"""Modification texts to suggest for a reference, each with enough answers in the gallery.

Answers are counted by the encoder's reading of the gallery, of at most ``MOST_READ`` of its images, and by the
gallery's reader. Pictures of something that the encoder does not know get no suggestions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from cachetools import LRUCache

from cir_core.language.readers.choosing import undescribed
from cir_core.search.searcher import Searcher
from cir_core.types.records import Vector

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
