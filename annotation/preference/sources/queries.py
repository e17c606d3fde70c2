"""A query with what each method found for it, whatever the methods were."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.sources.queries import FindPicture
from annotation.sources.sampling import spread
from cir_core.datasets.readers.hp_fashioniq import SHOWN as SHOWN
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import DatasetError, StudyError
from cir_core.support.texts import quoted

Progress = Callable[[str, int, int], None]
"""Told what is running, and how many of how many queries are done."""


@dataclass(frozen=True)
class SurveyQuery:
    """``results``: by method its best :data:`SHOWN` images, best first, never the reference, which stands
    above them anyway. A method that did not find so many is not in it."""

    key: str                              # unique in a study
    dataset: str
    query_id: str
    category: str                         # "shirt"; "" where the data set has none
    text: str
    reference_id: str
    target_ids: tuple[str, ...]           # () where they are hidden
    results: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class SurveySource:
    """``source`` says where the queries are from, in plain JSON without paths of this machine."""

    queries: Sequence[SurveyQuery]
    methods: tuple[str, ...]              # all that may meet
    find_picture: FindPicture = field(repr=False)
    source: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def drawn_queries(benchmark: Benchmark, size: int | None, seed: int) -> Benchmark:
    """``benchmark`` with ``size`` of its queries, in their order and equal numbers of each category as far as it
    has them; with all for None. The pools stay. Raises ``StudyError`` where there are too few."""
    if size is None:
        return benchmark
    check_size(size, len(benchmark.queries))
    lines = {query.query_id: benchmark.line_of(place) for place, query in enumerate(benchmark.queries)}
    kept = spread(benchmark.queries, size, stratum=lambda query: query.pool, key=lambda query: query.query_id,
                  seed=seed, purpose="questions")
    return replace(benchmark, queries=tuple(kept), lines=lines)


def check_size(size: int, available: int) -> None:
    """Raises ``StudyError`` where ``size`` of so many cannot be drawn."""
    if not 0 < size <= available:
        raise StudyError(f"{size:,} questions cannot be made of {available:,} queries. Ask for 1 to {available:,} "
                         "(--queries).")


def refuse_repeated(benchmark: Benchmark) -> None:
    """Raises ``DatasetError`` for an id that two queries have: their results could not be told apart."""
    seen: set[str] = set()
    for query in benchmark.queries:
        if query.query_id in seen:
            raise DatasetError(f"{benchmark.name} has the query {quoted(query.query_id)} twice. Keep one of the two.")
        seen.add(query.query_id)


def best_shown(ranking: Sequence[str], query: BenchmarkQuery) -> tuple[str, ...] | None:
    """What people are shown of a ranking; None where it is too short."""
    best = tuple(image_id for image_id in ranking
                 if image_id != query.reference_id and image_id not in query.excluded_ids)[:SHOWN]
    return best if len(best) == SHOWN else None


def survey_query(benchmark: Benchmark, query: BenchmarkQuery, results: Mapping[str, tuple[str, ...]]) -> SurveyQuery:
    """One query of a benchmark, with what methods found."""
    return SurveyQuery(f"{benchmark.name}::{query.query_id}", benchmark.name, query.query_id, query.pool,
                       query.modification_text, query.reference_id, query.target_ids, results)


def selection(size: int | None, seed: int) -> dict[str, Any]:
    """How queries were chosen, for a study's ``source``."""
    return {"selection": "all"} if size is None else {"selection": "sample", "sample": size, "sample_seed": seed}
