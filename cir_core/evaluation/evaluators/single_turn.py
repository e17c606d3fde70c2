"""Per-query measures as the benchmarks define them.

Each function takes a benchmark and one checked ranking per query, and returns a
column per measure, in the order of the benchmark's queries.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from cir_core.datasets.readers.circo import ASPECTS, canonical_id
from cir_core.datasets.records import Benchmark
from cir_core.errors import DatasetError
from cir_core.evaluation.evaluators.checks import Rankings
from cir_core.evaluation.evaluators.records import Columns, Measure
from cir_core.evaluation.metrics.average_precision import average_precision_at, soft_average_precision_at
from cir_core.evaluation.metrics.bootstrap import Values
from cir_core.evaluation.metrics.ndcg import ndcg, reciprocal_rank
from cir_core.evaluation.metrics.standard import standard_values
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
