"""Search among the candidates of an engine, by the arithmetic of exact search.

A hit's score is the double-precision product with its stored vector, rounded to float32, and ties go by gallery order,
as in :class:`~cir_core.index.flat.FlatIndex`: hits are those of exact search but for images that are no candidates.

What needs every image is computed from all vectors, by the methods of :class:`FlatIndex`: ranks of targets
(``search_and_rank`` and the batch methods), and lists deeper than :data:`DEEPEST`.
"""

from __future__ import annotations

import mmap
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from cir_core.index.engines import OVERSAMPLING, Engine, Settings
from cir_core.index.flat import FlatIndex
from cir_core.index.scoring import Products, Rows, Scoring
from cir_core.types.records import Hit, Matrix, Vector

DEEPEST = 1000      # results; longer lists are searched exactly
PAGE = 60           # results that there are always candidates for: shorter lists are the beginning of this one
_LEAST = 200        # candidates for each direction of a combined score
_ROUNDS = 2         # directions taken from the best candidates so far
_TOP = 20           # these best ones
_STEP = 1e-3        # of the products, for slopes


class ApproximateIndex(FlatIndex):
    """:class:`FlatIndex` whose lists are made of the candidates of ``engine``. ``description``: its row in protocol
    cards."""

    def __init__(self, features: npt.ArrayLike, ids: Sequence[str], engine: Engine, settings: Settings,
                 description: str = "") -> None:
        super().__init__(features, ids)
        self.description = description
        self._engine, self._settings = engine, settings
        self._few = Products(_read_at_random(features, self._features), ids)

    def search(self, vector: npt.ArrayLike, k: int, exclude: Collection[str] = ()) -> list[Hit]:
        query, hidden = self._checked(vector, 1), self._rows_of(exclude)
        if not self._is_for_engine(k, hidden):
            return super().search(vector, k, exclude)
        [rows] = self._candidates(query[None], k, hidden)
        if len(rows) < k:   # as filtered engines may find: a list is never shorter than the gallery makes it
            return super().search(vector, k, exclude)
        return self._best(rows, self._few.exact(query[None], rows)[:, 0].astype(np.float32), k)

    def search_scored(self, scoring: Scoring, k: int, exclude: Collection[str] = ()) -> list[Hit]:
        hidden = self._rows_of(exclude)
        if not self._is_for_engine(k, hidden):
            return super().search_scored(scoring, k, exclude)
        rows, scores = self._scored_candidates(scoring, self._checked(scoring.vectors, 2), k, hidden)
        if len(rows) < k:
            return super().search_scored(scoring, k, exclude)
        return self._best(rows, scores, k)

    def search_and_rank(
        self, query: Vector | Scoring, k: int, exclude: Collection[str], image_id: str
    ) -> tuple[list[Hit], int]:
        """The list is that of a search without a target; the rank counts the whole gallery, so it can be greater than
        the image's place in a list that lacks an image before it."""
        _, rank = super().search_and_rank(query, 1, exclude, image_id)
        if isinstance(query, np.ndarray):
            return self.search(query, k, exclude), rank
        return self.search_scored(query, k, exclude), rank

    def _is_for_engine(self, k: int, hidden: Rows) -> bool:
        return 1 <= k <= DEEPEST and 2 * (max(k, PAGE) * self._settings[OVERSAMPLING] + len(hidden)) < len(self)

    def _candidates(self, vectors: Matrix, k: int, hidden: Rows) -> list[Rows]:
        wanted = max(k, PAGE) * self._settings[OVERSAMPLING]
        found = self._engine.candidates(vectors, wanted, self._settings, hidden)
        return [rows[~np.isin(rows, hidden)] for rows in found]

    def _scored_candidates(
        self, scoring: Scoring, vectors: Matrix, k: int, hidden: Rows
    ) -> tuple[Rows, npt.NDArray[np.float32]]:
        """The union of the lists of the score's vectors and of the directions in which it rises, and exact scores.

        The largest scores lie where no single vector's list may reach: far down several of them. So the score's slope
        by each product, first where all products are alike, then at the best candidates, gives a vector to search
        with. Vectors that lower the score have no list of their own.
        """
        depth = directions_of(k, self._settings) // self._settings[OVERSAMPLING]
        slopes = _slopes(scoring, np.zeros(len(vectors)))
        raising = vectors[(slopes > 0) & (np.linalg.norm(vectors, axis=1) > 0)]
        found = self._candidates(np.vstack([vectors[:1], raising, slopes[None] @ vectors]), depth, hidden)
        rows = np.unique(np.concatenate(found))
        products = self._few.exact(vectors, rows)
        for _ in range(_ROUNDS):
            best = np.argsort(-np.asarray(scoring.combine(products)), kind="stable")[:_TOP]
            direction = _slopes(scoring, products[best].mean(axis=0)) @ vectors
            [more] = self._candidates(direction[None], depth, hidden)
            new = np.setdiff1d(more, rows)
            if not len(new):
                break
            rows = np.concatenate([rows, new])
            products = np.concatenate([products, self._few.exact(vectors, new)])
        return rows, np.asarray(scoring.combine(products), dtype=np.float32)

    def _best(self, rows: Rows, scores: npt.NDArray[np.float32], k: int) -> list[Hit]:
        best = np.lexsort((rows, -scores))[:k]
        return [Hit(self.ids[rows[i]], float(scores[i]), rank) for rank, i in enumerate(best, start=1)]


def _read_at_random(features: npt.ArrayLike, otherwise: Matrix) -> Matrix:
    """A second mapping of a gallery's file, of which the system reads single rows: in the first one, through which
    exact search goes from end to end, each row of a gallery larger than memory would bring 128 kB with it."""
    if not (isinstance(features, np.memmap) and isinstance(features.base, mmap.mmap) and hasattr(mmap, "MADV_RANDOM")):
        return otherwise   # base: not a part of a mapping
    try:
        again = np.memmap(features.filename, features.dtype, "r", features.offset, features.shape)
    except (OSError, ValueError):   # gone or shorter by now; the first mapping keeps what it had
        return otherwise
    assert isinstance(again.base, mmap.mmap)
    again.base.madvise(mmap.MADV_RANDOM)
    return np.asarray(again)


def directions_of(k: int, settings: Settings) -> int:
    """Candidates for each direction of a combined score."""
    more = settings[OVERSAMPLING]
    return more * max(k, PAGE, -(-_LEAST // more))


def _slopes(scoring: Scoring, at: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """``[m]``: by how much the score rises with each product, around the products ``at`` ``[m]``."""
    steps = _STEP * np.eye(len(at))
    above, below = (np.asarray(scoring.combine(at + sign * steps), dtype=np.float64) for sign in (1, -1))
    return np.asarray((above - below) / (2 * _STEP), dtype=np.float32)
