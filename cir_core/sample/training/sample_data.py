"""Rendered training images, cached for many epochs, and the batches of one epoch.

Images are rendered once, resized as in open_clip's inference transform,
and stored as one uint8 array on disk. What varies from epoch to epoch (captions,
small shifts, mirroring, light) is cheap and is done here.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from cir_core.garments.lexicon import GROUPS
from cir_core.sample.atelier import draw
from cir_core.sample.atelier.catalogue import Garment
from cir_core.support.checksums import sum_of_file

Pixels = npt.NDArray[np.uint8]  # [n, size, size, 3] RGB
Codes = npt.NDArray[np.int64]  # [n, groups], index of the value within its group

_DRAWN_SIZE = 256


def attribute_codes(garments: Sequence[Garment]) -> Codes:
    """``[n, groups]``: the value's index for each garment and each of ``GROUPS``."""
    index = [{key: i for i, key in enumerate(group.keys)} for group in GROUPS]
    rows = [
        [index[g][garment.attributes[group.key]] for g, group in enumerate(GROUPS)]
        for garment in garments
    ]
    return np.asarray(rows, dtype=np.int64).reshape(len(garments), len(GROUPS))


def shrink(image: Image.Image, size: int) -> Pixels:
    """Input of open_clip's inference transform before normalisation: ``[size, size, 3]``.

    Its steps are ``Resize(size, BICUBIC)`` (shorter side) and ``CenterCrop(size)``; for
    the square drawings the second changes nothing.
    """
    resized = image.convert("RGB").resize((size, size), Image.Resampling.BICUBIC)
    return np.array(resized, dtype=np.uint8)


def _draw_one(job: tuple[dict[str, str], int, int]) -> Pixels:
    attributes, seed, size = job
    return shrink(Image.fromarray(draw.render(attributes, seed, size=_DRAWN_SIZE)), size)


def rendered(
    garments: Sequence[Garment], cache: Path, *, size: int, takes: int = 1, processes: int = 2
) -> Pixels:
    """All garments rendered, ``[takes, n, size, size, 3]``; from ``cache`` if it contains them.

    Take 0 is the garment's own rendering; further takes render the same attributes with
    other seeds (another pose, background and noise), which the gallery never shows.
    """
    listing = [(dict(g.attributes), g.seed) for g in garments]
    digest = hashlib.blake2b(
        json.dumps([listing, size, takes], sort_keys=True).encode(), digest_size=8
    )
    # Changed rendering code must not reuse old images: a few renderings represent the code.
    for attributes, seed in listing[:12]:
        digest.update(_draw_one((attributes, seed, size)).tobytes())
    path = cache / f"drawn-{digest.hexdigest()}.npy"
    sum_file = path.with_suffix(".sum")     # earlier versions wrote none
    if not path.is_file() or (sum_file.is_file() and sum_file.read_text("ascii") != sum_of_file(path)):
        cache.mkdir(parents=True, exist_ok=True)
        jobs = [
            (attributes, take_seed(seed, take), size)
            for take in range(takes)
            for attributes, seed in listing
        ]
        partial = path.with_suffix(".partial")
        out = np.lib.format.open_memmap(
            partial, mode="w+", dtype=np.uint8, shape=(takes, len(listing), size, size, 3)
        )
        flat = out.reshape(-1, size, size, 3)
        if processes > 1 and len(jobs) > 200:
            with multiprocessing.get_context("spawn").Pool(processes) as pool:
                for i, pixels in enumerate(pool.imap(_draw_one, jobs, chunksize=32)):
                    flat[i] = pixels
        else:
            for i, job in enumerate(jobs):
                flat[i] = _draw_one(job)
        out.flush()
        sum_file.write_text(sum_of_file(partial), "ascii")
        partial.rename(path)
    return np.load(path, mmap_mode="r")


def take_seed(seed: int, take: int) -> int:
    """The rendering seed of a garment's ``take``; take 0 is the garment's own."""
    if take == 0:
        return seed
    digest = hashlib.blake2b(f"{seed}/take {take}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big")


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
