"""The batches of one epoch over rendered images: what varies from epoch to epoch (small shifts, mirroring, light)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cir_core.garments.lexicon import GROUPS
from cir_core.sample.atelier.catalogue import Garment
from cir_core.sample.relevance_data import Pixels

Codes = npt.NDArray[np.int64]  # [n, groups], index of the value within its group


def attribute_codes(garments: Sequence[Garment]) -> Codes:
    """``[n, groups]``: the value's index for each garment and each of ``GROUPS``."""
    index = [{key: i for i, key in enumerate(group.keys)} for group in GROUPS]
    rows = [
        [index[g][garment.attributes[group.key]] for g, group in enumerate(GROUPS)]
        for garment in garments
    ]
    return np.asarray(rows, dtype=np.int64).reshape(len(garments), len(GROUPS))


@dataclass(frozen=True)
class Batch:
    """Rows of the training set and their pixels, ``[b, size, size, 3]`` uint8."""

    rows: npt.NDArray[np.int64]
    pixels: Pixels


def batches(
    garments: Sequence[Garment],
    images: Pixels,
    *,
    batch_size: int,
    rng: random.Random,
    siblings: int = 1,
) -> Iterator[Batch]:
    """One epoch. ``images`` is ``[takes, n, size, size, 3]``; each garment occurs once.

    ``siblings`` members of a family stay together: they differ in one to four
    attributes, and make hard negatives for the contrastive loss.
    Two are enough. Whole families would leave a batch with few different garments.
    """
    grouped: dict[int, list[int]] = {}
    for row, garment in enumerate(garments):
        grouped.setdefault(garment.family, []).append(row)
    units: list[list[int]] = []
    for family in grouped.values():
        rng.shuffle(family)
        units.extend(family[i : i + siblings] for i in range(0, len(family), siblings))
    rng.shuffle(units)
    order = np.asarray([row for unit in units for row in unit], dtype=np.int64)
    takes = images.shape[0]
    for start in range(0, len(order) - batch_size + 1, batch_size):
        rows = order[start : start + batch_size]
        pixels = np.stack([images[rng.randrange(takes), row] for row in rows])
        yield Batch(rows, jitter(pixels, rng))


def jitter(pixels: Pixels, rng: random.Random, *, reach: int = 6) -> Pixels:
    """Augmentation: random mirroring, a shift of up to ``reach`` pixels, a little lighter or darker.

    Nothing the captions mention depends on left and right. Light varies by 3 % only: more
    would turn navy into black.
    """
    size = pixels.shape[1]
    padded = np.pad(pixels, ((0, 0), (reach, reach), (reach, reach), (0, 0)), mode="edge")
    out = np.empty_like(pixels)
    for i in range(len(pixels)):
        top, left = rng.randint(0, 2 * reach), rng.randint(0, 2 * reach)
        view = padded[i, top : top + size, left : left + size]
        if rng.random() < 0.5:
            view = view[:, ::-1]
        gain = rng.uniform(0.97, 1.03)
        out[i] = np.clip(view * np.float32(gain) + np.float32(0.5), 0, 255).astype(np.uint8)
    return out
