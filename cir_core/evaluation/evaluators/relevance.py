"""CIRQRS of a run: the mean relevance score of the first k images of each query (eq. 10; Table 6: k = 10 and 50)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import GalleryError
from cir_core.evaluation.evaluators.records import Columns, Measure, first
from cir_core.evaluation.evaluators.sessions import turn_id
from cir_core.support.texts import quoted
from cir_core.types.records import Vector

if TYPE_CHECKING:
    from cir_core.datasets.readers.circled import CircledSession
    from cir_core.relevance.scorer import RelevanceScorer

FAMILY = "cirqrs"
CUTOFFS = (10, 50)
_BATCH = 32
Progress = Callable[[int, int], None]


def cirqrs(
    benchmark: Benchmark, rankings: Mapping[str, Sequence[str]], scorer: RelevanceScorer, *,
    progress: Progress | None = None,
) -> tuple[Columns, tuple[str, ...]]:
    """A column for each of ``CUTOFFS``, in the order of the benchmark's queries, and notes.

    A query without a list counts as 0, as in all measures; of a list shorter than k all images count.

    Raises ``GalleryError`` if the scorer's gallery lacks a reference or a listed image.
    """
    values, notes = _values(benchmark.queries, rankings, scorer, progress)
    return {Measure(FAMILY, str(k)): values[:, place] for place, k in enumerate(CUTOFFS)}, notes


def cirqrs_by_turn(
    sessions: Sequence[CircledSession], rankings: Mapping[str, Sequence[str]], scorer: RelevanceScorer, *,
    progress: Progress | None = None,
) -> tuple[Columns, tuple[str, ...]]:
    """A column for each of ``CUTOFFS`` and each turn, one value a session, and notes: as :func:`cirqrs`, with the
    turn's own reference and text as the query. NaN for turns that a session does not have.

    A relevance model knows one reference and one text, so what earlier turns asked for does not count.
    """
    turns = [BenchmarkQuery(turn_id(one.session_id, place), turn.reference_id, turn.text, ())
             for one in sessions for place, turn in enumerate(one.turns, 1)]
    values, notes = _values(turns, rankings, scorer, progress)
    longest = max(len(one.turns) for one in sessions)
    by_turn = np.full((len(sessions), longest, len(CUTOFFS)), np.nan)
    has = np.array([[place < len(one.turns) for place in range(longest)] for one in sessions])
    by_turn[has] = values
    return {Measure(f"{FAMILY}_at_{k}", str(turn + 1)): by_turn[:, turn, place]
            for place, k in enumerate(CUTOFFS) for turn in range(longest)}, notes


def _values(
    queries: Sequence[BenchmarkQuery], rankings: Mapping[str, Sequence[str]], scorer: RelevanceScorer,
    progress: Progress | None,
) -> tuple[npt.NDArray[np.float64], tuple[str, ...]]:
    """``[queries, CUTOFFS]``, and notes."""
    _check_gallery(queries, rankings, scorer)
    values = np.zeros((len(queries), len(CUTOFFS)))
    short, unreadable = dict.fromkeys(CUTOFFS, 0), set[str]()
    listed = [row for row, query in enumerate(queries) if rankings.get(query.query_id)]
    vectors = query_vectors([queries[row] for row in listed], scorer)
    for done, (row, vector) in enumerate(zip(listed, vectors, strict=True), 1):
        ranking = rankings[queries[row].query_id]
        values[row] = list_values(vector, ranking, scorer, unreadable)
        for k in CUTOFFS:
            short[k] += len(ranking) < k
        if progress:
            progress(done, len(listed))
    notes = tuple(f"{count} of {len(queries)} lists have fewer than {k} images: CIRQRS of {k} is the mean of all of "
                  "them." for k, count in short.items() if count)
    if unreadable:
        notes += (f"{len(unreadable)} listed images cannot be read and have no CIRQRS: {first(sorted(unreadable))}.",)
    return values, notes


def query_vectors(queries: Sequence[BenchmarkQuery], scorer: RelevanceScorer) -> Iterator[Vector]:
    """The ``[dim]`` vector of each query, encoded in batches as they are needed. Raises ``ImageUnreadable``."""
    for start in range(0, len(queries), _BATCH):
        together = queries[start : start + _BATCH]
        images = [scorer.gallery.load_for_encoder(query.reference_id) for query in together]
        yield from scorer.model.encode_queries(images, [query.modification_text for query in together])


def list_values(
    vector: Vector, ranking: Sequence[str], scorer: RelevanceScorer, unreadable: set[str] | None = None
) -> tuple[float, ...]:
    """CIRQRS of one query's list for each of ``CUTOFFS``: of its images that can be read, 0 without any. Ids of the
    others are added to ``unreadable``."""
    from cir_core.relevance.scores import UNREADABLE, set_score  # here: it imports torch

    best = ranking[:max(CUTOFFS)]
    scores = scorer.scores_of(vector, [scorer.gallery.row_of(image_id) for image_id in best]).tolist()
    if unreadable is not None:
        unreadable.update(one for one, score in zip(best, scores, strict=True) if score <= UNREADABLE)
    return tuple(float(np.nan_to_num(set_score(scores, k))) for k in CUTOFFS)


def _check_gallery(
    queries: Sequence[BenchmarkQuery], rankings: Mapping[str, Sequence[str]], scorer: RelevanceScorer
) -> None:
    """Raises ``GalleryError`` unless the scorer's gallery has every reference and the first images of every list."""
    gallery = scorer.gallery
    wanted = dict.fromkeys(query.reference_id for query in queries)
    for ranking in rankings.values():
        wanted.update(dict.fromkeys(ranking[:max(CUTOFFS)]))
    missing = [image_id for image_id in wanted if image_id not in gallery]
    if missing:
        first = ", ".join(map(quoted, missing[:3]))
        raise GalleryError(f"CIRQRS needs the images, and gallery {quoted(gallery.name)} lacks {len(missing)} of the "
                           f"{len(wanted)} that are referenced or listed, the first: {first}. Make a gallery of the "
                           "benchmark's own images: cirque datasets index")
