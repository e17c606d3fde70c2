"""Whether a picture is unlike everything in a gallery, for any gallery and encoder. Whether an encoder knows what
the pictures of a folder show, before they are indexed.

Plain cosines do not tell: an encoder gives every picture some garment's vector. The directions in which the gallery's
images hardly differ do: another kind of picture leaves them. Distances are therefore taken in those directions, each
by its own spread (Mahalanobis; the residual of a subspace as in ViM, Wang et al. 2022), to the nearest images of a
sample of the gallery, and compared with the same distances of gallery images that are not in the sample.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cir_core.encoders.base import Encoder
from cir_core.errors import CirqueError
from cir_core.gallery.decoding import most_bytes
from cir_core.gallery.sources.source import ImageSource
from cir_core.images.load import for_encoder, process_image
from cir_core.language.readers.choosing import knows_little, undescribed
from cir_core.types.records import Matrix, Vector

UNLIKE = "this picture is unlike everything in the gallery, so the results may have little to do with it"

_CLOSEST = 10        # images by cosine that are looked at besides the sample
FEWEST = 200         # images: of a smaller gallery nothing is said
_SAMPLE = 8000       # images to measure distances to
_HELD_OUT = 500      # images whose own distances are the measure
_COMMON = 0.98       # of the variance lies in directions that are not looked at
_NEAR = 40           # the neighbour that counts
_USUAL = 0.99        # of the held-out images have a smaller distance
_MARGIN = 1.15       # new images of the gallery's kind are farther away than its variants are from one another


@dataclass(frozen=True)
class Surroundings:
    """A gallery's sample in the directions that count, and how far apart its images are there."""

    centre: Vector       # [dim]
    directions: Matrix   # [dim, m], scaled to unit variance
    sample: Matrix       # [n, m]
    nearest: float       # usual distances of a held-out image to its nearest
    near: float          # and to its fortieth nearest neighbour in the sample

    def far(self, vector: Vector, closest: Matrix) -> bool:
        """Whether the picture with this ``vector`` is farther away than the gallery's own images. ``closest`` are the
        vectors of the gallery's images with the greatest cosines, which need not be in the sample."""
        placed = _placed(np.concatenate([vector[None], closest]), self.centre, self.directions)
        distances = _distances(placed[:1], self.sample)
        nearest = min(float(distances.min()), float(_distances(placed[:1], placed[1:]).min(initial=np.inf)))
        return nearest > self.nearest and float(_nth(distances, _NEAR)[0]) > _MARGIN * self.near


class FarPictures:
    """The far pictures of one gallery, whose surroundings are measured at the first question. Thread-safe."""

    def __init__(self, features: Matrix) -> None:
        self._features = features
        self._measuring = threading.Lock()

    def is_far(self, vector: Vector) -> bool:
        """Whether a picture that is not in the gallery is unlike everything in it; ``vector`` is ``[dim]``."""
        with self._measuring:
            surroundings = self._surroundings
        if surroundings is None:
            return False
        cosines = self._features @ vector
        return surroundings.far(vector, np.asarray(self._features[np.argpartition(-cosines, _CLOSEST)[:_CLOSEST]]))

    @cached_property
    def _surroundings(self) -> Surroundings | None:
        return surroundings_of(self._features)


def surroundings_of(features: Matrix) -> Surroundings | None:
    """The surroundings of a gallery's ``features`` (``[n, dim]``); None if it is too small, or its images are all
    the same."""
    from sklearn.covariance import LedoitWolf

    count = len(features)
    if count < FEWEST:
        return None
    order = np.random.default_rng(0).permutation(count)
    held = min(_HELD_OUT, count // 4)
    # Sorted: the features are memory-mapped.
    held_out = np.asarray(features[np.sort(order[:held])], dtype=np.float32)
    sample = np.asarray(features[np.sort(order[held:held + _SAMPLE])], dtype=np.float32)
    fitted = LedoitWolf().fit(sample.astype(np.float64))
    spread, axes = np.linalg.eigh(fitted.covariance_)  # ascending
    spread, axes = spread[::-1], axes[:, ::-1]
    excess = np.cumsum(spread - spread[-1])  # above the level to which small variances are shrunk
    if excess[-1] <= 0 or spread[-1] <= 0:
        return None
    first = min(int(np.searchsorted(excess / excess[-1], _COMMON)), len(spread) // 2)
    centre = fitted.location_.astype(np.float32)
    directions = (axes[:, first:] / np.sqrt(spread[first:])).astype(np.float32)
    placed = _placed(sample, centre, directions)
    distances = _distances(_placed(held_out, centre, directions), placed)
    nearest, near = (float(np.quantile(_nth(distances, n), _USUAL)) for n in (1, _NEAR))
    return Surroundings(centre, directions, placed, nearest, near)


def _placed(vectors: Matrix, centre: Vector, directions: Matrix) -> Matrix:
    return np.asarray((vectors - centre) @ directions, dtype=np.float32)


def _distances(points: Matrix, sample: Matrix) -> Matrix:
    """``[p, n]``"""
    squares = np.sum(points**2, axis=1)[:, None] + np.sum(sample**2, axis=1) - 2 * points @ sample.T
    return np.asarray(np.sqrt(np.maximum(squares, 0)), dtype=np.float32)


def _nth(distances: Matrix, n: int) -> Vector:
    """Distances to the ``n``-th nearest, ``[p]``."""
    place = min(n, distances.shape[1]) - 1
    return np.asarray(np.partition(distances, place, axis=1)[:, place], dtype=np.float32)


LOOKED_AT = 64   # pictures


@dataclass(frozen=True)
class Look:
    """``unlike`` of ``seen`` pictures show something that the encoder does not know."""

    seen: int = 0
    unlike: int = 0

    @property
    def mostly_unlike(self) -> bool:
        return 2 * self.unlike > self.seen


def look_at(source: ImageSource, encoder: Encoder, *, max_megapixels: float = 64.0) -> Look:
    """A look at some pictures of ``source``, spread over all unless they come over a network. Of encoders that know
    more than garments, or of which nothing is known, nothing is read. Raises ``GalleryError`` as indexing does."""
    if not knows_little(encoder):
        return Look()
    entries = source.scan().entries[:LOOKED_AT if source.is_far else None]
    if not entries:
        return Look()
    images = []
    for place in np.unique(np.linspace(0, len(entries) - 1, LOOKED_AT).astype(int)):
        try:
            content = source.read(entries[place], most_bytes(max_megapixels)).content
            images.append(process_image(content, for_encoder, max_megapixels=max_megapixels))
        except (CirqueError, OSError):
            continue   # indexing says so
    if not images:
        return Look()
    unlike = undescribed(encoder.encode_images(images), encoder)
    return Look(len(unlike), int(unlike.sum()))
