"""Which method people prefer: counts, shares and rating differences, derived by hand."""

import pytest

from annotation.kinds.preference.method_results import method_results
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
