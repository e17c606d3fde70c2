"""How the runs of one kind of benchmark are measured."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import NamedTuple

from cir_core.datasets.records import Benchmark
from cir_core.evaluation.evaluators.checks import Rankings, checked
from cir_core.evaluation.evaluators.records import Columns
from cir_core.evaluation.evaluators.single_turn import generic
from cir_core.evaluation.runs.records import Run


class Measured(NamedTuple):
    """``rankings`` has every query, () for those ``missing`` in the run; None where the run ranks no whole pool."""

    columns: Columns
    rankings: Rankings | None
    missing: Collection[str]
    notes: tuple[str, ...]


def of_rankings(columns: Callable[[Benchmark, Rankings], Columns]) -> Callable[[Benchmark, Run, bool], Measured]:
    """``columns`` of a run's lists once they are checked (:func:`~cir_core.evaluation.evaluators.checks.checked`)."""
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
