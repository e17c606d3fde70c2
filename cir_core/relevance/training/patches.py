"""Frozen features of all training images on disk: computed once, half precision, resumable."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from cir_core.gallery.paths import disk_errors_explained
from cir_core.relevance.backbones.base import Patches, RelevanceBackbone
from cir_core.relevance.padding import pad_to_ratio
from cir_core.relevance.training.data import TrainingData

_BATCH = 64
Progress = Callable[[str, int, int], None]


def training_patches(
    folder: Path, data: TrainingData, backbone: RelevanceBackbone, pad: float, progress: Progress | None = None
) -> Patches:
    """``[images, patches, width]`` float16, memory-mapped from ``folder``. What an interrupted run computed is kept.

    Raises ``ImageUnreadable`` for an image that cannot be decoded, ``GalleryError`` when the disk is full.
    """
    name = hashlib.sha256(f"{backbone.identity.revision}/{pad}/{data.digest}".encode()).hexdigest()[:16]
    path, shape = folder / f"patches-{name}.f16", (data.images, backbone.patches, backbone.width)
    counter = path.with_suffix(".done")
    with disk_errors_explained(folder, "folder", "image features"):
        folder.mkdir(parents=True, exist_ok=True)
        done = _count(counter) if path.is_file() and path.stat().st_size == 2 * int(np.prod(shape)) else 0
        out = np.memmap(path, dtype="<f2", mode="r+" if done else "w+", shape=shape)
        for start in range(done, data.images, _BATCH):
            rows = range(start, min(start + _BATCH, data.images))
            out[start : rows.stop] = backbone.image_patches([pad_to_ratio(data.load(row), pad) for row in rows])
            out.flush()
            counter.write_text(str(rows.stop), "ascii")
            if progress:
                progress("image features", rows.stop, data.images)
    return cast(Patches, np.memmap(path, dtype="<f2", mode="r", shape=shape))


def picked(patches: Patches, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """``[rows, patches, width]`` float32."""
    return patches[rows].astype(np.float32)


def _count(path: Path) -> int:
    try:
        return int(path.read_text("ascii"))
    except (OSError, ValueError):
        return 0
