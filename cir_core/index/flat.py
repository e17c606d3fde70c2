"""Exact search by inner product, with ranks that do not depend on the machine.

Float32 products differ in their last bits with BLAS, thread count and batch size, so two
copies of an image can trade places between runs. Here a fast float32 pass only finds
candidates; every score that is compared or shown is the double-precision product rounded
to float32. :meth:`FlatIndex.search`, ``search_and_rank`` and the batch methods agree by construction.

The fast pass is one matrix product straight over the memory-mapped file. faiss gives the
same lists (``tests/unit/cir_core/index/test_index.py`` checks) but answers a single query on one thread,
which is slower on a machine with several cores; ``make bench`` times both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from cir_core.errors import EncoderMismatch, GalleryError, SearchError, UnknownImage
from cir_core.index.rank_many import Progress, RankedQuery, RowQuery, rank_many
from cir_core.index.scoring import CombinedScores, PlainScores, Products, ProductsOnce, Rows, Scored, Scoring
from cir_core.support.texts import quoted
from cir_core.types.records import Hit, Matrix, Vector

_T = TypeVar("_T")


class FlatIndex:
    """Flat index over ``features`` ``[n, dim]`` float32 in gallery order, not copied; ``ids`` has n."""

    description = ""    # in protocol cards; exact search has none

    def __init__(self, features: npt.ArrayLike, ids: Sequence[str]) -> None:
        self._features: Matrix = np.ascontiguousarray(np.asarray(features), dtype=np.float32)
        if self._features.ndim != 2 or len(self._features) != len(ids):
            raise GalleryError(f"{len(ids)} ids for features of shape {self._features.shape}. Index the gallery again.")
        self.ids = ids
        self._products = Products(self._features, ids)

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, image_id: object) -> bool:
        return image_id in self._row_by_id

    def rows_of(self, ids: Iterable[str]) -> list[int]:
        """Row numbers of images, in their order, for :meth:`rank_many`. Raises ``UnknownImage``."""
        return [self._row_of(image_id) for image_id in ids]

    def search(self, vector: npt.ArrayLike, k: int, exclude: Collection[str] = ()) -> list[Hit]:
        """The ``k`` best images, fewer if the gallery is smaller, without those in ``exclude``.

        Ties go by gallery order, also at the end of the list. Unknown ids may be excluded. Raises ``SearchError`` (k <
        1, a vector that is not finite) and ``EncoderMismatch`` (a vector of another length).
        """
        scored = PlainScores(self._products, self._checked(vector, 1))
        return self._hits(scored, scored.fast(), _at_least_one(k), self._rows_of(exclude))

    def search_scored(self, scoring: Scoring, k: int, exclude: Collection[str] = ()) -> list[Hit]:
        """:meth:`search` by a combined score, with the same guarantees. One matrix product."""
        scored = CombinedScores(self._products, scoring, self._checked(scoring.vectors, 2))
        return self._hits(scored, scored.fast(), _at_least_one(k), self._rows_of(exclude))

    def search_and_rank_scored(
        self, scorings: Sequence[Scoring], k: int, exclude: Collection[str], image_ids: Sequence[str]
    ) -> list[tuple[list[Hit], tuple[int, ...]]]:
        """For each of ``scorings``, which combine products with the same vectors, :meth:`search_scored`, and the rank
        of each of ``image_ids`` by the same score. One matrix product for all of them."""
        vectors = self._checked(scorings[0].vectors, 2)
        products = ProductsOnce(self._products, vectors) if len(scorings) > 1 else self._products
        hidden, k = self._rows_of(exclude), _at_least_one(k)
        found = []
        for scoring in scorings:
            scored = CombinedScores(products, scoring, vectors)
            fast = scored.fast()
            ranks = tuple(self._rank(scored, fast, self._row_of(image_id), hidden) for image_id in image_ids)
            found.append((self._hits(scored, fast, k, hidden), ranks))
        return found

    def search_and_rank(
        self, query: Vector | Scoring, k: int, exclude: Collection[str], image_id: str
    ) -> tuple[list[Hit], int]:
        """The ``k`` best without ``exclude``, and the rank of ``image_id``, even if it is excluded itself: 1 + images
        that score higher + earlier images in the gallery that score the same. Both from one matrix product; ``query``
        is a vector or a scoring. Raises ``UnknownImage``."""
        scored = self._scored(query)
        fast, k = scored.fast(), _at_least_one(k)
        hidden = [other for other in exclude if other != image_id]
        rank = self._rank(scored, fast, self._row_of(image_id), self._rows_of(hidden))
        return self._hits(scored, fast, k, self._rows_of(exclude)), rank

    def score_of(self, query: Vector | Scoring, image_id: str) -> float:
        """The score of one image, as a search gives it. Raises ``UnknownImage``."""
        return float(self._scored(query).exact(np.array([self._row_of(image_id)]))[0])

    def rank_many(
        self, vectors: npt.ArrayLike, target_rows: Sequence[Sequence[int]], *, k: int = 0,
        exclude_rows: Sequence[Collection[int]] | None = None, progress: Progress | None = None,
    ) -> list[RankedQuery]:
        """For each of ``vectors`` ``[q, dim]`` the ranks of its ``target_rows`` and its ``k`` best rows,
        equal to those of :meth:`search`, in bounded memory.

        Row i is that of ``ids[i]``; a query may have any number of target rows; excluded
        rows are left out of its results. ``progress`` receives the number of queries done. Raises
        ``SearchError`` for an unknown row and for an excluded target.
        """
        queries = self._checked(vectors, 2)
        if len(target_rows) != len(queries):
            raise SearchError(f"{len(target_rows)} target rows for {len(queries)} queries; give one list for each.")
        if k < 0:
            raise SearchError(f"k is {k}; ask for 0 or more results.")
        questions = [
            RowQuery(tuple(int(row) for row in targets), frozenset(int(row) for row in hidden) if len(hidden) else ())
            for targets, hidden in zip(target_rows, _per_query(exclude_rows, len(queries)), strict=True)
        ]
        for question in questions:
            for row in (*question.targets, *question.hidden):
                if not 0 <= row < len(self):
                    raise SearchError(f"Row {row} is outside the gallery, which has rows 0 to {len(self) - 1}.")
            for row in question.targets:
                if row in question.hidden:
                    raise _excluded(self.ids[row])
        return rank_many(self._products, queries, questions, k, progress=progress)

    def ranks_of_many(
        self, vectors: npt.ArrayLike, target_rows: Sequence[int] | Rows,
        exclude_rows: Sequence[Collection[int]] | None = None,
    ) -> Rows:
        """``[q]`` ranks of gallery rows ``target_rows``, one for each of ``vectors`` ``[q, dim]``."""
        found = self.rank_many(vectors, [(int(row),) for row in target_rows], exclude_rows=exclude_rows)
        return np.array([query.ranks[0] for query in found], dtype=np.int64)

    def _scored(self, query: Vector | Scoring) -> Scored:
        if isinstance(query, np.ndarray):
            return PlainScores(self._products, self._checked(query, 1))
        return CombinedScores(self._products, query, self._checked(query.vectors, 2))

    # -- candidates --------------------------------------------------------------------

    def _hits(self, scored: Scored, fast: Vector, k: int, hidden: Rows) -> list[Hit]:
        k = min(k, len(self) - len(hidden))
        if k < 1:
            return []
        fast[hidden] = -np.inf
        # k images have fast scores of at least `edge`, so the k-th best true score is at
        # least edge - error, and an image that reaches that has a fast score above edge - 2 error.
        edge = np.partition(fast, len(fast) - k)[len(fast) - k]
        rows = np.flatnonzero(fast >= edge - 2 * scored.error)
        scores = scored.exact(rows)
        best = np.lexsort((rows, -scores))[:k]
        return [Hit(self.ids[rows[i]], float(scores[i]), rank) for rank, i in enumerate(best, start=1)]

    def _rank(self, scored: Scored, fast: Vector, target: int, hidden: Rows) -> int:
        if target in hidden:
            raise _excluded(self.ids[target])
        score = scored.exact(np.array([target]))[0]
        error = scored.error
        fast[hidden] = -np.inf
        close = np.flatnonzero(np.abs(fast - score) <= error)
        scores = scored.exact(close)
        above = np.count_nonzero(fast > score + error) + np.count_nonzero(scores > score)
        return 1 + int(above) + int(np.count_nonzero((scores == score) & (close < target)))

    # -- arguments ---------------------------------------------------------------------

    @cached_property
    def _row_by_id(self) -> dict[str, int]:
        return {image_id: row for row, image_id in enumerate(self.ids)}

    def _row_of(self, image_id: str) -> int:
        try:
            return self._row_by_id[image_id]
        except KeyError:
            raise UnknownImage(f"No image {quoted(image_id)} in this index ({len(self)} images). Check the id in the "
                               "gallery.") from None

    def _rows_of(self, ids: Collection[str]) -> Rows:
        rows = {self._row_by_id[image_id] for image_id in ids if image_id in self._row_by_id}
        return np.array(sorted(rows), dtype=np.int64)

    def _checked(self, vectors: npt.ArrayLike, ndim: int) -> npt.NDArray[np.float32]:
        array = np.ascontiguousarray(vectors, dtype=np.float32)
        if array.ndim != ndim:
            wanted = "one vector" if ndim == 1 else "a matrix of vectors"
            raise SearchError(f"Expected {wanted}, got an array of shape {array.shape}.")
        if array.shape[-1] != self._features.shape[1]:
            raise EncoderMismatch(f"The query has {array.shape[-1]} dimensions, the gallery {self._features.shape[1]}. "
                                  "Search with the encoder that made the gallery.")
        if not np.isfinite(array).all():
            raise SearchError("The query vector contains numbers that are not finite. Encode it again.")
        return array


def _excluded(image_id: str) -> SearchError:
    return SearchError(f"{quoted(image_id)} is excluded from these results, so it has no rank.")


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
