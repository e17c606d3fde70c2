"""Models of an audit: one encoder at a time, shared between retrievers. Lazily loaded encoder: an audit whose ranks
are stored needs none."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Sequence
from typing import Any

from PIL import Image

from cir_core.encoders.base import Encoder
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import Domain
from cir_core.types.records import EncoderIdentity, Matrix

Load = Callable[[str], Encoder]


class LateEncoder:
    """The encoder that ``gallery`` was indexed with, as ``cir_core.encoders.base.Encoder``.

    Loaded on first use; it composes if the loaded one does. ``load`` is called at every use and must cache the encoder:
    a reference here would prevent its release. Raises what loading raises, and ``EncoderMismatch`` if the weights have
    changed.
    """

    def __init__(self, gallery: Gallery, load: Load) -> None:
        self._gallery, self._load = gallery, load

    @property
    def identity(self) -> EncoderIdentity:
        return self._gallery.encoder

    @property
    def dim(self) -> int:
        return self.identity.dim

    @property
    def name(self) -> str:
        return self._encoder().name

    def encode_images(self, images: Sequence[Image.Image]) -> Matrix:
        return self._encoder().encode_images(images)

    def encode_texts(self, texts: Sequence[str]) -> Matrix:
        return self._encoder().encode_texts(texts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder(), name)

    def _encoder(self) -> Encoder:
        loaded = self._load(self.identity.spec)
        self._gallery.check_encoder(loaded)
        return loaded


class OneAtATime:
    """Cache of one: the same spec gives the same encoder, which is released before another
    is loaded, so that retrievers over one gallery share it and two large ones need not fit in
    memory. No other object may hold an encoder, see :class:`LateEncoder`. Thread-safe."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._spec = ""
        self._encoder: Encoder | None = None
        self._lock = threading.Lock()

    def __call__(self, spec: str) -> Encoder:
        with self._lock:
            if self._encoder is not None and self._spec != spec:
                self._encoder = None
                gc.collect()  # a model's parts may refer to one another
            if self._encoder is None:
                self._spec, self._encoder = spec, self._load(spec)
            return self._encoder


class Models:
    """Models for retrievers. ``domain`` is what prompts say the images
    show, ``workers`` the number of concurrent language model calls.

    Consecutive retrievers over one gallery share their models, so that language model answers
    about its images are reused.
    """

    def __init__(
        self, load_encoder: Load, language_for: Callable[[Encoder], LanguageModel], domain: Domain = "garment",
        workers: int = 1,
    ) -> None:
        self.load_encoder = OneAtATime(load_encoder)
        self.domain, self.workers = domain, workers
        self._language_for = language_for
        self._generation = ""
        self._latest: tuple[LateEncoder, LanguageModel] | None = None

    def of(self, gallery: Gallery) -> tuple[LateEncoder, LanguageModel]:
        """Models for ``gallery``; nothing is loaded yet."""
        if self._latest is None or self._generation != gallery.generation:
            self._latest = None
            encoder = LateEncoder(gallery, self.load_encoder)
            self._latest = encoder, self._language_for(encoder)
            self._generation = gallery.generation
        return self._latest
