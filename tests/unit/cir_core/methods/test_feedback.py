"""Eq. 9 against numbers worked out by hand."""

import numpy as np
import pytest

from cir_core.errors import SearchError, UnknownImage
from cir_core.methods.feedback import HISTORY, OTHERS, PICKED, TEXT, compose, update_query, wanted_and_unwanted
from cir_core.methods.history import aggregate
from cir_core.methods.references import Previous, Reference
from cir_core.search.searcher import Searcher
from cir_core.types.composition import Marks
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


@pytest.fixture
def searcher(tmp_path):
    return Searcher(colour_gallery(tmp_path), FakeEncoder(), ScriptedLanguageModel("green"))


@pytest.fixture
def first(searcher):
    return searcher.turn(searcher.gallery_reference("r0g3b0"), "red", METHOD, k=20)


def second_turn(searcher, first, picked, marks=Marks(), method=METHOD):
    reference = searcher.gallery_reference(picked) if isinstance(picked, str) else picked
    return searcher.turn(reference, "blue", method, marks=marks, k=20,
                         previous=Previous(first.vector, first.hits, ("r0g3b0",)))


def equation_9(searcher, history, wanted, unwanted, weights=(0.08, 0.29, 0.44)):
    """In double precision: v + α · mean(wanted) − β · mean(unwanted) + γ · h."""
    alpha, beta, gamma = weights
    h = searcher.encoder.encode_texts(["green blue"])[0].astype(np.float64)
    v = history + alpha * np.mean(wanted, axis=0, dtype=np.float64) + gamma * h
    if len(unwanted):
        v = v - beta * np.mean(unwanted, axis=0, dtype=np.float64)
    return v / np.linalg.norm(v)


def test_one_pick_without_marks_is_what_it_always_was(searcher, first):
    """To the last bit: sessions stored before there were marks go on as they would have."""
    picked = first.hits[2].image_id
    second = second_turn(searcher, first, picked)
    seen = [hit.image_id for hit in first.hits[:10]]
    others = searcher.features_of([image_id for image_id in seen if image_id != picked])
    assert len(others) == 9
    terms = [
        first.vector,
        np.float32(0.08) * searcher.features_of([picked])[0],
        np.float32(-0.29) * others.mean(axis=0),
        np.float32(0.44) * searcher.encoder.encode_texts(["green blue"])[0],
    ]
    total = np.sum(np.stack(terms), axis=0)
    np.testing.assert_array_equal(second.vector, total / np.float32(np.linalg.norm(total)))
    assert second.composition.marks == Marks()


def test_what_counts_as_wanted_and_unwanted():
    seen = ("a", "b", "c", "d")
    assert wanted_and_unwanted(("a",), Marks(), seen) == (("a",), ("b", "c", "d"))
    assert wanted_and_unwanted(("x",), Marks(), seen) == (("x",), seen)
    # What is wanted, seen or not, does not count against at the same time.
    assert wanted_and_unwanted(("a",), Marks(more_like=("c", "z")), seen) == (("a", "c", "z"), ("b", "d"))
    # A mark against takes the place of everything else that was seen.
    assert wanted_and_unwanted(("a",), Marks(less_like=("d",)), seen) == (("a",), ("d",))
    assert wanted_and_unwanted(("a",), Marks(("b",), ("z",)), seen) == (("a", "b"), ("z",))
    # Each image once, also where the picked one is marked too.
    assert wanted_and_unwanted(("a",), Marks(("a", "b", "b"), ("c", "c")), seen) == (("a", "b"), ("c",))


def test_several_more_like_this_count_with_their_mean(searcher, first):
    picked, *more = (first.hits[i].image_id for i in (0, 3, 12))
    second = second_turn(searcher, first, picked, Marks(more_like=tuple(more)))
    others = [hit.image_id for hit in first.hits[:10] if hit.image_id not in (picked, *more)]
    assert len(others) == 8  # the third of the marked ones is not among the ten seen
    expected = equation_9(searcher, first.vector, searcher.features_of([picked, *more]), searcher.features_of(others))
    np.testing.assert_allclose(second.vector, expected, atol=1e-6)
    assert second.composition.marks == Marks(more_like=tuple(more))


def test_less_like_this_replaces_the_images_not_picked(searcher, first):
    picked, less = first.hits[0].image_id, (first.hits[4].image_id, "r0g0b0")
    second = second_turn(searcher, first, picked, Marks(less_like=less))
    expected = equation_9(searcher, first.vector, searcher.features_of([picked]), searcher.features_of(less))
    np.testing.assert_allclose(second.vector, expected, atol=1e-6)


def test_an_uploaded_reference_counts_with_the_marked_ones(searcher, first):
    features = searcher.encoder.encode_texts(["red red green"])[0]
    more = first.hits[1].image_id
    upload = Reference("upload:" + "0" * 32, features)
    second = second_turn(searcher, first, upload, Marks(more_like=(more,)))
    others = [hit.image_id for hit in first.hits[:10] if hit.image_id != more]
    expected = equation_9(searcher, first.vector, [features, searcher.features_of([more])[0]],
                          searcher.features_of(others))
    np.testing.assert_allclose(second.vector, expected, atol=1e-6)


def test_the_ledger_adds_up_with_marks(searcher, first):
    marks = Marks((first.hits[1].image_id,), (first.hits[2].image_id,))
    second = second_turn(searcher, first, first.hits[0].image_id, marks)
    for hit in second.hits:
        assert sum(value for _, value in hit.parts) == pytest.approx(hit.score, abs=1e-5)
    assert [name for name, _ in second.hits[0].parts] == ["history", "picked", "not picked", "text"]


def test_marks_that_contradict_have_a_sentence(searcher, first):
    a, b = first.hits[0].image_id, first.hits[1].image_id
    for picked, marks, named in ((a, Marks((b,), (b,)), b), (a, Marks(less_like=(a,)), a)):
        with pytest.raises(SearchError, match=f"'{named}' is marked both for and against"):
            second_turn(searcher, first, picked, marks)


def test_an_image_that_the_gallery_does_not_hold(searcher, first):
    for marks in (Marks(more_like=("nope",)), Marks(less_like=("nope",))):
        with pytest.raises(UnknownImage, match="'nope'"):
            second_turn(searcher, first, first.hits[0].image_id, marks)


@pytest.mark.parametrize("marks", [
    Marks(("r3g3b0",), ("r0g0b3",)), Marks(more_like=("nope",)), Marks(less_like=("r0g3b0",)),
])
def test_a_first_turn_has_no_results_to_mark(searcher, first, marks):
    again = searcher.turn(searcher.gallery_reference("r0g3b0"), "red", METHOD, marks=marks, k=20)
    np.testing.assert_array_equal(again.vector, first.vector)
    assert again.hits == first.hits and again.composition.marks == Marks()


def test_equation_9_is_rocchios_formula():
    # Rocchio: q + b · mean(relevant) − c · mean(not relevant); here b = 0.75, c = 0.25, no text (γ = 0).
    # q = (1,0,0,0), relevant (0,1,0,0) and (0,0,1,0): mean (0,½,½,0); not relevant (0,1,0,0) and (0,0,0,1):
    # mean (0,½,0,½). Sum: (1, 0.375 − 0.125, 0.375, −0.125) = (1, 0.25, 0.375, −0.125).
    query = update_query(E[0], E[1:3], np.stack([E[1], E[3]]), E[3], alpha=0.75, beta=0.25, gamma=0)
    expected = np.array([1, 0.25, 0.375, -0.125])
    np.testing.assert_allclose(query.vector, expected / np.linalg.norm(expected), atol=1e-6)
    assert set(query.terms) == {"history", "picked", "not picked"}


def test_a_turn_with_marks_is_rocchios_formula(searcher, first):
    """The same through a whole turn, on the picture of the colours."""
    method = MethodSettings(alpha=0.75, beta=0.25, gamma=0)
    marks = Marks(("r3g0b0", "r3g1b0"), ("r0g0b3", "r0g3b3"))
    second = second_turn(searcher, first, "r2g0b0", marks, method)
    relevant, rest = searcher.features_of(["r2g0b0", *marks.more_like]), searcher.features_of(marks.less_like)
    v = first.vector + 0.75 * relevant.mean(axis=0) - 0.25 * rest.mean(axis=0)
    np.testing.assert_allclose(second.vector, v / np.linalg.norm(v), atol=1e-6)


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
