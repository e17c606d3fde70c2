"""The annotators' panel: the union of the first results, each image once."""

from cir_core.audit.panel import in_turn, panel
from tests.fakes.audit_ranks import benchmark, run

ONE = benchmark(1)


def found(name: str, *images: str):
    return run(ONE, name, [(1, 1, 1)], top={0: images})


def test_union_by_best_rank_then_by_how_many_then_by_id():
    # best rank (votes):  d 1 (2), m 1 (1), c 2 (2), k 2 (1), z 3 (2), e 3 (1)
    runs = [found("one", "d", "c", "z"), found("two", "m", "k", "e"), found("three", "d", "c", "z")]
    assert panel(runs, 0) == ("d", "m", "c", "k", "z", "e")
    # without the third, all have one vote: by id within a rank
    assert panel(runs[:2], 0) == ("d", "m", "c", "k", "e", "z")


def test_the_order_of_the_retrievers_does_not_show():
    runs = [found("one", "b", "a"), found("two", "a", "c"), found("three", "c", "b")]
    assert panel(runs, 0) == panel(runs[::-1], 0) == ("a", "b", "c")


def test_depth_counts_places_not_new_images():
    first = found("one", *(f"x{n}" for n in range(20)))
    second = found("two", *(f"x{n}" for n in range(5, 25)))
    # x0 … x9 and x5 … x14
    assert sorted(panel([first, second], 0)) == sorted(f"x{n}" for n in range(15))
    assert panel([first, second], 0, depth=1) == ("x0", "x5")


def test_duplicates_problems_and_files_without_images():
    twice = found("one", "a", "a", "b")
    assert panel([twice], 0) == ("a", "b")
    assert panel([twice, run(ONE, "two", ["unreadable"]), run(ONE, "three", [(1, 1, 1)])], 0) == ("a", "b")
    assert panel([run(ONE, "two", ["unreadable"])], 0) == ()


def test_in_turn_takes_the_first_of_each_then_the_second():
    runs = [found("one", "a", "b", "c", "d"), found("two", "b", "e"), found("three", "f", "a", "g")]
    # Rank 1: a, b, f; rank 2: (b), e, (a); rank 3: c, nothing, g; rank 4: d.
    assert in_turn(runs, 0) == ("a", "b", "f", "e", "c", "g", "d")
    assert in_turn(runs, 0, most=3) == ("a", "b", "f")
    assert in_turn([run(ONE, "two", ["unreadable"]), run(ONE, "three", [(1, 1, 1)])], 0) == ()
    assert set(panel(runs, 0)) <= set(in_turn(runs, 0))
