"""Base of torch encoders that compose: batches of image-text pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image

from cir_core.encoders.torch_encoder import PreparedImage, TorchEncoder, split, to_device
from cir_core.types.records import Matrix


class ComposingTorchEncoder(TorchEncoder):
    """A :class:`TorchEncoder` that also composes. Implements ``ComposingEncoder``.

    ``phrase`` wraps a modification text into the sentence tokenised beside the image;
    ``embed_composed`` takes pixels ``[n, 3, height, width]`` and the tokens.
    """

    def __init__(
        self,
        *,
        phrase: Callable[[str], str],
        embed_composed: Callable[[torch.Tensor, Any], torch.Tensor],
        **parts: Any,
    ) -> None:
        super().__init__(**parts)
        self._phrase, self._embed_composed = phrase, embed_composed

    def encode_composed(self, images: Sequence[Image.Image], texts: Sequence[str]) -> Matrix:
        """``[n, dim]`` float32 unit rows, one per image-text pair."""

        def forward(part: Sequence[tuple[PreparedImage, str]]) -> torch.Tensor:
            pixels = torch.from_numpy(np.stack([image for image, _ in part])).to(self.device)
            tokens = to_device(self._tokenize([self._phrase(text) for _, text in part]), self.device)
            return self._embed_composed(pixels, tokens)

        parts = [
            self._in_batches([(self.prepare(image), text) for image, text in part], forward)
            for part in split(list(zip(images, texts, strict=True)), self.batch_size)
        ]
        return np.concatenate(parts) if parts else self._empty()
