"""Eq. 9 against numbers worked out by hand."""

import numpy as np
import pytest

from cir_core.methods.feedback import HISTORY, OTHERS, PICKED, TEXT, aggregate, compose, update_query
from cir_core.methods.references import Previous
from cir_core.search.searcher import Searcher
from cir_core.types.records import MethodSettings
from tests.fakes.colours import colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ScriptedLanguageModel

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


# --- results marked "more like this" and "less like this" ------------------------------------

METHOD = MethodSettings()
































# --- aggregations of the turns ---------------------------------------------------------------

EMBEDDED = np.eye(3, dtype=np.float32)


@pytest.mark.parametrize(("how", "decay", "expected"), [
    ("latest", 0.8, [0, 0, 1]),
    ("average", 0.8, [1, 1, 1]),
    # L = 3: a² = 0.64 of f_1, a = 0.8 of f_2, 1 of f_3.
    ("weighted", 0.8, [0.64, 0.8, 1]),
    ("weighted", 1.0, [1, 1, 1]),
    ("weighted", 0.0, [0, 0, 1]),
    ("weighted", 0.5, [0.25, 0.5, 1]),
])
def test_three_turns_at_right_angles(how, decay, expected):
    query = aggregate([EMBEDDED[0], EMBEDDED[1]], EMBEDDED[2], how=how, decay=decay, latest_name="text")
    np.testing.assert_allclose(query.vector, np.array(expected) / np.linalg.norm(expected), atol=1e-6)


def test_weighted_is_the_printed_formula():
    # Σ a^(L−l) f_l / Σ a^(L−l) with a = 0.8 over four turns: weights 0.512, 0.64, 0.8, 1, sum 2.952.
    rng = np.random.default_rng(2)
    turns = rng.standard_normal((4, 16))
    turns = (turns / np.linalg.norm(turns, axis=1, keepdims=True)).astype(np.float32)
    mean = (0.512 * turns[0] + 0.64 * turns[1] + 0.8 * turns[2] + turns[3]) / 2.952
    query = aggregate(list(turns[:3]), turns[3], how="weighted", decay=0.8, latest_name="text")
    np.testing.assert_allclose(query.vector, mean / np.linalg.norm(mean), atol=1e-6)


@pytest.mark.parametrize("how", ["latest", "average", "weighted"])
def test_a_first_turn_is_its_own_vector(how):
    query = aggregate([], EMBEDDED[1], how=how, decay=0.8, latest_name="image")
    np.testing.assert_array_equal(query.vector, EMBEDDED[1])
    assert list(query.terms) == ["image"]


@pytest.mark.parametrize("how", ["average", "weighted"])
def test_terms_add_up(how):
    rng = np.random.default_rng(3)
    turns = rng.standard_normal((5, 32))
    turns = (turns / np.linalg.norm(turns, axis=1, keepdims=True)).astype(np.float32)
    query = aggregate(list(turns[:4]), turns[4], how=how, decay=0.8, latest_name="text")
    assert list(query.terms) == ["history", "text"]
    np.testing.assert_allclose(sum(query.terms.values()), query.vector, atol=1e-6)


@pytest.mark.parametrize(("how", "weights"), [
    ("latest", [0, 0, 1]), ("average", [1, 1, 1]), ("weighted", [0.64, 0.8, 1]),
])
def test_a_session_of_three_turns(tmp_path, how, weights):
    searcher = Searcher(colour_gallery(tmp_path), FakeEncoder(), ScriptedLanguageModel())
    method = MethodSettings(base="text-only", history=how)
    previous, features, references = None, [], []
    for reference_id, text in (("r0g3b0", "red"), ("r3g3b0", "blue"), ("r3g0b3", "green blue")):
        found = searcher.turn(searcher.gallery_reference(reference_id), text, method, previous=previous, k=30)
        features.append(found.composition.base)
        references.append(reference_id)
        np.testing.assert_array_equal(features[-1], searcher.encoder.encode_texts([text])[0])
        previous = Previous(found.vector, found.hits, tuple(references), tuple(features))
    total = np.array(weights) @ np.stack(features)
    np.testing.assert_allclose(found.vector, total / np.linalg.norm(total), atol=1e-6)
    for hit in found.hits:
        assert sum(value for _, value in hit.parts) == pytest.approx(hit.score, abs=1e-5)
