"""Training data of the sample's relevance model: queries over garments that the gallery never shows.

Queries are those of :func:`make_triplets` over the train split and over designs of their own, which come in every
colour as the gallery's do; validation is over the val split. No garment of these is in the gallery, nor is any
combination of attributes (:mod:`cir_core.sample.atelier.catalogue`).
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from cir_core.relevance.training.data import Rows, TrainingData, TrainingQuery
from cir_core.sample.atelier.catalogue import DEFAULT_SIZES, Garment, catalogue
from cir_core.sample.atelier.queries import Triplet, close_pairs, make_triplets, triplets_of
from cir_core.sample.drawn_images import IMAGE_SIZE, rendered

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
