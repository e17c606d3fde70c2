"""Ablated inputs: a method's query under each variant."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from PIL import Image

from cir_core.audit.records import Ablation, Variant
from cir_core.encoders.base import Encoder
from cir_core.gallery.gallery import Gallery
from cir_core.images.load import for_encoder
from cir_core.language.tasks import Picture
from cir_core.methods.references import Reference
from cir_core.methods.steps import without_steps
from cir_core.types.records import MethodSettings, Vector


def settings_under(settings: MethodSettings, ablation: Ablation, variant: Variant) -> MethodSettings:
    """The method as it runs under ``variant``. Nothing leaves the results (CIRCUS), and only
    "drop" makes another method of it: the remaining input alone, without any step."""
    settings = replace(settings, exclude="none")
    if ablation == "black" or variant == "multimodal":
        return settings
    return replace(without_steps(settings), base="text-only" if variant == "text_only" else "image-only")


class BlackImages:
    """All-black references, as wide and high as the image they replace. They are encoded like any image, once per size
    and one at a time, so that a vector does not depend on earlier queries."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._features: dict[tuple[int, int], Vector] = {}

    def instead_of(self, gallery: Gallery, image_id: str) -> Reference:
        """Raises ``UnknownImage``, and what the encoder raises."""
        image = gallery.image(gallery.row_of(image_id))
        size = (image.width, image.height)

        def load() -> Image.Image:
            return for_encoder(Image.new("RGB", size))

        if size not in self._features:
            self._features[size] = self._encoder.encode_images([load()])[0]
        features = self._features[size]
        name = f"black:{size[0]}x{size[1]}"
        digest = hashlib.sha256(name.encode()).hexdigest()
        return Reference(name, features, Picture(digest=digest, features=features, load=load))
