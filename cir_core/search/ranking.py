"""Rank the gallery by a query: hits with their score parts, and the target's rank. The last step of a ranking: its
first images, or all, ordered again by a second score."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cir_core.errors import SearchError
from cir_core.index.flat import FlatIndex
from cir_core.methods.feedback import ComposedQuery
from cir_core.methods.step import Ledger, Rerank, StepScore
from cir_core.support.texts import quoted
from cir_core.types.records import Hit, Matrix, Vector

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


@dataclass(frozen=True)
class Ranked:
    hits: tuple[Hit, ...]
    target_rank: int | None


def rank(
    index: FlatIndex, features_of: Callable[[Sequence[str]], Matrix], query: ComposedQuery, *,
    score: StepScore | None = None, k: int, excluded: Sequence[str] = (), target_id: str | None = None,
    rerank: Rerank | None = None, row_of: RowOf | None = None,
) -> Ranked:
    """The best ``k`` without ``excluded``, ordered again by ``rerank`` (``row_of``: rows of the gallery). A hit's parts
    add up to its score."""
    if rerank is not None and row_of is not None:
        return _reranked(index, features_of, query, score, rerank, row_of, k, excluded, target_id)
    hits, target_rank = _ranked(index, query, score, k, excluded, target_id)
    return Ranked(_with_ledger(hits, features_of, query, score), target_rank)


def _ranked(
    index: FlatIndex, query: ComposedQuery, score: StepScore | None, k: int, excluded: Sequence[str],
    target_id: str | None,
) -> tuple[Sequence[Hit], int | None]:
    scored = score if score is not None else query.vector
    if target_id is not None:
        # A target picked as reference is still ranked.
        return index.search_and_rank(scored, k, excluded, target_id)
    if score is not None:
        return index.search_scored(score, k, exclude=excluded), None
    return index.search(query.vector, k, exclude=excluded), None


def _reranked(
    index: FlatIndex, features_of: Callable[[Sequence[str]], Matrix], query: ComposedQuery, score: StepScore | None,
    rerank: Rerank, row_of: RowOf, k: int, excluded: Sequence[str], target_id: str | None,
) -> Ranked:
    before, target_rank = _ranked(index, query, score, depth_of(rerank, index, k), excluded, target_id)
    again = reorder(before, rerank, row_of)
    if target_id is not None and target_rank is not None:
        ranks = {hit.image_id: hit.rank for hit in again.hits}
        target_rank = ranks[target_id] if target_id in ranks else rank_of_excluded(
            Hit(target_id, _score_of(index, query, score, target_id), target_rank), again.hits, rerank, row_of)
    hits = again.hits[:k]
    scores = {hit.image_id: hit for hit in before}
    explained = _with_ledger([scores[hit.image_id] for hit in hits], features_of, query, score)
    return Ranked(tuple(Hit(hit.image_id, hit.score, hit.rank, again.ledger(hit.image_id, one.parts, rerank))
                        for hit, one in zip(hits, explained, strict=True)), target_rank)


def _score_of(index: FlatIndex, query: ComposedQuery, score: StepScore | None, image_id: str) -> float:
    return index.score_of(query.vector if score is None else score, image_id)


def _with_ledger(
    hits: Sequence[Hit], features_of: Callable[[Sequence[str]], Matrix], query: ComposedQuery, score: StepScore | None
) -> tuple[Hit, ...]:
    if not hits:
        return ()
    features = features_of([hit.image_id for hit in hits])
    names = list(query.terms)
    parts = features @ np.stack([query.terms[name] for name in names]).T  # [hits, terms]
    ledgers = [tuple(zip(names, map(float, row), strict=True)) for row in parts]
    if score is not None:
        products = features @ score.vectors[1:].T  # [hits, m - 1]
        ledgers = score.ledgers(ledgers, products)
    return tuple(
        Hit(hit.image_id, hit.score, hit.rank, ledger) for hit, ledger in zip(hits, ledgers, strict=True)
    )
