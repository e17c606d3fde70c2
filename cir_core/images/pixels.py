"""Convert any colour layout to 8-bit sRGB."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import cast

import numpy as np
from PIL import Image, ImageCms

_Convert = Callable[[Image.Image], Image.Image]
_STRIP = 2**20   # pixels


def to_rgb(image: Image.Image) -> Image.Image:
    """A decoded ``image`` of any mode as RGB; transparent pixels become white. Large images are converted strip by
    strip, so that intermediate forms, up to 8 bytes a pixel, never exist whole."""
    convert = _converter(image)
    if image.width * image.height <= _STRIP:
        return convert(image)
    result = Image.new("RGB", image.size)
    for box in _strips(image):
        result.paste(convert(image.crop(box)), box)
    result.info = {key: value for key, value in image.info.items() if key != "transparency"}
    return result


def consumed_to_rgb(image: Image.Image) -> Image.Image:
    """:func:`to_rgb`; ``image`` cannot be used afterwards. An alpha channel is flattened in place,
    since Pillow stores RGB in as many bytes: no second image of its size is needed."""
    if image.mode != "RGBA":
        return to_rgb(image)
    for box in _strips(image):
        opaque = _on_white(image.crop(box))
        opaque.putalpha(255)
        image.paste(opaque, box)
    image.im.setmode("RGB")
    return image._new(image.im)


def _converter(image: Image.Image) -> _Convert:
    if image.mode.startswith("I") or image.mode == "F":
        return _deep_grey(image)
    if image.mode == "CMYK":
        return _cmyk(image)
    return _on_white if image.has_transparency_data else lambda part: part.convert("RGB")


def _strips(image: Image.Image) -> Iterator[tuple[int, int, int, int]]:
    rows = max(1, _STRIP // image.width)
    for top in range(0, image.height, rows):
        yield 0, top, image.width, min(image.height, top + rows)


def _on_white(image: Image.Image) -> Image.Image:
    layer = image.convert("RGBA")
    page = Image.new("RGBA", layer.size, "white")
    return Image.alpha_composite(page, layer).convert("RGB")


def _deep_grey(image: Image.Image) -> _Convert:
    """16-bit, 32-bit and float grey to 8 bits; Pillow's own convert clips at 255."""
    top = 65535.0
    if image.mode in ("F", "I"):
        most = max(float(np.nanmax(np.asarray(image.crop(box)).astype(np.float64), initial=-np.inf))
                   for box in _strips(image))
        if image.mode == "F":
            top = 1.0 if most <= 1.0 else 255.0
        else:
            top = 65535.0 if most <= 65535 else 2.0**31 - 1

    def convert(part: Image.Image) -> Image.Image:
        scaled = np.nan_to_num(np.asarray(part).astype(np.float64) / top).clip(0.0, 1.0)
        return Image.fromarray(np.rint(scaled * 255).astype(np.uint8)).convert("RGB")

    return convert


def _cmyk(image: Image.Image) -> _Convert:
    profile = image.info.get("icc_profile")
    if profile:
        # CMYK converted arithmetically looks wrong; the embedded press profile gives the true colours.
        try:
            ink = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            to_screen = ImageCms.buildTransform(ink, ImageCms.createProfile("sRGB"), "CMYK", "RGB")
            return lambda part: cast(Image.Image, ImageCms.applyTransform(part, to_screen))
        except ImageCms.PyCMSError:
            pass
    return lambda part: part.convert("RGB")
