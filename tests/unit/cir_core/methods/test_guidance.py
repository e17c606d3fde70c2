"""Guided ranking: its score against numbers worked out by hand, requests of earlier turns, what is kept of a turn."""

import math
from dataclasses import replace

import numpy as np
import pytest

from cir_core.errors import LanguageModelError
from cir_core.language.builtin.aspects import aspects as builtin_aspects
from cir_core.language.tasks import AspectAnswer, AspectsAnswer
from cir_core.methods.declared import builtin_methods
from cir_core.methods.guidance import ASKED, FLOOR, KEPT, Aspect, Guidance, _joined, guided_score, ticks
from cir_core.search.searcher import Previous, Searcher
from cir_core.types.composition import Adjustment
from storage.mapping.compositions import pack_composition, unpack_composition
from tests.fakes.colours import colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel

GUIDED = builtin_methods()["guided"].settings
COLOUR = Aspect("colour", "red", ("red",), ("green", "blue"), turn=1)
SIZE = Aspect("size", "wide", ("wide",), ("narrow",))
SETTINGS = Guidance(asked=0.5, kept=0.1, temperature=0.1)


def answer(name, label, wanted, others, *, asked=True):
    return AspectAnswer(name=name, label=label, asked=asked, wanted=wanted, others=others)


RED = answer("colour", "red", ("red",), ("green", "blue"))
GREEN = answer("colour", "green", ("green",), ("red", "blue"))
BLUE_STAYS = answer("tint", "blue", ("blue",), ("red",), asked=False)


def score():
    return guided_score(np.eye(32, dtype=np.float32)[4], (COLOUR, SIZE), SETTINGS, FakeEncoder())


def test_the_score_by_hand():
    # Query 0.6; red, green, blue 0.3, 0.1, 0.2; wide and narrow 0.2 both. τ = 0.1.
    products = np.array([[0.6, 0.3, 0.1, 0.2, 0.2, 0.2]])
    red = math.log(math.exp(3) / (math.exp(3) + math.exp(1) + math.exp(2)))
    total = 0.6 + 0.5 * (red + FLOOR) + 0.1 * (math.log(0.5) + FLOOR)
    assert score().combine(products)[0] == pytest.approx(total / (1 + FLOOR * 0.6), abs=1e-12)


def test_several_values_may_satisfy():
    either = replace(COLOUR, wanted=("red", "blue"), others=("green",))
    found = guided_score(np.eye(32, dtype=np.float32)[4], (either,), SETTINGS, FakeEncoder())
    # Columns are the texts in the order of their naming: red, blue, green.
    share = (math.exp(3) + math.exp(2)) / (math.exp(3) + math.exp(2) + math.exp(1))
    expected = (0.5 * (math.log(share) + FLOOR)) / (1 + FLOOR * 0.5)
    assert found.combine(np.array([[0.0, 0.3, 0.2, 0.1]]))[0] == pytest.approx(expected, abs=1e-12)


def test_doubt_beyond_the_floor_does_not_count():
    hopeless, worse = (score().combine(np.array([[0.6, 0.0, x, 0, 0, 0]]))[0] for x in (0.9, 1.0))   # log p < -8
    assert hopeless == worse


def test_the_ledger_adds_up_and_names_requests():
    products = np.array([0.6, 0.3, 0.1, 0.2, 0.4, 0.2])
    [parts] = score().ledgers([(("text", 0.5), ("image", 0.1))], products[None, 1:])
    assert [name for name, _ in parts] == ["text", "image", f"{ASKED}red", KEPT]
    assert sum(value for _, value in parts) == pytest.approx(score().combine(products[None])[0], abs=1e-12)


def test_the_error_bound_holds():
    rng = np.random.default_rng(5)
    found, products = score(), np.clip(rng.normal(0, 0.4, (500, 6)), -1, 1)
    errors = np.full(6, 1e-4)
    moved = products + rng.choice([-1, 1], products.shape) * errors
    bound = found.error(errors, np.ones(6))
    assert np.abs(found.combine(moved) - found.combine(products)).max() <= bound < 0.01
    single = found.combine(products.astype(np.float32))
    assert single.dtype == np.float32
    assert np.abs(single - found.combine(products)).max() <= found.error(np.full(6, 6e-8), np.ones(6))


@pytest.fixture
def search(tmp_path):
    def of(*replies):
        model = ReplayingLanguageModel({"aspects": replies}, caption="a thing")
        return Searcher(colour_gallery(tmp_path), FakeEncoder(), model)

    return of


def test_what_was_asked_comes_first(search):
    searcher = search(AspectsAnswer(aspects=(GREEN, BLUE_STAYS)))
    found = searcher.turn(searcher.gallery_reference("r0g0b3"), "make it green", GUIDED, k=64)
    # Green rather than red or blue; among those the one nearest to the blue reference.
    assert found.hits[0].image_id == "r0g3b2"
    assert all(hit.image_id[3] > max(hit.image_id[1], hit.image_id[5]) for hit in found.hits[:5])
    for hit in found.hits[:3]:
        assert hit.score == pytest.approx(sum(value for _, value in hit.parts), abs=1e-6)


def test_requests_hold_until_one_speaks_of_the_same(search):
    searcher = search(AspectsAnswer(aspects=(RED, BLUE_STAYS)),
                      AspectsAnswer(aspects=(answer("size", "wide", ("wide",), ("narrow",)),
                                             answer("colour", "blue", ("blue",), ("red",), asked=False))),
                      AspectsAnswer(aspects=(GREEN,)))
    previous, seen = None, []
    for reference in ("r0g0b3", "r3g0b3", "r3g0b2"):
        found = searcher.turn(searcher.gallery_reference(reference), "more", GUIDED, previous=previous, k=5)
        previous = Previous.after(previous, [reference], found.vector, found.hits, found.composition)
        seen.append([(one.name, one.label, one.turn) for one in found.composition.part("aspects")])
    assert seen == [
        [("colour", "red", 1), ("tint", "blue", 0)],
        [("colour", "red", 1), ("size", "wide", 2)],     # what turn 2 saw of the colour is not what was asked
        [("size", "wide", 2), ("colour", "green", 3)],
    ]


def test_without_an_answer_the_words_and_the_picture_rank(search):
    searcher = search(LanguageModelError("no server"))
    found = searcher.turn(searcher.gallery_reference("r0g0b3"), "green", GUIDED, k=5)
    assert "no server" in found.notes[0]
    assert {name for name, _ in found.hits[0].parts} == {"text", "image"}


def test_a_dropped_request_ranks_again_and_the_turn_can_be_stored(search):
    searcher = search(AspectsAnswer(aspects=(RED, BLUE_STAYS)))
    found = searcher.turn(searcher.gallery_reference("r0g0b3"), "red", GUIDED, k=5)
    packed = pack_composition(found.composition)
    stored = unpack_composition(packed["composition"], packed["composition_vectors"])
    assert stored.part("aspects") == found.composition.part("aspects") and stored.part("guidance") == Guidance()
    assert np.array_equal(stored.part("shown").vector, searcher.features_of(["r0g0b3"])[0])
    same = Adjustment().with_parts({"guidance": Guidance()})
    again = searcher.adjust(replace(found, composition=stored), GUIDED, same)
    assert [hit.image_id for hit in again.hits[:5]] == [hit.image_id for hit in found.hits]
    kept = tuple(one for one in stored.part("aspects") if not one.turn)
    dropped = searcher.adjust(found, GUIDED, Adjustment().with_parts({"aspects": kept}))
    assert f"{ASKED}red" in dict(found.hits[0].parts) and f"{ASKED}red" not in dict(dropped.hits[0].parts)
    assert dropped.hits[0].image_id != found.hits[0].image_id


@pytest.mark.parametrize(("text", "name", "label", "wanted", "refused"), [
    ("in red", "colour", "red", {"a red dress"}, "a blue dress"),
    ("not blue", "colour", "not blue", {"a red dress", "a green dress"}, "a blue dress"),
    ("longer", "length", "knee-length", {"a long dress"}, "a short dress"),
])
def test_aspects_by_rules(text, name, label, wanted, refused):
    found = {one.name: one for one in builtin_aspects("a short blue plain dress with long sleeves", text).aspects}
    assert found[name].asked and found[name].label == label
    assert wanted <= set(found[name].wanted) and refused in found[name].others
    assert [one.name for one in found.values() if one.asked] == [name]
    assert found["sleeves"].label == "long sleeves" and not found["sleeves"].asked


def test_rules_say_nothing_of_what_is_no_garment():
    assert builtin_aspects("a cup of coffee", "in red").aspects == ()


def test_requests_are_one_of_each_name_and_label():
    shouted = answer("Colour ", "green", ("green",), ("red", "blue"))
    trim = answer("trim colour", "red", ("red",), ("green",))
    twice = (answer("size", "wide", ("wide",), ("narrow",), asked=False),) * 2
    joined = _joined((trim, *twice), (COLOUR,), 2)
    assert [(one.name, one.label) for one in joined] == [
        ("colour", "red"), ("trim colour", "red (trim colour)"), ("size", "wide")]
    assert [one.label for one in _joined((shouted,), (COLOUR,), 2)] == ["green"]


def test_requests_of_no_weight_have_no_ticks(tmp_path):
    gallery = colour_gallery(tmp_path)
    searcher = Searcher(gallery, FakeEncoder(), ReplayingLanguageModel({"aspects": [AspectsAnswer(aspects=(RED,))]}))
    for asked, seen in ((0.5, 1), (0.0, 0)):
        found = searcher.turn(searcher.gallery_reference(gallery.ids[0]), "red",
                              GUIDED.with_parts({"guidance": replace(SETTINGS, asked=asked)}), k=3)
        assert [len(one) for one in ticks(found.composition, [hit.parts for hit in found.hits])] == [seen] * 3
