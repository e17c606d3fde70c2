"""Garments drawn as training images: rendered once, resized as in open_clip's inference transform, and stored as one
uint8 array on disk."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from cir_core.sample.atelier import draw
from cir_core.sample.atelier.catalogue import Garment
from cir_core.support.checksums import sum_of_file

Pixels = npt.NDArray[np.uint8]  # [n, size, size, 3] RGB

IMAGE_SIZE = 160   # of the bundled encoder
_DRAWN_SIZE = 256


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
    images: Pixels = np.load(path, mmap_mode="r")
    return images


def take_seed(seed: int, take: int) -> int:
    """The rendering seed of a garment's ``take``; take 0 is the garment's own."""
    if take == 0:
        return seed
    digest = hashlib.blake2b(f"{seed}/take {take}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big")
