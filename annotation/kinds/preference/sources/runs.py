"""Questions from run files over a benchmark, of any system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from annotation.kinds.preference.sources.queries import (
    SHOWN,
    SurveySource,
    best_shown,
    drawn_queries,
    refuse_repeated,
    selection,
    survey_query,
)
from annotation.sources.queries import FindPicture
from cir_core.datasets.records import Benchmark
from cir_core.errors import DatasetError, StudyError
from cir_core.evaluation.evaluators.records import check_list, first
from cir_core.evaluation.runs.records import Run
from cir_core.registry.kinds import evaluator_of
from cir_core.support.texts import counted, quoted


def from_runs(
    benchmark: Benchmark, runs: Sequence[Run], find_picture: FindPicture, *, size: int | None, seed: int,
) -> SurveySource:
    """Sample ``size`` queries (None: all) that at least two runs rank, with the top images of each run.

    The reference is left out of every list, because it is shown anyway. Raises ``StudyError`` for fewer
    than two runs, duplicate names and too few queries; ``DatasetError`` for a run of another benchmark, a
    duplicate image in a list and one outside the query's pool.
    """
    names = [run.system for run in runs]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise StudyError(f"Two runs are of the system {quoted(twice)}. Give each its own name: the tag of TREC lines, "
                         "or the name of the file.")
    if len(runs) < 2:
        raise StudyError("A question compares two different runs. Name two or more: --from-runs A,B")
    refuse_repeated(benchmark)
    known = {query.query_id for query in benchmark.queries}
    named = []
    for run in runs:
        if unknown := [query_id for query_id in run.rankings if query_id not in known]:
            raise DatasetError(
                f"Run {quoted(run.system)} answers {len(unknown):,} queries that {benchmark.name} does not have "
                f"({first(unknown)}; the benchmark has {first([query.query_id for query in benchmark.queries])}). "
                "Check that run and annotations belong to the same data set and split.")
        named.append(evaluator_of(benchmark).as_named(run))
    asked = [query for query in benchmark.queries if sum(query.query_id in run.rankings for run in named) > 1]
    if not asked:
        raise DatasetError(f"No query of {benchmark.name} is ranked by two of the runs. Check that they are of the "
                           "same split.")
    chosen = drawn_queries(replace(benchmark, queries=tuple(asked)), size, seed)
    pools = {name: None if pool is None else frozenset(pool) for name, pool in benchmark.pools.items()}
    found, short = [], dict.fromkeys(names, 0)
    for query in chosen.queries:
        results: dict[str, tuple[str, ...]] = {}
        for run in named:
            ranking = run.rankings.get(query.query_id, ())
            # Only the shown part is checked.
            check_list(run.system, query.query_id, ranking[:SHOWN + 1 + len(query.excluded_ids)], pools.get(query.pool))
            if (best := best_shown(ranking, query)) is not None:
                results[run.system] = best
            else:
                short[run.system] += query.query_id in run.rankings
        found.append(survey_query(benchmark, query, results))
    source: dict[str, Any] = {"form": "runs", "dataset": benchmark.name, "digest": benchmark.digest, "methods": names,
                              **selection(size, seed)}
    notes = [*benchmark.notes, *(f"{run.system}: {note}" for run in named for note in run.notes)]
    if left := len(benchmark.queries) - len(asked):
        notes.append(f"{left:,} of {len(benchmark.queries):,} queries are not ranked by two runs, and left out.")
    notes += [f"{name} has fewer than {SHOWN} images for "
              f"{counted(count, 'query, which is left', 'queries, which are left')} to the other runs."
              for name, count in short.items() if count]
    return SurveySource(found, tuple(names), find_picture, source, tuple(notes))
