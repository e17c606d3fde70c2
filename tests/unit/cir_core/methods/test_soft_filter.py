"""SoFT's scores against numbers worked out by hand, and what no rescoring may do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cir_core.errors import SearchError
from cir_core.methods.soft_filter import (
    PENALTY,
    REWARD,
    SoftScore,
    checked_constraints,
    checked_soft_filter,
    soft_score,
    texts_from_attributes,
)
from cir_core.types.composition import Constraints
from cir_core.types.records import SoftFilter
from tests.fakes.encoder import FakeEncoder

MODES = ("both", "reward", "penalty")
NONE = np.zeros((3, 2), dtype=np.float32)
cosines = st.floats(-1, 1)
weights = st.floats(0, 1) | st.sampled_from([0.0, 5e-324, 1e-40, 1e-9, 1.0])


def combined(s, r, p, weight, mode="both"):
    score = SoftScore(NONE, SoftFilter(weight, mode)).combine(np.array([[s, r, p]], dtype=np.float64))
    assert score.shape == (1,)
    return float(score[0])


@pytest.mark.parametrize(("mode", "weight", "expected"), [
    ("both", 0.0, 0.300),
    ("both", 0.2, 0.2724),    # 0.8 · 0.30 + 0.2 · 0.30 · (0.28 + 1 − 0.20)/2 = 0.24 + 0.2 · 0.162
    ("both", 1.0, 0.162),     # 0.30 · 1.08/2
    ("reward", 0.0, 0.300),
    ("reward", 0.2, 0.2568),  # 0.24 + 0.2 · 0.30 · 0.28 = 0.24 + 0.0168
    ("reward", 1.0, 0.084),   # 0.30 · 0.28
    ("penalty", 0.0, 0.300),
    ("penalty", 0.2, 0.288),  # 0.24 + 0.2 · 0.30 · (1 − 0.20) = 0.24 + 0.048
    ("penalty", 1.0, 0.240),  # 0.30 · 0.80: the paper's s(1 − p), not s · p
])
def test_golden_numbers(mode, weight, expected):
    # s = 0.30, r = 0.28, p = 0.20.
    assert combined(0.30, 0.28, 0.20, weight, mode) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(cosines, cosines, cosines, weights)
def test_equations_1_and_2_as_they_are_printed(s, r, p, weight):
    kept, scale = min(s, 0.0), max(s, 0.0)
    for mode, filtered in (("both", scale * (r + 1 - p) / 2), ("reward", scale * r), ("penalty", scale * (1 - p))):
        expected = kept if s < 0 else (1 - weight) * scale + weight * filtered
        assert combined(s, r, p, weight, mode) == pytest.approx(expected, abs=1e-12)


def test_only_the_difference_of_reward_and_penalty_matters():
    # 0.28 − 0.20 = 0.58 − 0.50 = −0.12 + 0.20 = 0.08.
    scores = [combined(0.3, r, p, 0.7) for r, p in ((0.28, 0.20), (0.58, 0.50), (-0.12, -0.20))]
    assert scores == pytest.approx([scores[0]] * 3, abs=1e-12)


def test_what_should_be_avoided_never_helps():
    for mode in ("both", "penalty"):
        scores = [combined(0.3, 0.2, p, 1.0, mode) for p in (-1, -0.2, 0, 0.2, 1)]
        assert scores == sorted(scores, reverse=True) and len(set(scores)) == 5


@settings(deadline=None)
@given(st.floats(-1, 1), cosines, cosines, cosines, weights, st.sampled_from(MODES))
def test_a_negative_score_is_kept_and_no_reward_lowers_any(s, r, more, p, weight, mode):
    low, high = sorted((r, more))
    assert combined(s, high, p, weight, mode) >= combined(s, low, p, weight, mode)
    assert combined(s, p, low, weight, mode) >= combined(s, p, high, weight, mode)
    if s < 0:
        assert combined(s, r, p, weight, mode) == s


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(cosines, cosines, cosines), min_size=1, max_size=30),
    weights | st.sampled_from([1.5, 30.0]), st.sampled_from(MODES), st.integers(0, 2**32),
    st.tuples(*[st.sampled_from([0.0, 1e-7, 1e-4])] * 3),
)
def test_the_error_is_a_true_bound(rows, weight, mode, seed, off):
    """Single precision, from products whose columns are off by ``off``, against double precision."""
    exact = np.array(rows, dtype=np.float32).astype(np.float64)
    noise = np.random.default_rng(seed).uniform(-1, 1, exact.shape) * off
    fast = (exact + noise).astype(np.float32)
    score = SoftScore(NONE, SoftFilter(weight, mode))
    errors = np.abs(fast - exact).max(axis=0) + 1e-37  # the index adds as much, for what underflows
    sizes = np.maximum(np.abs(exact), np.abs(fast)).max(axis=0).astype(np.float64)
    allowed = score.error(errors, sizes)
    difference = np.abs(score.combine(fast).astype(np.float64) - score.combine(exact))
    assert score.combine(fast).dtype == np.float32
    assert difference.max() <= allowed
    assert allowed <= 20 * (max(off) + 1e-6) * (1 + weight), "a bound that lets everything in bounds nothing"


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.floats(-1, 1), min_size=1, max_size=5), cosines, cosines, weights, st.sampled_from(MODES),
)
def test_the_ledger_adds_up_to_the_score(values, r, p, weight, mode):
    parts = [(f"term {number}", value) for number, value in enumerate(values)]
    score = SoftScore(NONE, SoftFilter(weight, mode))
    ledger = score.ledger(parts, r, p)
    assert [name for name, _ in ledger] == [*(name for name, _ in parts), REWARD, PENALTY]
    assert sum(value for _, value in ledger) == pytest.approx(combined(sum(values), r, p, weight, mode), abs=1e-12)


def test_the_ledger_by_hand():
    # s = 0.30 = 0.20 + 0.10, r = 0.28, p = 0.20, λ = 1: the base counts half, 0.10 and 0.05; the reward adds
    # 0.30 · 0.28/2 = 0.042, the penalty takes 0.30 · 0.20/2 = 0.030. Together 0.162.
    ledger = dict(SoftScore(NONE, SoftFilter(1.0)).ledger([("text", 0.2), ("history", 0.1)], 0.28, 0.20))
    assert ledger == pytest.approx({"text": 0.1, "history": 0.05, REWARD: 0.042, PENALTY: -0.030})
    # A negative base is kept: nothing is added, nothing taken.
    ledger = SoftScore(NONE, SoftFilter(1.0)).ledger([("text", -0.2), ("history", 0.1)], 0.28, 0.20)
    assert ledger == (("text", -0.2), ("history", 0.1), (REWARD, 0.0), (PENALTY, 0.0))


def test_several_texts_on_one_side_count_with_their_mean_similarity():
    encoder = FakeEncoder()
    query = encoder.encode_texts(["green"])[0]
    constraints = Constraints(prescriptive=("red", "red green", "blue"), proscriptive=("green",))
    score = soft_score(query, constraints, SoftFilter(), encoder)
    image = encoder.encode_texts(["red blue blue"])[0]
    wanted = encoder.encode_texts(["red", "red green", "blue"])
    products = score.vectors @ image
    assert products[0] == pytest.approx(query @ image, abs=1e-6)
    assert products[1] == pytest.approx((wanted @ image).mean(), abs=1e-6)
    assert products[2] == pytest.approx(encoder.encode_texts(["green"])[0] @ image, abs=1e-6)
    # The mean is shorter than its texts unless they all say the same; it is not stretched again.
    assert np.linalg.norm(score.vectors[1]) < 0.9
    assert score.vectors.dtype == np.float32 and score.vectors.shape == (3, encoder.dim)


def test_a_side_without_texts_is_a_similarity_of_zero():
    encoder = FakeEncoder()
    query = encoder.encode_texts(["green"])[0]
    only = soft_score(query, Constraints(prescriptive=("red",)), SoftFilter(), encoder)
    assert np.any(only.vectors[1]) and not np.any(only.vectors[2])
    only = soft_score(query, Constraints(proscriptive=("red",)), SoftFilter(), encoder)
    assert not np.any(only.vectors[1]) and np.any(only.vectors[2])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("sides", [Constraints(), Constraints(keep=("red",), add=("blue",))])
def test_without_texts_the_order_stays(mode, weight, sides):
    """A language model that fails leaves both sides empty; that must not shuffle the gallery.

    Reward only would be s · 0 = 0 for everything with s ≥ 0: one large tie.
    """
    encoder = FakeEncoder()
    score = soft_score(encoder.encode_texts(["green"])[0], sides, SoftFilter(weight, mode), encoder)
    products = np.zeros((7, 3))
    products[:, 0] = [-0.4, -0.1, 0, 0.1, 0.2, 0.3, 0.9]
    scores = score.combine(products)
    assert (np.diff(scores) > 0).all()
    # "both" halves what is positive at λ = 1: s · (0 + 1 − 0)/2. The others leave it.
    share = 1 - weight / 2 if mode == "both" else 1
    np.testing.assert_allclose(scores[3:], share * products[3:, 0])


def test_reward_only_without_a_wanted_text_leaves_that_side_out():
    encoder = FakeEncoder()
    score = soft_score(encoder.encode_texts(["green"])[0], Constraints(proscriptive=("red",)),
                       SoftFilter(1.0, "reward"), encoder)
    products = np.array([[0.1, 0, 0.9], [0.2, 0, 0.1]])
    np.testing.assert_array_equal(score.combine(products), [0.1, 0.2])
    ledger = score.ledger([("text", 0.2)], 0.0, 0.1)
    assert sum(value for _, value in ledger) == pytest.approx(0.2)


@pytest.mark.parametrize("weight", [-0.1, 1.01, float("nan"), float("inf")])
def test_a_weight_outside_its_range_has_a_sentence(weight):
    with pytest.raises(SearchError, match="between 0 and 1"):
        checked_soft_filter(SoftFilter(weight))


def test_an_unknown_mode_has_a_sentence():
    with pytest.raises(SearchError, match="both, reward, penalty"):
        checked_soft_filter(SoftFilter(0.5, "sideways"))
    assert checked_soft_filter(SoftFilter(0.5, "reward")) == SoftFilter(0.5, "reward")


def test_a_whole_number_is_the_same_protocol():
    assert repr(checked_soft_filter(SoftFilter(1))) == repr(SoftFilter(1.0))


def test_what_a_person_typed_on_the_chips_is_cleaned():
    cleaned = checked_constraints(Constraints(
        keep=("a", "a"), prescriptive=(" long\nsleeves ", "long sleeves", "", "  ", "café", "cafe\u0301"),
        proscriptive=("\u202ered\u202c", "👗 красный"),
    ))
    assert cleaned == Constraints(
        keep=("a",), prescriptive=("long sleeves", "café"), proscriptive=("red", "👗 красный"), edited=True,
    )


def test_chips_may_all_be_taken_away_but_not_be_too_many_or_too_long():
    assert checked_constraints(Constraints()) == Constraints(edited=True)
    twelve = tuple(f"text {n}" for n in range(12))
    assert checked_constraints(Constraints(prescriptive=(*twelve, "text 3"))).prescriptive == twelve
    with pytest.raises(SearchError, match="13 texts"):
        checked_constraints(Constraints(proscriptive=(*twelve, "one more")))
    with pytest.raises(SearchError, match="the limit is 1,000"):
        checked_constraints(Constraints(prescriptive=("x" * 1001,)))
    assert len(checked_constraints(Constraints(prescriptive=("x" * 1000,))).prescriptive[0]) == 1000


def test_what_is_kept_and_added_must_show_what_is_removed_must_not():
    made = texts_from_attributes(Constraints(keep=("shirt", "collar"), add=("red",), remove=("blue", "short sleeves")))
    assert made.prescriptive == ("shirt, collar, red",)
    assert made.proscriptive == ("blue, short sleeves",)


def test_old_texts_give_way_and_the_attributes_stay():
    before = Constraints(add=("red",), prescriptive=("a shirt", "with dots"), proscriptive=("a hat",), edited=True)
    made = texts_from_attributes(before)
    assert (made.add, made.edited) == (("red",), True)
    assert made.prescriptive == ("red",)
    assert made.proscriptive == ()  # nothing is removed, so nothing must be missing


def test_nothing_said_leaves_both_sides_out():
    assert texts_from_attributes(Constraints(prescriptive=("a shirt",))) == Constraints()


def test_said_twice_is_said_once():
    assert texts_from_attributes(Constraints(keep=("rot", "ärmel"), add=("rot",))).prescriptive == ("rot, ärmel",)
