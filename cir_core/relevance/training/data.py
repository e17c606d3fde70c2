"""Training data of a relevance model: queries, pools of candidates, patches of all images."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from cir_core.datasets.records import Benchmark
from cir_core.errors import DatasetError
from cir_core.images.load import for_encoder, open_image

_MOST_MEGAPIXELS = 64.0   # as when a gallery is indexed

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TrainingQuery:
    """Rows of reference and target among the images; ``captions``, joined in either order; name of the pool."""

    reference: int
    target: int
    captions: tuple[str, ...]
    pool: str


@dataclass(frozen=True)
class TrainingData:
    """``load(row)`` decodes an image. ``pools``: rows that negatives (training) or candidates (validation) come from;
    a pool has the targets of its queries. ``version``: another text if images of the same rows have changed.
    ``further``: more queries over the same images, for the start of an untrained network alone."""

    dataset: str
    images: int
    load: Callable[[int], Image.Image]
    queries: Sequence[TrainingQuery]
    pools: Mapping[str, Rows]
    validation: Sequence[TrainingQuery]
    validation_pools: Mapping[str, Rows]
    version: str = ""
    further: Sequence[TrainingQuery] = ()

    @property
    def images_digest(self) -> str:
        """16 hex digits; features of images can be used again while it is the same."""
        return hashlib.sha256(json.dumps([self.dataset, self.images, self.version]).encode()).hexdigest()[:16]

    @cached_property
    def digest(self) -> str:
        """16 hex digits; changes with images, queries and pools."""
        content = [self.images_digest,
                *([[q.reference, q.target, q.captions, q.pool] for q in queries]
                  for queries in (self.queries, self.further, self.validation)),
                *({name: rows.tolist() for name, rows in sorted(pools.items())}
                  for pools in (self.pools, self.validation_pools))]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def spoken(query: TrainingQuery) -> tuple[str, ...]:
    """The captions joined as FashionIQ's are, in either order; the given one first. Of a query whose file joins them
    already, and of one with a single caption, that alone."""
    return tuple(dict.fromkeys((" and ".join(query.captions), " and ".join(query.captions[::-1]))))


def training_data(train: Benchmark, validation: Benchmark, roots: Sequence[Path]) -> TrainingData:
    """Queries with targets of two splits of a data set, images under ``roots``.

    Negatives come from the training *targets* of the query's category for FashionIQ, from all training images for
    CIRR (section 5 of the published code). Raises ``DatasetError``: no targets, images that are missing.
    """
    ids = list(dict.fromkeys([*train.image_ids, *validation.image_ids]))
    rows = {image_id: row for row, image_id in enumerate(ids)}
    paths = [_find(train if image_id in train_ids else validation, image_id, roots)
             for train_ids in [set(train.image_ids)] for image_id in ids]
    queries, of_train = _queries(train, rows), {}
    for name in {query.pool for query in queries}:
        if train.kind == "cirr":
            of_train[name] = np.arange(len(train.image_ids))
        else:
            of_train[name] = np.array(sorted({query.target for query in queries if query.pool == name}))
    held, pools = _queries(validation, rows), {}
    for name, listed in validation.pools.items():
        pools[name] = np.array([rows[one] for one in (listed if listed is not None else validation.image_ids)])

    def load(row: int) -> Image.Image:
        return for_encoder(open_image(paths[row], max_megapixels=_MOST_MEGAPIXELS))

    files = [(image_id, path.stat()) for image_id, path in zip(ids, paths, strict=True)]
    version = hashlib.sha256(json.dumps([(one, stat.st_size, stat.st_mtime_ns) for one, stat in files]).encode())
    return TrainingData(train.kind, len(ids), load, queries, of_train, held, pools, version.hexdigest())


def _queries(benchmark: Benchmark, rows: Mapping[str, int]) -> list[TrainingQuery]:
    found = [
        TrainingQuery(rows[query.reference_id], rows[query.target_ids[0]], (query.modification_text,), query.pool)
        for query in benchmark.queries if query.target_ids
    ]
    if not found:
        raise DatasetError(f"No query of {benchmark.name} has a target, so nothing can be learned from it. Name the "
                           "split with targets.")
    return found


def _find(benchmark: Benchmark, image_id: str, roots: Sequence[Path]) -> Path:
    for root in roots:
        for path in benchmark.image_paths(image_id):
            if (root / path).is_file():
                return root / path
    raise DatasetError(f"Image {image_id} of {benchmark.name} is not under {', '.join(map(str, roots))}. Name the "
                       "folder of the images with --images.")
