"""A sweep of eleven values, against a single evaluation of the same method over the same queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.timing import HEADER, in_turn
from cir_core.datasets.records import Benchmark
from cir_core.encoders.base import Encoder
from cir_core.evaluation.evaluate_benchmark import run_methods
from cir_core.evaluation.evaluate_run import evaluate_run
from cir_core.evaluation.sweeps.parameters import read_sweep
from cir_core.evaluation.sweeps.run import sweep_benchmark
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.methods.declared import builtin_methods
from cir_core.registry.kinds import evaluator_of

WITHIN = 2.0    # of a single evaluation, where only the ranking changes
SWEEPS = (      # method, sweep, whether only the ranking changes
    ("soft", "lambda=0:1:0.1", True), ("slerp-soft", "lambda=0:1:0.1", True), ("guided", "asked=0:2:0.2", True),
    ("slerp", "text_weight=0:1:0.1", False), ("corr", "alpha=0:1:0.1", False),
)


@dataclass(frozen=True)
class Size:
    """``garments`` drawn, ``queries`` of each category."""

    garments: int = 600
    queries: int = 30
    pairs: int = 5


FULL = Size()
QUICK = Size(garments=120, queries=4, pairs=1)


def run(folder: Path, size: Size = FULL) -> None:
    """Print the table."""
    gallery, encoder, benchmark = _sample(folder, size)
    print(f"\nSweeps of 11 values over {len(benchmark.queries)} queries of the sample benchmark, built-in model.")
    print("bare: a single evaluation (run_methods and evaluate_run, with intervals)")
    print(HEADER)
    language = BuiltinLanguageModel(encoder)
    for name, sweep, only_ranking in SWEEPS:
        many, one = _sides(benchmark, gallery, encoder, language, name, sweep)
        times = in_turn(many, one, size.pairs)
        verdict = f"  above {WITHIN:g}" if only_ranking and times.ratio >= WITHIN else ""
        print(f"{times.line(f'{name}, {sweep}')}{verdict}", flush=True)


def _sides(
    benchmark: Benchmark, gallery: Gallery, encoder: Encoder, language: LanguageModel, name: str, sweep: str
) -> tuple[Callable[[int], None], Callable[[int], None]]:
    method, evaluator = builtin_methods()[name], evaluator_of(benchmark)
    swept = read_sweep(sweep, method)

    def many(i: int) -> None:
        sweep_benchmark(benchmark, gallery, encoder, language, method, swept, evaluator=evaluator)

    def one(i: int) -> None:
        for of in run_methods(benchmark, gallery, encoder, language, [method]):
            evaluate_run(benchmark, of.run, evaluator, partial=bool(of.failures), target_ranks=of.target_ranks)

    return many, one


def _sample(folder: Path, size: Size) -> tuple[Gallery, Encoder, Benchmark]:
    from cir_core.encoders import load_encoder
    from cir_core.gallery.gallery import open_gallery
    from cir_core.gallery.indexing import index_folder
    from cir_core.registry.kinds import read_benchmark
    from cir_core.sample.atelier.build import build_atelier

    home, encoder = folder / "swept", load_encoder("atelier")
    drawn = build_atelier(home / "drawn", limit=size.garments)
    index_folder(drawn.images, name="atelier", encoder=encoder, home=home, split="test")
    benchmark = read_benchmark("sample", drawn.folder)
    seen = Counter[str]()
    queries = []
    for query in benchmark.queries:
        seen[query.pool] += 1
        if seen[query.pool] <= size.queries:
            queries.append(query)
    return open_gallery("atelier", home=home), encoder, replace(benchmark, queries=tuple(queries))
