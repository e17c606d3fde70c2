"""Several images as one, for models that take a single picture."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image

_GAP = 8   # white pixels between images


def side_by_side(images: Sequence[Image.Image]) -> Image.Image:
    """``images`` from left to right in their order, scaled to the height of the lowest, on white. RGB."""
    height = min(image.height for image in images)
    scaled = [image.resize((max(1, round(image.width * height / image.height)), height), Image.Resampling.LANCZOS)
              for image in images]
    whole = Image.new("RGB", (sum(one.width for one in scaled) + _GAP * (len(scaled) - 1), height), "white")
    left = 0
    for one in scaled:
        whole.paste(one, (left, 0))
        left += one.width + _GAP
    return whole
