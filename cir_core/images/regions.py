"""A region of an image: checked, and cut out."""

from __future__ import annotations

import math
from pathlib import Path

from PIL import Image

from cir_core.errors import SearchError
from cir_core.images.decode_budget import PATIENCE
from cir_core.images.load import for_encoder, process_image

LEAST = 16   # pixels of the image as it is stored, on either side
_SLACK = 1e-6   # a browser's sums of fractions

Region = tuple[float, float, float, float]
"""Left, top, width and height, as fractions of the upright image's width and height."""


def checked_region(values: object) -> Region:
    """``values`` as a region. Raises ``SearchError`` for what is not one, or reaches beyond the image."""
    numbers = [_number(one) for one in values] if isinstance(values, list | tuple) else []
    if len(numbers) != 4 or not all(map(math.isfinite, numbers)):
        raise SearchError("A region is four numbers: left, top, width and height, as fractions of the picture.")
    left, top, width, height = numbers
    if min(left, top) < -_SLACK or left + width > 1 + _SLACK or top + height > 1 + _SLACK:
        raise SearchError("The region reaches beyond the picture. Draw it within the picture.")
    if width <= 0 or height <= 0:
        raise SearchError("The region is empty. Draw a larger one.")
    left, top = max(0.0, left), max(0.0, top)
    return left, top, min(width, 1 - left), min(height, 1 - top)


def _number(value: object) -> float:
    try:
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        return math.nan


def crop(image: Image.Image, region: Region) -> Image.Image:
    """A copy of the pixels that ``region`` touches. Raises ``SearchError`` for fewer than 16 on a side."""
    left, top, width, height = region
    box = (math.floor(left * image.width), math.floor(top * image.height),
           min(image.width, math.ceil((left + width) * image.width - _SLACK)),
           min(image.height, math.ceil((top + height) * image.height - _SLACK)))
    across, down = box[2] - box[0], box[3] - box[1]
    if across < LEAST or down < LEAST:
        raise SearchError(f"The region is {max(across, 0)} × {max(down, 0)} pixels of the picture; it needs at least "
                          f"{LEAST} × {LEAST}. Draw a larger one.")
    return image.crop(box)


def cut_out(path: Path, region: Region, *, max_megapixels: float, patience: float = PATIENCE) -> Image.Image:
    """``region`` of the image file ``path``, RGB, upright, at most 1024 pixels on its longer edge.

    Raises ``SearchError`` (too small), ``ImageUnreadable``, ``DecodingBusy``.
    """
    return process_image(path, lambda image: for_encoder(crop(image, region)), max_megapixels=max_megapixels,
                         name="The picture", patience=patience)
