"""Text vectors that do not depend on what else is encoded."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from cachetools import LRUCache
from PIL import Image

from cir_core.encoders.base import Encoder
from cir_core.types.records import EncoderIdentity, Matrix, Vector

_KEPT = 8192


class TextsAlone:
    """``encoder`` with each text encoded by itself, once.

    The last bits of a vector depend on the texts of its batch, so with batches a session would depend on the ones that
    are constructed beside it, and on where a run was interrupted. Thread-safe; equal texts have equal vectors.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._vectors: LRUCache[str, Vector] = LRUCache(_KEPT)
        self._lock = threading.Lock()

    @property
    def identity(self) -> EncoderIdentity:
        return self._encoder.identity

    @property
    def name(self) -> str:
        return self._encoder.name

    @property
    def dim(self) -> int:
        return self._encoder.dim

    def encode_images(self, images: Sequence[Image.Image]) -> Matrix:
        return self._encoder.encode_images(images)

    def encode_texts(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return self._encoder.encode_texts(texts)
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> Vector:
        with self._lock:
            known = self._vectors.get(text)
        if known is None:
            known = self._encoder.encode_texts([text])[0]
            with self._lock:
                known = self._vectors.setdefault(text, known)
        return known
