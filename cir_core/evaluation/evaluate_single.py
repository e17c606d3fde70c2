"""Single-turn evaluation in FashionIQ's protocol, under any method.

Each category is ranked separately, the reference stays in the gallery, a query's two
captions are joined by "and". A figure is the unweighted mean of the categories' means.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from cir_core.datasets.records import BenchmarkQuery
from cir_core.evaluation.evaluators import relevance
from cir_core.evaluation.metrics.bootstrap import MeanEstimate, Values, share_estimates
from cir_core.methods.declared import Method
from cir_core.search.searcher import Searcher, TurnResult
from cir_core.types.composition import Usage
from cir_core.types.records import MethodSettings, ProtocolCard

if TYPE_CHECKING:
    from cir_core.relevance.scorer import RelevanceScorer

CUTOFFS = (1, 5, 10, 50)
MEASURES = (*(f"R@{k}" for k in CUTOFFS), "MRR")
CIRQRS = tuple(f"CIRQRS@{k}" for k in relevance.CUTOFFS)
SEEN = 10
SCOPE = "each category by itself"
STAGES = ("caption", "merge", "encode text", "compose", "constraints", "reflect", "encode constraints", "search")
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Category:
    """``ids`` are all images that its queries are ranked against."""

    name: str
    ids: Sequence[str]
    queries: Sequence[BenchmarkQuery]


@dataclass(frozen=True)
class Spent:
    """Average cost of a query. ``stages`` is in milliseconds, in the order of ``STAGES``;
    ``total`` is the whole turn, including the time between the stages."""

    stages: Mapping[str, float]
    total: float
    usage: Usage             # of all queries together


@dataclass(frozen=True)
class SingleTurn:
    """``ranks[category]`` in the order of its queries. ``measures`` are means of the
    categories, R@k as shares; ``by_category`` has the parts of those means. ``cirqrs``: for each query, as ``ranks``,
    CIRQRS of its first images, if a relevance model was given, which adds ``CIRQRS`` to the measures."""

    method: str
    title: str
    protocol: ProtocolCard
    ranks: Mapping[str, Sequence[int]] = field(repr=False)
    measures: Mapping[str, MeanEstimate]
    by_category: Mapping[str, Mapping[str, float]]
    notes: Mapping[str, int]          # note → number of queries with it
    spent: Spent = field(compare=False)
    cirqrs: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict, repr=False)

    def values(self, category: str) -> Values:
        """``[queries, measures]``: each query's contribution to the mean of each measure."""
        found = single_turn_values(self.ranks[category])
        return np.hstack([found, np.asarray(self.cirqrs[category], np.float64)]) if self.cirqrs else found


def without_exclusions(method: Method) -> MethodSettings:
    """The method's settings as FashionIQ's and CIRCLED's evaluators run: nothing is excluded."""
    return replace(method.settings, exclude="none")


def looks_at(settings: MethodSettings) -> int:
    """Number of hits of a turn that the next one needs."""
    return max(SEEN, settings.feedback_depth)


def rank_of_target(found: TurnResult, target_id: str) -> int:
    if found.target_rank is None:
        raise AssertionError(f"no rank for target {target_id}")
    return found.target_rank


def single_turn(
    method: Method, categories: Sequence[Category], make_searcher: Callable[[Category], Searcher],
    card: ProtocolCard, *, scorer: RelevanceScorer | None = None, seed: int, progress: Progress | None = None,
) -> SingleTurn:
    """Run every query. ``make_searcher`` returns one with an empty caption cache: each
    method pays for its own captions, so that times are comparable. ``scorer``: also measure CIRQRS, outside of the
    times."""
    settings = without_exclusions(method)
    depth = SEEN if scorer is None else max(SEEN, *relevance.CUTOFFS)
    ranks: dict[str, list[int]] = {}
    cirqrs: dict[str, list[Sequence[float]]] = {category.name: [] for category in categories} if scorer else {}
    notes, usage, milliseconds, total = Counter[str](), Usage(), Counter[str](), 0.0
    queries = sum(len(category.queries) for category in categories)
    done = 0
    for category in categories:
        searcher = make_searcher(category)
        ranks[category.name] = []
        for query in category.queries:
            began = perf_counter()
            found = _turn(searcher, query, settings, depth)
            total += (perf_counter() - began) * 1000
            milliseconds.update(found.timings_ms)
            notes.update(found.notes)
            usage += found.composition.usage
            ranks[category.name].append(rank_of_target(found, query.target_ids[0]))
            if scorer:
                shown = [hit.image_id for hit in found.hits]
                (vector,) = relevance.query_vectors([query], scorer)
                cirqrs[category.name].append(relevance.list_values(vector, shown, scorer))
            done += 1
            if progress:
                progress(method.title, done, queries)
    stages = {name: milliseconds[name] / queries for name in STAGES if name in milliseconds}
    one = SingleTurn(method.name, method.title, card, ranks, {}, {}, dict(notes.most_common()),
                     Spent(stages, total / queries, usage), cirqrs)
    values = {name: one.values(name) for name in ranks}
    names = (*MEASURES, *(CIRQRS if scorer else ()))
    return replace(
        one, measures=dict(zip(names, share_estimates(list(values.values()), seed=seed), strict=True)),
        by_category={name: dict(zip(names, map(float, of.mean(axis=0)), strict=True)) for name, of in values.items()})


def single_turn_values(ranks: Sequence[int]) -> Values:
    """``[queries, measures]``: each query's contribution to the mean of each of ``MEASURES``."""
    array = np.asarray(ranks, dtype=np.float64)
    return np.stack([*(array <= k for k in CUTOFFS), 1 / array], axis=1)


def _turn(searcher: Searcher, query: BenchmarkQuery, settings: MethodSettings, depth: int) -> TurnResult:
    return searcher.turn(
        searcher.gallery_reference(query.reference_id), query.modification_text, settings, k=depth,
        target_id=query.target_ids[0],
    )
