"""Recall and time of an approximate index against exact search, on queries like those of composed retrieval.

Stored vectors alone would flatter an index: each lies where it was trained. Queries are of up to four kinds, each of
which has to reach the recall:

    near       a stored vector with noise, at a cosine of :data:`NEAR` with it
    between    halfway between two stored vectors
    text       captions of the gallery's images by its encoder
    composed   halfway between an image's vector and the caption of another

The last two need captions and the encoder: without, texts are not measured.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cir_core.gallery.gallery import Gallery
from cir_core.index.approximate import PAGE, ApproximateIndex
from cir_core.index.engines import Engine, Settings
from cir_core.index.flat import FlatIndex
from cir_core.types.records import Hit, Matrix, Vector
from cir_core.types.vectors import TextEncoder

NEAR = 0.8
FIRST = 10               # recall at this many, and at a page
_EACH = 100              # queries of each kind
_EXACT = 10              # searches that time exact search


@dataclass(frozen=True)
class Figures:
    """``recall``: of each kind of query, the shares of the best :data:`FIRST` and :data:`PAGE` images that were found.
    Times are of single searches, median and 95th percentile, scores included."""

    queries: int
    recall: Mapping[str, tuple[float, float]]
    p50_ms: float
    p95_ms: float
    exact_p50_ms: float
    size: int = 0           # bytes
    seconds: float = 0.0    # of the build

    @property
    def worst(self) -> tuple[float, float]:
        """Recall at both of the kind of query that has the lowest."""
        return min(first for first, _ in self.recall.values()), min(page for _, page in self.recall.values())


def caption_vectors(gallery: Gallery, encoder: TextEncoder, seed: int = 0) -> Matrix | None:
    """``[n, dim]`` of captions of some of the gallery's images; None if it has none."""
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(gallery), min(4 * _EACH, len(gallery)), replace=False)
    captions = list(dict.fromkeys(caption for row in rows.tolist() if (caption := gallery.image(row).caption)))
    return np.asarray(encoder.encode_texts(captions[:_EACH]), np.float32) if captions else None


def sample_queries(features: Matrix, texts: Matrix | None = None, *, each: int = _EACH, seed: int = 0
                   ) -> dict[str, Matrix]:
    """By kind, ``[n, dim]`` of unit length."""
    rng = np.random.default_rng(seed)

    def stored(n: int) -> Matrix:
        return np.asarray(features[np.sort(rng.choice(len(features), n))], np.float32)   # sorted: from a file

    noise = _unit(rng.standard_normal((each, features.shape[1])))
    shuffled = stored(each)[rng.permutation(each)]
    found = {"near": _unit(NEAR * stored(each) + np.sqrt(1 - NEAR**2) * noise),
             "between": _unit(stored(each) + shuffled)}
    if texts is not None:
        found["text"] = _unit(texts)
        found["composed"] = _unit(stored(len(texts)) + _unit(texts))
    return found


def measure(engine: Engine, exact: FlatIndex, features: Matrix, queries: Mapping[str, Matrix],
            ladder: Sequence[Settings], goal: float) -> tuple[Settings, Figures]:
    """The first settings of ``ladder`` that reach ``goal`` for every kind of query, or its last; the figures with
    them."""
    best = {kind: _exact_lists(exact, vectors) for kind, vectors in queries.items()}
    exact_ms = np.median([_timed(exact, vector)[1] for vector in _some(queries)])
    for settings in ladder:
        index = ApproximateIndex(features, exact.ids, engine, settings)
        recall, times = {}, list[float]()
        for kind, vectors in queries.items():
            found, milliseconds = zip(*(_timed(index, vector) for vector in vectors), strict=True)
            lists = [[hit.image_id for hit in hits] for hits in found]
            recall[kind] = (_recall(lists, best[kind], FIRST), _recall(lists, best[kind], PAGE))
            times += milliseconds
        figures = Figures(len(times), recall, float(np.median(times)), float(np.quantile(times, 0.95)),
                          float(exact_ms))
        if min(figures.worst) >= goal:
            break
    return settings, figures


def _exact_lists(exact: FlatIndex, vectors: Matrix) -> list[list[str]]:
    ranked = exact.rank_many(vectors, [()] * len(vectors), k=PAGE)
    return [[exact.ids[row] for row in one.top.tolist()] for one in ranked]


def _recall(found: Sequence[Sequence[str]], best: Sequence[Sequence[str]], k: int) -> float:
    return float(np.mean([len(set(some[:k]) & set(all_[:k])) / len(all_[:k])
                          for some, all_ in zip(found, best, strict=True)]))


def _timed(index: FlatIndex, vector: Vector) -> tuple[list[Hit], float]:
    started = time.perf_counter()
    hits = index.search(vector, PAGE)
    return hits, 1000 * (time.perf_counter() - started)


def _some(queries: Mapping[str, Matrix]) -> Matrix:
    return np.concatenate(list(queries.values()))[:: max(1, sum(map(len, queries.values())) // _EXACT)]


def _unit(vectors: np.ndarray[tuple[int, ...], np.dtype[np.floating]]) -> Matrix:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)
