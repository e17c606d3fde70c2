"""What nothing is constructed from."""

from __future__ import annotations

import pytest

from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import DatasetError
from cir_core.registry.constructing import refuse_unsuitable


def benchmark(*targets, pool="all"):
    queries = tuple(BenchmarkQuery(f"q{number}", "r", "red", one, pool=pool) for number, one in enumerate(targets))
    return Benchmark("mbeir", "val", queries, {pool: ("r", "t")}, lambda image_id: ())


def test_queries_with_targets_and_a_common_gallery_are_suitable():
    refuse_unsuitable(benchmark(("t",), ("t",)), "targets")


@pytest.mark.parametrize(("of", "says"), [
    (benchmark(), "mbeir-val has no queries"),
    (benchmark(("t",), (), ()), r"2 queries of 3 in mbeir-val have no target, such as 'q1'; targets are constructed"),
    (benchmark(("t",), pool="focus_object/0"), "small gallery of its own; targets need one"),
])
def test_others_are_refused_with_what_to_do(of, says):
    with pytest.raises(DatasetError, match=says) as caught:
        refuse_unsuitable(of, "targets")
    assert "--submission" not in str(caught.value)
