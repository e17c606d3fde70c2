"""Score a benchmark run as the benchmark's own evaluator does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cir_core.datasets.records import Benchmark, group_of
from cir_core.evaluation.evaluators import single_turn
from cir_core.evaluation.evaluators.records import Columns, Scores, refuse_hidden, score
from cir_core.evaluation.evaluators.single_turn import Evaluator
from cir_core.evaluation.runs.records import Run

Further = Callable[[Benchmark, Mapping[str, Sequence[str]]], tuple[Columns, tuple[str, ...]]]
"""Columns of further measures of a benchmark's lists, and notes."""


def evaluate_run(
    benchmark: Benchmark, run: Run, evaluator: Evaluator, *, partial: bool = False,
    target_ranks: Mapping[str, Sequence[int]] | None = None, further: Further | None = None,
    seed: int | None = 0,
) -> Scores:
    """The measures of ``evaluator``, and nDCG and MRR from the ranks of the targets.

    Args:
        evaluator: that of the benchmark's kind (``cir_core.registry.kinds.evaluator_of``).
        partial: queries that the run lacks count as 0, with a note, instead of being an error.
        target_ranks: ranks of a query's ``target_ids`` over its whole pool, if the retriever is
            available; otherwise they are read from the lists, as far as these go.
        further: more measures of the lists, such as CIRQRS (:mod:`cir_core.evaluation.evaluators.relevance`).
        seed: of the bootstrap intervals; None omits them.

    Raises ``DatasetError`` if the benchmark hides its targets, and for a run that its evaluator
    would refuse (:mod:`cir_core.evaluation.evaluators.records`).
    """
    refuse_hidden(benchmark)
    run = evaluator.as_named(run)
    columns, rankings, missing, notes = evaluator.measure(benchmark, run, partial)
    if rankings is not None:
        ranks: Sequence[Sequence[int]]
        if target_ranks is None:
            ranks = single_turn.target_ranks(benchmark, rankings)
        else:
            ranks = [target_ranks.get(query.query_id, ()) for query in benchmark.queries]
        whole, note = single_turn.catalogue(benchmark, ranks, frozenset(missing))
        columns = {**columns, **whole}
        notes = (*notes, note) if note else notes
        if further:
            more, remarks = further(benchmark, rankings)
            columns, notes = {**columns, **more}, (*notes, *remarks)
    elif further:
        notes = (*notes, "The run ranks only image sets, so it has no CIRQRS.")
    groups: dict[str, list[int]] = {}
    for row, query in enumerate(benchmark.queries if evaluator.by_category else ()):
        groups.setdefault(group_of(query.pool), []).append(row)
    return score(
        run.system, [query.query_id for query in benchmark.queries], columns, groups=groups, of_groups=True,
        notes=(*notes, *run.notes), seed=seed,
    )
