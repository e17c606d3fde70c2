"""Result sets of several methods on the sample benchmark, with what is true of them, to compare metrics with.

A set is the first five images that a method finds for a query. What is true of it depends on whom one asks
(:data:`TRUTHS`). The sets do not depend on a relevance model: make them once, score them with many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.encoders.base import Encoder
from cir_core.errors import DatasetError
from cir_core.evaluation.evaluate_benchmark import SearcherOf, composed, run_methods, searchers_for
from cir_core.evaluation.evaluators.relevance import query_vectors
from cir_core.evaluation.method_runs import MethodRun, Progress
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel
from cir_core.methods.declared import Method, builtin_methods
from cir_core.relevance.scorer import RelevanceScorer
from cir_core.sample.atelier.ground_truth import attributes_path, read_attributes
from cir_core.sample.benchmark import read_benchmark, redrawn
from cir_core.sample.requests import LADDERS
from cir_core.search.prepare import Composed
from cir_core.support.maths import unit

METHODS = ("image-only", "text-only", "slerp", "cirevl", "soft", "guided")
"""Kinds of methods, weak to strong."""
SHOWN = 5
"""Images of a set, as people were shown in HP-FashionIQ."""
RECALL_5, RECALL_10, RANK = "Recall@5", "Recall@10", "reciprocal rank"
CLIP_TEXT, CLIP_BOTH = "CLIP similarity, text", "CLIP similarity, text and reference"
CLIP_REFERENCE, CLIP_MERGED = "CLIP similarity, reference alone", "CLIP similarity, CIReVL's merged text"
ASKED = 0.75
"""Share of :func:`request_share` that what was asked for has; the rest is what should stay."""
Values = npt.NDArray[np.float64]
Truth = Mapping[str, Mapping[str, str]]
"""The attributes of each image."""


@dataclass(frozen=True)
class ResultSets:
    """Sets of every query (first axis) by every method (second axis). Can be pickled."""

    gallery_digest: str
    encoder: str                                          # its revision
    queries: tuple[BenchmarkQuery, ...]
    methods: tuple[str, ...]
    protocols: Mapping[str, str]                          # method to the digest of its protocol card
    image_ids: tuple[tuple[tuple[str, ...], ...], ...]    # best first
    truths: Mapping[str, Values]                          # one of TRUTHS to the means over the images, 0 to 1
    unchanged: Mapping[str, float]                        # the same of the reference itself, mean over the queries
    target_ranks: npt.NDArray[np.int64]                   # over the whole pool, from 1
    similarities: Mapping[str, Values]                    # metric to the mean cosine of the images and that vector
    failures: Mapping[str, int]                           # method to queries it failed at, which are left out


def build_sets(
    gallery: Gallery, folder: Path, encoder: Encoder, language: LanguageModel, methods: Sequence[Method], *,
    limit: int | None = None, draw: int | None = None, progress: Progress | None = None,
) -> ResultSets:
    """Run ``methods`` over the sample benchmark in ``folder``, in FashionIQ's protocol, with the first ``limit``
    queries of each category; with ``draw`` over other queries (:func:`~cir_core.sample.benchmark.redrawn`).

    Raises ``DatasetError`` without ground truth or if no query was answered by all methods, and the errors of
    :func:`~cir_core.evaluation.evaluate_benchmark.run_methods`.
    """
    if not attributes_path(folder, gallery.split).is_file():
        raise DatasetError(f"{folder} contains no true attributes of the split {gallery.split}. Draw the sample again "
                           "with `cirque sample build`.")
    benchmark = read_benchmark(folder, split=gallery.split)
    benchmark = _first(benchmark if draw is None else redrawn(benchmark, draw), limit)
    truth = read_attributes(folder, gallery.split)
    runs = list(run_methods(benchmark, gallery, encoder, language, methods, depth=SHOWN, progress=progress))
    searcher_of = searchers_for(benchmark, gallery, encoder, language, "garment")
    merged = {query.query_id: text for query in benchmark.queries if (text := _merged_text(query, searcher_of))}
    queries = tuple(query for query in benchmark.queries
                    if query.query_id in merged and all(query.query_id in one.run.rankings for one in runs))
    if not queries:
        raise DatasetError("No query was answered by every method. "
                           + " ".join(next(iter(one.failures.values())) for one in runs if one.failures))
    ids = tuple(tuple(one.run.rankings[query.query_id] for one in runs) for query in queries)
    texts = np.asarray(encoder.encode_texts([query.modification_text for query in queries]))
    references = gallery.features[[gallery.row_of(query.reference_id) for query in queries]]
    vectors = {
        CLIP_TEXT: texts,
        CLIP_BOTH: np.stack([unit(text + reference) for text, reference in zip(texts, references, strict=True)]),
        CLIP_REFERENCE: references,
        CLIP_MERGED: np.asarray(encoder.encode_texts([merged[query.query_id] for query in queries])),
    }
    return ResultSets(
        gallery.digest, encoder.identity.revision, queries, tuple(one.method for one in runs),
        {one.method: one.card.digest for one in runs}, ids,
        {name: np.array([[share(truth, images, query) for images in of_query]
                         for query, of_query in zip(queries, ids, strict=True)]) for name, share in TRUTHS.items()},
        {name: float(np.mean([share(truth, [query.reference_id], query) for query in queries]))
         for name, share in TRUTHS.items()},
        _ranks(queries, runs), {name: _similarities(gallery, of, ids) for name, of in vectors.items()},
        {one.method: len(one.failures) for one in runs if one.failures},
    )


def target_share(truth: Truth, image_ids: Sequence[str], query: BenchmarkQuery) -> float:
    """Mean over the images of the share of the target's attributes that an image has, 0 to 1: nearness to the one
    target. As a target differs from its reference in few attributes, the unchanged reference has most of them."""
    target = truth[query.target_ids[0]]
    return _mean_share([[truth[image_id][group] == value for group, value in target.items()]
                        for image_id in image_ids])


def request_share(truth: Truth, image_ids: Sequence[str], query: BenchmarkQuery) -> float:
    """Mean over the images of how well each answers the request, 0 to 1: ``ASKED`` for the attributes in which target
    and reference differ (:func:`grade`), the rest for those that should stay as they are. The unchanged reference has
    the rest alone."""
    reference, target = truth[query.reference_id], truth[query.target_ids[0]]
    asked = [group for group, value in target.items() if value != reference[group]]
    stays = [group for group in target if group not in asked]
    done = _mean_share([[grade(group, truth[image_id][group], reference[group], target[group]) for group in asked]
                        for image_id in image_ids])
    kept = _mean_share([[truth[image_id][group] == reference[group] for group in stays] for image_id in image_ids])
    return ASKED * done + (1 - ASKED) * kept


def grade(group: str, value: str, before: str, asked: str) -> float:
    """How far ``value`` answers a request that leads from ``before`` to ``asked``: 1 for what was asked, 0.5 for
    another value on the same side of ``before`` (three-quarter sleeves where long ones were asked of short), else 0."""
    if value == asked:
        return 1.0
    place = {one: step for step, rung in enumerate(LADDERS.get(group, ())) for one in rung}
    if not {value, before, asked} <= place.keys():
        return 0.0
    return 0.5 if (place[value] - place[before]) * (place[asked] - place[before]) > 0 else 0.0


TRUTHS: Mapping[str, Callable[[Truth, Sequence[str], BenchmarkQuery], float]] = {
    "target": target_share, "request": request_share}
"""What simulated raters look at, by name."""


def _mean_share(rows: Sequence[Sequence[float]]) -> float:
    """Mean over rows of each row's mean; a row of nothing counts as fulfilled."""
    return float(np.mean([np.mean(row) if row else 1.0 for row in rows]))


def _merged_text(query: BenchmarkQuery, searcher_of: SearcherOf) -> str:
    """Of CIReVL; empty if it cannot be had."""
    (made,) = composed([searcher_of(query.pool)], [query], builtin_methods()["cirevl"].settings)
    return made.merged if isinstance(made, Composed) else ""


def metric_values(sets: ResultSets) -> dict[str, Values]:
    """The metrics that need no relevance model, by name: ``[queries, methods]``. Recall and rank are of the target in
    the method's ranking."""
    ranks = sets.target_ranks
    return {RECALL_5: (ranks <= 5).astype(np.float64), RECALL_10: (ranks <= 10).astype(np.float64),
            RANK: 1.0 / ranks, **sets.similarities}


def relevance_values(
    sets: ResultSets, scorer: RelevanceScorer, progress: Callable[[int, int], None] | None = None
) -> Values:
    """CIRQRS of every set, ``[queries, methods]``: the mean score of its images (eq. 7).

    Raises ``DatasetError`` if the scorer's gallery holds other images than the one of the sets.
    """
    from cir_core.relevance.scores import set_score  # here: it imports torch

    gallery = scorer.gallery
    if gallery.digest != sets.gallery_digest:
        raise DatasetError("The result sets are of another version of the sample gallery. Make them again.")
    found = np.empty(sets.target_ranks.shape)
    vectors = query_vectors(sets.queries, scorer)
    for row, (vector, of_query) in enumerate(zip(vectors, sets.image_ids, strict=True)):
        # Methods share images: each is scored once.
        ids = list(dict.fromkeys(image_id for images in of_query for image_id in images))
        scores = dict(zip(ids, scorer.scores_of(vector, [gallery.row_of(one) for one in ids]).tolist(), strict=True))
        found[row] = [set_score([scores[image_id] for image_id in images], SHOWN) for images in of_query]
        if progress:
            progress(row + 1, len(sets.queries))
    return found


def _first(benchmark: Benchmark, limit: int | None) -> Benchmark:
    if limit is None:
        return benchmark
    by_pool = [[query for query in benchmark.queries if query.pool == pool] for pool in benchmark.pools]
    return replace(benchmark, queries=[query for queries in by_pool for query in queries[:limit]])


def _ranks(queries: Sequence[BenchmarkQuery], runs: Sequence[MethodRun]) -> npt.NDArray[np.int64]:
    return np.array([[one.target_ranks[query.query_id][0] for one in runs] for query in queries], np.int64)


def _similarities(gallery: Gallery, vectors: npt.NDArray[np.float32], ids: Sequence[Sequence[Sequence[str]]]) -> Values:
    """``[queries, methods]``: mean cosine of a query's vector and the images of each set."""
    return np.array([
        [np.mean(gallery.features[[gallery.row_of(image_id) for image_id in images]] @ vector, dtype=np.float64)
         for images in of_query]
        for vector, of_query in zip(vectors, ids, strict=True)
    ])
