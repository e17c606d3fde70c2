"""Cut the images of a benchmark out of larger ones, as GeneCIS does."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from cir_core.errors import DatasetError, ImageUnreadable
from cir_core.images.load import process_image

MARGIN = 0.7   # of the box's width and height: GeneCIS's evaluation

Box = tuple[float, float, float, float]
"""Left, top, width and height, in pixels."""


def padded_crop(image: Image.Image, box: Box) -> Image.Image:
    """``box`` with a margin, within the image, in the middle of a black square.

    The margin of GeneCIS's code goes to the left and above; what an edge cuts off there is added on the other side.
    """
    left, top, width, height = box
    left, top = max(0.0, left - MARGIN * width), max(0.0, top - MARGIN * height)
    right, bottom = min(image.width, left + (1 + MARGIN) * width), min(image.height, top + (1 + MARGIN) * height)
    part = image.crop((round(left), round(top), round(right), round(bottom)))
    edge = max(part.size)
    square = Image.new("RGB", (edge, edge))
    square.paste(part, ((edge - part.width) // 2, (edge - part.height) // 2))
    return square


def write_crop(path: Path, source: Path, box: Box, *, max_megapixels: float) -> None:
    """Write :func:`padded_crop` of the image file ``source`` as PNG, unless ``path`` is there. Raises ``DatasetError``
    for a source that cannot be read, and for a box outside it."""
    if path.exists():
        return

    def cut(image: Image.Image) -> Image.Image:
        if box[0] >= image.width or box[1] >= image.height:
            raise DatasetError(f"{source}: the box {box} lies outside its {image.width} × {image.height} pixels. Check "
                               "that the images are those of the data set's release.")
        return padded_crop(image, box)

    try:
        part = process_image(source, cut, max_megapixels=max_megapixels, patience=None)
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_suffix(".part")   # a run that is killed leaves no half image under the name
        part.save(half, "PNG")
        half.replace(path)
    except ImageUnreadable as error:
        raise DatasetError(f"{error} Replace the file, or download it again.") from error
    except OSError as error:
        raise DatasetError(f"{path} cannot be written: {error.strerror or error}. Free some disk space.") from error
