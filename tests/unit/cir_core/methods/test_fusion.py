"""Two unit vectors become one: slerp against numbers worked out by hand, and what it does at its ends."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cir_core.methods.fusion import blend, slerp
from cir_core.support.maths import unit

E = np.eye(3, dtype=np.float32)
NEW, HISTORY = E[0], E[1]
HOWS = ("slerp", "linear", "replace")
weights = st.floats(0, 1) | st.sampled_from([0.0, 5e-324, 1e-30, 0.5, 0.8, 1 - 2**-53, 1.0])


def random_unit(seed, dim=64):
    return unit(np.random.default_rng(seed).standard_normal(dim))


def turned(vector, angle, seed=9):
    """The unit vector at ``angle`` from ``vector``."""
    wide = vector.astype(np.float64)
    side = np.random.default_rng(seed).standard_normal(len(vector))
    side -= side @ wide / (wide @ wide) * wide
    return (math.cos(angle) * wide / np.linalg.norm(wide) + math.sin(angle) * side / np.linalg.norm(side)).astype(
        np.float32)


def test_corr_golden_numbers():
    # θ = 90°, α = 0.8: sin(0.2 · 90°) = sin 18° = 0.30902 of the new, sin(0.8 · 90°) = sin 72° = 0.95106 of
    # the history; sin θ = 1.
    fused = slerp(NEW, HISTORY, history_weight=0.8)
    np.testing.assert_allclose(fused, [0.3090, 0.9511, 0], atol=5e-5)
    assert np.linalg.norm(fused) == pytest.approx(1, abs=1e-6)
    assert fused.dtype == np.float32


def test_slerp_at_sixty_degrees():
    # new·history = ½, θ = 60°, α = 0.25: sin 45°/sin 60° = 0.70711/0.86603 = 0.81650 of the new and
    # sin 15°/sin 60° = 0.25882/0.86603 = 0.29886 of the history.
    history = np.array([0.5, math.sqrt(0.75), 0], dtype=np.float32)
    mix = blend(NEW, history, history_weight=0.25)
    assert (mix.new, mix.history) == (pytest.approx(0.81650, abs=1e-5), pytest.approx(0.29886, abs=1e-5))
    # The outcome is 15° from the new one: (cos 15°, sin 15°) = (0.96593, 0.25882).
    np.testing.assert_allclose(mix.of(NEW, history), [0.96593, 0.25882, 0], atol=1e-5)


def test_linear_is_the_normalised_sum():
    # 0.2 · (1, 0) + 0.8 · (0, 1) = (0.2, 0.8), length √0.68 = 0.82462: (0.24254, 0.97014).
    mix = blend(NEW, HISTORY, history_weight=0.8, how="linear")
    np.testing.assert_allclose(mix.of(NEW, HISTORY), [0.24254, 0.97014, 0], atol=1e-5)
    assert mix.new == pytest.approx(0.24254, abs=1e-5)


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.8, 1.0])
def test_replace_takes_the_new_one_whatever_the_weight(weight):
    mix = blend(NEW, HISTORY, history_weight=weight, how="replace")
    assert mix.of(NEW, HISTORY) is NEW and (mix.new, mix.history) == (1, 0)


@pytest.mark.parametrize("how", ["slerp", "linear"])
@pytest.mark.parametrize("seed", range(5))
def test_the_ends_are_the_inputs_bit_for_bit(how, seed):
    new, history = random_unit(seed), random_unit(seed + 100)
    for weight, expected in ((0.0, new), (1.0, history)):
        fused = blend(new, history, history_weight=weight, how=how).of(new, history)
        np.testing.assert_array_equal(fused, expected)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("weight", [0.0, 1e-9, 0.3, 0.5, 0.8, 1.0])
def test_equal_vectors_stay_what_they_are(how, weight):
    for seed in range(20):
        vector = random_unit(seed)
        mix = blend(vector, vector, history_weight=weight, how=how)
        np.testing.assert_allclose(mix.of(vector, vector), vector, atol=2e-7)
        assert mix.new + mix.history == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("how", ["slerp", "linear"])
def test_opposite_vectors_keep_the_stronger_side(how):
    # There is no one arc between them: (1−α)·u − α·u = (1−2α)·u, so the new one for α < ½, the history
    # for α > ½, and the history where nothing is left.
    for seed in range(20):
        history = random_unit(seed)
        for weight, expected in ((0.2, -history), (0.8, history), (0.5, history)):
            mix = blend(-history, history, history_weight=weight, how=how)
            np.testing.assert_allclose(mix.of(-history, history), expected, atol=1e-6)
            reproduced = mix.new * -history.astype(np.float64) + mix.history * history
            np.testing.assert_allclose(reproduced, expected, atol=1e-6)


@pytest.mark.parametrize("angle", [0, 1e-8, 1e-7, 1e-6, 1e-5, 3e-4, 1e-3, 1e-2, 1, 3, math.pi - 1e-2, math.pi - 1e-3,
                                   math.pi - 3e-4, math.pi - 1e-5, math.pi - 1e-6, math.pi - 1e-7, math.pi])
@pytest.mark.parametrize("weight", [0.01, 0.2, 0.5, 0.8, 0.99])
@pytest.mark.parametrize("how", ["slerp", "linear"])
def test_nearly_equal_and_nearly_opposite_vectors_in_single_precision(angle, weight, how):
    for seed in range(6):
        history = random_unit(seed, 512)
        new = turned(history, angle, seed + 50)
        mix = blend(new, history, history_weight=weight, how=how)
        fused = mix.of(new, history)
        assert np.linalg.norm(fused.astype(np.float64)) == pytest.approx(1, abs=1e-6)
        # The ledger is made of the two products: in single precision they too must add up.
        parts = np.float32(mix.new) * new + np.float32(mix.history) * history
        np.testing.assert_allclose(parts, fused, atol=2e-5)


def test_slerp_turns_by_its_share_of_the_angle():
    history = random_unit(1)
    for angle in (1e-3, 0.1, 1.0, 2.0, 3.0):
        new = turned(history, angle)
        fused = slerp(new, history, history_weight=0.75).astype(np.float64)
        # α = ¾ leaves a quarter of the way from the history.
        assert np.linalg.norm(fused - history) == pytest.approx(2 * math.sin(angle / 8), abs=3e-6 + 1e-4 * angle)


vectors = arrays(np.float32, 6, elements=st.floats(-1, 1, width=32).filter(lambda x: x == 0 or abs(x) > 1e-6))


@settings(max_examples=300, deadline=None)
@given(vectors, vectors, weights, st.sampled_from(HOWS), st.sampled_from([0.0, 1e-7, 1e-4, None]), st.booleans())
@example(np.array([1, 0, 0, 0, 0, 0], np.float32), np.array([-1, 0, 0, 0, 0, 0], np.float32), 0.5, "slerp", None, False)
def test_whatever_is_fused_has_unit_length_and_is_made_of_its_parts(new, other, weight, how, near, opposite):
    assume(np.any(new) and np.any(other))
    new = unit(new)
    history = unit(other) if near is None else unit((-new if opposite else new) + np.float32(near) * unit(other))
    assume(np.any(history))
    mix = blend(new, history, history_weight=weight, how=how)
    fused = mix.of(new, history)
    assert np.isfinite(fused).all() and math.isfinite(mix.new) and math.isfinite(mix.history)
    assert np.linalg.norm(fused.astype(np.float64)) == pytest.approx(1, abs=1e-6)
    exact = mix.new * new.astype(np.float64) + mix.history * history
    np.testing.assert_allclose(fused, exact, atol=2e-5)


@settings(max_examples=200, deadline=None)
@given(vectors, vectors, weights)
def test_slerp_normalises_and_gives_way_to_the_side_that_is_there(new, history, weight):
    fused = slerp(new, history, history_weight=weight)
    assert np.isfinite(fused).all()
    if not np.any(new) and not np.any(history):
        assert not np.any(fused)
    else:
        assert np.linalg.norm(fused.astype(np.float64)) == pytest.approx(1, abs=1e-6)
    if not np.any(new):
        np.testing.assert_array_equal(fused, unit(history))
    elif not np.any(history):
        np.testing.assert_array_equal(fused, unit(new))


def test_the_inputs_are_not_changed():
    new, history = random_unit(1), random_unit(2)
    new.setflags(write=False)
    history.setflags(write=False)
    slerp(new, history, history_weight=0.8)
    assert not np.shares_memory(slerp(new, history, history_weight=0.5), new)
