"""Images of a result list as points of a plane: alike images lie together. Images that look unlike one another, by
their vectors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache

from cir_core.types.records import Matrix

MAPPED = 500
"""So many first results are laid out."""
_LINEAR_BELOW = 12   # images: too few for t-SNE
_DIMENSIONS = 30     # of the principal components that t-SNE begins with
_STEPS = 300
_KEPT = 32


class Projections:
    """Layouts that were computed before are kept. One is computed at a time."""

    def __init__(self) -> None:
        self._known: LRUCache[tuple[str, tuple[str, ...]], Matrix] = LRUCache(_KEPT)
        self._lock = threading.Lock()

    def of(self, gallery_digest: str, image_ids: Sequence[str], features_of: Callable[[Sequence[str]], Matrix]
           ) -> Matrix:
        """``[n, 2]`` places of images, see :func:`project`."""
        key = (gallery_digest, tuple(image_ids))
        with self._lock:
            if key not in self._known:
                self._known[key] = project(features_of(image_ids))
            return self._known[key]


def project(vectors: Matrix) -> Matrix:
    """``[n, 2]`` places from 0 to 1 of the rows of ``vectors``, the same at each call: principal components, then
    t-SNE (Barnes-Hut) from the first two of them. Axes have no meaning, nor have large distances. Call it from one
    thread at a time."""
    if len(vectors) < 2 or float(np.ptp(vectors, axis=0).max()) < 1e-6:
        return np.full((len(vectors), 2), 0.5, dtype=np.float32)
    # Seconds to import, and only a map needs them.
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    # For 500 images one thread is fastest; several that wait for one another on a busy machine took a minute.
    with threadpool_limits(1):
        count = min(_DIMENSIONS, *vectors.shape)
        reduced = PCA(count, svd_solver="covariance_eigh").fit_transform(np.asarray(vectors, dtype=np.float64))
        places = reduced[:, :2] if count > 1 else np.column_stack([reduced[:, 0], np.zeros(len(reduced))])
        spread = float(places[:, 0].std())
        if len(vectors) >= _LINEAR_BELOW and spread > 1e-6:
            places = TSNE(
                2, init=(places / spread * 1e-4).astype(np.float32), max_iter=_STEPS, n_jobs=1, random_state=0,
                perplexity=min(30.0, (len(vectors) - 1) / 3),
            ).fit_transform(reduced.astype(np.float32))
    low, high = places.min(axis=0), places.max(axis=0)
    width = np.where(high - low > 1e-9, high - low, 1.0)
    scaled = np.where(high - low > 1e-9, (places - low) / width, 0.5)
    return scaled.astype(np.float32)


def farthest_first(vectors: npt.NDArray[np.float32], count: int) -> list[int]:
    """At most ``count`` rows of ``vectors`` (``[n, d]``, normalised): the first, then each time the one that is least
    like its nearest among those before (Gonzalez, 1985)."""
    chosen: list[int] = []
    nearest = np.full(len(vectors), -np.inf, dtype=np.float32)
    for _ in range(min(count, len(vectors))):
        chosen.append(int(np.argmin(nearest)))
        nearest = np.maximum(nearest, vectors @ vectors[chosen[-1]])
        nearest[chosen] = np.inf
    return chosen
