"""Result sets of several methods on the sample benchmark, with what is true of them, to compare metrics with.

A set is the first five images that a method finds for a query. Its truth is the share of the target's attributes that
its images have, in the mean. The sets do not depend on a relevance model: make them once, score them with many.
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
from cir_core.evaluation.evaluate_benchmark import run_methods
from cir_core.evaluation.evaluators.relevance import query_vectors
from cir_core.evaluation.method_runs import MethodRun, Progress
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel
from cir_core.methods.declared import Method
from cir_core.relevance.scorer import RelevanceScorer
from cir_core.sample.atelier.ground_truth import attributes_path, read_attributes
from cir_core.sample.benchmark import read_benchmark
from cir_core.support.maths import unit

METHODS = ("image-only", "text-only", "slerp", "cirevl", "soft", "guided")
"""Kinds of methods, weak to strong."""
SHOWN = 5
"""Images of a set, as people were shown in HP-FashionIQ."""
RECALL_5, RECALL_10, RANK = "Recall@5", "Recall@10", "reciprocal rank"
CLIP_TEXT, CLIP_BOTH = "CLIP similarity, text", "CLIP similarity, text and reference"
Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ResultSets:
    """Sets of every query (first axis) by every method (second axis). Can be pickled."""

    gallery_digest: str
    encoder: str                                          # its revision
    queries: tuple[BenchmarkQuery, ...]
    methods: tuple[str, ...]
    protocols: Mapping[str, str]                          # method to the digest of its protocol card
    image_ids: tuple[tuple[tuple[str, ...], ...], ...]    # best first
    truth: Values                                         # mean share of the target's attributes, 0 to 1
    target_ranks: npt.NDArray[np.int64]                   # over the whole pool, from 1
    clip_text: Values                                     # mean cosine of the images and the text
    clip_both: Values                                     # of the images and text and reference added up
    failures: Mapping[str, int]                           # method to queries it failed at, which are left out


def build_sets(
    gallery: Gallery, folder: Path, encoder: Encoder, language: LanguageModel, methods: Sequence[Method], *,
    limit: int | None = None, progress: Progress | None = None,
) -> ResultSets:
    """Run ``methods`` over the sample benchmark in ``folder``, in FashionIQ's protocol, with the first ``limit``
    queries of each category.

    Raises ``DatasetError`` without ground truth or if no query was answered by all methods, and the errors of
    :func:`~cir_core.evaluation.evaluate_benchmark.run_methods`.
    """
    if not attributes_path(folder, gallery.split).is_file():
        raise DatasetError(f"{folder} holds no true attributes of the split {gallery.split}. Draw the sample again "
                           "with `cirque sample build`.")
    benchmark = _first(read_benchmark(folder, split=gallery.split), limit)
    truth = read_attributes(folder, gallery.split)
    runs = list(run_methods(benchmark, gallery, encoder, language, methods, depth=SHOWN, progress=progress))
    queries = tuple(query for query in benchmark.queries if all(query.query_id in one.run.rankings for one in runs))
    if not queries:
        raise DatasetError("No query was answered by every method. "
                           + " ".join(next(iter(one.failures.values())) for one in runs if one.failures))
    ids = tuple(tuple(one.run.rankings[query.query_id] for one in runs) for query in queries)
    texts = np.asarray(encoder.encode_texts([query.modification_text for query in queries]))
    references = gallery.features[[gallery.row_of(query.reference_id) for query in queries]]
    both = np.stack([unit(text + reference) for text, reference in zip(texts, references, strict=True)])
    return ResultSets(
        gallery.digest, encoder.identity.revision, queries, tuple(one.method for one in runs),
        {one.method: one.card.digest for one in runs}, ids,
        np.array([[attribute_share(truth, images, query.target_ids[0]) for images in of_query]
                  for query, of_query in zip(queries, ids, strict=True)]),
        _ranks(queries, runs), _similarities(gallery, texts, ids), _similarities(gallery, both, ids),
        {one.method: len(one.failures) for one in runs if one.failures},
    )


def attribute_share(truth: Mapping[str, Mapping[str, str]], image_ids: Sequence[str], target_id: str) -> float:
    """Mean over the images of the share of the target's attributes that an image has, 0 to 1."""
    target = truth[target_id]
    shares = [sum(truth[image_id][group] == value for group, value in target.items()) / len(target)
              for image_id in image_ids]
    return float(np.mean(shares))


def metric_values(sets: ResultSets) -> dict[str, Values]:
    """The metrics that need no relevance model, by name: ``[queries, methods]``. Recall and rank are of the target in
    the method's ranking."""
    ranks = sets.target_ranks
    return {RECALL_5: (ranks <= 5).astype(np.float64), RECALL_10: (ranks <= 10).astype(np.float64),
            RANK: 1.0 / ranks, CLIP_TEXT: sets.clip_text, CLIP_BOTH: sets.clip_both}


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
    found = np.empty(sets.truth.shape)
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
