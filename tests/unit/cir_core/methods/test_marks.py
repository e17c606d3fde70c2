"""Results marked "more like this" and "less like this", in eq. 9."""

import numpy as np
import pytest

from cir_core.errors import SearchError, UnknownImage
from cir_core.methods.feedback import update_query, wanted_and_unwanted
from cir_core.methods.references import Previous, Reference
from cir_core.search.searcher import Searcher
from cir_core.types.composition import Marks
from cir_core.types.records import MethodSettings
from tests.fakes.colours import colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ScriptedLanguageModel

METHOD = MethodSettings()
E = np.eye(4, dtype=np.float32)


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
