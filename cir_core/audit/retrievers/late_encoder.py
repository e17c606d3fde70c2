"""Lazily loaded encoder: an audit whose ranks are stored needs none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PIL import Image

from cir_core.encoders.base import Encoder
from cir_core.gallery.gallery import Gallery
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
