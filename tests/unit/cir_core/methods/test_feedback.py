"""Eq. 9 against numbers worked out by hand."""

import numpy as np
import pytest

from cir_core.methods.feedback import HISTORY, OTHERS, PICKED, TEXT, compose, update_query

E = np.eye(4, dtype=np.float32)


def test_equation_9_by_hand():
    # v = (1,0,0,0), y+ = (0,1,0,0), Y- = {(0,0,1,0), (0,0,0,1)} with mean (0,0,½,½), h = (1,0,0,0):
    # v + 0.5 y+ - 0.2 mean + 1.0 h = (2, 0.5, -0.1, -0.1); length² = 4 + 0.25 + 0.01 + 0.01 = 4.27
    query = update_query(E[0], E[1], E[2:4], E[0], alpha=0.5, beta=0.2, gamma=1.0)
    expected = np.array([2, 0.5, -0.1, -0.1]) / np.sqrt(4.27)
    np.testing.assert_allclose(query.vector, expected, rtol=1e-6)


def test_the_mean_of_the_others_is_not_normalised_again():
    # Two opposite images not picked cancel out: they must not change the query at all.
    opposite = np.stack([E[2], -E[2]])
    query = update_query(E[0], E[1], opposite, E[0], alpha=0.08, beta=0.29, gamma=0.44)
    plain = update_query(E[0], E[1], E[:0], E[0], alpha=0.08, beta=0.29, gamma=0.44)
    np.testing.assert_allclose(query.vector, plain.vector, rtol=1e-6)


def test_terms_add_up_to_the_vector_and_so_to_any_score():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((14, 32)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    query = update_query(rows[0], rows[1], rows[2:11], rows[11], alpha=0.08, beta=0.29, gamma=0.44)
    assert set(query.terms) == {HISTORY, PICKED, OTHERS, TEXT}
    np.testing.assert_allclose(sum(query.terms.values()), query.vector, atol=1e-6)
    parts = [float(term @ rows[12]) for term in query.terms.values()]
    assert sum(parts) == pytest.approx(float(query.vector @ rows[12]), abs=1e-6)


def test_without_weights_the_history_stays():
    query = update_query(E[0], E[1], E[2:3], E[3], alpha=0, beta=0, gamma=0)
    np.testing.assert_array_equal(query.vector, E[0])


def test_terms_that_cancel_out_give_a_zero_query_not_nan():
    query = compose({"a": E[0], "b": -E[0]})
    np.testing.assert_array_equal(query.vector, np.zeros(4))
