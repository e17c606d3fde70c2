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
from cir_core.images.pixels import pad_to_ratio
from cir_core.relevance.backbones.base import Patches, RelevanceBackbone
from cir_core.relevance.training.data import TrainingData
from cir_core.support.checksums import signed, sum_of, unsigned
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
        if not path.is_file() or path.stat().st_size != size or _left(path, counter, data.images, size):
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
    left, sums = _left(path, counter, data.images, 2 * math.prod(shape)), _sums(counter)
    for start in left:
        rows = range(start, min(start + _BATCH, data.images))
        out[start : rows.stop] = backbone.image_patches([pad_to_ratio(data.load(row), pad) for row in rows])
        out.flush()
        sums[start] = sum_of(out[start : rows.stop].tobytes())
        write_atomically(counter, signed({"batch": _BATCH, "sums": sums}))
        if progress:
            progress("image features", rows.stop, data.images)


def picked(patches: Patches, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """``[rows, patches, width]`` float32."""
    return patches[rows].astype(np.float32)


def _left(path: Path, counter: Path, images: int, size: int) -> list[int]:
    """Starts of the batches that are missing or damaged."""
    sums, row_bytes = _sums(counter), size // images if images else 0
    left = []
    with path.open("rb") as file:
        for start in range(0, images, _BATCH):
            checksum = sums.get(start)
            content = file.read(row_bytes * min(_BATCH, images - start))
            sound = (np.isfinite(np.frombuffer(content, "<f2")).all() if checksum == ""
                     else sum_of(content) == checksum)
            if checksum is None or not sound:
                left.append(start)
    return left


def _sums(counter: Path) -> dict[int, str]:
    """Checksums of the batches that were computed, by their first row; "" of earlier versions, which counted rows."""
    try:
        content = counter.read_bytes()
        if content.isdigit():
            return dict.fromkeys(range(0, int(content), _BATCH), "")
        found = unsigned(content)
        return {int(start): checksum for start, checksum in found["sums"].items()} if found["batch"] == _BATCH else {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
