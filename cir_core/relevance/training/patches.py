"""Frozen features of all training images on disk: computed once, half precision, resumable."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from cir_core.errors import GalleryError, RelevanceUnavailable
from cir_core.gallery.paths import disk_errors_explained, locked
from cir_core.relevance.backbones.base import Patches, RelevanceBackbone
from cir_core.relevance.padding import pad_to_ratio
from cir_core.relevance.training.data import TrainingData
from cir_core.support.files import reserve, write_atomically

_BATCH = 64
Progress = Callable[[str, int, int], None]


def training_patches(
    folder: Path, data: TrainingData, backbone: RelevanceBackbone, pad: float, progress: Progress | None = None
) -> Patches:
    """``[images, patches, width]`` float16, memory-mapped from ``folder``. What an interrupted run computed is kept.

    Raises ``ImageUnreadable`` for an image that cannot be decoded, ``GalleryError`` when the disk is full,
    ``RelevanceUnavailable`` while another training computes features there.
    """
    name = hashlib.sha256(f"{backbone.identity.revision}/{pad}/{data.images_digest}".encode()).hexdigest()[:16]
    path, shape = folder / f"patches-{name}.f16", (data.images, backbone.patches, backbone.width)
    counter, size = path.with_suffix(".done"), 2 * math.prod(shape)
    with disk_errors_explained(folder, "image features", "those computed so far"):
        folder.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.stat().st_size != size or _count(counter) < data.images:
            with ExitStack() as stack:
                try:
                    stack.enter_context(locked(folder))
                except GalleryError as error:
                    raise RelevanceUnavailable(f"Another training computes image features in {folder}. Start this one "
                                               "again when that is done.") from error
                _compute(path, counter, shape, data, backbone, pad, progress)
    return cast(Patches, np.memmap(path, dtype="<f2", mode="r", shape=shape))


def _compute(
    path: Path, counter: Path, shape: tuple[int, int, int], data: TrainingData, backbone: RelevanceBackbone, pad: float,
    progress: Progress | None,
) -> None:
    if not path.is_file() or path.stat().st_size != 2 * math.prod(shape):
        counter.unlink(missing_ok=True)
        reserve(path, 2 * math.prod(shape))
    out = np.memmap(path, dtype="<f2", mode="r+", shape=shape)
    for start in range(_count(counter), data.images, _BATCH):
        rows = range(start, min(start + _BATCH, data.images))
        out[start : rows.stop] = backbone.image_patches([pad_to_ratio(data.load(row), pad) for row in rows])
        out.flush()
        write_atomically(counter, str(rows.stop).encode())
        if progress:
            progress("image features", rows.stop, data.images)


def picked(patches: Patches, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """``[rows, patches, width]`` float32."""
    return patches[rows].astype(np.float32)


def _count(path: Path) -> int:
    try:
        return int(path.read_text("ascii"))
    except (OSError, ValueError):
        return 0
