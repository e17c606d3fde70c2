"""Measure what an encoder of the sample makes of garments: the record of :mod:`cir_core.garments.known`.

Garments of the sample gallery and of the training split are measured; those of another catalogue set the unit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from cir_core.encoders.base import Encoder
from cir_core.garments.known import KnownGarments, readings, unexplained
from cir_core.garments.zero_shot import ZeroShotAttributes, attributes_of
from cir_core.images.load import for_encoder, process_image
from cir_core.sample.atelier.build import build_atelier
from cir_core.sample.atelier.catalogue import DEFAULT_SEED
from cir_core.types.records import Matrix

SEEN: Mapping[str, int] = {"test": 6000, "train": 2000}
NEW: Mapping[str, int] = {"test": 1000, "val": 1000}
NEW_SEED = 987
_BATCH = 64
_RIDGE = 1.0


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


def measured(
    revision: str, attributes: ZeroShotAttributes, features: Matrix, held_out: Matrix
) -> KnownGarments:
    """The record of an encoder from vectors of garments it has seen or might have seen (``features`` ``[n, dim]``) and
    of new ones, which set the unit (``held_out`` ``[m, dim]``)."""
    from sklearn.covariance import LedoitWolf

    read, _ = readings(features, attributes)
    design = np.concatenate([np.ones((len(read), 1)), read], axis=1).astype(np.float64)
    normal = design.T @ design + _RIDGE * np.eye(design.shape[1])
    weights = np.linalg.solve(normal, design.T @ features.astype(np.float64)).astype(np.float32)
    fitted = LedoitWolf().fit(unexplained(features, weights, attributes).astype(np.float64))
    directions = np.linalg.cholesky(np.linalg.inv(fitted.covariance_)).astype(np.float32)
    known = KnownGarments(revision, weights, fitted.location_[None].astype(np.float32), directions)
    unit = np.float32(np.quantile(known.distances(held_out, attributes), 0.999))
    return KnownGarments(revision, weights, known.centre, directions / unit)


def _vectors(encoder: Encoder, folder: Path, seed: int, split: str, count: int) -> Matrix:
    paths = sorted(build_atelier(folder, seed=seed, splits=(split,), limit=count, workers="auto").images.iterdir())
    return np.concatenate([
        encoder.encode_images([process_image(path, for_encoder, max_megapixels=1) for path in paths[at:at + _BATCH]])
        for at in range(0, len(paths), _BATCH)
    ])
