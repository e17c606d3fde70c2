"""Every colour layout that files come in, to 8-bit sRGB."""

from __future__ import annotations

import io
from typing import cast

import numpy as np
from PIL import Image, ImageCms


def to_rgb(image: Image.Image) -> Image.Image:
    """A decoded ``image`` of any mode as RGB; what is transparent becomes white."""
    if image.mode.startswith("I") or image.mode == "F":
        return _deep_grey(image).convert("RGB")
    if image.mode == "CMYK":
        return _cmyk(image)
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        page = Image.new("RGBA", layer.size, "white")
        return Image.alpha_composite(page, layer).convert("RGB")
    return image.convert("RGB")


def _deep_grey(image: Image.Image) -> Image.Image:
    """16-bit, 32-bit and floating grey to 8 bits; Pillow's own convert clips at 255."""
    values = np.asarray(image).astype(np.float64)
    if image.mode == "F":
        top = 1.0 if values.size and np.nanmax(values) <= 1.0 else 255.0
    else:
        top = 65535.0 if image.mode != "I" or values.max(initial=0) <= 65535 else 2.0**31 - 1
    scaled = np.nan_to_num(values / top).clip(0.0, 1.0)
    return Image.fromarray(np.rint(scaled * 255).astype(np.uint8))


def _cmyk(image: Image.Image) -> Image.Image:
    profile = image.info.get("icc_profile")
    if profile:
        # Inks look far from their plain arithmetic; the press's profile knows how far.
        try:
            ink = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            screen = ImageCms.createProfile("sRGB")
            return cast(Image.Image, ImageCms.profileToProfile(image, ink, screen, outputMode="RGB"))
        except ImageCms.PyCMSError:
            pass
    return image.convert("RGB")
