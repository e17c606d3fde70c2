"""Run methods over any benchmark's queries: runs, and the ranks of the targets.

The benchmark defines what a query is ranked against, and what is excluded: a pool of
images, without the reference in CIRR. Scoring is in :mod:`cir_core.evaluation.evaluate_run`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

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
from cir_core.evaluation.query_steps import Problem, composed_together, each, ranked_together
from cir_core.evaluation.rank_composed import QueryRanks
from cir_core.evaluation.runs.records import Run
from cir_core.evaluation.strict_model import QueryWatch
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel
from cir_core.methods.declared import Method
from cir_core.search.prepare import Composed, PreparedTurn
from cir_core.search.searcher import Searcher
from cir_core.support.texts import clean_text, quoted
from cir_core.types.composition import Usage
from cir_core.types.domains import Domain
from cir_core.types.records import MethodSettings

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
    candidates = (image_id for query in benchmark.queries for image_id in query.subset_ids)
    check_images(benchmark.name, (*benchmark.image_ids, *candidates), gallery)

    def over(pool: str) -> Searcher:
        return searcher_over(benchmark.pools[pool], gallery, encoder, language, domain)

    # Thousands of small ones would hold more vectors than the gallery: they are made when their queries' turn comes.
    searcher_of = over if benchmark.own_galleries else {pool: over(pool) for pool in benchmark.pools}.__getitem__
    for method in methods:
        yield _run(benchmark, method, searcher_of, depth, constraints, progress)


@dataclass(frozen=True)
class _Outcome:
    """Result of a successful query. ``ranked`` has the ranks of the targets, then of the image set."""

    query: BenchmarkQuery
    notes: tuple[str, ...]
    usage: Usage
    ranked: QueryRanks


def _run(
    benchmark: Benchmark, method: Method, searcher_of: Callable[[str], Searcher], depth: int,
    constraints: StoredConstraints | None, progress: Progress | None
) -> MethodRun:
    exclude = any(query.reference_id in query.excluded_ids for query in benchmark.queries)
    settings = replace(method.settings, exclude="reference" if exclude else "none")
    members: dict[str, list[BenchmarkQuery]] = defaultdict(list)
    for query in benchmark.queries:
        members[group_of(query.pool)].append(query)
    outcomes: dict[str, _Outcome] = {}
    failures: dict[str, str] = {}
    given = constraints if settings.soft_filter is not None else None
    scope = f"{benchmark.name} {benchmark.digest}" + (f", constraints {given.digest}" if given else "")
    done, total = 0, len(benchmark.queries)
    for queries in members.values():
        for start in range(0, len(queries), _TOGETHER):
            together = queries[start:start + _TOGETHER]
            with telling_how_far(method.title, done, total, "queries"):
                found = _outcomes(searcher_of, together, settings, depth, given, failures)
            outcomes.update((one.query.query_id, one) for one in found)
            done += len(together)
            if progress:
                progress(method.title, done, total)
    answered = [outcomes[query.query_id] for query in benchmark.queries if query.query_id in outcomes]
    card = card_of(
        [searcher_of(benchmark.queries[0].pool)], settings, split=benchmark.split,
        caption_mode=caption_mode_of(benchmark.queries), scope=scope,
    )
    return MethodRun(
        method.name, method.title, card, _as_run(method.name, answered), failures,
        {one.query.query_id: one.ranked.ranks[:len(one.query.target_ids)] for one in answered},
        dict(Counter(note for one in answered for note in one.notes).most_common()),
        sum((one.usage for one in answered), Usage()),
    )


def _as_run(system: str, answered: Sequence[_Outcome]) -> Run:
    subsets = {}
    for one in answered:
        candidates = zip(one.ranked.ranks[len(one.query.target_ids):], one.query.subset_ids, strict=True)
        if one.query.subset_ids:
            subsets[one.query.query_id] = tuple(image_id for _, image_id in sorted(candidates))
    return Run(
        system, {one.query.query_id: tuple(hit.image_id for hit in one.ranked.hits) for one in answered},
        {one.query.query_id: tuple(hit.score for hit in one.ranked.hits) for one in answered}, subsets,
    )


def _outcomes(
    searcher_of: Callable[[str], Searcher], queries: Sequence[BenchmarkQuery], settings: MethodSettings, depth: int,
    given: StoredConstraints | None, failures: dict[str, str],
) -> list[_Outcome]:
    over = {pool: searcher_of(pool) for pool in dict.fromkeys(query.pool for query in queries)}
    searchers = [over[query.pool] for query in queries]
    made = composed_together(
        each(lambda query: _asked(over[query.pool], query, settings, given), queries), searchers, settings)
    ranked = ranked_together(
        made, searchers, [(*query.target_ids, *query.subset_ids) for query in queries],
        [query.excluded_ids for query in queries], depth,
    )
    outcomes = []
    for query, one, of in zip(queries, made, ranked, strict=True):
        if isinstance(of, Problem):
            failures[query.query_id] = of.reason
        elif isinstance(one, Composed):
            outcomes.append(_Outcome(query, one.notes, one.composition.usage, of))
    return outcomes


def _asked(
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
