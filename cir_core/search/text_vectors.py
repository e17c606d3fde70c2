"""Cache of text vectors, for repeated re-ranking by the same short texts."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from cachetools import LRUCache

from cir_core.encoders.base import Encoder
from cir_core.types.records import Matrix, Vector

_KEPT = 512


class TextVectors:
    """Cached text encoder. Thread-safe."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._vectors: LRUCache[str, Vector] = LRUCache(_KEPT)
        self._lock = threading.Lock()
        self.identity = encoder.identity

    def encode_texts(self, texts: Sequence[str]) -> Matrix:
        """``[n, dim]``, as from the encoder; only new texts are encoded."""
        with self._lock:
            known = {text: self._vectors[text] for text in texts if text in self._vectors}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known |= dict(zip(new, self._encoder.encode_texts(new), strict=True))
            with self._lock:
                self._vectors.update((text, known[text]) for text in new)
        return np.stack([known[text] for text in texts])
