"""Evaluate an encoder on the sample gallery: retrieval and zero-shot attributes."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from PIL import Image

from cir_core.garments.lexicon import GROUPS
from cir_core.garments.zero_shot import ZeroShotAttributes
from cir_core.sample.atelier.captions import full_caption
from cir_core.sample.atelier.catalogue import Garment

_CHUNK = 256
_T = TypeVar("_T")


class DualEncoder(Protocol):
    def encode_images(self, images: Sequence[Image.Image]) -> npt.NDArray[np.float32]: ...

    def encode_texts(self, texts: Sequence[str]) -> npt.NDArray[np.float32]: ...


@dataclass(frozen=True)
class GroupAccuracy:
    """Correct and total images, overall and by true value."""

    correct: int
    total: int
    by_value: Mapping[str, tuple[int, int]]  # value → (correct, total)

    @property
    def accuracy(self) -> float:
        return self.correct / self.total if self.total else float("nan")


@dataclass(frozen=True)
class EncoderReport:
    """Caption-to-image retrieval over all ``n`` garments, and zero-shot attributes."""

    n: int
    recall_at_1: float
    recall_at_10: float
    median_rank: float
    attribute_accuracy: Mapping[str, GroupAccuracy]

    @property
    def mean_attribute_accuracy(self) -> float:
        """The unweighted mean over the groups."""
        return float(np.mean([group.accuracy for group in self.attribute_accuracy.values()]))


def evaluate_sample_encoder(
    encoder: DualEncoder,
    garments: Sequence[Garment],
    images: Sequence[Image.Image | npt.NDArray[np.uint8]],
    *,
    seed: int,
) -> EncoderReport:
    """Evaluate ``encoder`` on ``garments`` and their ``images`` (same order).

    Each garment gets one full caption, written with ``random.Random(seed)`` in order;
    every garment's image is a candidate for every caption.
    """
    if len(garments) != len(images) or not garments:
        raise ValueError(f"{len(garments)} garments with {len(images)} images")
    rng = random.Random(seed)
    captions = [full_caption(garment.attributes, rng) for garment in garments]
    seen = _in_chunks(encoder.encode_images, [_picture(image) for image in images])
    said = _in_chunks(encoder.encode_texts, captions)
    ranks = ranks_of_own(said @ seen.T)
    guesses = ZeroShotAttributes(encoder).predict(seen)
    return EncoderReport(
        n=len(garments),
        recall_at_1=float(np.mean(ranks <= 1)),
        recall_at_10=float(np.mean(ranks <= 10)),
        median_rank=float(np.median(ranks)),
        attribute_accuracy=MappingProxyType(_accuracies(garments, guesses)),
    )


def ranks_of_own(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    """Rank of column ``i`` in row ``i`` of ``scores`` (``[n, n]``), from 1.

    One plus the columns that score strictly better, plus earlier columns of equal
    score.
    """
    own = np.diagonal(scores)[:, None]
    better = (scores > own).sum(axis=1)
    tied_before = np.tril(scores == own, k=-1).sum(axis=1)
    return np.asarray(1 + better + tied_before, dtype=np.int64)


def _accuracies(
    garments: Sequence[Garment], guesses: Sequence[Mapping[str, str]]
) -> dict[str, GroupAccuracy]:
    result: dict[str, GroupAccuracy] = {}
    for group in GROUPS:
        counts = {key: [0, 0] for key in group.keys}
        for garment, guess in zip(garments, guesses, strict=True):
            truth = garment.attributes[group.key]
            counts[truth][0] += guess[group.key] == truth
            counts[truth][1] += 1
        result[group.key] = GroupAccuracy(
            correct=sum(right for right, _ in counts.values()),
            total=sum(total for _, total in counts.values()),
            by_value=MappingProxyType({key: (r, t) for key, (r, t) in counts.items() if t}),
        )
    return result


def _picture(image: Image.Image | npt.NDArray[np.uint8]) -> Image.Image:
    return image if isinstance(image, Image.Image) else Image.fromarray(np.asarray(image))


def _in_chunks(
    encode: Callable[[Sequence[_T]], npt.NDArray[np.float32]], items: Sequence[_T]
) -> npt.NDArray[np.float32]:
    parts = [encode(items[i : i + _CHUNK]) for i in range(0, len(items), _CHUNK)]
    return np.concatenate([np.asarray(part, dtype=np.float32) for part in parts])
