"""Per-query measures as the benchmarks define them. How the runs of one kind of benchmark are measured. CIRR: R@k
without the reference, R_subset@k among the image set, and the usual means. Score a run against qrels, with measures
named as in ir-measures.

Each function takes a benchmark and one checked ranking per query, and returns a
column per measure, in the order of the benchmark's queries.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cir_core.datasets.readers.circo import ASPECTS, canonical_id
from cir_core.datasets.records import Benchmark
from cir_core.errors import DatasetError
from cir_core.evaluation.evaluators.records import (
    Columns,
    Measure,
    Rankings,
    Scores,
    check_list,
    checked,
    coverage,
    first,
    score,
)
from cir_core.evaluation.metrics.average_precision import average_precision_at, soft_average_precision_at
from cir_core.evaluation.metrics.bootstrap import Values
from cir_core.evaluation.metrics.ndcg import ndcg, reciprocal_rank
from cir_core.evaluation.metrics.standard import standard_values
from cir_core.evaluation.metrics.subset_recall import SubsetRank, subset_rank
from cir_core.evaluation.runs.records import Run
from cir_core.support.texts import quoted

FASHIONIQ_CUTOFFS = (10, 50)
MAP_CUTOFFS = (5, 10, 25, 50)
CUTOFFS = (1, 5, 10, 50)
GENECIS_CUTOFFS = (1, 2, 3)
ASPECT_CUTOFF = 10


def fashioniq(benchmark: Benchmark, rankings: Rankings) -> Columns:
    """R@10, R@50 and their mean "average" (the field's "Avg")."""
    recall = recall_columns(benchmark, rankings, FASHIONIQ_CUTOFFS)
    return {**recall, Measure("average"): np.mean(list(recall.values()), axis=0)}


def genecis(benchmark: Benchmark, rankings: Rankings) -> Columns:
    """R@1, R@2, R@3 over each query's own gallery."""
    return recall_columns(benchmark, rankings, GENECIS_CUTOFFS)


def circo(benchmark: Benchmark, rankings: Rankings) -> Columns:
    """mAP@k over all targets, R@k of the first one alone, mAP@10 by semantic aspect."""
    ranks = target_ranks(benchmark, rankings)
    precision = {k: _circo_precision(benchmark, ranks, k) for k in {*MAP_CUTOFFS, ASPECT_CUTOFF}}
    carried = dict.fromkeys(aspect for query in benchmark.queries for aspect in query.aspects)
    aspects = [*(aspect for aspect in ASPECTS if aspect in carried), *sorted(set(carried) - set(ASPECTS))]
    return {
        **{Measure("map", str(k)): precision[k] for k in MAP_CUTOFFS},
        **recall_columns(benchmark, rankings, MAP_CUTOFFS),
        **{
            Measure(f"semantic_map_at_{ASPECT_CUTOFF}", aspect): np.where(
                [aspect in query.aspects for query in benchmark.queries], precision[ASPECT_CUTOFF], np.nan)
            for aspect in aspects
        },
    }


def circo_ids(run: Run) -> Run:
    """``run`` with its image ids in CIRCO's form: its evaluator reads "000000000011" and 11 as one image.

    Raises ``DatasetError`` for an id that it would not read."""
    rankings = {}
    for query_id, ranking in run.rankings.items():
        ids = tuple(image_id for one in ranking if (image_id := canonical_id(one)) is not None)
        if len(ids) < len(ranking):
            other = next(one for one in ranking if canonical_id(one) is None)
            raise DatasetError(f"Run {quoted(run.system)}, query {quoted(query_id)}: {quoted(other)} is not a number, "
                               "as CIRCO's image ids are. Write COCO's image ids.")
        rankings[query_id] = ids
    return replace(run, rankings=rankings)


def multi_target(benchmark: Benchmark, rankings: Rankings) -> Columns:
    """mAP@k as in SoFT's own tables ("map_soft"), and CIRCO's ("map") for new work."""
    ranks = target_ranks(benchmark, rankings)
    soft = {
        Measure("map_soft", str(k)): np.array([soft_average_precision_at(of, k) for of in ranks]) for k in MAP_CUTOFFS
    }
    circos = {Measure("map", str(k)): _circo_precision(benchmark, ranks, k) for k in MAP_CUTOFFS}
    return {**soft, **circos}


def generic(benchmark: Benchmark, rankings: Rankings) -> Columns:
    """R@k as in M-BEIR, any target in the first k, and nDCG@10; for queries with several
    targets also the share of targets found, which ir-measures calls R@k."""
    qrels = {query.query_id: dict.fromkeys(query.target_ids, 1) for query in benchmark.queries}
    several = any(len(query.target_ids) > 1 for query in benchmark.queries)
    wanted = {
        **{Measure("recall", str(k)): f"Success@{k}" for k in CUTOFFS},
        **({Measure("targets_found", str(k)): f"R@{k}" for k in CUTOFFS} if several else {}),
        Measure("ndcg", "10"): "nDCG@10",
    }
    values = standard_values(rankings, qrels, list(wanted.values()))
    return {measure: values[:, column] for column, measure in enumerate(wanted)}


def catalogue(
    benchmark: Benchmark, ranks: Sequence[Sequence[int]], missing: Collection[str] = ()
) -> tuple[Columns, str]:
    """nDCG and RR from the ranks of the targets, and a note if they do not cover the whole pool.

    Args:
        ranks: for each query the known ranks; other targets are beyond the end of its list.
        missing: queries without a list: they score 0.

    They are called "full_catalogue" if every rank is known, "within_list" otherwise.
    """
    pairs = list(zip(ranks, benchmark.queries, strict=True))
    beyond = sum(len(of) < len(query.target_ids) for of, query in pairs if query.query_id not in missing)
    family = "within_list" if beyond else "full_catalogue"
    note = (f"nDCG and MRR are within the lists: targets of {beyond} queries lie beyond their ends and count as 0."
            if beyond else "")
    return {
        Measure(family, "ndcg"): np.array([ndcg(of, len(query.target_ids)) for of, query in pairs]),
        Measure(family, "mrr"): np.array([reciprocal_rank(of) for of, _ in pairs]),
    }, note


def target_ranks(benchmark: Benchmark, rankings: Rankings) -> list[tuple[int, ...]]:
    """For each query the ranks, from 1, of the targets in its list."""
    found = []
    for query in benchmark.queries:
        targets = frozenset(query.target_ids)
        ranking = rankings[query.query_id]
        found.append(tuple(rank for rank, image_id in enumerate(ranking, 1) if image_id in targets))
    return found


def recall_columns(benchmark: Benchmark, rankings: Rankings, cutoffs: Sequence[int]) -> dict[Measure, Values]:
    """R@k of the first target alone."""
    qrels = {query.query_id: {query.target_ids[0]: 1} for query in benchmark.queries}
    values = standard_values(rankings, qrels, [f"R@{k}" for k in cutoffs])
    return {Measure("recall", str(k)): values[:, column] for column, k in enumerate(cutoffs)}


def _circo_precision(benchmark: Benchmark, ranks: Sequence[Sequence[int]], k: int) -> Values:
    return np.array([
        average_precision_at(of, k, len(query.target_ids)) for of, query in zip(ranks, benchmark.queries, strict=True)
    ])


class Measured(NamedTuple):
    """``rankings`` has every query, () for those ``missing`` in the run; None where the run ranks no whole pool."""

    columns: Columns
    rankings: Rankings | None
    missing: Collection[str]
    notes: tuple[str, ...]


def of_rankings(columns: Callable[[Benchmark, Rankings], Columns]) -> Callable[[Benchmark, Run, bool], Measured]:
    """``columns`` of a run's lists once they are checked (:func:`~cir_core.evaluation.evaluators.records.checked`)."""
    def measure(benchmark: Benchmark, run: Run, partial: bool) -> Measured:
        found = checked(benchmark, run.rankings, run.system, partial=partial)
        return Measured(columns(benchmark, found.rankings), found.rankings, found.missing, found.notes)

    return measure


@dataclass(frozen=True)
class Evaluator:
    """``measure`` takes a benchmark, a run and whether queries may be missing, and raises ``DatasetError``.

    ``by_category``: each pool is ranked by itself and counts the same. ``as_named`` puts a run's image
    ids into the benchmark's form.
    """

    measure: Callable[[Benchmark, Run, bool], Measured] = of_rankings(generic)
    by_category: bool = False
    as_named: Callable[[Run], Run] = lambda run: run


SUBSET_CUTOFFS = (1, 2, 3)
RECALL, SUBSET = "recall", "recall_subset"


def cirr(benchmark: Benchmark, run: Run, partial: bool) -> Measured:
    """Columns from the lists of the whole gallery, if the run has more than the subset's.

    The subset is ranked by ``run.subset_rankings`` if there are any (the server's second
    file), else by the members' order in the lists of the whole gallery. "average" is the mean of
    R@5 and R_subset@1, "mean_of_all" that of all seven numbers. Raises ``DatasetError``.
    """
    notes: list[str] = []
    columns: dict[Measure, np.ndarray] = {}
    rankings: Rankings | None = None
    lacking: tuple[str, ...] = ()
    if run.rankings or not run.subset_rankings:
        whole = checked(benchmark, run.rankings, run.system, partial=partial)
        rankings, lacking = whole.rankings, whole.missing
        notes += whole.notes
        columns |= recall_columns(benchmark, rankings, CUTOFFS)
    else:
        notes.append("The run contains lists of the image sets alone: no Recall@k of the whole gallery.")
    if run.subset_rankings:
        lists = _subset_lists(benchmark, run, partial, notes)
    else:
        lists = rankings or {}
    ranks = [subset_rank(lists[query.query_id], query.subset_ids, query.target_ids[0]) for query in benchmark.queries]
    columns |= {Measure(SUBSET, str(k)): np.array([of.hit(k) for of in ranks], dtype=np.float64)
                for k in SUBSET_CUTOFFS}
    notes += _unknown(ranks)
    if rankings is not None:
        columns[Measure("average")] = (columns[Measure(RECALL, "5")] + columns[Measure(SUBSET, "1")]) / 2
        seven = [column for measure, column in columns.items() if measure.family in (RECALL, SUBSET)]
        columns[Measure("mean_of_all")] = np.mean(seven, axis=0)
    return Measured(columns, rankings, lacking, tuple(notes))


def _subset_lists(benchmark: Benchmark, run: Run, partial: bool, notes: list[str]) -> Rankings:
    given, system = run.subset_rankings, f"{run.system} (image sets)"
    _, missing = coverage([query.query_id for query in benchmark.queries], given, system, partial=partial)
    notes += missing
    lists: dict[str, tuple[str, ...]] = {}
    for query in benchmark.queries:
        kept = tuple(one for one in given.get(query.query_id, ()) if one not in query.excluded_ids)
        if strangers := [image_id for image_id in kept if image_id not in query.subset_ids]:
            raise DatasetError(f"Run {quoted(system)}, query {quoted(query.query_id)}: {quoted(strangers[0])} is not a "
                               f"member of its image set. It has {', '.join(query.subset_ids)}.")
        check_list(system, query.query_id, kept, None)
        lists[query.query_id] = kept
    return lists


def _unknown(ranks: list[SubsetRank]) -> list[str]:
    """Note on targets beyond the end of a list, which may still be the set's best."""
    counts = {k: sum(not of.known(k) for of in ranks) for k in SUBSET_CUTOFFS}
    if not any(counts.values()):
        return []
    shown = ", ".join(f"{count} at {k}" for k, count in counts.items())
    return [f"R_subset is a lower bound: lists end too early to rank the image set of some queries ({shown}), which "
            "count as misses. Rank the whole gallery, or give the image sets' own file too."]


MEASURES = ("R@10", "R@50", "nDCG@10", "RR", "AP", "P@10")
FAMILY = "measures"


def evaluate_qrels(
    qrels: Mapping[str, Mapping[str, int]], run: Run, *, measures: Sequence[str] = MEASURES,
    partial: bool = False, seed: int | None = 0,
) -> Scores:
    """Means over the queries of ``qrels``. As in trec_eval, unjudged queries of the run are
    ignored, with a note, and unjudged images are not relevant.

    Raises ``DatasetError`` for queries that the run lacks (unless ``partial``: they count as 0),
    for an image twice in one list, for measures that cannot be computed and if none is named.
    """
    if not measures:
        raise DatasetError(f"No measure is named. Name one or several, as in {','.join(MEASURES[:3])}.")
    if not qrels:
        raise DatasetError("The qrels judge no query. Check the file.")
    answered = {query_id: of for query_id, of in run.rankings.items() if query_id in qrels}
    _, notes = coverage(list(qrels), answered, run.system, partial=partial)
    if unjudged := [query_id for query_id in run.rankings if query_id not in qrels]:
        notes.append(f"{len(unjudged)} queries of the run are not in the qrels ({first(unjudged)}): left out.")
    for query_id, ranking in answered.items():
        check_list(run.system, query_id, ranking, None)
    names = list(dict.fromkeys(measures))
    values = standard_values(answered, qrels, names)
    columns = {Measure(FAMILY, name): values[:, column] for column, name in enumerate(names)}
    return score(run.system, list(qrels), columns, notes=(*notes, *run.notes), seed=seed)
