"""Dawid and Skene's EM on their own example, and against a plain implementation of their equations."""

import numpy as np
import pytest

from annotation.analysis.people.dawid_skene import confusions, confusions_of
from annotation.analysis.statistics.matrix import Ratings

# Dawid and Skene (1979), table 1: 45 patients, fitness for anaesthesia from 1 to 4 by five observers; the first saw
# each form three times.
PATIENTS = """
111 1 1 1 1 | 333 4 3 3 4 | 112 2 1 2 2 | 222 3 1 2 1 | 222 3 2 2 2 | 222 3 3 2 2 | 122 2 1 1 1 | 333 3 4 3 3 |
222 2 2 2 3 | 232 2 2 2 3 | 444 4 4 4 4 | 222 3 3 4 3 | 111 1 1 1 1 | 222 3 2 1 2 | 121 1 1 1 1 | 111 2 1 1 1 |
111 1 1 1 1 | 111 1 1 1 1 | 222 2 2 2 1 | 222 1 3 2 2 | 222 2 2 2 2 | 222 2 2 2 1 | 222 3 2 2 2 | 221 2 2 2 2 |
111 1 1 1 1 | 111 1 1 1 1 | 232 2 2 2 2 | 111 1 1 1 1 | 111 1 1 1 1 | 112 1 1 2 1 | 111 1 1 1 1 | 333 3 2 3 3 |
111 1 1 1 1 | 222 2 2 2 2 | 222 3 2 3 2 | 433 4 3 4 3 | 221 2 2 3 2 | 232 3 2 3 3 | 333 3 4 3 2 | 111 1 1 1 1 |
111 1 1 1 1 | 121 2 1 1 1 | 232 2 2 2 2 | 121 1 1 1 1 | 222 2 2 2 2"""


def counted():
    counts = np.zeros((45, 5, 4))
    for patient, row in enumerate(PATIENTS.split("|")):
        for observer, said in enumerate(row.split()):
            for value in said:
                counts[patient, observer, int(value) - 1] += 1
    return counts


def test_their_own_example():
    found = confusions(counted())
    # Their estimates, to two decimals: the marginal probabilities, and the error rates of the first observer for
    # patients of the first three classes.
    assert found.shares == pytest.approx([0.40, 0.42, 0.11, 0.07], abs=5e-3)
    expected = np.array([[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0]])
    assert found.rates[0][:3] == pytest.approx(expected, abs=5e-3)
    assert found.units[0].argmax() == 0 and found.units[10].argmax() == 3


def plain(counts, rounds):
    """Equations 2.3 to 2.5, loop by loop."""
    units, people, categories = counts.shape
    every = range(categories)
    truth = [[sum(counts[u][p][c] for p in range(people)) / counts[u].sum() for c in every] for u in range(units)]
    for _ in range(rounds):
        shares = [sum(truth[u][c] for u in range(units)) / units for c in every]
        rates = np.zeros((people, categories, categories))
        for p in range(people):
            for true in every:
                total = sum(truth[u][true] * counts[u][p][said] for u in range(units) for said in every)
                for said in every:
                    if total:
                        rates[p][true][said] = sum(truth[u][true] * counts[u][p][said] for u in range(units)) / total
        for u in range(units):
            joint = [shares[c] * np.prod([rates[p][c][said] ** counts[u][p][said] for p in range(people)
                                          for said in every]) for c in every]
            truth[u] = [one / sum(joint) for one in joint]
    return shares, rates, truth


@pytest.mark.parametrize("seed", range(3))
def test_equal_to_the_plain_implementation_with_missing_answers(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 20)
    codes = np.where(rng.random((20, 4)) < 0.7, truth[:, None], rng.integers(0, 3, (20, 4)))
    counts = (codes[:, :, None] == np.arange(3)) * (rng.random((20, 4, 1)) < 0.8) * 1.0
    counts = counts[counts.sum(axis=(1, 2)) > 0]
    found = confusions(counts, rounds=6, tolerance=0)
    for ours, theirs in zip((found.shares, found.rates, found.units), plain(counts, 6), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10)


def test_the_likelihood_never_falls():
    said = confusions(counted()).log_likelihood
    assert len(said) > 5 and all(after >= before - 1e-9 for before, after in zip(said, said[1:], strict=False))


def test_who_always_says_yes_is_found():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, (200, 1))
    codes = np.where(rng.random((200, 4)) < 0.9, truth, 1 - truth).astype(np.int16)
    codes[:, 3] = 1
    found = confusions_of(Ratings(codes, ("no", "yes")))
    assert found.rates[3] == pytest.approx(np.array([[0, 1], [0, 1]]), abs=1e-6)
    assert found.rates[0][1][1] > 0.8 and found.rates[0][0][0] > 0.8


def test_too_few_units_have_no_estimate():
    assert confusions_of(Ratings(np.array([[0, 1]] * 9 + [[1, -1]], np.int16), ("no", "yes"))) is None
