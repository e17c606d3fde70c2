"""Encode images as data URLs."""

from __future__ import annotations

import base64
import io

from PIL import Image

_TINY = 64      # pixels on the longer edge up to which JPEG's blocks would be visible
_FLAT = 64      # colours up to which PNG is small and JPEG blurs the edges
_QUALITY = 85


def data_url(image: Image.Image, edge: int) -> str:
    """``image`` (RGB) at most ``edge`` pixels on its longer side: JPEG, or PNG if tiny or flat."""
    if max(image.size) > edge:
        image = image.copy()
        image.thumbnail((edge, edge), Image.Resampling.LANCZOS)
    image = image.convert("RGB")
    content = io.BytesIO()
    kind = "png" if max(image.size) <= _TINY or image.getcolors(_FLAT) else "jpeg"
    # Pixels only: metadata on place, camera or owner is not sent.
    image.info = {}
    if kind == "png":
        image.save(content, "PNG")
    else:
        image.save(content, "JPEG", quality=_QUALITY)
    return f"data:image/{kind};base64,{base64.b64encode(content.getvalue()).decode()}"
