"""Universal embedding models: one network for images, texts and both together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image

from cir_core.encoders.torch_encoder import TorchModel
from cir_core.types.records import Matrix

_STRETCH = 150  # maximum aspect ratio: Qwen's processors refuse more than 200

Images = Sequence[Image.Image] | None
Texts = Sequence[str] | None
Embed = Callable[[Images, Texts], torch.Tensor]
"""``[n, dim]`` of n images, n texts or n pairs, not normalised. Images alone are encoded as gallery images."""


class UniversalEncoder(TorchModel):
    """An encoder over one embedding function. Implements ``cir_core.encoders.base.Encoder``."""

    def __init__(self, *, embed: Embed, **model: Any) -> None:
        super().__init__(**model)
        self._embed = embed

    def encode_images(self, images: Sequence[Image.Image]) -> Matrix:
        """``[n, dim]`` float32 unit rows, as gallery images."""
        return self._in_batches(images, lambda part: self._embed(_rgb(part), None))

    def encode_texts(self, texts: Sequence[str]) -> Matrix:
        """``[n, dim]`` float32 unit rows, as queries. Long texts are truncated."""
        return self._in_batches(texts, lambda part: self._embed(None, part))


class ComposingUniversalEncoder(UniversalEncoder):
    """A :class:`UniversalEncoder` that takes an image and a text as one input. Implements ``ComposingEncoder``."""

    def encode_composed(self, images: Sequence[Image.Image], texts: Sequence[str]) -> Matrix:
        """``[n, dim]`` float32 unit rows. A blank text gives the vector of the image alone."""

        def forward(part: Sequence[tuple[Image.Image, str]]) -> torch.Tensor:
            return self._embed(_rgb([image for image, _ in part]), [text for _, text in part])

        return rows_of_pairs(
            images, texts, self.encode_images, lambda pairs: self._in_batches(pairs, forward), self._empty()
        )


def rows_of_pairs(
    images: Sequence[Image.Image], texts: Sequence[str], alone: Callable[[Sequence[Image.Image]], Matrix],
    together: Callable[[Sequence[tuple[Image.Image, str]]], Matrix], empty: Matrix,
) -> Matrix:
    """Rows in order: ``together`` of the pairs with a text, ``alone`` of images whose text is blank.

    Without a text there is no instruction to follow either, so a query by image alone equals
    the gallery's image (CIRCUS, image-only queries).
    """
    pairs = list(zip(images, texts, strict=True))
    with_text = [i for i, (_, text) in enumerate(pairs) if text.strip()]
    blank = [i for i, (_, text) in enumerate(pairs) if not text.strip()]
    rows = np.empty((len(pairs), empty.shape[1]), dtype=np.float32)
    if with_text:
        rows[with_text] = together([pairs[i] for i in with_text])
    if blank:
        rows[blank] = alone([pairs[i][0] for i in blank])
    return rows


def _rgb(images: Sequence[Image.Image]) -> list[Image.Image]:
    return [_not_a_line(image.convert("RGB")) for image in images]


def _not_a_line(image: Image.Image) -> Image.Image:
    width, height = image.size
    if max(width, height) <= _STRETCH * min(width, height):
        return image
    size = max(width, height // _STRETCH), max(height, width // _STRETCH)
    return image.resize(size, Image.Resampling.BICUBIC)
