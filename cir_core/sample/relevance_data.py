"""Training data of the sample's relevance model: queries over garments that the gallery never shows. Garments drawn
as training images: rendered once, resized as in open_clip's inference transform, and stored as one uint8 array on
disk.

Queries are those of :func:`make_triplets` over the train split and over designs of their own, which come in every
colour as the gallery's do; validation is over the val split. No garment of these is in the gallery, nor is any
combination of attributes (:mod:`cir_core.sample.atelier.catalogue`).
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from cir_core.relevance.training.data import Rows, TrainingData, TrainingQuery
from cir_core.sample.atelier import draw
from cir_core.sample.atelier.captions import Triplet, close_pairs, make_triplets, triplets_of
from cir_core.sample.atelier.catalogue import DEFAULT_SIZES, Garment, catalogue
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


_SIZES = {**DEFAULT_SIZES, "designs": 6000}
_PER_CATEGORY = {"train": 3000, "designs": 2000, "val": 150}
_ALL = "all"
_DRAWS = 6   # sets of queries over the same garments; all but the first are for the start


def sample_relevance_data(
    cache: Path, *, seed: int, limit: int | None = None, processes: int = 2
) -> TrainingData:
    """Garments drawn into ``cache`` once. ``limit``: so many training garments of each kind."""
    garments = catalogue(sizes=_SIZES)
    train, designs, held = ([one for one in garments if one.split == split][:limit] for split in _PER_CATEGORY)
    shown = [*train, *designs, *held]
    pixels = [rendered(part, cache, size=IMAGE_SIZE, processes=processes)[0] for part in (train, designs, held)]
    rows = {one.item_id: row for row, one in enumerate(shown)}
    ends = np.cumsum([len(part) for part in pixels])

    def load(row: int) -> Image.Image:
        part = int(np.searchsorted(ends, row, side="right"))
        return Image.fromarray(np.array(pixels[part][row - ends[part]]))

    # As in the cache of drawings, a few stand for the code that draws.
    version = hashlib.sha256(json.dumps([one.item_id for one in shown]).encode())
    for part in pixels:
        version.update(part[:12].tobytes())
    pairs = {"train": close_pairs(train), "designs": close_pairs(designs)}
    drawn = [_queries([triplet for split, close in pairs.items()
                       for triplet in triplets_of(close, seed + draw, _PER_CATEGORY[split])],
                      # Negatives of all categories, so that a dress is none the better for a query about tops.
                      rows, random.Random(f"relevance/{seed}/{draw}"), _ALL) for draw in range(_DRAWS)]
    return TrainingData(
        "sample", len(rows), load,
        drawn[0], {_ALL: np.arange(len(train) + len(designs))},
        _queries(make_triplets(held, seed, _PER_CATEGORY["val"]), rows), _pools(held, rows), version.hexdigest(),
        [query for queries in drawn[1:] for query in queries],
    )


def _queries(
    triplets: Sequence[Triplet], rows: Mapping[str, int], rng: random.Random | None = None, pool: str = ""
) -> list[TrainingQuery]:
    """Captions joined, in random order if ``rng`` is given. ``pool``: of all of them; else each has its category's."""
    made = []
    for one in triplets:
        captions = one.captions[::-1] if rng and rng.random() < 0.5 else one.captions
        made.append(TrainingQuery(rows[one.reference_id], rows[one.target_id], (" and ".join(captions),),
                                  pool or one.category))
    return made


def _pools(garments: Sequence[Garment], rows: Mapping[str, int]) -> dict[str, Rows]:
    return {category: np.array([rows[one.item_id] for one in garments if one.category == category])
            for category in dict.fromkeys(one.category for one in garments)}
