"""Convert any colour layout to 8-bit sRGB, and put images side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from cir_core.images.profiles import to_srgb

_GAP = 8   # white pixels between images
_Convert = Callable[[Image.Image], Image.Image]
_STRIP = 2**18   # pixels
_DEEP = 65535.0
_BITS = 258     # tag of a TIFF


def to_rgb(image: Image.Image) -> Image.Image:
    """A decoded ``image`` of any mode as RGB, in the colours of sRGB; transparent pixels become white. Large images are
    converted strip by strip, so that intermediate forms, up to 8 bytes a pixel, never exist whole."""
    convert = _converter(image)
    if image.width * image.height <= _STRIP:
        result = convert(image)
        if result is image:
            result = image.copy()
    else:
        result = Image.new("RGB", image.size)
        for box in strips(image.size):
            result.paste(convert(image.crop(box)), box)
    result.info = {key: value for key, value in image.info.items() if key not in ("transparency", "icc_profile")}
    return result


def consumed_to_rgb(image: Image.Image) -> Image.Image:
    """:func:`to_rgb`; ``image`` cannot be used afterwards. RGB is converted and an alpha channel flattened in place,
    since Pillow stores both in as many bytes: no second image of its size is needed."""
    if image.mode == "RGB" and not image.has_transparency_data:
        if (convert := to_srgb(image.info.get("icc_profile"), "RGB")) is not None:
            for box in strips(image.size):
                image.paste(convert(image.crop(box)), box)
        return image._new(image.im)
    if image.mode != "RGBA":
        return to_rgb(image)
    convert = _converter(image)
    for box in strips(image.size):
        opaque = convert(image.crop(box))
        opaque.putalpha(255)
        image.paste(opaque, box)
    image.im.setmode("RGB")
    return image._new(image.im)


def strips(size: tuple[int, int]) -> Iterator[tuple[int, int, int, int]]:
    """Boxes of whole lines that cover an image of ``size``."""
    width, height = size
    rows = max(1, _STRIP // width)
    for top in range(0, height, rows):
        yield 0, top, width, min(height, top + rows)


def _converter(image: Image.Image) -> _Convert:
    """How to convert parts of ``image``."""
    to_eight = _eight_bits(image)
    mode = to_eight(image.crop((0, 0, 1, 1))).mode
    colours = to_srgb(image.info.get("icc_profile"), "L" if mode == "LA" else mode)

    def convert(part: Image.Image) -> Image.Image:
        part = to_eight(part)
        if colours is not None and part.mode == "LA":
            opaque = colours(part.getchannel("L"))
            opaque.putalpha(part.getchannel("A"))
            part = opaque
        elif colours is not None:
            part = colours(part)
        return _on_white(part) if part.mode in ("LA", "RGBA") else part.convert("RGB")

    return convert


def _eight_bits(image: Image.Image) -> _Convert:
    """To L, LA, RGB, RGBA or CMYK."""
    if image.mode.startswith("I") or image.mode == "F":
        return _deep_grey(image)
    grey = image.mode in ("1", "L", "LA", "La")
    target = ("LA" if grey else "RGBA") if image.has_transparency_data else "L" if grey else "RGB"
    if image.mode in ("CMYK", target):
        return lambda part: part
    if image.mode == "1":       # Pillow knows its transparent colour as RGBA alone
        return lambda part: part.convert("RGBA").convert(target)
    return lambda part: part.convert(target)


def _on_white(image: Image.Image) -> Image.Image:
    layer = image.convert("RGBA")
    page = Image.new("RGBA", layer.size, "white")
    return Image.alpha_composite(page, layer).convert("RGB")


def _deep_grey(image: Image.Image) -> _Convert:
    """16-bit, 32-bit and float grey to 8 bits; Pillow's own convert clips at 255."""
    bits, *_ = getattr(image, "tag_v2", {}).get(_BITS, (16,))
    top = (2.0**bits - 1 if bits < 16 else _DEEP) if image.mode.startswith("I;16") else white_of(
        np.asarray(image.crop(box)) for box in strips(image.size))
    clear = image.info.get("transparency")

    def convert(part: Image.Image) -> Image.Image:
        values = np.asarray(part)
        grey = Image.fromarray(eight_bits(values, top))
        if isinstance(clear, int):
            alpha = np.where(values == clear, 0, 255).astype(np.uint8)
            return Image.merge("LA", (grey, Image.fromarray(alpha)))
        return grey

    return convert


def eight_bits(values: npt.NDArray[Any], top: float) -> npt.NDArray[np.uint8]:
    """``values`` from 0 to ``top`` as 0 to 255; what is no number becomes 0."""
    scaled = np.nan_to_num(values.astype(np.float64) / top, posinf=1.0).clip(0.0, 1.0)
    levels: npt.NDArray[np.uint8] = np.rint(scaled * 255).astype(np.uint8)
    return levels


def white_of(parts: Iterable[npt.NDArray[Any]]) -> float:
    """The number that stands for white in a picture of numbers, given part by part. Of integers, 65535 or, if there are
    greater ones, the greatest of their type; of floats 1, 255, 65535 or the greatest of all. Of floats it is 1, too, if
    most that are not black are below: the brightest parts of pictures of high dynamic range are clipped."""
    most, below, above, whole = 0.0, 0, 0, 0
    for part in parts:
        if part.dtype.kind != "f":
            whole = int(np.iinfo(part.dtype).max)
            most = max(most, float(part.max(initial=0)))
            continue
        values = part[np.isfinite(part)]
        most = max(most, float(values.max(initial=0.0)))
        below += int(((values > 0) & (values <= 1)).sum())
        above += int((values > 1).sum())
    if whole:
        return _DEEP if most <= _DEEP < whole else float(whole)
    return 1.0 if below >= above else next((top for top in (1.0, 255.0, _DEEP) if most <= top), most)


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
