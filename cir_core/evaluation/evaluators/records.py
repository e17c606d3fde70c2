"""Scores: a value per query and measure, and their means. Validate a run against a benchmark, as strictly as the
official evaluator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from cir_core.datasets.records import Benchmark
from cir_core.errors import DatasetError
from cir_core.evaluation.metrics.bootstrap import MeanEstimate, Values, share_estimates
from cir_core.support.texts import quoted


class Measure(NamedTuple):
    """``family`` and ``at`` are its keys in JSON; ``at`` is "" for a family of one number."""

    family: str
    at: str = ""

    @property
    def name(self) -> str:
        """As a person writes it: "recall@10", "semantic_map_at_10 addition", "auc"."""
        return f"{self.family}@{self.at}" if self.at.isdigit() else f"{self.family} {self.at}".rstrip()


Columns = Mapping[Measure, Values]
"""Measure to ``[queries]``; nan where a query is not counted (an aspect it does not have)."""


@dataclass(frozen=True)
class Scores:
    """Scores of one run. Values are shares, never percent. ``figures`` are means over queries, or, if ``by_group`` has
    several groups (FashionIQ's categories) and ``of_groups`` is set, the unweighted mean of the groups' means."""

    system: str
    queries: int
    figures: Mapping[Measure, MeanEstimate]
    by_group: Mapping[str, Mapping[Measure, MeanEstimate]] = field(default_factory=dict)
    of_groups: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)    # numbers the figures depend on, by name
    notes: tuple[str, ...] = ()
    query_ids: Sequence[str] = field(default=(), repr=False)
    columns: Columns = field(default_factory=dict, repr=False, compare=False)

    @property
    def families(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(measure.family for measure in self.figures))


def score(
    system: str, query_ids: Sequence[str], columns: Columns, *, groups: Mapping[str, Sequence[int]] | None = None,
    of_groups: bool = False, facts: Mapping[str, Any] | None = None, notes: Sequence[str] = (), seed: int | None,
) -> Scores:
    """Means with 95 % bootstrap intervals.

    Args:
        columns: each as long as ``query_ids``.
        groups: name to rows; also scored separately. None or one group: only the whole.
        of_groups: take the unweighted mean of the groups' means, resampling within each.
        seed: of the bootstrap; None omits intervals, which take minutes for 100,000s of queries.
    """
    parts = groups if groups and len(groups) > 1 else {}
    every = [np.asarray(rows) for rows in parts.values()] if of_groups and parts else [np.arange(len(query_ids))]
    return Scores(
        system, len(query_ids), means(columns, every, seed),
        {name: means(columns, [np.asarray(rows)], seed) for name, rows in parts.items()},
        bool(of_groups and parts), dict(facts or {}), tuple(notes), tuple(query_ids), columns,
    )


def means(columns: Columns, groups: Sequence[Any], seed: int | None) -> dict[Measure, MeanEstimate]:
    """One estimate per measure, over the rows that count for it; a measure for which a
    group has no row at all is omitted."""
    together: dict[bytes, list[Measure]] = {}  # measures of the same queries are resampled together
    for measure, column in columns.items():
        together.setdefault(np.isfinite(column).tobytes(), []).append(measure)
    found: dict[Measure, MeanEstimate] = {}
    for measures in together.values():
        matrix = np.column_stack([columns[measure] for measure in measures])
        samples = [rows[np.isfinite(rows).all(axis=1)] for rows in (matrix[group] for group in groups)]
        if all(map(len, samples)):
            found |= dict(zip(measures, _estimates(samples, seed), strict=True))
    return {measure: found[measure] for measure in columns if measure in found}


def _estimates(samples: Sequence[Values], seed: int | None) -> Sequence[MeanEstimate]:
    if seed is not None:
        return share_estimates(samples, seed=seed)
    return [MeanEstimate(float(value), None, None) for value in np.mean([one.mean(axis=0) for one in samples], axis=0)]


def figures_json(figures: Mapping[Measure, MeanEstimate]) -> dict[str, Any]:
    """Families with their numbers, full precision: ``{"map": {"5": 0.1}, "mrr": 0.2}``."""
    return _nested({measure: estimate.value for measure, estimate in figures.items()})


def intervals_json(figures: Mapping[Measure, MeanEstimate]) -> dict[str, Any]:
    """:func:`figures_json` with ``[low, high]``; null where there is no interval."""
    return _nested({
        measure: None if estimate.low is None else [estimate.low, estimate.high]
        for measure, estimate in figures.items()
    })


def scores_json(scores: Scores) -> dict[str, Any]:
    """Everything except per-query values, with the figures' families at the top level."""
    groups = {name: figures_json(of) for name, of in scores.by_group.items()}
    return {
        **figures_json(scores.figures), **({"by_group": groups} if groups else {}),
        "intervals": intervals_json(scores.figures), "system": scores.system, "queries": scores.queries,
        **scores.facts, "notes": list(scores.notes),
    }


def _nested(values: Mapping[Measure, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for (family, at), value in values.items():
        if at:
            nested.setdefault(family, {})[at] = value
        else:
            nested[family] = value
    return nested


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
                           f"({first(unknown)}; the benchmark has {first(query_ids)}). Check that run and "
                           "annotations belong to the same data set and split.")
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
                           "list. Keep the higher position.")
    if pool is None:
        return
    for image_id in ranking:
        if image_id not in pool:
            raise DatasetError(f"Run {quoted(system)}, query {quoted(query_id)}: image {quoted(image_id)} is not in "
                               f"the pool of {len(pool)} images. Check the form of the ids and the split.")


def first(names: Iterable[str]) -> str:
    listed = [name for _, name in zip(range(NAMED + 1), names, strict=False)]
    return ", ".join(map(repr, listed[:NAMED])) + (", …" if len(listed) > NAMED else "")
