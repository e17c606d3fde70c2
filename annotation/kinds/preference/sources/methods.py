"""Questions from cirque's methods, which rank the queries of a data set; a set is a method's top images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from annotation.kinds.preference.sources.queries import (
    SHOWN,
    Progress,
    SurveySource,
    best_shown,
    drawn_queries,
    refuse_repeated,
    selection,
    survey_query,
)
from annotation.sources.pictures import Pictures
from cir_core.audit.scope import over_gallery
from cir_core.datasets.records import Benchmark
from cir_core.encoders.base import Encoder
from cir_core.errors import StudyError
from cir_core.evaluation.evaluate_benchmark import run_methods
from cir_core.evaluation.method_runs import MethodRun
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel
from cir_core.methods.declared import Method
from cir_core.support.texts import counted
from cir_core.types.records import Domain


def from_methods(
    benchmark: Benchmark, gallery: Gallery, encoder: Encoder, language: LanguageModel, methods: Sequence[Method], *,
    size: int | None, seed: int, domain: Domain = "garment", skip_missing: bool = False,
    progress: Progress | None = None,
) -> SurveySource:
    """Results of every method for ``size`` queries of ``benchmark`` (None: all).

    Images come from the query's pool, as far as it is in ``gallery``, without the reference, which is shown
    anyway. Targets are treated like other images, and may be hidden. A query on which a method fails is left
    to the other methods.

    Args:
        skip_missing: leave out queries whose reference is not in the gallery, instead of raising.

    Raises ``StudyError`` for fewer than two methods and too few queries, and what
    :func:`cir_core.evaluation.evaluate_benchmark.run_methods` raises.
    """
    if len({method.name for method in methods}) < 2:
        raise StudyError("A question compares two different methods. Name two or more: --methods "
                         "slerp,text-only (`cirque methods` lists them).")
    refuse_repeated(benchmark)
    there = [query for query in benchmark.queries if query.reference_id in gallery] if skip_missing else None
    left_out = len(benchmark.queries) - len(there) if there is not None else 0
    chosen = drawn_queries(benchmark if there is None else replace(benchmark, queries=tuple(there)), size, seed)
    ranked = over_gallery(replace(chosen, queries=tuple(
        replace(query, target_ids=(), subset_ids=(), excluded_ids=(*query.excluded_ids, query.reference_id))
        for query in chosen.queries)), gallery)
    runs = list(run_methods(ranked, gallery, encoder, language, methods, depth=SHOWN, domain=domain, progress=progress))
    found = [
        survey_query(benchmark, query, {
            run.method: best for run in runs
            if (best := best_shown(run.run.rankings.get(query.query_id, ()), query)) is not None})
        for query in chosen.queries
    ]
    source: dict[str, Any] = {
        "form": "methods", "dataset": benchmark.name, "digest": benchmark.digest, "gallery": gallery.name,
        "methods": [run.method for run in runs], "cards": [run.card.digest for run in runs], **selection(size, seed),
    }
    notes = [*ranked.notes, *(note for run in runs for note in _notes(run, len(found)))]
    if left_out:
        notes.append(f"{counted(left_out, 'query was left out', 'queries were left out')}: the reference is not in the "
                     f"gallery {gallery.name}.")
    pictures = Pictures(benchmark.image_paths, gallery=gallery)
    return SurveySource(found, tuple(run.method for run in runs), pictures, source, tuple(notes))


def _notes(run: MethodRun, queries: int) -> list[str]:
    notes = []
    if run.failures:
        query_id, reason = next(iter(run.failures.items()))
        notes.append(f"{run.title} failed on {len(run.failures):,} of {queries:,} queries, which are left to the other "
                     f"methods; the first is {query_id}: {reason}")
    short = sum(len(ids) < SHOWN for ids in run.run.rankings.values())
    if short:
        notes.append(f"{run.title} found fewer than {SHOWN} images for {short:,} of {queries:,} queries, which are "
                     "left to the other methods.")
    return notes
