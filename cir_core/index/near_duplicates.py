"""Near-duplicates among ranked images: which of them fold under an image that is ranked better."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cir_core.errors import SearchError
from cir_core.types.records import Hit, Matrix

FOLD_AT = 0.95
"""Cosine from which two images count as near-duplicates."""
LEAST, MOST = 0.5, 1.0
_DEEPEST = 1000
_DEEPER = 4   # ranks looked at for each tile of a page


@dataclass(frozen=True)
class Fold:
    """An image and its near-duplicates among the images ranked below it, best first. Ranks stay as they were."""

    hit: Hit
    similar: tuple[Hit, ...] = ()


def fold(hits: Sequence[Hit], vectors: Matrix, at: float = FOLD_AT) -> tuple[Fold, ...]:
    """``hits`` in their order, each once, with ``vectors`` ``[n, dim]`` of unit length.

    An image folds under the best-ranked one whose cosine with it reaches ``at``, unless that one is folded itself: so
    all images of a fold resemble its first one, and folds do not chain."""
    if not hits:
        return ()
    neighbours = _neighbours(vectors, at)
    taken = np.zeros(len(hits), dtype=bool)
    folds = []
    for place, hit in enumerate(hits):
        if not taken[place]:
            near = [other for other in neighbours[place] if other > place and not taken[other]]
            taken[near] = True
            folds.append(Fold(hit, tuple(hits[other] for other in near)))
    return tuple(folds)


def folded_page(
    ranked: Callable[[int], Sequence[Hit]], features_of: Callable[[Sequence[str]], Matrix], k: int,
    at: float = FOLD_AT,
) -> tuple[Fold, ...]:
    """The first ``k`` folds. ``ranked`` gives the best so many images: more than ``k`` are read, so that a page of
    ``k`` stays full; images that rank below the first one of the next page are in no fold.

    Raises ``SearchError`` for a threshold out of range."""
    check_fold(at)
    folds: tuple[Fold, ...] = ()
    for depth in sorted({min(_DEEPER * k, _DEEPEST), _DEEPEST}):
        hits = ranked(depth)
        folds = fold(hits, features_of([hit.image_id for hit in hits]), at)
        if len(folds) >= k or len(hits) < depth:
            break
    end = folds[k].hit.rank if len(folds) > k else math.inf
    return tuple(Fold(one.hit, tuple(hit for hit in one.similar if hit.rank < end)) for one in folds[:k])


def check_fold(at: float) -> None:
    if not LEAST <= at <= MOST:
        raise SearchError(f"fold is {at:g}; it must be a cosine from {LEAST:g} to {MOST:g}, "
                          f"for example {FOLD_AT:g}.")


def _neighbours(vectors: Matrix, at: float) -> list[list[int]]:
    """For each row the rows whose cosine with it reaches ``at``, in ascending order."""
    import faiss  # takes a third of a second, and only who folds needs it

    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    index = faiss.IndexFlatIP(rows.shape[1])
    index.add(rows)
    # faiss wants more than the radius; copies of an image may miss 1 by a rounding error.
    limits, _, found = index.range_search(rows, float(at) - 1e-6)
    return [sorted(map(int, found[limits[row]:limits[row + 1]])) for row in range(len(rows))]
