"""Results marked "more like this" and "less like this", in eq. 9 and as wishes."""

import json
from dataclasses import replace

import numpy as np
import pytest

from cir_core.errors import LanguageModelError, SearchError, UnknownImage
from cir_core.language.tasks import AspectAnswer, AspectsAnswer
from cir_core.methods.declared import builtin_methods
from cir_core.methods.feedback import update_query, wanted_and_unwanted, wishes_of
from cir_core.methods.guidance import FROM_MARKS, MOST_READ, UNWANTED
from cir_core.methods.references import Previous, Reference
from cir_core.methods.steps import counts_marks
from cir_core.search.searcher import Searcher
from cir_core.types.composition import Adjustment, Marks
from cir_core.types.records import MethodSettings
from storage.mapping.rows import pack_composition, unpack_composition
from tests.fakes.colours import colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel, ScriptedLanguageModel

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


# --- marks as wishes ------------------------------------------------------------------------

def read(colour, size=None, tone=None):
    """An image's aspects, as a language model answers where nothing is asked of it."""
    values = {"colour": ("red", "green", "blue"), "size": ("wide", "narrow"), "tone": ("dark", "light")}
    said = {"colour": colour, "size": size, "tone": tone}
    return tuple(AspectAnswer(name=name, label=value, asked=False, wanted=(value,),
                              others=tuple(one for one in values[name] if one != value))
                 for name, value in said.items() if value)


def wished(more, less, reference=read("blue", "narrow", "dark"), requested=()):
    return [(wish.side, wish.answer.name, wish.answer.label) for wish in wishes_of(more, less, reference, requested)]


def test_what_marked_images_share_is_wanted_and_not_wanted():
    assert wished([read("red", "wide"), read("red", "narrow")], []) == [("more", "colour", "red")]
    assert wished([], [read("red", "wide"), read("green", "wide")]) == [("less", "size", "not wide")]
    assert wished([read("red", "wide")] * 2, [read("green", "wide")] * 2) == [("more", "colour", "red")]
    # One of those marked "less" shows it too: what the others share still tells them apart.
    assert wished([read("red")] * 2, [read("red"), read("green")]) == [("more", "colour", "red")]


def test_what_is_not_wanted_is_all_the_rest():
    [wish] = wishes_of([], [read("red")], read("blue"), ())
    assert (wish.answer.wanted, wish.answer.others) == (("green", "blue"), ("red",))


def test_requests_count_more_than_marks():
    assert wished([read("red", "wide")] * 2, [read("green")], requested={"colour"}) == [("more", "size", "wide")]


def test_what_the_reference_shows_stays_unless_all_images_marked_more_show_something_else():
    shown, other = read("blue", "narrow"), read("green", "wide")
    assert wished([], [shown, shown]) == []
    assert wished([read("red"), read("blue")], [shown, shown]) == []     # one of those marked "more" is blue as well
    assert wished([read("red"), read("green")], [shown, read("blue")]) == [("less", "colour", "not blue")]
    # Shared by those marked "more", so it counts more than what merely stays.
    assert wished([shown, shown], [other, other]) == [("more", "colour", "blue"), ("more", "size", "narrow")]


def test_nothing_in_common_is_no_wish():
    assert wished([read("red"), read("green")], []) == []
    assert wished([read("red", "wide")], [read("red", "wide")]) == []
    assert wished([()], [()]) == [] and wished([read("red"), ()], []) == []


def test_labels_are_compared_whatever_their_case_and_captions_where_words_differ():
    loud = read("red")[0].model_copy(update={"label": " RED", "name": "Colour"})
    assert wished([read("red"), (loud,)], []) == [("more", "colour", "red")]
    tunic = read("red")[0].model_copy(update={"label": "tunic"})      # of the same captions
    assert wished([(tunic,), read("red")], []) == [("more", "colour", "tunic")]


class Eyes(ReplayingLanguageModel):
    """Reads of an image the strongest channel of its id, "r3g0b1", and of its words the colour that they ask for."""

    def __init__(self):
        super().__init__({"aspects": [self.aspects]}, caption="")

    def aspects(self, task):
        if task.modification_text in ("red", "green", "blue"):
            return AspectsAnswer(aspects=tuple(one.model_copy(update={"asked": True}) for one in
                                               read(task.modification_text)))
        levels = task.reference.features[:3]
        return AspectsAnswer(aspects=read(("red", "green", "blue")[int(np.argmax(levels))]))


GUIDED = builtin_methods()["guided"].settings


@pytest.fixture
def guided(tmp_path):
    return Searcher(colour_gallery(tmp_path), FakeEncoder(), Eyes())


def then(searcher, before, text, marks=Marks(), method=GUIDED, reference="r0g0b3"):
    return searcher.turn(searcher.gallery_reference(reference), text, method, marks=marks, k=10, previous=before)


def after(found, reference="r0g0b3"):
    return Previous.after(None, (reference,), found.vector, found.hits, found.composition)


def aspects_of(found):
    return [(one.name, one.label, one.turn, one.marked) for one in found.composition.part("aspects") or ()]


def test_a_guided_turn_wants_what_marked_images_share(guided):
    first = then(guided, None, "as it is")
    bare = then(guided, after(first), "as it is")
    marked = then(guided, after(first), "as it is", Marks(more_like=("r3g0b0", "r3g1b0"), less_like=("r0g3b0",)))
    assert aspects_of(bare) == [("colour", "blue", 0, None)]
    assert aspects_of(marked) == [("colour", "red", 2, "more")]    # in place of what stays
    assert [hit.image_id for hit in bare.hits] != [hit.image_id for hit in marked.hits]
    red = [sum(hit.image_id[1] > max(hit.image_id[3], hit.image_id[5]) for hit in one.hits) for one in (bare, marked)]
    assert red[1] > red[0]
    assert f"{FROM_MARKS}red" in dict(marked.hits[0].parts)
    assert "asked because of the marked images: red" in marked.notes
    for hit in marked.hits[:3]:
        assert hit.score == pytest.approx(sum(value for _, value in hit.parts), abs=1e-6)


def test_marks_against_leave_what_stays(guided):
    found = then(guided, after(then(guided, None, "as it is")), "as it is", Marks(less_like=("r0g3b0", "r1g3b0")))
    assert aspects_of(found) == [(f"colour{UNWANTED}", "not green", 2, "less"), ("colour", "blue", 0, None)]


def test_wishes_hold_until_words_or_other_marks_speak_of_the_same(guided):
    marked = then(guided, after(then(guided, None, "as it is")), "as it is", Marks(("r3g0b0",), ()))
    held = then(guided, after(marked), "as it is")
    assert aspects_of(held) == [("colour", "red", 2, "more")]
    assert aspects_of(then(guided, after(held), "green")) == [("colour", "green", 2, None)]
    assert aspects_of(then(guided, after(held), "as it is", Marks(("r0g3b0",), ()))) == [("colour", "green", 2, "more")]
    assert aspects_of(then(guided, after(held), "as it is", Marks((), ("r3g0b0",)))) == [
        (f"colour{UNWANTED}", "not red", 2, "less"), ("colour", "blue", 0, None)]
    against = then(guided, after(then(guided, None, "as it is")), "as it is", Marks((), ("r0g3b0",)))
    assert aspects_of(then(guided, after(against), "green")) == [("colour", "green", 2, None)]


def test_a_request_is_not_taken_back_by_marks(guided):
    asked = then(guided, None, "green")
    found = then(guided, after(asked), "as it is", Marks(("r3g0b0",), ("r0g3b0",)))
    assert aspects_of(found) == [("colour", "green", 1, None)]
    assert any("share nothing beyond the request" in note for note in found.notes)


def test_wishes_are_stored_and_replayed_to_the_last_bit(guided):
    found = then(guided, after(then(guided, None, "as it is")), "as it is", Marks(("r3g0b0",), ("r0g3b0",)))
    packed = pack_composition(found.composition)
    stored = unpack_composition(json.loads(json.dumps(packed["composition"])), packed["composition_vectors"])
    assert stored.part("aspects") == found.composition.part("aspects")
    again = guided.adjust(replace(found, composition=stored), GUIDED, Adjustment(), k=10)
    assert again.hits == found.hits
    # A turn of an earlier version has no word of marks in its aspects.
    old = json.loads(json.dumps(packed["composition"]))
    for one in old["aspects"]:
        del one["marked"]
    assert [one.marked for one in unpack_composition(old, packed["composition_vectors"]).part("aspects")] == [None]


def test_marks_that_cannot_be_read_still_move_the_query(guided):
    first = then(guided, None, "as it is")
    see = guided.language.aspects

    def fails(task):
        if task.reference.features is not None and task.reference.features[0] > 0.9:
            raise LanguageModelError("no server")
        return see(task)

    guided.language.aspects = fails
    guided.language._replies = {"aspects": [fails]}
    bare, marked = (then(guided, after(first), "as it is", marks) for marks in (Marks(), Marks(("r3g0b0",), ())))
    assert any("could not be read" in note and "no server" in note for note in marked.notes)
    assert aspects_of(marked) == aspects_of(bare) and not np.array_equal(marked.vector, bare.vector)


def test_guidance_counts_marks_whatever_the_history(guided):
    latest = replace(GUIDED, history="latest")
    assert counts_marks(GUIDED) and counts_marks(latest) and counts_marks(METHOD)
    assert not counts_marks(replace(METHOD, history="average"))
    found = then(guided, after(then(guided, None, "as it is")), "as it is", Marks(("r3g0b0",), ()), latest)
    assert aspects_of(found) == [("colour", "red", 2, "more")] and found.composition.marks == Marks(("r3g0b0",), ())


def test_at_most_a_few_images_are_read(guided):
    first = then(guided, None, "as it is")
    ids = tuple(hit.image_id for hit in guided.turn(guided.gallery_reference("r0g0b3"), "red", GUIDED, k=12).hits)
    before = len(guided.language.asked_as("aspects"))
    found = then(guided, after(first), "as it is", Marks(ids, ()))
    assert len(guided.language.asked_as("aspects")) - before == 1 + MOST_READ      # the request, and eight of twelve
    assert f"of 12 images marked “more like this” the first {MOST_READ} were read" in found.notes
