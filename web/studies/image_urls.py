"""Image URLs of studies, relative to the app's root, by token."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from annotation.records import StudyImage

Images = Mapping[str, StudyImage]   # by token


def picture(study_id: str, token: str | None, images: Images) -> dict[str, Any]:
    """``{"token", "small", "large", "width", "height"}``, or ``{"token", "missing": true}``."""
    image = None if token is None else images.get(token)
    if image is None or not image.width:
        return {"token": token or "", "missing": True}
    return {"token": token, "small": address(study_id, image.token, "s"), "large": address(study_id, image.token, "l"),
            "width": image.width, "height": image.height}


def address(study_id: str, token: str, size: str) -> str:
    """URL of an image. ``size``: "s" or "l"."""
    return f"study/image/{study_id}/{token}-{size}.webp"


def addresses(study_id: str, wanted: Iterable[tuple[str, str]], images: Images) -> list[str]:
    """URLs of tokens with a size each; unavailable images are omitted."""
    return [address(study_id, token, size) for token, size in wanted if token in images and images[token].width]
