"""Which methods meet: as evenly as can be, the same for the same seed, never over identical sets."""

from collections import Counter
from itertools import combinations, product

import pytest

from annotation.kinds.preference.method_pairs import draw_pairs
from cir_core.errors import StudyError

METHODS = ("slerp", "cirevl", "text-only", "image-only")
PAIRS = tuple(combinations(sorted(METHODS), 2))


def queries(number: int, methods=METHODS) -> dict[str, dict[str, tuple[str, ...]]]:
    """All methods find different images."""
    return {f"q{n}": {method: (f"{method}-{n}",) for method in methods} for n in range(number)}


@pytest.mark.parametrize("number", [1, 5, 6, 61, 600, 10_000])
def test_every_two_methods_meet_equally_often(number):
    drawn = draw_pairs(queries(number), METHODS, seed=3)
    assert list(drawn.methods) == [f"q{n}" for n in range(number)]
    # n queries and 6 pairs: n // 6 of each, one more of n % 6 of them.
    assert sorted(drawn.counts) == list(PAIRS)
    assert Counter(drawn.counts.values()) == Counter({number // 6: 6 - number % 6, number // 6 + 1: number % 6}
                                                     if number % 6 else {number // 6: 6})
    stored = Counter(drawn.methods.values())
    for one, other in PAIRS:
        assert abs(stored[one, other] - stored[other, one]) <= 1
        assert stored[one, other] + stored[other, one] == drawn.counts[one, other]
    assert (drawn.ruled_out, drawn.identical, drawn.lacking) == (0, (), ())


def test_the_seed_decides_and_not_the_order_of_the_queries():
    given = queries(200)
    backwards = dict(reversed(given.items()))
    drawn = draw_pairs(given, METHODS, 1)
    assert drawn == draw_pairs(given, METHODS, 1)
    assert draw_pairs(backwards, tuple(reversed(METHODS)), 1).methods == drawn.methods
    assert drawn.methods != draw_pairs(given, METHODS, 2).methods


def test_a_pair_with_the_same_images_is_drawn_anew_and_a_query_without_another_is_left_out():
    found = {
        "same": {"a": ("1", "2"), "b": ("2", "1"), "c": ("1", "2")},      # three pairs, none differs
        "two": {"a": ("1", "2"), "b": ("2", "1"), "c": ("3", "4")},       # a and b do not meet
        "few": {"a": ("1", "2"), "c": ("3", "4")},                        # b found too few
        "one": {"a": ("1", "2")}, "none": {},
    }
    for seed in range(20):
        drawn = draw_pairs(found, ("a", "b", "c"), seed)
        assert set(drawn.methods) == {"two", "few"}
        # "few" has a and c only, so "two" takes b and c: no pair is met twice.
        assert {key: tuple(sorted(pair)) for key, pair in drawn.methods.items()} == {"two": ("b", "c"),
                                                                                     "few": ("a", "c")}
        assert drawn.counts == {("a", "b"): 0, ("a", "c"): 1, ("b", "c"): 1}
        assert drawn.ruled_out == 3 + 1 and drawn.identical == ("same",) and drawn.lacking == ("one", "none")


def most_even(possible: list[list[tuple[str, str]]], pairs) -> list[int]:
    """By trying all choices: the counts of the most even one, by the sum of their squares."""
    return min((sorted(Counter(choice)[pair] for pair in pairs) for choice in product(*possible)),
               key=lambda counts: sum(count * count for count in counts))


def test_no_other_choice_is_more_even():
    """Against all choices of 7 queries, each with another part of the methods."""
    parts = [subset for size in (2, 3) for subset in combinations(METHODS, size)]
    for start in range(len(parts)):
        chosen = [parts[(start + step * step) % len(parts)] for step in range(7)]
        given = {f"q{n}": {method: (f"{method}{n}",) for method in part} for n, part in enumerate(chosen)}
        drawn = draw_pairs(given, METHODS, start)
        possible = [list(combinations(sorted(part), 2)) for part in chosen]
        assert sorted(drawn.counts.values()) == most_even(possible, PAIRS)


def test_a_pair_gets_queries_by_way_of_others():
    """Of 40 queries 20 have a, b and c, and 20 only a and b: those with c give all they can to the others."""
    given = {f"q{n:02}": {name: (f"{name}{n}",) for name in ("abc" if n % 2 else "ab")} for n in range(40)}
    for seed in range(10):
        # a and b meet in the 20 that have nothing else; the other 20 are halved.
        assert draw_pairs(given, "abc", seed).counts == {("a", "b"): 20, ("a", "c"): 10, ("b", "c"): 10}


def test_one_method_makes_no_pair():
    with pytest.raises(StudyError, match="two different methods"):
        draw_pairs(queries(3), ("slerp", "slerp"), 1)
