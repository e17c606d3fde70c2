"""Batched steps of many queries under one method: prepare, encode, finish, rank.

A failed query does not affect others: from that step on it is a :class:`Problem`. Errors that end a run
(:data:`~cir_core.errors.ENDS_A_RUN`) are raised.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from cir_core.errors import ENDS_A_RUN, CirqueError
from cir_core.evaluation.method_runs import refuse_failures
from cir_core.evaluation.rank_composed import QueryRanks, rank_composed
from cir_core.methods.base_query import BaseQuery
from cir_core.search.prepare import Composed, PreparedTurn
from cir_core.search.searcher import Searcher
from cir_core.types.records import MethodSettings

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
