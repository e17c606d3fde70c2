"""What models get: gallery images as language models get them, alone or as captions, and vectors of texts that do not
depend on what else is encoded."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from cachetools import LRUCache
from PIL import Image

from cir_core.encoders.base import Encoder
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel, Observer
from cir_core.language.tasks import Picture
from cir_core.search.caches import Captioner
from cir_core.types.records import Domain, EncoderIdentity, Matrix, Vector

_KEPT = 8192    # vectors of texts


class Pictures:
    """Thread-safe. Captions are those of the gallery's manifest or of the role ``caption``."""

    def __init__(self, gallery: Gallery, language: LanguageModel, domain: Domain) -> None:
        self._gallery, self._sees = gallery, language.sees
        self._captioner = Captioner(language, domain)

    def of(self, image_id: str, watch: Observer | None = None) -> Picture:
        """Raises ``UnknownImage``, ``LanguageModelError``."""
        row = self._gallery.row_of(image_id)
        image = self._gallery.image(row)
        picture = Picture(None, image.sha256, self._gallery.features[row],
                          lambda: self._gallery.load_for_encoder(image_id))
        if self._sees:
            return picture
        return replace(picture, caption=image.caption or self._captioner.caption(image_id, picture, watch).caption)


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
