"""Measure what an encoder of the sample makes of garments: the record of :mod:`cir_core.garments.known`.

Garments of the sample gallery and of the training split are measured; those of another catalogue set the unit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from cir_core.encoders.base import Encoder
from cir_core.garments.known import KnownGarments, measured
from cir_core.garments.zero_shot import attributes_of
from cir_core.images.load import for_encoder, process_image
from cir_core.sample.atelier.build import build_atelier
from cir_core.sample.atelier.catalogue import DEFAULT_SEED
from cir_core.types.records import Matrix

SEEN: Mapping[str, int] = {"test": 6000, "train": 2000}
NEW: Mapping[str, int] = {"test": 1000, "val": 1000}
NEW_SEED = 987
_BATCH = 64


def measure_known(
    encoder: Encoder, folder: Path, *, seen: Mapping[str, int] = SEEN, new: Mapping[str, int] = NEW,
    progress: Callable[[str], None] = lambda line: None,
) -> KnownGarments:
    """The record of ``encoder``. The garments are drawn into ``folder``, as the gallery stores them; ``seen`` and
    ``new`` are the numbers of each split. What is there already is used again."""
    progress(f"drawing {sum(seen.values())} + {sum(new.values())} garments into {folder}")
    features, held_out = (
        np.concatenate([_vectors(encoder, folder / f"{seed}-{split}", seed, split, count)
                        for split, count in splits.items()])
        for seed, splits in ((DEFAULT_SEED, seen), (NEW_SEED, new))
    )
    return measured(encoder.identity.revision, attributes_of(encoder), features, held_out)


def _vectors(encoder: Encoder, folder: Path, seed: int, split: str, count: int) -> Matrix:
    paths = sorted(build_atelier(folder, seed=seed, splits=(split,), limit=count, workers="auto").images.iterdir())
    return np.concatenate([
        encoder.encode_images([process_image(path, for_encoder, max_megapixels=1) for path in paths[at:at + _BATCH]])
        for at in range(0, len(paths), _BATCH)
    ])
