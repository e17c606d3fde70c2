"""Records of queries with the results of each method, common to all sources. Questions (queries and sets) of a file
in HP-FashionIQ's format, without its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotation.sources.pictures import Pictures
from annotation.sources.queries import FindPicture, refuse, spread
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers.fashioniq import image_paths as fashioniq_paths
from cir_core.datasets.readers.hp_fashioniq import SHOWN as SHOWN
from cir_core.datasets.readers.hp_fashioniq import image_paths, read_questions
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import DatasetError, StudyError
from cir_core.gallery.gallery import Gallery
from cir_core.support.texts import quoted

Progress = Callable[[str, int, int], None]
"""Callback with the running method, and the numbers of processed and of all queries."""


@dataclass(frozen=True)
class SurveyQuery:
    """A query. ``results``: top :data:`SHOWN` images by method, best first, without the reference, which is shown
    anyway. Methods with fewer images are left out."""

    key: str                              # unique in a study
    dataset: str
    query_id: str
    category: str                         # "shirt"; "" without categories
    text: str
    reference_id: str
    target_ids: tuple[str, ...]           # () if hidden
    results: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class SurveySource:
    """Queries of a source. ``source`` describes it in plain JSON, without local paths."""

    queries: Sequence[SurveyQuery]
    methods: tuple[str, ...]              # all methods to compare
    find_picture: FindPicture = field(repr=False)
    source: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def drawn_queries(benchmark: Benchmark, size: int | None, seed: int) -> Benchmark:
    """``benchmark`` with a sample of ``size`` queries (None: all), in order, with equal numbers per category where
    possible. Pools are unchanged. Raises ``StudyError`` if there are too few."""
    if size is None:
        return benchmark
    check_size(size, len(benchmark.queries))
    lines = {query.query_id: benchmark.line_of(place) for place, query in enumerate(benchmark.queries)}
    kept = spread(benchmark.queries, size, stratum=lambda query: query.pool, key=lambda query: query.query_id,
                  seed=seed, purpose="questions")
    return replace(benchmark, queries=tuple(kept), lines=lines)


def check_size(size: int, available: int) -> None:
    """Raises ``StudyError`` if ``size`` is not between 1 and ``available``."""
    if not 0 < size <= available:
        raise StudyError(f"Cannot make {size:,} questions from {available:,} queries. Choose 1 to {available:,} "
                         "(--queries).")


def refuse_repeated(benchmark: Benchmark) -> None:
    """Raises ``DatasetError`` for a duplicate query id."""
    seen: set[str] = set()
    for query in benchmark.queries:
        if query.query_id in seen:
            raise DatasetError(f"{benchmark.name} has the query {quoted(query.query_id)} twice. Keep one of the two.")
        seen.add(query.query_id)


def best_shown(ranking: Sequence[str], query: BenchmarkQuery) -> tuple[str, ...] | None:
    """The shown part of a ranking; None if it is too short."""
    best = tuple(image_id for image_id in ranking
                 if image_id != query.reference_id and image_id not in query.excluded_ids)[:SHOWN]
    return best if len(best) == SHOWN else None


def survey_query(benchmark: Benchmark, query: BenchmarkQuery, results: Mapping[str, tuple[str, ...]]) -> SurveyQuery:
    """One query of a benchmark, with the methods' results."""
    return SurveyQuery(f"{benchmark.name}::{query.query_id}", benchmark.name, query.query_id, query.pool,
                       query.modification_text, query.reference_id, query.target_ids, results)


def selection(size: int | None, seed: int) -> dict[str, Any]:
    """Sampling parameters, for a study's ``source``."""
    return {"selection": "all"} if size is None else {"selection": "sample", "sample": size, "sample_seed": seed}


DATASET = "hp-fashioniq"
SETS = ("file's set 1", "file's set 2")
"""Placeholders of the two methods, which the file does not name, and which differ between questions."""


def from_hp(
    path: Path, *, size: int | None, seed: int, images: Path | None = None, gallery: Gallery | None = None,
) -> SurveySource:
    """Sample ``size`` of the file's questions (None: all), with equal numbers per category where possible.

    Args:
        images, gallery: sources of the images; the folder ``images`` is searched first. Paths in the file
            are of its authors' machine.

    Raises ``DatasetError`` with file and question of all faults, ``StudyError`` for too few questions.
    """
    faults = ValidationIssues(collect=True)
    questions = read_questions(path, faults)
    refuse(faults, path.name)
    if not questions:
        raise StudyError(f"{path.name} contains no questions. Give a file in HP-FashionIQ's format.")
    paths: dict[str, list[str]] = {}
    for question in questions:
        for image_id, below in image_paths(question):
            if below not in paths.setdefault(image_id, []):
                paths[image_id].append(below)
    if size is not None:
        check_size(size, len(questions))
    kept = questions if size is None else spread(
        questions, size, stratum=lambda question: question.category, key=lambda question: question.question_id,
        seed=seed, purpose="questions")
    queries = [
        SurveyQuery(
            question.question_id, DATASET, question.question_id, question.category, question.text,
            question.reference_id, (question.target_id,),
            {name: one.image_ids for name, one in zip(SETS, question.sets, strict=True)})
        for question in kept
    ]

    def places(image_id: str) -> Sequence[str]:
        return (*paths.get(image_id, ()), *fashioniq_paths(image_id))

    source = {"form": "hp-fashioniq", "file": path.name, "dataset": DATASET,
              "gallery": gallery.name if gallery else None, "methods": list(SETS), **selection(size, seed)}
    notes = ("The file does not name the systems, so that only sets can be compared, not methods.",)
    return SurveySource(queries, SETS, Pictures(places, folder=images, gallery=gallery), source, notes)
