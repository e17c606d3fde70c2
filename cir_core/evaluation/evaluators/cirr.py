"""CIRR: R@k without the reference, R_subset@k among the image set, and the usual means."""

from __future__ import annotations

import numpy as np

from cir_core.datasets.records import Benchmark
from cir_core.errors import DatasetError
from cir_core.evaluation.evaluators.checks import Rankings, check_list, checked, coverage
from cir_core.evaluation.evaluators.evaluator import Measured
from cir_core.evaluation.evaluators.records import Measure
from cir_core.evaluation.evaluators.single_turn import recall_columns
from cir_core.evaluation.metrics.subset_recall import SubsetRank, subset_rank
from cir_core.evaluation.runs.records import Run
from cir_core.support.texts import quoted

CUTOFFS = (1, 5, 10, 50)
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
        notes.append("The run holds lists of the image sets alone: no Recall@k of the whole gallery.")
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
