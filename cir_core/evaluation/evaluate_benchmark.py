"""Run methods over any benchmark's queries: runs, and the ranks of the targets.

The benchmark defines what a query is ranked against, and what is excluded: a pool of
images, without the reference in CIRR. Scoring is in :mod:`cir_core.evaluation.evaluate_run`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from cir_core.datasets.readers.soft_constraints import StoredConstraints
from cir_core.datasets.records import Benchmark, BenchmarkQuery, caption_mode_of, group_of
from cir_core.encoders.base import Encoder
from cir_core.errors import SearchError
from cir_core.evaluation.method_runs import (
    DEPTH,
    MethodRun,
    Progress,
    card_of,
    check_images,
    searcher_over,
    telling_how_far,
)
from cir_core.evaluation.query_steps import Problem, QueryRanks, composed_together, each, ranked_together
from cir_core.evaluation.runs.records import Run
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel
from cir_core.methods.declared import Method
from cir_core.methods.observer import QueryWatch
from cir_core.search.prepare import Composed, PreparedTurn
from cir_core.search.searcher import Searcher
from cir_core.support.texts import clean_text, quoted
from cir_core.types.composition import Usage
from cir_core.types.records import Domain, MethodSettings

_TOGETHER = 64   # queries encoded and ranked as a batch, always the same ones


def run_methods(
    benchmark: Benchmark, gallery: Gallery, encoder: Encoder, language: LanguageModel, methods: Sequence[Method], *,
    depth: int = DEPTH, domain: Domain = "garment", constraints: StoredConstraints | None = None,
    progress: Progress | None = None,
) -> Iterator[MethodRun]:
    """Run every query under every method, one run per method; the ``depth`` best are stored.

    A failed query (an unreadable image, a malformed answer of a language model) is recorded in the run's failures.
    ``domain`` is what prompts say the images show. The methods share captions of references. With ``constraints``, soft
    filters take these and ask no language model.

    Raises:
        GalleryError: the gallery lacks images of the benchmark.
        LanguageModelUnavailable, EncoderUnavailable: a method cannot continue. The message gives its
        progress; earlier runs have been yielded.
    """
    if depth < 1:
        raise SearchError(f"depth is {depth}; keep at least 1 image of each query.")
    searcher_of = searchers_for(benchmark, gallery, encoder, language, domain)
    for method in methods:
        given = constraints if method.settings.soft_filter is not None else None
        yield from run_together(benchmark, [method], searcher_of, depth, progress,
                                compose=partial(composed, constraints=given), constraints=given)


SearcherOf = Callable[[str], Searcher]
"""By the name of a pool."""

Compose = Callable[[Sequence[Searcher], Sequence[BenchmarkQuery], MethodSettings], Sequence[Composed | Problem]]
"""Queries, each with the searcher of its pool, under settings. All methods of a run get the same list before the next
list comes."""


def asked(
    searchers: Sequence[Searcher], queries: Sequence[BenchmarkQuery], settings: MethodSettings,
    constraints: StoredConstraints | None = None,
) -> list[PreparedTurn | Problem]:
    """The first part of composing: texts of the queries that can be ranked."""
    return each(lambda both: _prepare_query(*both, settings, constraints), list(zip(searchers, queries, strict=True)))


def composed(
    searchers: Sequence[Searcher], queries: Sequence[BenchmarkQuery], settings: MethodSettings,
    constraints: StoredConstraints | None = None,
) -> Sequence[Composed | Problem]:
    return composed_together(asked(searchers, queries, settings, constraints), searchers, settings)


def searchers_for(
    benchmark: Benchmark, gallery: Gallery, encoder: Encoder, language: LanguageModel, domain: Domain
) -> SearcherOf:
    """Raises ``GalleryError`` if the gallery lacks images of the benchmark."""
    candidates = (image_id for query in benchmark.queries for image_id in query.subset_ids)
    check_images(benchmark.name, (*benchmark.image_ids, *candidates), gallery)

    def over(pool: str) -> Searcher:
        return searcher_over(benchmark.pools[pool], gallery, encoder, language, domain)

    # Thousands of small ones would hold more vectors than the gallery: they are made when their queries' turn comes.
    return over if benchmark.own_galleries else {pool: over(pool) for pool in benchmark.pools}.__getitem__


def run_together(
    benchmark: Benchmark, methods: Sequence[Method], searcher_of: SearcherOf, depth: int,
    progress: Progress | None, *, compose: Compose = composed, constraints: StoredConstraints | None = None,
    keep_scores: bool = True,
) -> list[MethodRun]:
    """Run ``methods`` batch by batch, all of them over one before the next. Without ``keep_scores`` the runs have none,
    which takes a third of the memory. ``constraints``: those that ``compose`` uses."""
    exclude = any(query.reference_id in query.excluded_ids for query in benchmark.queries)
    found = [_Found(method, replace(method.settings, exclude="reference" if exclude else "none")) for method in methods]
    members: dict[str, list[BenchmarkQuery]] = defaultdict(list)
    for query in benchmark.queries:
        members[group_of(query.pool)].append(query)
    done, total = 0, len(benchmark.queries)
    for queries in members.values():
        for start in range(0, len(queries), _TOGETHER):
            together = queries[start:start + _TOGETHER]
            over = {pool: searcher_of(pool) for pool in dict.fromkeys(query.pool for query in together)}
            with telling_how_far(methods[0].title, done, total, "queries"):
                _add(found, [over[query.pool] for query in together], together, compose, depth, keep_scores)
            done += len(together)
            if progress:
                progress(found[0].method.title, done, total)
    scope = f"{benchmark.name} {benchmark.digest}" + (f", constraints {constraints.digest}" if constraints else "")
    searchers = [searcher_of(pool) for pool in dict.fromkeys(query.pool for query in benchmark.queries)][:1]
    return [one.as_run(benchmark, searchers, scope) for one in found]


def _add(
    found: Sequence[_Found], searchers: Sequence[Searcher], queries: Sequence[BenchmarkQuery], compose: Compose,
    depth: int, keep_scores: bool,
) -> None:
    """Compose a batch under every method, and rank all of it at once."""
    made = [compose(searchers, queries, one.settings) for one in found]
    every = [query for _ in found for query in queries]
    ranked = ranked_together(
        [one for of in made for one in of], [*searchers] * len(found),
        [(*query.target_ids, *query.subset_ids) for query in every], [query.excluded_ids for query in every], depth,
    )
    for number, one in enumerate(found):
        one.add(queries, made[number], ranked[number * len(queries):(number + 1) * len(queries)], keep_scores)


class _Found:
    """Results of one method so far, by query. ``ranks`` has those of the targets."""

    def __init__(self, method: Method, settings: MethodSettings) -> None:
        self.method, self.settings = method, settings
        self.lists: dict[str, tuple[str, ...]] = {}
        self.scores: dict[str, tuple[float, ...]] = {}
        self.subsets: dict[str, tuple[str, ...]] = {}
        self.ranks: dict[str, tuple[int, ...]] = {}
        self.failures: dict[str, str] = {}
        self.notes = Counter[str]()
        self.usage = Usage()

    def add(
        self, queries: Sequence[BenchmarkQuery], made: Sequence[Composed | Problem],
        ranked: Sequence[QueryRanks | Problem], keep_scores: bool,
    ) -> None:
        for query, one, of in zip(queries, made, ranked, strict=True):
            name = query.query_id
            if isinstance(of, Problem):
                self.failures[name] = of.reason
            elif isinstance(one, Composed):
                self.lists[name] = tuple(hit.image_id for hit in of.hits)
                if keep_scores:
                    self.scores[name] = tuple(hit.score for hit in of.hits)
                targets = len(query.target_ids)
                self.ranks[name] = of.ranks[:targets]
                if query.subset_ids:
                    candidates = sorted(zip(of.ranks[targets:], query.subset_ids, strict=True))
                    self.subsets[name] = tuple(image_id for _, image_id in candidates)
                self.notes.update(one.notes)
                self.usage += one.composition.usage

    def as_run(self, benchmark: Benchmark, searchers: Sequence[Searcher], scope: str) -> MethodRun:
        card = card_of(
            searchers, self.settings, split=benchmark.split, caption_mode=caption_mode_of(benchmark.queries),
            scope=scope,
        )
        order = [query.query_id for query in benchmark.queries if query.query_id in self.lists]
        run = Run(
            self.method.name, {name: self.lists[name] for name in order},
            {name: self.scores[name] for name in order if name in self.scores},
            {name: self.subsets[name] for name in order if name in self.subsets},
        )
        return MethodRun(
            self.method.name, self.method.title, card, run, self.failures, {name: self.ranks[name] for name in order},
            dict(self.notes.most_common()), self.usage,
        )


def _prepare_query(
    searcher: Searcher, query: BenchmarkQuery, settings: MethodSettings, given: StoredConstraints | None
) -> PreparedTurn:
    for target in query.target_ids:
        if target not in searcher.index:
            raise SearchError(f"The target {quoted(target)} is not among the {len(searcher.index)} images that are "
                              "ranked.")
        if target in query.excluded_ids:
            raise SearchError(f"The target {quoted(target)} is excluded from the results, so it has no rank.")
    text = clean_text(query.modification_text, required=settings.base != "image-only")
    return searcher.prepare(searcher.gallery_reference(query.reference_id), text, settings, watch=QueryWatch(),
                            constraints=given.by_query[query.query_id] if given else None)
