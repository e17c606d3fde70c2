"""Single-turn queries put one after the other."""

import pytest

from cir_core.construct.concatenation import concatenated
from cir_core.datasets.records import Benchmark, BenchmarkQuery


def benchmark(queries, pools=("dress",)):
    return Benchmark("fashioniq", "val", queries, dict.fromkeys(pools), lambda image_id: ())


def query(number, reference, target, pool="dress", text="more red"):
    return BenchmarkQuery(f"q{number}", reference, text, (target,) if target else (), pool=pool)


MANY = [query(number, f"r{number}", f"t{number}", text=f"text {number}") for number in range(40)]


def test_any_queries_make_sessions_each_of_them_once():
    [found] = concatenated(benchmark(MANY), sessions=100, turns=4).values()
    lengths = [len(one.turns) for one in found]
    assert 38 <= sum(lengths) <= 40 and set(lengths) == {2, 3, 4}     # one query may be left over
    texts = [turn.text for one in found for turn in one.turns]
    assert len(set(texts)) == len(texts)
    for one in found:     # the target is that of the last query
        assert one.target_ids == (one.turns[-1].reference_id.replace("r", "t"),)
    assert [one.session_id for one in found[:2]] == ["fashioniq_dress_val_0000", "fashioniq_dress_val_0001"]


def test_the_seed_decides_and_fewer_are_the_first():
    again, fewer, other = (concatenated(benchmark(MANY), sessions=number, turns=3, seed=seed)
                           for number, seed in ((50, 1), (5, 1), (50, 2)))
    assert concatenated(benchmark(MANY), sessions=50, turns=3, seed=1) == again != other
    assert fewer["fashioniq_dress_val"] == again["fashioniq_dress_val"][:5]


def test_a_chain_goes_on_from_the_image_that_was_asked_for():
    queries = [query(0, "a", "b"), query(1, "b", "c"), query(2, "c", "a"), query(3, "x", "y"), query(4, "y", "x")]
    for seed in range(5):
        [found] = concatenated(benchmark(queries), sessions=10, turns=3, rule="chain", seed=seed).values()
        for one in found:
            steps = {("a", "b"), ("b", "c"), ("c", "a"), ("x", "y"), ("y", "x")}
            images = [*(turn.reference_id for turn in one.turns), *one.target_ids]
            assert set(zip(images, images[1:], strict=False)) <= steps
            assert len(set(images[:-1])) == len(images) - 1 >= 2       # no reference twice


@pytest.mark.parametrize("rule", ["random", "chain"])
def test_queries_without_text_or_target_and_of_other_subsets_stay_apart(rule):
    queries = [query(0, "a", "b"), query(1, "b", "", ), query(2, "b", "c", text=" "), query(3, "b", "c", "shirt")]
    found = concatenated(benchmark(queries, ("dress", "shirt")), sessions=10, turns=4, rule=rule)
    assert found == {"fashioniq_dress_val": (), "fashioniq_shirt_val": ()}
