"""Target padding: elongated images are padded towards a square, so that resizing distorts or crops them less."""

from __future__ import annotations

from PIL import Image

from cir_core.images.pixels import to_rgb


def pad_to_ratio(image: Image.Image, ratio: float) -> Image.Image:
    """``image`` with black borders such that the longer side is at most ``ratio`` times the shorter one.

    A ratio of 0, or an image that fits already, changes nothing. Baldrati et al., 2022 (CLIP4CIR), whose padding
    CIRQRS uses with 1.5 and QuRe's code with 1.25.
    """
    width, height = image.size
    if not ratio or max(width, height) < ratio * min(width, height):
        return image
    scaled = max(width, height) / ratio
    across, down = (max(int((scaled - side) / 2), 0) for side in (width, height))
    padded = Image.new("RGB", (width + 2 * across, height + 2 * down))
    padded.paste(to_rgb(image), (across, down))
    return padded
