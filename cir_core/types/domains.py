"""Image domains of galleries; prompts and captions are worded accordingly."""

from __future__ import annotations

from typing import Literal, get_args

Domain = Literal["garment", "dress", "shirt", "toptee", "scene", "circo"]
"""``scene`` is CIRR's photos of anything, ``circo`` CIRCO's everyday photos."""

DOMAINS: tuple[Domain, ...] = get_args(Domain)
