"""The last step of a ranking: its first images, or all, ordered again by a second score."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cir_core.errors import SearchError
from cir_core.index.flat import FlatIndex
from cir_core.methods.step import Ledger, Rerank, StepScore
from cir_core.support.texts import quoted
from cir_core.types.records import Hit, Vector

BEHIND = "behind the first"   # ledger: what images that were not scored again are lowered by
RowOf = Callable[[str], int]  # image id to its row in the gallery


@dataclass(frozen=True)
class Reordered:
    """``hits`` with their new scores and ranks. ``added``: what the second score adds to an image, of those that have
    one; ``lowered``: what the others are lowered by, 0 or negative."""

    hits: tuple[Hit, ...]
    added: Mapping[str, float]
    lowered: float = 0.0

    def ledger(self, image_id: str, parts: Ledger, rerank: Rerank) -> Ledger:
        """The ``parts`` of an image's score so far, and what became of them; they add up to its new score."""
        if image_id not in self.added:
            return (*parts, (BEHIND, self.lowered)) if self.lowered else parts
        before = tuple((name, (1 - rerank.weight) * value) for name, value in parts) if rerank.weight < 1 else ()
        return (*before, (rerank.name, self.added[image_id]))


def depth_of(rerank: Rerank, index: FlatIndex, k: int) -> int:
    """How many images to rank first, to have the best ``k`` afterwards."""
    return len(index) if rerank.first is None else max(k, rerank.first)


def reorder(hits: Sequence[Hit], rerank: Rerank, row_of: RowOf) -> Reordered:
    """``hits``: the best by the score so far, best first, as many as :func:`depth_of` says or as there are. Ties go by
    gallery order, as in any ranking."""
    first, left = hits[: rerank.first], hits[len(hits[: rerank.first]):]
    if not first:
        return Reordered((), {})
    rows, added = _added([hit.image_id for hit in first], rerank, row_of)
    scores = _mixed([hit.score for hit in first], added, rerank.weight)
    order = np.lexsort((np.asarray(rows), -scores))
    again = [Hit(first[i].image_id, float(scores[i]), rank) for rank, i in enumerate(order, start=1)]
    lowered = min(0.0, again[-1].score - first[-1].score)
    behind = [Hit(hit.image_id, hit.score + lowered, hit.rank) for hit in left]
    return Reordered((*again, *behind), dict(zip((hit.image_id for hit in first), added, strict=True)), lowered)


def rank_of_excluded(hit: Hit, hits: Sequence[Hit], rerank: Rerank, row_of: RowOf) -> int:
    """Rank among the reordered ``hits`` of an image that is excluded from them: ``hit`` is as it was before."""
    if rerank.first is not None and hit.rank > rerank.first:
        return hit.rank
    [row], added = _added([hit.image_id], rerank, row_of)
    [score] = _mixed([hit.score], added, rerank.weight).tolist()
    better = [one for one in hits[: rerank.first]
              if one.score > score or (one.score == score and row_of(one.image_id) < row)]
    return 1 + len(better)


def ranks_of(
    index: FlatIndex, query: Vector | StepScore, hits: Sequence[Hit], excluded: Collection[str],
    wanted: Sequence[str],
) -> tuple[int, ...]:
    """Ranks of ``wanted`` where ``hits`` were reordered; those behind them keep the rank that they had. Raises
    ``UnknownImage``, and ``SearchError`` for an excluded one."""
    known = {hit.image_id: hit.rank for hit in hits}
    found = []
    for image_id in wanted:
        if image_id in excluded:
            raise SearchError(f"{quoted(image_id)} is excluded from these results, so it has no rank.")
        if image_id not in known:
            _, known[image_id] = index.search_and_rank(query, 1, excluded, image_id)
        found.append(known[image_id])
    return tuple(found)


def _added(image_ids: Sequence[str], rerank: Rerank, row_of: RowOf) -> tuple[list[int], list[float]]:
    rows = [row_of(image_id) for image_id in image_ids]
    return rows, (rerank.weight * np.asarray(rerank.of(rows), np.float64)).tolist()


def _mixed(scores: Sequence[float], added: Sequence[float], weight: float) -> Vector:
    return np.asarray((1 - weight) * np.asarray(scores, np.float64) + np.asarray(added), np.float32)
