"""Rank the gallery by a query: hits with their score parts, and the target's rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cir_core.index.flat import FlatIndex
from cir_core.methods.feedback import ComposedQuery
from cir_core.methods.step import Rerank, StepScore
from cir_core.search.reranking import RowOf, depth_of, rank_of_excluded, reorder
from cir_core.types.records import Hit, Matrix


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
