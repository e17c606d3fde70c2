"""Exact search by inner product, with ranks that do not depend on the machine.

Float32 products differ in their last bits with BLAS, thread count and batch size, so two
copies of an image can trade places between runs. Here a fast float32 pass only finds
candidates; every score that is compared or shown is the double-precision product rounded
to float32. :meth:`FlatIndex.search`, ``rank_of`` and the batch methods agree by construction.

The fast pass is one matrix product straight over the memory-mapped file. faiss gives the
same lists (``tests/unit/test_index.py`` checks) but answers a single query on one thread,
which is slower on a machine with several cores; ``make bench`` times both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from cir_core.errors import EncoderMismatch, GalleryError, SearchError, UnknownImage
from cir_core.scoring import Scoring
from cir_core.types import Hit, Matrix, Vector

_T = TypeVar("_T")
Rows = npt.NDArray[np.int64]
_BLOCK = 4096           # rows scored in double precision at a time
_BLOCK_FLOATS = 2**23   # floats of one block of fast scores: 32 MiB


class FlatIndex:
    """``features`` is ``[n, dim]`` float32 in gallery order and is not copied; ``ids`` has n."""

    def __init__(self, features: npt.ArrayLike, ids: Sequence[str]) -> None:
        self._features: Matrix = np.ascontiguousarray(np.asarray(features), dtype=np.float32)
        if self._features.ndim != 2 or len(self._features) != len(ids):
            raise GalleryError(
                f"{len(ids)} ids for features of shape {self._features.shape}. Index the gallery again."
            )
        self.ids = ids

    def __len__(self) -> int:
        return len(self.ids)

    def search(self, vector: npt.ArrayLike, k: int, exclude: Collection[str] = ()) -> list[Hit]:
        """The ``k`` best images, fewer if the gallery is smaller; ids in ``exclude`` left out.

        Ties go by gallery order, also at the end of the list. Ids that the gallery does not
        hold may be excluded. Raises ``SearchError`` (k < 1, a vector that is not finite) and
        ``EncoderMismatch`` (a vector of another length).
        """
        scored = _Plain(self, self._checked(vector, 1))
        return self._hits(scored, self._features @ scored.query, _at_least_one(k), self._rows_of(exclude))

    def search_scored(self, scoring: Scoring, k: int, exclude: Collection[str] = ()) -> list[Hit]:
        """:meth:`search` by a combined score, with the same guarantees. One matrix product."""
        scored = _Combined(self, scoring, self._checked(scoring.vectors, 2))
        return self._hits(scored, scored.fast(), _at_least_one(k), self._rows_of(exclude))

    def rank_scored(self, scoring: Scoring, image_id: str, exclude: Collection[str] = ()) -> int:
        """:meth:`rank_of` by a combined score."""
        scored = _Combined(self, scoring, self._checked(scoring.vectors, 2))
        return self._rank(scored, scored.fast(), self._row_of(image_id), self._rows_of(exclude))

    def search_many(
        self, vectors: npt.ArrayLike, k: int, exclude: Sequence[Collection[str]] | None = None
    ) -> list[list[Hit]]:
        """:meth:`search` for each row of ``vectors`` ``[q, dim]``; ``exclude`` has q entries."""
        queries = self._checked(vectors, 2)
        hidden = [self._rows_of(ids) for ids in _per_query(exclude, len(queries))]
        return [
            self._hits(_Plain(self, queries[i]), fast, _at_least_one(k), hidden[i]) for i, fast in self._fast(queries)
        ]

    def rank_of(self, vector: npt.ArrayLike, image_id: str, exclude: Collection[str] = ()) -> int:
        """Rank of ``image_id`` in ``search(vector, len(self), exclude)``, without sorting.

        1 + images that score higher + images before it in the gallery that score the same.
        Raises ``UnknownImage``; ``SearchError`` if the image itself is excluded.
        """
        scored = _Plain(self, self._checked(vector, 1))
        return self._rank(scored, self._features @ scored.query, self._row_of(image_id), self._rows_of(exclude))

    def ranks_of_many(
        self, vectors: npt.ArrayLike, target_rows: Sequence[int] | Rows,
        exclude_rows: Sequence[Collection[int]] | None = None,
    ) -> Rows:
        """``[q]`` ranks of gallery rows ``target_rows`` for ``vectors`` ``[q, dim]``."""
        queries = self._checked(vectors, 2)
        targets = np.asarray(target_rows, dtype=np.int64)
        if targets.shape != (len(queries),):
            raise SearchError(f"{targets.size} target rows for {len(queries)} queries; give one for each.")
        hidden = _per_query(exclude_rows, len(queries))
        for rows in (targets, *(np.asarray(list(rows), dtype=np.int64) for rows in hidden)):
            if rows.size and not 0 <= rows.min() <= rows.max() < len(self):
                raise SearchError(f"A row is outside the gallery, which has rows 0 to {len(self) - 1}.")
        ranks = np.empty(len(queries), dtype=np.int64)
        for i, fast in self._fast(queries):
            rows = np.unique(np.asarray(list(hidden[i]), dtype=np.int64))
            ranks[i] = self._rank(_Plain(self, queries[i]), fast, int(targets[i]), rows)
        return ranks

    def scores(self, vector: npt.ArrayLike, ids: Sequence[str]) -> npt.NDArray[np.float32]:
        """``[len(ids)]`` scores, the same numbers that ``search`` gives these images."""
        rows = np.array([self._row_of(image_id) for image_id in ids], dtype=np.int64)
        return _Plain(self, self._checked(vector, 1)).exact(rows)

    # -- candidates --------------------------------------------------------------------

    def _hits(self, scored: _Scored, fast: Vector, k: int, hidden: Rows) -> list[Hit]:
        k = min(k, len(self) - len(hidden))
        if k < 1:
            return []
        fast[hidden] = -np.inf
        # k images have fast scores of at least `edge`, so the k-th best true score is at
        # least edge - error, and whoever reaches that has a fast score above edge - 2 error.
        edge = np.partition(fast, len(fast) - k)[len(fast) - k]
        rows = np.flatnonzero(fast >= edge - 2 * scored.error)
        scores = scored.exact(rows)
        best = np.lexsort((rows, -scores))[:k]
        return [
            Hit(self.ids[rows[i]], float(scores[i]), rank) for rank, i in enumerate(best, start=1)
        ]

    def _rank(self, scored: _Scored, fast: Vector, target: int, hidden: Rows) -> int:
        if target in hidden:
            raise SearchError(f"{self.ids[target]!r} is excluded from these results, so it has no rank.")
        score = scored.exact(np.array([target]))[0]
        error = scored.error
        fast[hidden] = -np.inf
        close = np.flatnonzero(np.abs(fast - score) <= error)
        scores = scored.exact(close)
        above = np.count_nonzero(fast > score + error) + np.count_nonzero(scores > score)
        return 1 + int(above) + int(np.count_nonzero((scores == score) & (close < target)))

    def _fast(self, queries: Matrix) -> Iterator[tuple[int, Vector]]:
        step = max(1, _BLOCK_FLOATS // max(1, len(self)))
        for start in range(0, len(queries), step):
            block = queries[start:start + step] @ self._features.T
            yield from enumerate(block, start=start)

    def _products(self, vectors: Matrix, rows: Rows) -> npt.NDArray[np.float64]:
        """``[len(rows), m]``, each row added up alone and in one order: a matrix product would
        not give the same digits for one row as for many."""
        wide = vectors.astype(np.float64)
        products = np.empty((len(rows), len(vectors)), dtype=np.float64)
        for start in range(0, len(rows), _BLOCK):
            block = self._features[rows[start:start + _BLOCK]].astype(np.float64)
            for column, vector in enumerate(wide):
                products[start:start + _BLOCK, column] = (block * vector).sum(axis=1)
        return products

    def _sizes(self, vectors: Matrix) -> npt.NDArray[np.float64]:
        """The largest product each of ``vectors`` can have."""
        lengths: npt.NDArray[np.float64] = np.linalg.norm(vectors.astype(np.float64), axis=1)
        return self._longest * lengths

    def _errors(self, vectors: Matrix) -> npt.NDArray[np.float64]:
        """Bounds on |fast - exact|: the textbook one for a sum of dim products, doubled."""
        share = (self._features.shape[1] + 1) * 2.0**-23
        return np.asarray(share * self._sizes(vectors) + 1e-37)

    @cached_property
    def _longest(self) -> float:
        squares = np.einsum("ij,ij->i", self._features, self._features)
        if not np.isfinite(squares).all():
            row = int(np.flatnonzero(~np.isfinite(squares))[0])
            raise GalleryError(f"The vector of {self.ids[row]!r} is damaged. Index the gallery again.")
        return float(np.sqrt(squares.max(initial=0.0)))

    # -- arguments ---------------------------------------------------------------------

    @cached_property
    def _row_by_id(self) -> dict[str, int]:
        return {image_id: row for row, image_id in enumerate(self.ids)}

    def _row_of(self, image_id: str) -> int:
        try:
            return self._row_by_id[image_id]
        except KeyError:
            raise UnknownImage(
                f"No image {image_id!r} in this index ({len(self)} images). Check the id in the gallery."
            ) from None

    def _rows_of(self, ids: Collection[str]) -> Rows:
        rows = {self._row_by_id[image_id] for image_id in ids if image_id in self._row_by_id}
        return np.array(sorted(rows), dtype=np.int64)

    def _checked(self, vectors: npt.ArrayLike, ndim: int) -> npt.NDArray[np.float32]:
        array = np.ascontiguousarray(vectors, dtype=np.float32)
        if array.ndim != ndim:
            wanted = "one vector" if ndim == 1 else "a matrix of vectors"
            raise SearchError(f"Expected {wanted}, got an array of shape {array.shape}.")
        if array.shape[-1] != self._features.shape[1]:
            raise EncoderMismatch(
                f"The query has {array.shape[-1]} dimensions, the gallery {self._features.shape[1]}. "
                "Search with the encoder that made the gallery."
            )
        if not np.isfinite(array).all():
            raise SearchError("The query vector holds numbers that are not finite. Encode it again.")
        return array


class _Scored(Protocol):
    @property
    def error(self) -> float: ...

    def exact(self, rows: Rows) -> npt.NDArray[np.float32]: ...


class _Plain:
    """Scores that are the products with one vector."""

    def __init__(self, index: FlatIndex, query: Vector) -> None:
        self._index, self.query = index, query
        self.error = float(index._errors(query[None])[0])

    def exact(self, rows: Rows) -> npt.NDArray[np.float32]:
        return self._index._products(self.query[None], rows)[:, 0].astype(np.float32)


class _Combined:
    """Scores made of the products with several vectors."""

    def __init__(self, index: FlatIndex, scoring: Scoring, vectors: Matrix) -> None:
        self._index, self._scoring, self._vectors = index, scoring, vectors
        self.error = scoring.error(index._errors(vectors), index._sizes(vectors))

    def fast(self) -> Vector:
        products = self._index._features @ self._vectors.T
        return np.ascontiguousarray(self._scoring.combine(products), dtype=np.float32)

    def exact(self, rows: Rows) -> npt.NDArray[np.float32]:
        return np.asarray(self._scoring.combine(self._index._products(self._vectors, rows)), dtype=np.float32)


def _at_least_one(k: int) -> int:
    if k < 1:
        raise SearchError(f"k is {k}; ask for at least 1 result.")
    return k


def _per_query(given: Sequence[Collection[_T]] | None, n: int) -> Sequence[Collection[_T]]:
    if given is None:
        return [()] * n
    if len(given) != n:
        raise SearchError(f"{len(given)} exclusions for {n} queries; give one for each.")
    return given
