"""Training data of the sample's relevance model: queries over the garments that the gallery never shows.

Queries are those of :func:`make_triplets` over the train split, without its limit; validation is over the val split.
No garment of either is in the gallery, nor is any combination of attributes (:mod:`cir_core.sample.atelier.catalogue`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from cir_core.relevance.training.data import Rows, TrainingData, TrainingQuery
from cir_core.sample.atelier.catalogue import Garment, catalogue
from cir_core.sample.atelier.queries import Triplet, make_triplets
from cir_core.sample.training.sample_data import rendered
from cir_core.sample.training.sample_model import IMAGE_SIZE

_PER_CATEGORY = {"train": 9000, "val": 150}


def sample_relevance_data(
    cache: Path, *, seed: int, limit: int | None = None, processes: int = 2
) -> TrainingData:
    """Garments of the train and val splits, drawn into ``cache`` once. ``limit``: so many training garments."""
    garments = catalogue()
    train = [one for one in garments if one.split == "train"][:limit]
    held = [one for one in garments if one.split == "val"]
    pixels = [rendered(part, cache, size=IMAGE_SIZE, processes=processes)[0] for part in (train, held)]
    rows = {one.item_id: row for row, one in enumerate([*train, *held])}

    def load(row: int) -> Image.Image:
        inside = row < len(train)
        return Image.fromarray(np.array(pixels[0][row] if inside else pixels[1][row - len(train)]))

    return TrainingData(
        "sample", len(rows), load,
        _queries(make_triplets(train, seed, _PER_CATEGORY["train"]), rows), _pools(train, rows),
        _queries(make_triplets(held, seed, _PER_CATEGORY["val"]), rows), _pools(held, rows),
    )


def _queries(triplets: Sequence[Triplet], rows: Mapping[str, int]) -> list[TrainingQuery]:
    return [TrainingQuery(rows[one.reference_id], rows[one.target_id], one.captions, one.category) for one in triplets]


def _pools(garments: Sequence[Garment], rows: Mapping[str, int]) -> dict[str, Rows]:
    return {category: np.array([rows[one.item_id] for one in garments if one.category == category])
            for category in dict.fromkeys(one.category for one in garments)}
