"""Rank composed queries against a searcher's images, in batches."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cir_core.methods.step import Rerank, StepScore
from cir_core.methods.steps import step_rerank, step_score
from cir_core.search.prepare import Composed
from cir_core.search.reranking import depth_of, ranks_of, reorder
from cir_core.search.searcher import Searcher
from cir_core.types.records import Hit


@dataclass(frozen=True)
class QueryRanks:
    """``ranks`` of the requested images, in their order; ``hits`` are the best."""

    ranks: tuple[int, ...]
    hits: tuple[Hit, ...]


def rank_composed(
    searcher: Searcher, made: Sequence[Composed], wanted: Sequence[Sequence[str]],
    excluded: Sequence[Collection[str]], k: int,
) -> list[QueryRanks]:
    """For each of ``made`` the ranks of its ``wanted`` images and its ``k`` best, without ``excluded``.

    Queries that no step rescores are ranked together (:meth:`FlatIndex.rank_many`), which gives what ranking each alone
    does; so are scores that combine the same products. Raises ``UnknownImage`` for a wanted image that is not ranked,
    ``SearchError`` for one that is excluded.
    """
    index = searcher.index
    # Not through the searcher, which encodes only texts it has not met: what goes through
    # the encoder together must not depend on the queries before.
    scores = [step_score(one.query.vector, one.composition, searcher.encoder) for one in made]
    reranks = [step_rerank(one.composition, searcher.relevance) for one in made]
    plain = [place for place, score in enumerate(scores) if score is None and reranks[place] is None]
    found: dict[int, QueryRanks] = {}
    if plain:
        many = index.rank_many(
            np.stack([made[place].query.vector for place in plain]),
            [index.rows_of(wanted[place]) for place in plain], k=k,
            exclude_rows=[index.rows_of(image_id for image_id in excluded[place] if image_id in index)
                          for place in plain],
        )
        for place, one in zip(plain, many, strict=True):
            best = zip(one.top.tolist(), one.scores.tolist(), strict=True)
            hits = tuple(Hit(index.ids[row], score, rank) for rank, (row, score) in enumerate(best, start=1))
            found[place] = QueryRanks(one.ranks, hits)
    scored = {place: score for place, score in enumerate(scores) if score is not None and reranks[place] is None}
    for places in _alike(scored, wanted, excluded):
        of = [scored[place] for place in places]
        ranked = index.search_and_rank_scored(of, k, excluded[places[0]], wanted[places[0]])
        for place, (best_scored, ranks) in zip(places, ranked, strict=True):
            found[place] = QueryRanks(ranks, tuple(best_scored))
    for place, rerank in enumerate(reranks):
        if rerank is not None:
            found[place] = _reranked(searcher, made[place], scores[place], rerank, excluded[place], wanted[place], k)
    return [found[place] for place in range(len(made))]


def _alike(
    scored: Mapping[int, StepScore], wanted: Sequence[Sequence[str]], excluded: Sequence[Collection[str]]
) -> Iterable[list[int]]:
    """Places whose scores combine products with the same vectors, for the same images: one query under several
    weights."""
    together: dict[Hashable, list[int]] = {}
    for place, score in scored.items():
        vectors = hashlib.sha256(np.ascontiguousarray(score.vectors).tobytes()).digest()
        together.setdefault((vectors, tuple(wanted[place]), frozenset(excluded[place])), []).append(place)
    return together.values()


def _reranked(
    searcher: Searcher, made: Composed, score: StepScore | None, rerank: Rerank, excluded: Collection[str],
    wanted: Sequence[str], k: int,
) -> QueryRanks:
    index, query = searcher.index, made.query.vector if score is None else score
    depth = depth_of(rerank, index, k)
    before = (index.search(made.query.vector, depth, exclude=excluded) if score is None
              else index.search_scored(score, depth, exclude=excluded))
    hits = reorder(before, rerank, searcher.gallery.row_of).hits
    return QueryRanks(ranks_of(index, query, hits, excluded, wanted), hits[:k])
