"""Validate a run against a benchmark, as strictly as the official evaluator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cir_core.datasets.records import Benchmark
from cir_core.errors import DatasetError
from cir_core.support.texts import quoted

Rankings = Mapping[str, tuple[str, ...]]
NAMED = 3


@dataclass(frozen=True)
class CheckedRankings:
    """``rankings`` has every query, () if the run lacks it, without the images the benchmark
    excludes before ranking."""

    rankings: Rankings
    missing: tuple[str, ...]
    notes: tuple[str, ...]


def refuse_hidden(benchmark: Benchmark) -> None:
    """Raises ``DatasetError`` if the files lack the targets."""
    if not benchmark.queries:
        raise DatasetError(f"{benchmark.name} has no queries. Check the annotation file.")
    hidden = sum(not query.target_ids for query in benchmark.queries)
    if hidden:
        raise DatasetError(f"{benchmark.name} hides the targets of {hidden} of its {len(benchmark.queries)} queries. "
                           "Write a submission for the benchmark's server instead (--submission FOLDER).")


def checked(benchmark: Benchmark, rankings: Rankings, system: str, *, partial: bool) -> CheckedRankings:
    """Check ``rankings`` against the benchmark's queries and pools.

    Args:
        partial: queries that the run lacks count as 0, with a note; otherwise they are an error.

    Raises ``DatasetError`` for unknown and missing queries, for an
    image twice in one list, and for an image outside the query's pool.
    """
    missing, notes = coverage([query.query_id for query in benchmark.queries], rankings, system, partial=partial)
    pools = {name: None if pool is None else frozenset(pool) for name, pool in benchmark.pools.items()}
    kept: dict[str, tuple[str, ...]] = {}
    removed = 0
    for query in benchmark.queries:
        ranking = rankings.get(query.query_id, ())
        if query.excluded_ids:
            without = tuple(image_id for image_id in ranking if image_id not in query.excluded_ids)
            removed += len(without) < len(ranking)
            ranking = without
        check_list(system, query.query_id, ranking, pools.get(query.pool))
        kept[query.query_id] = ranking
    if removed:
        notes.append(f"The benchmark ranks without the reference: it was taken out of {removed} lists.")
    if any(pool is None for pool in pools.values()):
        notes.append("The files do not list the pool: whether the run's ids belong to it was not checked.")
    return CheckedRankings(kept, missing, tuple(notes))


def coverage(
    query_ids: Sequence[str], answered: Rankings, system: str, *, partial: bool
) -> tuple[tuple[str, ...], list[str]]:
    """Queries without an answer, and notes on them and on those with an empty list, which
    also count as 0. Raises ``DatasetError`` as :func:`checked`."""
    known = frozenset(query_ids)
    unknown = [query_id for query_id in answered if query_id not in known]
    if unknown:
        raise DatasetError(f"Run {quoted(system)} answers {len(unknown)} queries that the benchmark does not have "
                           f"({first(unknown)}; its own begin {first(query_ids)}). Check that run and annotations "
                           "belong to the same data set and split.")
    missing = tuple(query_id for query_id in query_ids if query_id not in answered)
    empty = [query_id for query_id, ranking in answered.items() if not ranking]
    notes = [f"EMPTY: {len(empty)} of {len(known)} queries have a list without images and count as 0 "
             f"({first(empty)})."] if empty else []
    if not missing:
        return (), notes
    if len(missing) == len(known):
        raise DatasetError(f"Run {quoted(system)} has no ranking for any query. Check the file.")
    if not partial:
        raise DatasetError(f"Run {quoted(system)} lacks {len(missing)} of {len(known)} queries ({first(missing)}). "
                           "Make a complete run, or count those as 0 with --partial.")
    return missing, [f"INCOMPLETE: {len(missing)} of {len(known)} queries have no ranking and count as 0 "
                     f"({first(missing)}).", *notes]


def check_list(system: str, query_id: str, ranking: Sequence[str], pool: Collection[str] | None) -> None:
    """Raises ``DatasetError`` for an image that occurs twice or outside ``pool`` (None: unknown)."""
    if len(set(ranking)) < len(ranking):
        twice = Counter(ranking).most_common(1)[0][0]
        raise DatasetError(f"Run {quoted(system)}, query {quoted(query_id)}: image {quoted(twice)} occurs twice in the "
                           "list. Keep the better place.")
    if pool is None:
        return
    for image_id in ranking:
        if image_id not in pool:
            raise DatasetError(f"Run {quoted(system)}, query {quoted(query_id)}: image {quoted(image_id)} is not in "
                               f"the pool of {len(pool)} images. Check the form of the ids and the split.")


def first(names: Iterable[str]) -> str:
    listed = [name for _, name in zip(range(NAMED + 1), names, strict=False)]
    return ", ".join(map(repr, listed[:NAMED])) + (", …" if len(listed) > NAMED else "")
