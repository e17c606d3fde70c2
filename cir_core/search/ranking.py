"""Rank the gallery by a query: hits with their score parts, and the target's rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cir_core.index.flat import FlatIndex
from cir_core.methods.feedback import ComposedQuery
from cir_core.methods.step import StepScore
from cir_core.types.records import Hit, Matrix


@dataclass(frozen=True)
class Ranked:
    hits: tuple[Hit, ...]
    target_rank: int | None


def rank(
    index: FlatIndex, features_of: Callable[[Sequence[str]], Matrix], query: ComposedQuery, *,
    score: StepScore | None = None, k: int, excluded: Sequence[str] = (), target_id: str | None = None,
) -> Ranked:
    """The best ``k`` without ``excluded``. A hit's parts add up to its score."""
    scored = score if score is not None else query.vector
    target_rank = None
    if target_id is not None:
        # A target picked as reference is still ranked.
        hits, target_rank = index.search_and_rank(scored, k, excluded, target_id)
    elif score is not None:
        hits = index.search_scored(score, k, exclude=excluded)
    else:
        hits = index.search(query.vector, k, exclude=excluded)
    return Ranked(_with_ledger(hits, features_of, query, score), target_rank)


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
