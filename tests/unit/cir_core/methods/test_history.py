"""CIRCLED's aggregations of the turns, by hand."""

import numpy as np
import pytest

from cir_core.methods.history import aggregate
from cir_core.methods.references import Previous
from cir_core.search.searcher import Searcher
from cir_core.types.records import MethodSettings
from tests.fakes.colours import colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ScriptedLanguageModel

E = np.eye(3, dtype=np.float32)


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
    query = aggregate([E[0], E[1]], E[2], how=how, decay=decay, latest_name="text")
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
    query = aggregate([], E[1], how=how, decay=0.8, latest_name="image")
    np.testing.assert_array_equal(query.vector, E[1])
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
