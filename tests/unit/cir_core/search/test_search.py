"""Turns over a gallery of plain colours, where one can see what should come first."""


import numpy as np
import pytest
from PIL import Image
from sklearn.manifold import trustworthiness

from cir_core.errors import EncoderMismatch, SearchError, UnknownImage
from cir_core.garments.lexicon import BY_KEY
from cir_core.language.readers.garments import for_garment
from cir_core.language.readers.plain import for_picture
from cir_core.language.tasks import CaptionAnswer, ConstraintsAnswer, MergeAnswer, Picture
from cir_core.search.projection import Projections, farthest_first, project
from cir_core.search.searcher import MAX_TEXT, Previous, Reference, Searcher, clean_text
from cir_core.types.records import MethodSettings, SoftFilter
from tests.fakes.colours import colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel, ScriptedLanguageModel

METHOD = MethodSettings()


@pytest.fixture
def searcher(tmp_path):
    return Searcher(colour_gallery(tmp_path), FakeEncoder(), ScriptedLanguageModel("green"))


def test_first_turn_captions_merges_encodes_and_ranks(searcher):
    found = searcher.turn(searcher.gallery_reference("r0g3b0"), "red", METHOD, k=5)
    assert (found.caption, found.merged_text) == ("green", "green red")
    # "green red" points half-way between the two axes: equal red and green, no blue.
    assert {hit.image_id for hit in found.hits[:3]} == {"r1g1b0", "r2g2b0", "r3g3b0"}
    assert [hit.rank for hit in found.hits] == [1, 2, 3, 4, 5]
    assert set(found.timings_ms) == {"caption", "merge", "encode text", "search"}


def test_slerp_joins_image_and_text(tmp_path):
    """The text at 0.8, the image at 0.2: green and "red" are nearly at right angles, so the query is
    nearly sin 72° = 0.951 of red and sin 18° = 0.309 of green."""
    searcher = Searcher(colour_gallery(tmp_path), FakeEncoder(), ScriptedLanguageModel())
    found = searcher.turn(searcher.gallery_reference("r0g3b0"), "red", MethodSettings(base="slerp"), k=20)
    assert found.vector[:2] == pytest.approx([0.951, 0.309], abs=0.02)
    assert [name for name, _ in found.hits[0].parts] == ["image", "text"]
    for hit in found.hits:
        assert sum(value for _, value in hit.parts) == pytest.approx(hit.score, abs=1e-5)
    assert searcher.language.asked == [] and found.caption == ""


@pytest.mark.parametrize(("weight", "only"), [(1.0, "text-only"), (0.0, "image-only")])
def test_slerp_at_its_ends_is_one_of_the_two(searcher, weight, only):
    reference = searcher.gallery_reference("r0g3b0")
    found = searcher.turn(reference, "red", MethodSettings(base="slerp", text_weight=weight), k=20)
    alone = searcher.turn(reference, "red", MethodSettings(base=only), k=20)
    np.testing.assert_array_equal(found.vector, alone.vector)
    assert [(hit.image_id, hit.score) for hit in found.hits] == [(hit.image_id, hit.score) for hit in alone.hits]


def test_equal_scores_keep_gallery_order(searcher):
    searcher.encoder = FakeEncoder(words={"zebra": 20})
    # No colour has anything of this word; the permutations of a colour score the same.
    method = MethodSettings(base="text-only", exclude="none")
    found = searcher.turn(searcher.gallery_reference("r0g3b0"), "zebra", method, k=64)
    keys = [(-hit.score, searcher.gallery.row_of(hit.image_id)) for hit in found.hits]
    assert keys == sorted(keys)
    assert len({score for score, _ in keys}) < 30, "there are many ties among 64 colours"


def test_the_ledger_adds_up_on_every_turn(searcher):
    first = searcher.turn(searcher.gallery_reference("r0g3b0"), "red", METHOD, k=20)
    picked = first.hits[2].image_id
    second = searcher.turn(
        searcher.gallery_reference(picked), "blue", METHOD, k=20,
        previous=Previous(first.vector, first.hits, ("r0g3b0",)),
    )
    for found in (first, second):
        for hit in found.hits:
            assert sum(value for _, value in hit.parts) == pytest.approx(hit.score, abs=1e-5)
    assert [name for name, _ in second.hits[0].parts] == ["history", "picked", "not picked", "text"]


def test_second_turn_is_equation_9(searcher):
    first = searcher.turn(searcher.gallery_reference("r0g3b0"), "red", METHOD, k=20)
    picked = first.hits[0].image_id
    second = searcher.turn(
        searcher.gallery_reference(picked), "blue", METHOD, k=5,
        previous=Previous(first.vector, first.hits, ("r0g3b0",)),
    )
    others = searcher.features_of([hit.image_id for hit in first.hits[1:10]])  # the other nine of ten
    h = searcher.encoder.encode_texts(["green blue"])[0]
    v = first.vector + 0.08 * searcher.features_of([picked])[0] - 0.29 * others.mean(axis=0) + 0.44 * h
    np.testing.assert_allclose(second.vector, v / np.linalg.norm(v), atol=1e-6)


@pytest.mark.parametrize(("exclude", "gone"), [
    ("none", set()), ("reference", {"r3g0b0"}), ("history", {"r0g3b0", "r3g0b0"}),
])
def test_what_leaves_the_results(searcher, exclude, gone):
    method = MethodSettings(exclude=exclude)
    first = searcher.turn(searcher.gallery_reference("r0g3b0"), "red", method)
    second = searcher.turn(
        searcher.gallery_reference("r3g0b0"), "red", method, k=64,
        previous=Previous(first.vector, first.hits, ("r0g3b0",)),
    )
    shown = {hit.image_id for hit in second.hits}
    assert set(searcher.gallery.ids) - shown == gone


def test_the_history_is_every_turn_before_not_the_last_or_the_first_alone(searcher):
    earlier = ("r0g3b0", "r0g0b3", "r1g1b1", "r0g0b3")   # one of them twice, and none of them the next reference
    method = MethodSettings(exclude="history")
    first = searcher.turn(searcher.gallery_reference("r0g3b0"), "red", method)
    last = searcher.turn(searcher.gallery_reference("r3g0b0"), "red", method, k=64,
                         previous=Previous(first.vector, first.hits, earlier))
    assert last.excluded_ids == ("r0g3b0", "r0g0b3", "r1g1b1", "r3g0b0")   # each once, in the order of the turns
    assert set(searcher.gallery.ids) - {hit.image_id for hit in last.hits} == set(last.excluded_ids)


def test_target_rank_is_its_place_in_the_whole_list(searcher):
    target = "r0g0b3"
    found = searcher.turn(searcher.gallery_reference("r0g3b0"), "red", METHOD, k=64, target_id=target)
    place = [hit.image_id for hit in found.hits].index(target) + 1
    assert found.target_rank == place


def test_a_target_that_is_the_reference_still_has_a_rank(searcher):
    found = searcher.turn(searcher.gallery_reference("r0g3b0"), "red", METHOD, target_id="r0g3b0")
    assert found.target_rank is not None and found.target_rank >= 1


@pytest.mark.parametrize(("base", "expected"), [("text-only", "r3g0b0"), ("image-only", "r0g3b0")])
def test_single_modality_baselines(searcher, base, expected):
    method = MethodSettings(base=base, exclude="none")
    found = searcher.turn(searcher.gallery_reference("r0g3b0"), "red", method, k=3)
    same = searcher.features_of([found.hits[0].image_id])[0]
    np.testing.assert_allclose(same, searcher.features_of([expected])[0], atol=1e-6)
    assert searcher.language.asked == []


@pytest.mark.parametrize("mode", ["both", "reward", "penalty"])
def test_a_filter_of_weight_zero_is_the_base_to_the_last_bit(tmp_path, mode):
    said = {"constraints": [ConstraintsAnswer(prescriptive="blue", proscriptive="green")]}
    searcher = Searcher(colour_gallery(tmp_path), FakeEncoder(), ReplayingLanguageModel(said, caption="green"))
    reference = searcher.gallery_reference("r0g3b0")
    base = searcher.turn(reference, "red", METHOD, k=64, target_id="r0g0b3")
    found = searcher.turn(reference, "red", MethodSettings(soft_filter=SoftFilter(0.0, mode)), k=64, target_id="r0g0b3")
    np.testing.assert_array_equal(found.vector, base.vector)
    assert [(hit.image_id, hit.score, hit.rank) for hit in found.hits] == [
        (hit.image_id, hit.score, hit.rank) for hit in base.hits]
    assert found.target_rank == base.target_rank


def test_a_filter_moves_what_must_be_there_up_and_what_must_not_down(tmp_path):
    said = {"constraints": [ConstraintsAnswer(keep=("plain",), prescriptive="red", proscriptive="green")]}
    searcher = Searcher(colour_gallery(tmp_path), FakeEncoder(), ReplayingLanguageModel(said, caption="green"))
    reference = searcher.gallery_reference("r0g3b0")
    base = searcher.turn(reference, "red", METHOD, k=64, target_id="r3g0b0")
    found = searcher.turn(reference, "red", MethodSettings(soft_filter=SoftFilter()), k=64, target_id="r3g0b0")
    assert found.target_rank < base.target_rank
    (task,) = searcher.language.asked_as("constraints")
    assert (task.caption, task.modification_text, task.domain) == ("green", "red", "garment")
    # r3g0b0 is (1, 0.05)/1.00125 on red and the rest, as is "red": r = 1. "green" is 0.05² /1.0025 = 0.0025.
    # Its base score s against "green red" = (1, 1, 0.05): (1 + 0.0025)/(1.00125 · √2.0025) = 0.70754.
    score = next(hit.score for hit in found.hits if hit.image_id == "r3g0b0")
    assert score == pytest.approx(0.70754 * (1 + 1 - 0.0025) / 2, abs=1e-4)
    assert [name for name, _ in found.hits[0].parts] == ["text", "reward", "penalty"]
    assert found.composition.soft_filter == SoftFilter() and found.composition.constraints.keep == ("plain",)


def test_a_model_that_sees_is_given_pictures_that_load(tmp_path):
    """The reference is decoded when the model asks for it, not before."""
    pixels = []

    def caption(task):
        pixels.append(task.picture.load().getpixel((0, 0)))
        return CaptionAnswer(caption="a plain green")

    language = ReplayingLanguageModel({"caption": [caption], "merge": [MergeAnswer(query="red")]}, sees=True)
    searcher = Searcher(colour_gallery(tmp_path), FakeEncoder(), language)
    found = searcher.turn(searcher.gallery_reference("r0g3b0"), "in red", METHOD, k=3)
    assert pixels == [(0, 255, 0)] and (found.caption, found.merged_text) == ("a plain green", "red")
    image = Image.new("RGB", (9, 9), (0, 0, 255))
    own = Reference("upload:1", searcher.encoder.encode_images([image])[0], Picture(digest="1", load=lambda: image))
    searcher.turn(own, "in red", METHOD)
    assert pixels == [(0, 255, 0), (0, 0, 255)]
    searcher.turn(searcher.gallery_reference("r0g3b0"), "in red", METHOD)
    assert len(pixels) == 2, "a picture is captioned once"
    # Without captions made beforehand it is shown pictures only; nothing is captioned on the side.
    assert searcher.stored_captions(["r0g0b3", "r3g0b0"]) == () and len(pixels) == 2


def test_pictures_that_only_share_a_name_are_captioned_each(tmp_path):
    language = ReplayingLanguageModel({"caption": [CaptionAnswer(caption="one"), CaptionAnswer(caption="two")]})
    searcher = Searcher(colour_gallery(tmp_path), FakeEncoder(), language)
    vector = searcher.features_of(["r0g3b0"])[0]
    found = [searcher.turn(Reference("own image", vector, Picture(features=vector)), "red", METHOD) for _ in "12"]
    assert [one.caption for one in found] == ["one", "two"]


def test_the_caption_is_told_whoever_needed_it(tmp_path):
    said = {"constraints": [ConstraintsAnswer(prescriptive="red", proscriptive="")]}
    searcher = Searcher(colour_gallery(tmp_path), FakeEncoder(), ReplayingLanguageModel(said, caption="green"))
    method = MethodSettings(base="slerp", soft_filter=SoftFilter())
    found = searcher.turn(searcher.gallery_reference("r0g3b0"), "red", method)
    assert (found.caption, found.merged_text) == ("green", "red")


def test_within_ranks_only_those(tmp_path):
    gallery = colour_gallery(tmp_path)
    only = {"r0g0b3", "r3g0b0"}
    searcher = Searcher(gallery, FakeEncoder(), ScriptedLanguageModel(), within=only)
    found = searcher.turn(searcher.gallery_reference("r0g3b0"), "red", METHOD)
    assert {hit.image_id for hit in found.hits} == only


def test_another_encoder_is_refused(tmp_path):
    gallery = colour_gallery(tmp_path)
    with pytest.raises(EncoderMismatch, match="cirque index"):
        Searcher(gallery, FakeEncoder(revision="f" * 16), ScriptedLanguageModel())


def test_bad_input_has_a_sentence(searcher):
    reference = searcher.gallery_reference("r0g3b0")
    with pytest.raises(SearchError, match="Say what should be different"):
        searcher.turn(reference, " \n\t ", METHOD)
    with pytest.raises(SearchError, match="the limit is 1,000"):
        searcher.turn(reference, "x" * (MAX_TEXT + 1), METHOD)
    with pytest.raises(SearchError, match="1 to 1000"):
        searcher.turn(reference, "red", METHOD, k=0)
    with pytest.raises(UnknownImage, match="64 images"):
        searcher.gallery_reference("nope")


def test_text_is_cleaned_once_for_search_and_storage():
    assert clean_text("  in\x00 red\u2028now ") == "in red now"
    assert clean_text("cafe\u0301") == "caf\u00e9"
    assert clean_text("in \u202ered\u202c") == "in red"
    assert clean_text("\u200b \u200d", required=False) == ""
    assert clean_text("half \ud83d emoji") == "half ? emoji"


# --- suggested texts -------------------------------------------------------------------------

GROUPS = ("category", "colour", "sleeves", "pattern", "trim", "length", "neckline", "fit")
REFERENCE = {"category": "dress", "colour": "red", "sleeves": "short", "pattern": "plain", "trim": "none",
             "length": "medium", "neckline": "crew", "fit": "regular"}


def codes(*images):
    return np.array([[BY_KEY[group].keys.index({**REFERENCE, **one}[group]) for group in GROUPS] for one in images],
                    np.int8)


def suggested(*images, **options):
    return for_garment(codes(*images), codes({})[0], **options)


def test_a_text_needs_five_answers_of_the_same_category():
    green, blue = {"colour": "green"}, {"colour": "blue"}
    assert suggested(*[green] * 5) == ("in green",)
    assert suggested(*[green] * 4) == ()
    assert suggested(*[{**green, "category": "shirt"}] * 9, *[blue] * 5) == ("in blue",)


def test_what_the_reference_shows_is_not_suggested():
    assert suggested(*[{}] * 20) == ()


def test_of_the_values_the_one_with_most_answers_like_the_reference():
    far = {"colour": "green", "sleeves": "long", "trim": "belt", "length": "long", "neckline": "vneck"}
    assert suggested(*[far] * 9, *[{"colour": "blue"}] * 5)[0] == "in blue"


def test_a_double_text_takes_the_last_place_if_it_has_answers():
    both = {"colour": "green", "sleeves": "long"}
    assert suggested(*[both] * 5) == ("in green", "with long sleeves", "in green with long sleeves")
    apart = suggested(*[{"colour": "green"}] * 5, *[{"sleeves": "long"}] * 5)
    assert apart == ("in green", "with long sleeves")
    assert len(suggested(*[{**both, "pattern": "dots", "trim": "belt", "length": "long", "neckline": "vneck"}] * 5,
                         most=4)) == 4


AXES = {"a black and white photo": 0, "a colour photo": 1, "a photo taken outdoors": 2, "a photo taken indoors": 3}


class Words:
    """Two pairs of opposites: colour or black and white, indoors or outdoors."""

    def encode_texts(self, texts):
        return np.array([np.eye(5)[AXES.get(text, 4)] for text in texts], np.float32)


@pytest.mark.parametrize(("outdoors", "texts"), [(5, ("outdoors",)), (4, ())])
def test_other_pictures_are_compared_with_the_opposite(outdoors, texts):
    inside, outside = np.eye(5, dtype=np.float32)[[3, 2]] + np.eye(5, dtype=np.float32)[1]
    gallery = np.stack([inside] * 9 + [outside] * outdoors)
    assert for_picture(gallery, inside, Words()) == texts


# --- images that look unlike one another -----------------------------------------------------

def test_variants_come_after_everything_else():
    designs = np.eye(3, 4, dtype=np.float32)
    variants = np.concatenate([designs + np.array([0, 0, 0, place / 10]) for place in range(4)]).astype(np.float32)
    variants /= np.linalg.norm(variants, axis=1, keepdims=True)
    chosen = farthest_first(variants, 12)
    assert chosen[0] == 0 and {row % 3 for row in chosen[:3]} == {0, 1, 2}
    assert sorted(chosen) == list(range(12))


def test_no_more_than_there_are():
    assert farthest_first(np.zeros((0, 4), np.float32), 3) == []
    assert farthest_first(np.ones((2, 1), np.float32), 3) == [0, 1]
    assert farthest_first(np.ones((2, 1), np.float32), 0) == []


# --- results as points of a plane ------------------------------------------------------------

def clusters(count, each, dim=24):
    random = np.random.default_rng(1)
    centres = np.repeat(random.normal(size=(count, dim)), each, axis=0)
    vectors = centres + 0.05 * random.normal(size=(count * each, dim))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_neighbours_stay_neighbours_and_it_is_the_same_each_time():
    vectors = clusters(5, 12)
    places = project(vectors)
    assert places.min() == 0 and places.max() == 1
    assert trustworthiness(vectors, places, n_neighbors=8) > 0.9
    assert np.array_equal(places, project(vectors))


@pytest.mark.parametrize("count", [0, 1, 2, 3, 11, 12, 13])
def test_few_images(count):
    places = project(clusters(13, 1)[:count])
    assert places.shape == (count, 2) and np.isfinite(places).all() and ((places >= 0) & (places <= 1)).all()


def test_copies_of_one_image_lie_in_the_middle():
    assert np.array_equal(project(np.repeat(clusters(1, 1), 20, axis=0)), np.full((20, 2), 0.5, dtype=np.float32))


def test_a_layout_is_computed_once():
    vectors, asked, maps = clusters(2, 10), [], Projections()
    ids = [f"i{n}" for n in range(20)]

    def features_of(wanted):
        asked.append(len(wanted))
        return vectors[: len(wanted)]

    first = maps.of("gallery", ids, features_of)
    assert maps.of("gallery", ids, features_of) is first
    maps.of("gallery", ids[:5], features_of)
    maps.of("other", ids, features_of)
    assert asked == [20, 5, 20]
