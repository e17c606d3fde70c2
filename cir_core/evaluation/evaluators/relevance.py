"""CIRQRS of a run: the mean relevance score of the first k images of each query (eq. 6; Table 6: k = 10 and 50)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import GalleryError
from cir_core.evaluation.evaluators.records import Columns, Measure
from cir_core.support.texts import quoted

if TYPE_CHECKING:
    from cir_core.relevance.scorer import RelevanceScorer

FAMILY = "cirqrs"
CUTOFFS = (10, 50)
Progress = Callable[[int, int], None]


def cirqrs(
    benchmark: Benchmark, rankings: Mapping[str, Sequence[str]], scorer: RelevanceScorer, *,
    progress: Progress | None = None,
) -> tuple[Columns, tuple[str, ...]]:
    """A column for each of ``CUTOFFS``, in the order of the benchmark's queries, and notes.

    A query without a list counts as 0, as in all measures; of a list shorter than k all images count.

    Raises ``GalleryError`` if the scorer's gallery lacks a reference or a listed image.
    """
    check_gallery(benchmark, rankings, scorer)
    values = np.zeros((len(benchmark.queries), len(CUTOFFS)))
    short = dict.fromkeys(CUTOFFS, 0)
    for row, query in enumerate(benchmark.queries):
        ranking = rankings.get(query.query_id, ())
        if ranking:
            values[row] = query_values(query, ranking, scorer)
            for k in CUTOFFS:
                short[k] += len(ranking) < k
        if progress:
            progress(row + 1, len(benchmark.queries))
    notes = tuple(f"{count} of {len(benchmark.queries)} lists have fewer than {k} images: CIRQRS of {k} is the mean of "
                  "all of them." for k, count in short.items() if count)
    return {Measure(FAMILY, str(k)): values[:, place] for place, k in enumerate(CUTOFFS)}, notes


def query_values(query: BenchmarkQuery, ranking: Sequence[str], scorer: RelevanceScorer) -> tuple[float, ...]:
    """CIRQRS of one list for each of ``CUTOFFS``."""
    gallery, best = scorer.gallery, ranking[:max(CUTOFFS)]
    vector = scorer.query(gallery.load_for_encoder(query.reference_id), query.modification_text)
    scores = scorer.scores_of(vector, [gallery.row_of(image_id) for image_id in best])
    return tuple(float(scores[:k].mean(dtype=np.float64)) for k in CUTOFFS)


def check_gallery(
    benchmark: Benchmark, rankings: Mapping[str, Sequence[str]], scorer: RelevanceScorer
) -> None:
    """Raises ``GalleryError`` unless the scorer's gallery has every reference and the first images of every list."""
    gallery = scorer.gallery
    wanted = dict.fromkeys(query.reference_id for query in benchmark.queries)
    for ranking in rankings.values():
        wanted.update(dict.fromkeys(ranking[:max(CUTOFFS)]))
    missing = [image_id for image_id in wanted if image_id not in gallery]
    if missing:
        first = ", ".join(map(quoted, missing[:3]))
        raise GalleryError(f"CIRQRS needs the images, and gallery {quoted(gallery.name)} lacks {len(missing)} of the "
                           f"{len(wanted)} that are referenced or listed, the first: {first}. Make a gallery of the "
                           "benchmark's own images: cirque datasets index")
