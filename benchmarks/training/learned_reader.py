"""Train the record of :mod:`cir_core.garments.learned`: what an encoder of the sample sees, by logistic regression.

Of the garments that the encoder was trained on it is surer than of others, so the reader is trained on garments that it
has not seen: another catalogue's training garments, and designs in every colour. The validation split calibrates. None
of the sample gallery's images is among them, nor any of its combinations of attributes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cir_core.encoders.base import Encoder
from cir_core.garments.learned import LearnedReader
from cir_core.garments.lexicon import GROUPS
from cir_core.images.load import for_encoder, process_image
from cir_core.sample.atelier.build import build_atelier
from cir_core.sample.atelier.catalogue import DEFAULT_SEED, DEFAULT_SIZES, Garment, catalogue
from cir_core.types.records import Matrix, Vector

Numbers = npt.NDArray[np.float64]
NEW_SEED = 20261201
DESIGNS: Mapping[str, int] = {**DEFAULT_SIZES, "designs": 6000}   # those that the relevance model is trained on
_BATCH = 64
STRENGTH = 30.0    # C of scikit-learn, the inverse of the penalty
_STEPS = 600


@dataclass(frozen=True)
class Reliability:
    """Of readings with a probability from ``low`` to ``high``: how many, their mean probability, and the share that is
    true."""

    low: float
    high: float
    count: int
    said: float
    true: float


def train_reader(
    encoder: Encoder, folder: Path, *, size: int = 16_000, progress: Callable[[str], None] = lambda line: None,
) -> tuple[LearnedReader, list[Reliability]]:
    """The reader of ``encoder``, and its calibration on garments of families that it was not trained on. The garments
    are drawn into ``folder``; what is there already is used again. ``size``: garments of the other catalogue."""
    gallery = {_key(one) for one in catalogue() if one.split == "test"}
    garments, rows = list[Garment](), list[Matrix]()
    for seed, split, sizes in ((NEW_SEED, "train", {"train": size}), (DEFAULT_SEED, "designs", DESIGNS),
                               (DEFAULT_SEED, "val", DEFAULT_SIZES)):
        some = [one for one in catalogue(seed, sizes) if one.split == split and _key(one) not in gallery]
        progress(f"drawing and encoding {len(some)} garments")
        garments += some
        rows.append(_vectors(encoder, folder / f"{seed}-{split}", seed, split, sizes, some))
    progress(f"training on {len(garments)} garments")
    held_out = np.array([one.split == "val" for one in garments])
    return trained(encoder.identity.revision, np.concatenate(rows), garments, held_out)


def _vectors(encoder: Encoder, folder: Path, seed: int, split: str, sizes: Mapping[str, int],
             garments: Sequence[Garment]) -> Matrix:
    """``[n, dim]`` of the garments, drawn as the gallery stores them."""
    drawn = build_atelier(folder, seed=seed, splits=(split,), sizes=sizes, workers="auto")
    paths = [drawn.image(one.item_id) for one in garments]
    return np.concatenate([
        encoder.encode_images([process_image(path, for_encoder, max_megapixels=1) for path in paths[at:at + _BATCH]])
        for at in range(0, len(paths), _BATCH)
    ])


def trained(
    revision: str, features: Matrix, garments: Sequence[Garment], held_out: npt.NDArray[np.bool_], *,
    strength: float = STRENGTH,
) -> tuple[LearnedReader, list[Reliability]]:
    """The reader from ``features`` ``[n, dim]`` of ``garments``, those that are not ``held_out``, and its calibration
    on those that are, which set the temperatures."""
    weights, offsets = list[Matrix](), list[Vector]()
    said, true = list[npt.NDArray[np.float64]](), list[npt.NDArray[np.bool_]]()
    for group in GROUPS:
        codes = np.array([group.keys.index(one.attributes[group.key]) for one in garments])
        rows, constant = _fit(features[~held_out], codes[~held_out], len(group.keys), strength)
        scores = features[held_out].astype(np.float64) @ rows.T + constant
        temperature = _temperature(scores, codes[held_out])
        weights.append((rows / temperature).astype(np.float32))
        offsets.append((constant / temperature).astype(np.float32))
        said.append(_softmax(scores / temperature).ravel())
        true.append((codes[held_out, None] == np.arange(len(group.keys))).ravel())
    return (LearnedReader(revision, np.concatenate(weights), np.concatenate(offsets)),
            reliability(np.concatenate(said), np.concatenate(true)))


def reliability(said: npt.NDArray[np.float64], true: npt.NDArray[np.bool_]) -> list[Reliability]:
    """By tenths of the probability ``said`` ``[n]`` that something is there, which is so where ``true`` ``[n]``."""
    edges = np.linspace(0, 1, 11)
    place = np.clip(np.digitize(said, edges) - 1, 0, 9)
    return [Reliability(float(edges[i]), float(edges[i + 1]), int(mine.sum()), float(said[mine].mean()),
                        float(true[mine].mean()))
            for i in range(10) if (mine := place == i).any()]


def _key(garment: Garment) -> tuple[str, ...]:
    return tuple(garment.attributes[group.key] for group in GROUPS)


def _fit(features: Matrix, codes: npt.NDArray[np.intp], values: int, strength: float) -> tuple[Numbers, Numbers]:
    """Rows ``[values, dim]`` and constants ``[values]``; a value that none shows is never read."""
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")   # scikit-learn's, of its next version
        model = LogisticRegression(C=strength, max_iter=_STEPS).fit(features.astype(np.float64), codes)
    rows, constant = np.zeros((values, features.shape[1]), np.float64), np.full(values, -1e3)
    if len(model.classes_) == 2:   # scikit-learn keeps one row, of the second
        rows[model.classes_[1]], constant[model.classes_[0]] = model.coef_[0], 0.0
        constant[model.classes_[1]] = model.intercept_[0]
    else:
        rows[model.classes_], constant[model.classes_] = model.coef_, model.intercept_
    return rows, constant


def _temperature(scores: npt.NDArray[np.float64], codes: npt.NDArray[np.intp]) -> float:
    """That which makes ``scores`` ``[n, values]`` likeliest."""
    from scipy.optimize import minimize_scalar

    def loss(log_temperature: float) -> float:
        p = _softmax(scores / np.exp(log_temperature))
        return float(-np.log(np.maximum(p[np.arange(len(codes)), codes], 1e-12)).mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-2.0, 2.0), method="bounded").x))


def _softmax(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(p / p.sum(axis=1, keepdims=True))
