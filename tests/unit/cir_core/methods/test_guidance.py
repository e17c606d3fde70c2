"""Guided ranking: its score against numbers worked out by hand, requests of earlier turns, what is kept of a turn."""

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from cir_core.errors import LanguageModelError, RelevanceMismatch, RelevanceUnavailable, SearchError
from cir_core.evaluation.query_steps import rank_composed
from cir_core.language.builtin.aspects import aspects as builtin_aspects
from cir_core.language.tasks import AspectAnswer, AspectsAnswer, ConstraintsAnswer, ConstraintsTask
from cir_core.methods import guidance
from cir_core.methods.declared import builtin_methods
from cir_core.methods.guidance import ASKED, FLOOR, KEPT, Aspect, Guidance, Unclear, _joined, guided_score, ticks
from cir_core.methods.references import join
from cir_core.methods.relevance import SMALL, Relevance, RelevanceStep, needs_relevance
from cir_core.search.protocol import card_from_dict, card_to_dict, differences
from cir_core.search.searcher import Previous, Searcher
from cir_core.types.composition import Adjustment, Composition
from cir_core.types.methods import MethodSettings, SoftFilter, method_to_dict
from storage.mapping.rows import pack_composition, unpack_composition
from tests.fakes.colour_relevance import ColourRelevance
from tests.fakes.colours import colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel, ScriptedLanguageModel, SilentLanguageModel

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


def test_what_is_held_beside_a_part_weighs_six_times_what_stays():
    held = guided_score(np.eye(32, dtype=np.float32)[4], (COLOUR, replace(SIZE, held=True)), SETTINGS, FakeEncoder())
    products = np.array([[0.6, 0.3, 0.1, 0.2, 0.2, 0.2]])
    red = math.log(math.exp(3) / (math.exp(3) + math.exp(1) + math.exp(2)))
    total = 0.6 + 0.5 * (red + FLOOR) + 0.6 * (math.log(0.5) + FLOOR)
    assert held.combine(products)[0] == pytest.approx(total / (1 + FLOOR * 1.1), abs=1e-12)


def test_what_a_request_needs_weighs_half_of_what_is_asked():
    needed = replace(SIZE, held=True, needed=True)
    found = guided_score(np.eye(32, dtype=np.float32)[4], (COLOUR, needed), SETTINGS, FakeEncoder())
    products = np.array([[0.6, 0.3, 0.1, 0.2, 0.2, 0.2]])
    red = math.log(math.exp(3) / (math.exp(3) + math.exp(1) + math.exp(2)))
    total = 0.6 + 0.5 * (red + FLOOR) + 0.25 * (math.log(0.5) + FLOOR)
    assert found.combine(products)[0] == pytest.approx(total / (1 + FLOOR * 0.75), abs=1e-12)


def test_what_is_near_to_the_wish_loses_two_nats():
    # Narrow is near to wide, huge is not. τ = 0.1; the learned reader is not there for these captions.
    near = Aspect("size", "wide", ("wide",), ("narrow", "huge"), turn=1, near=1)
    found = guided_score(np.eye(32, dtype=np.float32)[4], (near,), SETTINGS, FakeEncoder())
    products = np.array([[0.6, 0.3, 0.1, 0.1], [0.6, 0.1, 0.4, 0.1], [0.6, 0.1, 0.1, 0.4]])

    def p(*rows):
        return [math.exp(one / 0.1) for one in rows]

    wide, narrow, huge = p(0.3, 0.1, 0.1), p(0.1, 0.4, 0.1), p(0.1, 0.1, 0.4)
    reads = [math.log(wide[0] / sum(wide)), math.log(sum(narrow[:2]) / sum(narrow)) - 2,
             math.log(huge[0] / sum(huge))]    # of the last, wide and narrow together are less likely still
    assert math.log(sum(huge[:2]) / sum(huge)) - 2 < reads[2]
    expected = [(0.6 + 0.5 * (max(one, -FLOOR) + FLOOR)) / (1 + FLOOR * 0.5) for one in reads]
    assert found.combine(products) == pytest.approx(expected, abs=1e-12)
    plain = guided_score(np.eye(32, dtype=np.float32)[4], (replace(near, near=0),), SETTINGS, FakeEncoder())
    assert [one.key for one in found.summands] != [one.key for one in plain.summands]


def test_only_the_rules_tell_what_is_held():
    assert "near" not in json.dumps(AspectsAnswer.model_json_schema())
    assert "held" not in json.dumps(AspectsAnswer.model_json_schema())
    assert "needed" not in json.dumps(AspectsAnswer.model_json_schema())
    needed = BLUE_STAYS.model_copy(update={"needed": True})
    assert [one.needed for one in _joined([RED, needed], (), 1)] == [False, True]
    stays = BLUE_STAYS.model_copy(update={"held": True})
    assert [one.held for one in _joined([RED, stays], (), 1)] == [False, True]


def test_what_is_set_free_is_neither_asked_any_longer_nor_kept():
    asked = (replace(COLOUR, turn=1), replace(SIZE, turn=1))
    made = Composition(np.zeros(2, np.float32), ()).with_parts({"aspects": asked})
    path = [SimpleNamespace(vector=made.base, hits=(), reference_id="r", further=(), composition=made)]
    free = Previous.of(path, released=("Colour",)).composition
    assert [(one.name, one.turn, bool(one.wanted)) for one in free.part("aspects")] == [
        (COLOUR.name, 0, False), (SIZE.name, 1, True)]
    assert Previous.of(path).composition.part("aspects") == asked
    assert [one.name for one in _joined([BLUE_STAYS], asked[1:], 2, free={"tint"})] == [SIZE.name]
    assert [one.name for one in _joined([BLUE_STAYS], asked[1:], 2)] == [SIZE.name, "tint"]


def test_several_values_may_satisfy():
    either = replace(COLOUR, wanted=("red", "blue"), others=("green",))
    found = guided_score(np.eye(32, dtype=np.float32)[4], (either,), SETTINGS, FakeEncoder())
    # Columns are the texts in the order of their naming: red, blue, green.
    share = (math.exp(3) + math.exp(2)) / (math.exp(3) + math.exp(2) + math.exp(1))
    expected = (0.5 * (math.log(share) + FLOOR)) / (1 + FLOOR * 0.5)
    assert found.combine(np.array([[0.0, 0.3, 0.2, 0.1]]))[0] == pytest.approx(expected, abs=1e-12)


class Reader:
    """Knows red, by three values of its own."""

    def columns(self, wanted, others):
        if wanted != ("red",):
            return None
        return np.eye(32, dtype=np.float32)[:3], np.array([0.5, 0.0, 0.0], dtype=np.float32), 1


@pytest.fixture
def learned(monkeypatch):
    monkeypatch.setattr(guidance, "aspect_reader", lambda encoder: Reader())


@pytest.mark.parametrize("rows", [(1.5, 1.0, -1.0), (3.0, 1.0, -1.0)])
def test_of_two_readings_the_one_that_doubts_counts(learned, rows):
    products = np.array([[0.6, 0.3, 0.1, 0.2, 0.2, 0.2, *rows]])   # as by hand, then the reader's three
    texts = math.log(math.exp(3) / (math.exp(3) + math.exp(1) + math.exp(2)))            # -0.41
    first, second, third = math.exp(rows[0] + 0.5), math.exp(rows[1]), math.exp(rows[2])
    reader = math.log(first / (first + second + third))                                 # -0.35 or -0.08; never both
    total = 0.6 + 0.5 * (min(texts, reader) + FLOOR) + 0.1 * (math.log(0.5) + FLOOR)
    found = score()
    assert len(found.vectors) == 9
    assert found.combine(products)[0] == pytest.approx(total / (1 + FLOOR * 0.6), abs=1e-12)


def test_a_reader_that_sees_another_value_is_believed_down_to_the_floor(learned):
    sure = np.array([[0.6, 0.3, 0.1, 0.2, 0.2, 0.2, -30.0, 30.0, 0.0]])
    total = 0.6 + 0.1 * (math.log(0.5) + FLOOR)
    assert score().combine(sure)[0] == pytest.approx(total / (1 + FLOOR * 0.6), abs=1e-12)


def test_what_stays_and_marks_are_read_by_texts_alone(learned):
    for one in (replace(COLOUR, turn=0), replace(COLOUR, marked="more")):
        assert len(guided_score(np.eye(32, dtype=np.float32)[4], (one,), SETTINGS, FakeEncoder()).vectors) == 4


def test_the_error_of_a_learned_reader_counts(learned):
    found, sizes = score(), np.full(9, 40.0)
    products = np.array([[0.6, 0.3, 0.1, 0.2, 0.2, 0.2, -0.5, 1.0, -1.0]])   # the reader doubts
    errors = np.array([0, 0, 0, 0, 0, 0, 0.01, 0.01, 0.01])
    nudged = products + errors * np.array([1, 1, 1, 1, 1, 1, 1, -1, -1])
    moved = abs(found.combine(nudged) - found.combine(products))[0]
    assert 0 < moved <= found.error(errors, sizes)
    single = found.combine(products.astype(np.float32) * 10)[0] - found.combine(products * 10)[0]
    assert abs(single) <= found.error(np.full(9, 1e-5), sizes)


def test_no_number_of_kept_aspects_makes_up_for_one_that_is_asked():
    """Eight aspects that stay, all of them there, and a request that is not, against the request alone."""
    kept = [Aspect(f"part {place}", "wide", (f"wide {place}",), (f"narrow {place}",)) for place in range(8)]
    found = guided_score(np.eye(32, dtype=np.float32)[4], (COLOUR, *kept), Guidance(), FakeEncoder())
    products = np.zeros((2, 20))
    products[0, 2], products[1, 1] = 1, 1                    # green; red
    products[0, 4::2], products[1, 5::2] = 1, 1              # all that stays; none of it
    other, asked = found.combine(products)
    assert asked > other


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


@pytest.mark.parametrize(("unused", "choices", "offered"), [
    (("beach party",), ("a beach dress", "in Beach-white", "a partywear", "in green"), ("a partywear", "in green")),
    (("sequins with lace",), ("with a collar", "lace collar", "SEQUINS"), ("with a collar",)),
    (("\u30ad\u30e9\u30ad\u30e9",), ("\u30ad\u30e9\u30ad\u30e9\u306e\u9752", "\u9752"), ("\u9752",)),
    (("d\u00e9contract\u00e9",), ("d\u00e9contract\u00e9, in blue", "in blue", "in blue"), ("in blue",)),
    ((), ("in green", "in blue"), ("in green", "in blue")),
])
def test_what_may_be_meant_does_not_repeat_what_was_not_understood(search, unused, choices, offered):
    searcher = search(AspectsAnswer(aspects=(RED,), unused=unused, choices=choices))
    found = searcher.turn(searcher.gallery_reference("r0g0b3"), "red", GUIDED, k=5)
    assert (found.composition.part("unclear") or Unclear()).choices == offered


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


# --- CIRQRS as a step ------------------------------------------------------------------------

PLAIN = MethodSettings("text-only", exclude="none")
REFERENCE = "r0g3b0"


def scored(**numbers):
    return PLAIN.with_parts({"relevance": Relevance(**numbers)})


@pytest.fixture
def relevance(gallery):
    return ColourRelevance(gallery)


@pytest.fixture
def searcher(gallery, relevance):
    return Searcher(gallery, FakeEncoder(), SilentLanguageModel(), relevance=lambda _: relevance)


def turn(searcher, method, text="red", k=64, reference=REFERENCE, **more):
    return searcher.turn(searcher.gallery_reference(reference), text, method, k=k, **more)


def by_colour(image_id):
    """Red's share, less a tenth of the mean distance from green (0, 1, 0)."""
    r, g, b = (int(image_id[place]) / 3 for place in (1, 3, 5))
    return r - 0.1 * (r + (1 - g) + b) / 3


def ids(found):
    return [hit.image_id for hit in found.hits]


def check_ledgers(hits):
    for hit in hits:
        assert sum(value for _, value in hit.parts) == pytest.approx(hit.score, abs=1e-6)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True) and [hit.rank for hit in hits] == list(range(1, len(hits) + 1))


def test_the_whole_gallery_by_relevance_alone(searcher, gallery):
    found = turn(searcher, scored(over="gallery"))
    # Ties go by gallery order, which a stable sort keeps.
    assert ids(found) == sorted(gallery.ids, key=lambda one: -np.float32(by_colour(one)))
    assert found.hits[0].image_id == "r3g3b0" and found.hits[0].score == pytest.approx(1 - 0.1 / 3)
    assert found.hits[0].parts == (("relevance", pytest.approx(1 - 0.1 / 3)),)
    check_ledgers(found.hits)


def test_the_first_alone_are_ranked_again_and_the_others_keep_their_order(searcher):
    before, after = turn(searcher, PLAIN), turn(searcher, scored(images=8))
    assert set(ids(after)[:8]) == set(ids(before)[:8]) and ids(after)[8:] == ids(before)[8:]
    assert ids(after)[:8] == sorted(ids(before)[:8], key=lambda one: (-np.float32(by_colour(one)), one))
    assert ids(after) != ids(before)
    check_ledgers(after.hits)
    lowest = min(by_colour(one) for one in ids(before)[:8])
    if lowest < before.hits[7].score:
        assert dict(after.hits[8].parts)["behind the first"] == pytest.approx(lowest - before.hits[7].score, abs=1e-6)
    assert ids(turn(searcher, scored(images=8), k=3)) == ids(after)[:3], "fewer shown than ranked again"


def test_images_behind_a_low_last_one_are_lowered_by_one_number(searcher, relevance, monkeypatch):
    monkeypatch.setattr(relevance, "scores_of", lambda query, rows: -np.arange(1, len(rows) + 1, dtype=np.float32))
    before, after = turn(searcher, PLAIN), turn(searcher, scored(images=4))
    assert ids(after) == ids(before), "the relevances are in the order that was there"
    # The fourth has −4; what comes behind goes on below it, by the distances that it had.
    for was, now in zip(before.hits[4:], after.hits[4:], strict=True):
        assert now.score == pytest.approx(-4 + was.score - before.hits[3].score, abs=1e-6)
        assert dict(now.parts)["behind the first"] == pytest.approx(-4 - before.hits[3].score, abs=1e-6)
    check_ledgers(after.hits)


def test_a_weight_between_mixes_both_scores(searcher):
    before, after = turn(searcher, PLAIN), turn(searcher, scored(over="gallery", weight=0.25))
    expected = {hit.image_id: 0.75 * hit.score + 0.25 * by_colour(hit.image_id) for hit in before.hits}
    for hit in after.hits:
        assert hit.score == pytest.approx(expected[hit.image_id], abs=1e-6)
        assert dict(hit.parts)["relevance"] == pytest.approx(0.25 * by_colour(hit.image_id), abs=1e-6)
    check_ledgers(after.hits)
    assert ids(turn(searcher, scored(weight=0.0))) == ids(before), "a weight of 0 leaves the ranking as it was"


@pytest.mark.parametrize("method", [scored(over="gallery"), scored(images=8), scored(images=8, weight=0.5)])
def test_ranks_of_a_target_are_its_places_in_the_list(searcher, gallery, method):
    places = {image_id: place for place, image_id in enumerate(ids(turn(searcher, method)), start=1)}
    for target in gallery.ids[::7]:
        assert turn(searcher, method, k=5, target_id=target).target_rank == places[target]
    made = searcher.compose(searcher.gallery_reference(REFERENCE), "red", method)
    [ranked] = rank_composed(searcher, [made], [gallery.ids[::7]], [()], 5)
    assert ranked.ranks == tuple(places[target] for target in gallery.ids[::7])
    assert [hit.image_id for hit in ranked.hits] == ids(turn(searcher, method, k=5))


def test_an_excluded_target_has_the_rank_that_it_would_have(searcher):
    """The reference is left out of the results, but is ranked as a target."""
    for method in (scored(over="gallery"), scored(images=40), scored(images=8)):
        whole = ids(turn(searcher, method))
        without = MethodSettings("text-only").with_parts({"relevance": method.part("relevance")})
        found = turn(searcher, without, target_id=REFERENCE)
        assert REFERENCE not in ids(found) and found.target_rank == whole.index(REFERENCE) + 1
        made = searcher.compose(searcher.gallery_reference(REFERENCE), "red", without)
        with pytest.raises(SearchError, match="excluded"):
            rank_composed(searcher, [made], [[REFERENCE]], [made.excluded], 5)


def test_each_picture_of_a_reference_counts_and_texts_may_be_empty(searcher, relevance):
    several = join([searcher.gallery_reference(REFERENCE), searcher.gallery_reference("r0g0b3")])
    searcher.turn(several, "red", scored(), k=3)
    assert relevance.asked == [((0, 255, 0), "red"), ((0, 0, 255), "red")]
    image_only = MethodSettings("image-only").with_parts({"relevance": Relevance()})
    turn(searcher, image_only, text="")
    assert relevance.asked[-1] == ((0, 255, 0), "")


class Filtering(ScriptedLanguageModel):
    def complete(self, task, watch=None):
        if isinstance(task, ConstraintsTask):
            return ConstraintsAnswer(add=("red",), remove=("green",), prescriptive="red", proscriptive="green")
        return super().complete(task, watch)


def test_it_reranks_what_a_filter_ranked(gallery, relevance):
    searcher = Searcher(gallery, FakeEncoder(), Filtering("green"), relevance=lambda _: relevance)
    filtered = PLAIN.with_parts({"soft_filter": SoftFilter()})
    before, after = turn(searcher, filtered), turn(searcher, filtered.with_parts({"relevance": Relevance(images=8)}))
    assert set(ids(after)[:8]) == set(ids(before)[:8]) and ids(after)[8:] == ids(before)[8:]
    check_ledgers(after.hits)


def test_it_is_stored_and_adjusted_without_another_query(searcher, relevance):
    found = turn(searcher, scored(images=8))
    packed = pack_composition(found.composition)
    loaded = unpack_composition(json.loads(json.dumps(packed["composition"])), packed["composition_vectors"])
    assert loaded == found.composition and loaded.part("relevance_query").revision == "c" * 16
    count = len(relevance.asked)
    wider = searcher.adjust(found, scored(images=8), Adjustment().with_parts({"relevance": Relevance("gallery")}), k=64)
    assert ids(wider) == ids(turn(searcher, scored(over="gallery"))) and len(relevance.asked) == count + 1
    relevance.revision = "d" * 16
    with pytest.raises(RelevanceMismatch, match="ranked by relevance model cccc"):
        searcher.adjust(found, scored(images=8), Adjustment(), k=8)


def test_large_galleries_need_stored_features_only_as_a_whole(searcher, relevance, monkeypatch):
    relevance.complete = False
    assert relevance.size <= SMALL
    turn(searcher, scored(over="gallery"))
    monkeypatch.setattr("cir_core.methods.relevance.SMALL", 63)
    turn(searcher, scored(images=8))
    with pytest.raises(RelevanceUnavailable, match="cirque relevance index colours"):
        turn(searcher, scored(over="gallery"))


def test_the_protocol_names_the_model_of_methods_that_use_one(searcher, relevance):
    card, plain = searcher.card(scored()), searcher.card(PLAIN)
    assert card.relevance == "c" * 16 and card_from_dict(json.loads(json.dumps(card_to_dict(card)))) == card
    assert plain.relevance == "" and "relevance" not in card_to_dict(plain)
    relevance.revision = "d" * 16
    again = searcher.card(scored())
    assert again.digest != card.digest
    assert differences(card, again) == (
        f"this session began with the relevance model {'c' * 16}; this turn continues with the relevance model "
        f"{'d' * 16}",)


def test_without_a_model_other_methods_search_on(gallery):
    def missing(_):
        raise RelevanceUnavailable("Needs a relevance model.")

    searcher = Searcher(gallery, FakeEncoder(), SilentLanguageModel(), relevance=missing)
    assert turn(searcher, PLAIN).hits and searcher.card(scored()).relevance == ""
    with pytest.raises(RelevanceUnavailable, match="Needs a relevance model"):
        turn(searcher, scored())


def test_the_methods_that_use_it():
    methods = builtin_methods()
    using = {name: method.settings.part("relevance") for name, method in methods.items()
             if needs_relevance(method.settings)}
    assert using == {"cirqrs": Relevance("gallery"), "guided-cirqrs": Relevance(weight=0.5),
                     "cirevl-cirqrs": Relevance()}
    assert method_to_dict(methods["cirqrs"].settings)["relevance"] == {"over": "gallery", "images": 50, "weight": 1.0}
    step = RelevanceStep()
    assert step.figure(Relevance()) == "M 50"
    assert step.figure(Relevance("gallery", weight=0.5)) == "whole gallery · w 0.5"
    assert step.summary(Relevance("gallery")) == ("CIRQRS", "the whole gallery, w 1")


def test_ticks_of_what_was_asked_hold_where_relevance_is_mixed_in():
    """With one request of weight 1.6, its part is at most 1.6 · 4 / (1 + 1.6 · 4) = 0.865, and a tick needs
    1.6 · (4 − log 2) / 7.4 = 0.715; half of that where relevance has the other half."""
    made = Composition(np.ones(2, np.float32), ()).with_parts({
        "guidance": Guidance(), "aspects": (Aspect("colour", "red", ("red",), ("blue",), 1),),
        "relevance": Relevance(weight=0.5)})
    name = f"{ASKED}red"
    parts = [((name, 0.37), ("relevance", 0.1)), ((name, 0.35), ("relevance", 0.1)), ((name, 0.37),)]
    assert list(ticks(made, parts)) == [[("red", "yes")], [("red", "no")], [("red", "no")]]
