"""Encoder interfaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeGuard, runtime_checkable

from PIL import Image

from cir_core.types.records import EncoderIdentity, Matrix


@runtime_checkable
class Encoder(Protocol):
    """A dual encoder: images and texts to one space. Thread-safe."""

    @property
    def identity(self) -> EncoderIdentity: ...

    @property
    def name(self) -> str:
        """A short readable name, e.g. ``ViT-B-32/openai``."""

    @property
    def dim(self) -> int: ...

    def encode_images(self, images: Sequence[Image.Image]) -> Matrix:
        """``[n, dim]`` float32, unit rows. Images are RGB, upright (see ``cir_core.images.load``)."""

    def encode_texts(self, texts: Sequence[str]) -> Matrix:
        """``[n, dim]`` float32, unit rows. Longer texts are cut at the model's context length."""


@runtime_checkable
class ComposingEncoder(Encoder, Protocol):
    """An encoder that composes the query from reference image and modification text by itself. Its gallery is indexed
    with its own :meth:`encode_images`, and no language model is used."""

    def encode_composed(self, images: Sequence[Image.Image], texts: Sequence[str]) -> Matrix:
        """``[n, dim]`` float32, unit rows: query vectors of the i-th image and i-th text together. As many texts as
        images; a blank text means the image alone. Longer texts are cut at the model's context length."""


def composes(encoder: Encoder) -> TypeGuard[ComposingEncoder]:
    """Whether ``encoder`` has :meth:`ComposingEncoder.encode_composed`."""
    return callable(getattr(encoder, "encode_composed", None))
