"""Score a benchmark run as the benchmark's own evaluator does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from cir_core.datasets.readers.circo import canonical_id
from cir_core.datasets.records import Benchmark
from cir_core.errors import DatasetError
from cir_core.evaluation.evaluators import single_turn
from cir_core.evaluation.evaluators.checks import Rankings, checked, refuse_hidden
from cir_core.evaluation.evaluators.cirr import cirr
from cir_core.evaluation.evaluators.records import Columns, Scores, score
from cir_core.evaluation.runs.records import Run
from cir_core.support.texts import quoted

_EVALUATORS: Mapping[str, Callable[[Benchmark, Rankings], Columns]] = {
    "fashioniq": single_turn.fashioniq,
    "circo": single_turn.circo,
    "soft-multi-target": single_turn.multi_target,
}
_BY_POOL = ("fashioniq", "sample")  # each category is ranked separately and has equal weight


def evaluate_run(
    benchmark: Benchmark, run: Run, *, partial: bool = False,
    target_ranks: Mapping[str, Sequence[int]] | None = None, seed: int | None = 0,
) -> Scores:
    """The measures of ``benchmark.kind``, and nDCG and MRR from the ranks of the targets.

    Args:
        partial: queries that the run lacks count as 0, with a note, instead of being an error.
        target_ranks: ranks of a query's ``target_ids`` over its whole pool, if the retriever is
            available; otherwise they are read from the lists, as far as these go.
        seed: of the bootstrap intervals; None omits them.

    Raises ``DatasetError`` if the benchmark hides its targets, and for a run that its evaluator
    would refuse (:mod:`cir_core.evaluation.evaluators.checks`).
    """
    refuse_hidden(benchmark)
    run = as_the_benchmark_names(benchmark, run)
    if benchmark.kind == "cirr":
        columns, rankings, notes = cirr(benchmark, run, partial=partial)
        missing = frozenset[str]()
        if rankings is not None:
            missing = frozenset(query_id for query_id in rankings if query_id not in run.rankings)
    else:
        answers = checked(benchmark, run.rankings, run.system, partial=partial)
        rankings, notes, missing = answers.rankings, answers.notes, frozenset(answers.missing)
        columns = _EVALUATORS.get(benchmark.kind, single_turn.generic)(benchmark, rankings)
    if rankings is not None:
        ranks: Sequence[Sequence[int]]
        if target_ranks is None:
            ranks = single_turn.target_ranks(benchmark, rankings)
        else:
            ranks = [target_ranks.get(query.query_id, ()) for query in benchmark.queries]
        further, note = single_turn.catalogue(benchmark, ranks, missing)
        columns = {**columns, **further}
        notes = (*notes, note) if note else notes
    return score(
        run.system, [query.query_id for query in benchmark.queries], columns, groups=_groups(benchmark),
        of_groups=True, notes=(*notes, *run.notes), seed=seed,
    )


def as_the_benchmark_names(benchmark: Benchmark, run: Run) -> Run:
    """``run`` with image ids in the benchmark's form: CIRCO's evaluator treats "000000000011"
    and 11 as the same image. Raises ``DatasetError`` for an id that CIRCO's would reject."""
    if benchmark.kind != "circo":
        return run
    rankings = {}
    for query_id, ranking in run.rankings.items():
        ids = tuple(image_id for one in ranking if (image_id := canonical_id(one)) is not None)
        if len(ids) < len(ranking):
            other = next(one for one in ranking if canonical_id(one) is None)
            raise DatasetError(f"Run {quoted(run.system)}, query {quoted(query_id)}: {quoted(other)} is not a number, "
                               "as CIRCO's image ids are. Write COCO's image ids.")
        rankings[query_id] = ids
    return replace(run, rankings=rankings)


def _groups(benchmark: Benchmark) -> dict[str, list[int]]:
    """Rows of each category, if a benchmark has categories."""
    groups: dict[str, list[int]] = {}
    if benchmark.kind in _BY_POOL:
        for row, query in enumerate(benchmark.queries):
            groups.setdefault(query.pool, []).append(row)
    return groups
