"""Batched steps of many queries under one method: prepare, encode, finish, rank. Rank composed queries against a
searcher's images, in batches.

A failed query does not affect others: from that step on it is a :class:`Problem`. Errors that end a run
(:data:`~cir_core.errors.ENDS_A_RUN`) are raised.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from cir_core.errors import ENDS_A_RUN, CirqueError
from cir_core.evaluation.method_runs import refuse_failures
from cir_core.methods.base_query import BaseQuery
from cir_core.methods.step import Rerank, StepScore
from cir_core.methods.steps import step_rerank, step_score
from cir_core.search.prepare import Composed, PreparedTurn
from cir_core.search.ranking import depth_of, ranks_of, reorder
from cir_core.search.searcher import Searcher
from cir_core.types.records import Hit, MethodSettings


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


_In = TypeVar("_In")
_Out = TypeVar("_Out")


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a query has no ranking. ``of_query``: the cause is in the data set or the
    gallery, so that any number of them in a row is no evidence against the method."""

    reason: str
    of_query: bool = False


@dataclass(frozen=True)
class Based:
    """A query whose base is encoded."""

    asked: PreparedTurn
    base: BaseQuery


def each(work: Callable[[_In], _Out], items: Sequence[_In], workers: int = 1) -> list[_Out | Problem]:
    """``work`` applied to every item, in their order, ``workers`` at a time."""
    def safely(item: _In) -> _Out | Problem:
        try:
            return work(item)
        except ENDS_A_RUN:
            raise
        except CirqueError as error:
            return Problem(str(error))

    if workers == 1 or len(items) < 2:
        return [safely(item) for item in items]
    with ThreadPoolExecutor(workers) as threads:
        return list(threads.map(safely, items))


def composed_together(
    asked: Sequence[PreparedTurn | Problem], searchers: Sequence[Searcher], settings: MethodSettings, *,
    workers: int = 1
) -> list[Composed | Problem]:
    """Compose each query. ``searchers`` has one per query, all with one encoder, which gets the queries as a batch. A
    step at which a language model failed fails its query (:func:`~cir_core.evaluation.method_runs.refuse_failures`)."""
    return completed_together(based_together(asked, searchers, settings), searchers, settings, workers=workers)


def based_together(
    asked: Sequence[PreparedTurn | Problem], searchers: Sequence[Searcher], settings: MethodSettings
) -> list[Based | Problem]:
    """The first part of :func:`composed_together`: the queries' bases, encoded as a batch."""
    ready = [(place, one) for place, one in enumerate(asked) if not isinstance(one, Problem)]
    bases = _bases(searchers[ready[0][0]], [one for _, one in ready], settings) if ready else []
    found = {place: base if isinstance(base, Problem) else Based(one, base)
             for (place, one), base in zip(ready, bases, strict=True)}
    return [one if isinstance(one, Problem) else found[place] for place, one in enumerate(asked)]


def completed_together(
    based: Sequence[Based | Problem], searchers: Sequence[Searcher], settings: MethodSettings, *, workers: int = 1
) -> list[Composed | Problem]:
    """The rest of :func:`composed_together`: history and steps, ``workers`` queries at a time."""
    ready = [(place, one) for place, one in enumerate(based) if not isinstance(one, Problem)]
    made = each(lambda item: _completed(searchers[item[0]], item[1], settings), ready, workers)
    found = {place: one for (place, _), one in zip(ready, made, strict=True)}
    return [one if isinstance(one, Problem) else found[place] for place, one in enumerate(based)]


def ranked_together(
    made: Sequence[Composed | Problem], searchers: Sequence[Searcher], wanted: Sequence[Sequence[str]],
    excluded: Sequence[Collection[str]], k: int,
) -> list[QueryRanks | Problem]:
    """:func:`~cir_core.evaluation.rank_composed.rank_composed` of each query with its own searcher."""
    outcomes: dict[int, QueryRanks | Problem] = {}
    members: dict[int, list[tuple[int, Composed]]] = {}
    for place, one in enumerate(made):
        if isinstance(one, Problem):
            outcomes[place] = one
        else:
            members.setdefault(id(searchers[place]), []).append((place, one))
    for ready in members.values():
        places = [place for place, _ in ready]
        ranked = rank_composed(
            searchers[places[0]], [one for _, one in ready], [wanted[place] for place in places],
            [excluded[place] for place in places], k,
        )
        outcomes.update(zip(places, ranked, strict=True))
    return [outcomes[place] for place in range(len(made))]


def _bases(searcher: Searcher, asked: Sequence[PreparedTurn],
           settings: MethodSettings) -> Sequence[BaseQuery | Problem]:
    try:
        return searcher.encode_bases(asked, settings)
    except ENDS_A_RUN:
        raise
    except CirqueError:  # caused by one of them; ranking them separately shows which
        return each(lambda one: searcher.encode_bases([one], settings)[0], asked)


def _completed(searcher: Searcher, based: Based, settings: MethodSettings) -> Composed:
    made = searcher.finish_query(based.asked, based.base, settings)
    refuse_failures(based.asked.stages.watch)
    return made
