"""Late fusion: compose by adding features, for CLIP-sized BGE-VL (MMRet) and plain CLIP.

The query is the sum of the projected image and text features, not normalised before:
MegaPairs (Zhou et al., 2412.14475) trained its CLIP models this way, as did UniIR its score fusion.
"""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image

from cir_core.encoders.embedding.universal import rows_of_pairs
from cir_core.encoders.torch_encoder import TorchEncoder
from cir_core.types.records import Matrix

MARK = {"fusion": "sum"}  # in the revision: distinguishes it from the plain dual encoder, which cannot compose


class LateFusionEncoder(TorchEncoder):
    """Dual encoder with additive composition. Implements ``ComposingEncoder``."""

    def encode_composed(self, images: Sequence[Image.Image], texts: Sequence[str]) -> Matrix:
        """``[n, dim]`` float32 unit rows. A blank text gives the vector of the image alone."""
        return rows_of_pairs(images, texts, self.encode_images, self._sums, self._empty())

    def _sums(self, pairs: Sequence[tuple[Image.Image, str]]) -> Matrix:
        return self._of_pairs(pairs, lambda pixels, tokens: self._embed_images(pixels) + self._embed_texts(tokens))
