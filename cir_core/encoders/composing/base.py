"""Base of torch encoders that compose: batches of image-text pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from PIL import Image

from cir_core.encoders.torch_encoder import TorchEncoder
from cir_core.types.records import Matrix


class ComposingTorchEncoder(TorchEncoder):
    """A :class:`TorchEncoder` that also composes. Implements ``ComposingEncoder``.

    ``phrase`` wraps a modification text into the sentence tokenised beside the image;
    ``embed_composed`` takes pixels ``[n, 3, height, width]`` and the tokens.
    """

    def __init__(
        self, *, phrase: Callable[[str], str], embed_composed: Callable[[torch.Tensor, Any], torch.Tensor], **parts: Any
    ) -> None:
        super().__init__(**parts)
        self._phrase, self._embed_composed = phrase, embed_composed

    def encode_composed(self, images: Sequence[Image.Image], texts: Sequence[str]) -> Matrix:
        """``[n, dim]`` float32 unit rows, one per image-text pair."""
        pairs = [(image, self._phrase(text)) for image, text in zip(images, texts, strict=True)]
        return self._of_pairs(pairs, self._embed_composed)
