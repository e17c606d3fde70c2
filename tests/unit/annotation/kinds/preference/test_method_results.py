"""Which method people prefer: counts, shares and rating differences, derived by hand."""

from collections import Counter
from itertools import combinations, product

import pytest

from annotation.kinds.preference.method_pairs import draw_pairs
from annotation.kinds.preference.method_results import method_results
from cir_core.errors import StudyError
from tests.fakes.preferences import a_judgement, an_answer, an_item

# Items 0 and 1: set 1 of slerp, set 2 of text. Item 2: stored the other way round. Item 3: slerp meets cirevl.
ITEMS = [an_item(0), an_item(1), an_item(2, methods=["text", "slerp"]), an_item(3, methods=["slerp", "cirevl"])]
JUDGEMENTS = [
    a_judgement(0, "Ada", an_answer(4, 2, 1)),   # slerp 4, text 2: slerp
    a_judgement(0, "Bea", an_answer(2, 2, 2)),   # slerp 2, text 2: text
    a_judgement(1, "Ada", an_answer(3, 3, 0)),   # slerp 3, text 3: a tie
    a_judgement(2, "Ada", an_answer(1, 5, 2)),   # text 1, slerp 5: slerp
    a_judgement(3, "Ada", an_answer(2, 5, 2)),   # slerp 2, cirevl 5: cirevl
]


def test_methods_and_pairs():
    methods, pairs = method_results(ITEMS, JUDGEMENTS)
    found = {one.method: (one.rated, one.mean_rating, one.preferred.count, one.preferred.n, one.ties)
             for one in methods}
    # slerp: ratings 4, 2, 3, 5, 2 = 16 of 5; preferred in 2 of the 4 that are no tie. text: 2, 2, 3, 1 = 8 of 4.
    assert found == {"cirevl": (1, 5.0, 1, 1, 0), "slerp": (5, 3.2, 2, 4, 1), "text": (4, 2.0, 1, 3, 1)}
    assert [one.method for one in methods] == ["cirevl", "slerp", "text"], "the most often preferred first"
    of_cirevl, of_text = pairs
    assert (of_cirevl.first, of_cirevl.second, of_cirevl.answers, of_cirevl.mean_difference) == (
        "cirevl", "slerp", 1, 3.0)
    assert of_cirevl.first_preferred.value == 1.0
    # slerp less text: 4-2, 2-2, 3-3, 5-1 = 6 over 4 answers; slerp preferred in 2 of 3, and one tie.
    assert (of_text.first, of_text.second, of_text.answers, of_text.ties, of_text.mean_difference) == (
        "slerp", "text", 4, 1, 1.5)
    assert (of_text.first_preferred.count, of_text.first_preferred.n) == (2, 3)
    # Wilson, z = 1.96, 2 of 3: centre (0.6667 + 3.8415/6) / (1 + 3.8415/3) = 0.5731, half width
    # 1.96 √(0.2222/3 + 3.8415/36) / (1 + 3.8415/3) = 0.3654.
    assert of_text.first_preferred.low == pytest.approx(0.2077, abs=1e-4)
    assert of_text.first_preferred.high == pytest.approx(0.9385, abs=1e-4)


def test_unknown_methods_are_left_out():
    assert method_results([an_item(0, methods=[None, None])], [a_judgement(0, "Ada", an_answer())]) == ([], [])
    assert method_results([], []) == ([], [])


def test_a_preference_for_sides_is_taken_out():
    # Item 0: set 1 of slerp; item 2: set 1 of text. slerp led three times: in answers 1, 2 and 4.
    judgements = [
        a_judgement(0, "Ada", an_answer(4, 2, 1, first=1)),   # slerp led, and is preferred
        a_judgement(0, "Bea", an_answer(4, 4, 1, first=1)),   # slerp led, and is preferred
        a_judgement(0, "Cleo", an_answer(3, 4, 2, first=2)),  # text led, and is preferred
        a_judgement(2, "Ada", an_answer(5, 1, 1, first=2)),   # slerp led; text is preferred
        a_judgement(2, "Bea", an_answer(2, 4, 2, first=1)),   # text led; slerp is preferred
        a_judgement(2, "Cleo", an_answer(3, 3, 0, first=1)),  # text led; a tie
        a_judgement(2, "Dan", an_answer(1, 5, 2, first=None)),   # slerp, on a side that nobody recorded
    ]
    _, (pair,) = method_results(ITEMS, judgements)
    assert (pair.first_led, pair.second_led) == (3, 3)
    assert (pair.first_leading.count, pair.first_leading.n) == (2, 3)
    assert (pair.second_leading.count, pair.second_leading.n) == (1, 2)
    # (2/3 + 1/2) / 2 = 7/12, where 4 of all 6 preferences are slerp's.
    assert pair.adjusted == pytest.approx(7 / 12) and pair.unadjusted == ""
    assert pair.first_preferred.value == pytest.approx(4 / 6)


def test_whoever_always_takes_the_first_side_says_nothing_of_methods():
    # Nine times slerp led, once text did: 90 % of all preferences are slerp's, and 1/2 is left of it.
    items = [an_item(number) for number in range(10)]
    judgements = [a_judgement(number, "Ada", an_answer(3, 3, first, first=first))
                  for number, first in enumerate([1] * 9 + [2])]
    _, (pair,) = method_results(items, judgements)
    assert (pair.first_preferred.value, pair.adjusted) == (0.9, 0.5)


def test_what_cannot_be_adjusted_says_why():
    one_side = [a_judgement(0, "Ada", an_answer(first=1)), a_judgement(0, "Bea", an_answer(3, 3, 0, first=2))]
    _, (pair,) = method_results(ITEMS, one_side)
    assert (pair.first_led, pair.second_led, pair.adjusted) == (1, 1, None)
    assert pair.unadjusted == "no answer without a tie where text was shown first"
    _, (pair,) = method_results(ITEMS, [a_judgement(0, "Ada", an_answer(first=None))])
    assert (pair.first_led, pair.second_led, pair.adjusted, pair.unadjusted) == (
        0, 0, None, "it was not recorded which set was shown first")


# --- which methods meet ----------------------------------------------------------------------

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
