"""Several pictures as the reference: one vector, what their captions share, and words that point at one of them."""

from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from cir_core.audit.live import LiveAudits
from cir_core.errors import SearchError, UnknownImage
from cir_core.images.pixels import side_by_side
from cir_core.language.builtin.aspects import aspects
from cir_core.language.builtin.captions import merge, parse_caption
from cir_core.language.readers.garments import GarmentReader
from cir_core.language.readers.pointing import follow
from cir_core.language.readers.scene import Scene
from cir_core.language.several import captions_in, one_caption
from cir_core.language.tasks import CaptionAnswer
from cir_core.methods.declared import builtin_methods
from cir_core.methods.references import join
from cir_core.search.searcher import Searcher
from cir_core.sessions.compare import ComparisonService
from cir_core.sessions.export import session_to_circled
from cir_core.sessions.quick import Search
from cir_core.types.composition import Adjustment, Cut, Marks
from cir_core.types.records import Hit, MethodSettings
from tests.fakes.colours import NAME, colour_gallery
from tests.fakes.comparison_store import InMemoryComparisonStore
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel, ScriptedLanguageModel
from tests.fakes.store import service as service

SLERP = MethodSettings(base="slerp")
RED = "a slim fit long red striped dress with short sleeves and a round neck"
BLUE = "a slim fit short blue striped dress with long sleeves and a round neck"
SHIRT = "a regular fit blue striped shirt with long sleeves and a collar"


@pytest.fixture
def searcher(tmp_path):
    return Searcher(colour_gallery(tmp_path), FakeEncoder(), ScriptedLanguageModel("green"))


def given(searcher, *image_ids):
    return [searcher.gallery_reference(image_id) for image_id in image_ids]


# --- vectors ---------------------------------------------------------------------------------


def test_the_vector_is_the_normalised_mean(searcher):
    """Pure red and pure green, nearly at right angles: both at about cos 45°."""
    both = given(searcher, "r3g0b0", "r0g3b0")
    made = join(both)
    assert made.features[:2] == pytest.approx([np.sqrt(0.5)] * 2, abs=0.01)
    total = both[0].features + both[1].features
    assert made.features == pytest.approx(total / np.linalg.norm(total), abs=1e-6)
    assert made.image_ids == ("r3g0b0", "r0g3b0") and made.image_id == "r3g0b0"
    [alone] = given(searcher, "r3g0b0")
    assert join([alone]) is alone and alone.image_ids == ("r3g0b0",)


def test_an_image_search_finds_what_lies_between_and_none_of_the_references(searcher):
    found = searcher.turn(join(given(searcher, "r3g0b0", "r0g3b0")), "", MethodSettings(base="image-only"), k=5)
    assert {hit.image_id for hit in found.hits[:3]} == {"r1g1b0", "r2g2b0", "r3g3b0"}
    assert found.excluded_ids == ("r3g0b0", "r0g3b0")
    assert found.composition.further == ("r0g3b0",)


def test_an_encoder_that_composes_gets_each_picture_with_the_text(searcher):
    asked = []

    def encode_composed(images, texts):
        asked.extend(texts)
        return searcher.encoder.encode_images(images)

    searcher.encoder.encode_composed = encode_composed
    found = searcher.turn(join(given(searcher, "r3g0b0", "r0g3b0")), "brighter", MethodSettings(base="joint"), k=5)
    assert asked == ["brighter", "brighter"]
    assert found.vector[:2] == pytest.approx([np.sqrt(0.5)] * 2, abs=0.01)


def test_feedback_wants_all_of_them_and_counts_none_as_passed_over(searcher):
    """Eq. 9 with α = 1, β = γ = 0 on both references: history plus their mean."""
    method = MethodSettings(alpha=1.0, beta=1.0, gamma=0.0)
    step = Search(searcher, method).start("r0g0b3", "red")
    hits = [hit.image_id for hit in step.hits[:20]]
    second = step.refine([hits[0], hits[1]], "red")
    terms = dict(second.found.composition.terms)
    mean = searcher.features_of(hits[:2]).mean(axis=0)
    passed = searcher.features_of(hits[2:method.feedback_depth]).mean(axis=0)
    assert terms["picked"] / np.linalg.norm(terms["picked"]) == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)
    assert terms["not picked"] / np.linalg.norm(terms["not picked"]) == pytest.approx(
        -passed / np.linalg.norm(passed), abs=1e-5)


def test_a_picture_of_all_for_a_model_that_sees(searcher):
    picture = join(given(searcher, "r3g0b0", "r0g3b0")).picture
    whole = picture.load()
    assert whole.getpixel((2, 2))[0] > 200 > whole.getpixel((2, 2))[1]
    assert whole.getpixel((whole.width - 3, 2))[1] > 200
    assert picture.digest and picture.caption is None
    tall = side_by_side([Image.new("RGB", (10, 40), "red"), Image.new("RGB", (20, 20), "blue")])
    assert tall.size == (5 + 8 + 20, 20)


def test_a_model_that_sees_is_told_what_they_share(tmp_path):
    model = ReplayingLanguageModel({}, caption="a thing")
    model.sees = True
    searcher = Searcher(colour_gallery(tmp_path), FakeEncoder(), model)
    soft = builtin_methods()["slerp-soft"].settings
    one, several = (searcher.prepare(join(given(searcher, *ids)), "red", soft)
                    for ids in (["r3g0b0"], ["r3g0b0", "r0g3b0"]))
    assert (one.said, several.said) == ("", "what these pictures share: (1) a thing; (2) a thing")


# --- captions --------------------------------------------------------------------------------


def test_captions_become_one_text_and_come_apart_again():
    text = one_caption([RED, BLUE + ".", ""])
    assert captions_in(text) == (RED, BLUE, "")
    assert captions_in(one_caption(["a red dress (2) with a belt", BLUE])) == ("a red dress (2) with a belt", BLUE)
    assert one_caption([RED]) == RED and captions_in(RED) == () and one_caption(["", ""]) == ""


def test_what_the_captions_agree_on_stays():
    assert parse_caption(one_caption([RED, BLUE])).sentence() == "a slim fit striped dress with a round neck"
    made = merge(one_caption([RED, BLUE]), "in green")
    assert made.query == "a slim fit green striped dress with a round neck"


def test_garments_of_several_kinds_share_the_rest():
    made = merge(one_caption([BLUE, SHIRT]), "in green")
    assert made.query == "a green striped garment with long sleeves"
    found = {one.name: one for one in aspects(one_caption([BLUE, SHIRT]), "in green").aspects}
    assert found["colour"].asked and not found["pattern"].asked
    assert "category" not in found and "neckline" not in found


def test_of_a_picture_that_is_not_described_nothing_is_shared():
    assert not parse_caption(one_caption(["", RED])).slots
    assert [one.name for one in aspects(one_caption(["", RED]), "in green").aspects if not one.asked] == []
    assert merge(one_caption(["", RED]), "in green").query == f"{RED}, in green"


def test_pictures_without_a_garment_are_described_one_after_another():
    assert merge(one_caption(["a dog.", RED]), "at night").query == f"a dog, {RED}, at night"


# --- words that point at one of them -----------------------------------------------------------

CAPTIONS = {"red": RED, "blue": BLUE, "shirt": SHIRT, "hit": "a white plain top"}
FIRST = Scene((), "red", lambda ids: [CAPTIONS[one] for one in ids], further=("blue", "shirt"))
EARLIER = SimpleNamespace(number=1, reference_id="red", caption=RED, hits=(Hit("hit", 0.5, 1),), further=())
LATER = Scene((EARLIER,), "red", FIRST.captions, further=("blue",))


@pytest.mark.parametrize(("text", "rest", "note"), [
    ("the colour of the second picture, longer", "in blue, longer", "colour of picture 2: in blue"),
    ("with the sleeves of the first one", "with short sleeves", "sleeves of picture 1: with short sleeves"),
    ("the collar of the third image", "with a collar", "collar of picture 3: with a collar"),
    ("the sleeves of the last picture", "with long sleeves", "sleeves of picture 3: with long sleeves"),
    ("the color of picture 2", "in blue", "colour of picture 2: in blue"),
    ("the colour from the second picture and the sleeves from the first", "in blue, and with short sleeves",
     "sleeves of picture 1: with short sleeves"),
    ("the second picture's colour, longer", "in blue, longer", "colour of picture 2: in blue"),
    ("the same colour as the second picture", "in blue", "colour of picture 2: in blue"),
])
def test_an_attribute_of_one_of_them(text, rest, note):
    found = follow(text, FIRST)
    assert (found.text, found.reference_id, found.further) == (rest, "red", None)
    assert note in found.notes


def test_one_of_them_alone():
    found = follow("like the second picture but in green", FIRST)
    assert (found.text, found.reference_id, found.further) == ("in green", "blue", ())
    assert "reference: picture 2" in found.notes


@pytest.mark.parametrize(("scene", "text", "said"), [
    (LATER, "the colour of the first one", "say “picture 1” or “result 1”"),
    (FIRST, "the colour of the fifth picture", "there are 3 reference pictures"),
    (FIRST, "like the first picture, in this colour", "the reference pictures differ in it"),
])
def test_what_is_unclear_is_said(scene, text, said):
    [note] = follow(text, scene).notes
    assert note.startswith("not understood") and said in note


def test_what_they_share_is_this_one():
    scene = Scene((), "blue", FIRST.captions, further=("shirt",))
    assert follow("the first picture with this colour", scene).text == "in blue"


def test_back_to_a_turn_of_several():
    turn = SimpleNamespace(number=1, reference_id="red", caption="", hits=(), further=("blue",))
    scene = Scene((turn,), "shirt", FIRST.captions)
    found = follow("back to turn 1 but longer", scene)
    assert (found.reference_id, found.further) == ("red", ("blue",))
    assert "several pictures" in follow("the collar of turn 1", scene).notes[0]


# --- sessions ----------------------------------------------------------------------------------


def test_a_turn_of_several_is_stored_and_gone_on_from(service):
    session = service.start(NAME, method=MethodSettings(exclude="history"))
    one = service.run_turn(session.session_id, "red", reference_id="r0g3b0", further=["r0g0b3"]).turn
    assert (one.reference_id, one.further, one.excluded_ids) == ("r0g3b0", ("r0g0b3",), ("r0g3b0", "r0g0b3"))
    assert one.caption == "what these pictures share: (1) green; (2) green"
    again = service.run_turn(session.session_id, "blue", parent_id=one.turn_id).turn
    assert (again.reference_id, again.further, again.number) == ("r0g3b0", ("r0g0b3",), 2)
    third = service.run_turn(session.session_id, "blue", reference_id="r1g1b1", parent_id=again.turn_id).turn
    assert third.further == () and third.excluded_ids == ("r0g3b0", "r0g0b3", "r1g1b1")
    kept = service.save_adjusted(session.session_id, one.turn_id, Adjustment())
    assert kept.further == one.further and [hit.image_id for hit in kept.hits] == [hit.image_id for hit in one.hits]


def test_an_upload_not_yet_searched_from_is_described_where_words_point_at_it(service):
    service.searcher(NAME).reader = GarmentReader()
    session = service.start(NAME, method=SLERP)
    first = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    upload = service.add_upload(Image.new("RGB", (40, 40), "blue"))
    turn = service.run_turn(session.session_id, "the second result with this colour", reference_id=upload,
                            parent_id=first.turn_id).turn
    assert turn.reference_id == first.hits[1].image_id
    assert "colour of the present reference: in green" in turn.notes


def test_marks_and_references_contradict(service):
    session = service.start(NAME)
    one = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    two, three = one.hits[0].image_id, one.hits[1].image_id
    with pytest.raises(SearchError, match="both for and against"):
        service.run_turn(session.session_id, "red", reference_id=two, further=[three], parent_id=one.turn_id,
                         marks=Marks(less_like=(three,)))


@pytest.mark.parametrize(("further", "said"), [
    (["r0g3b0"], "already one of the reference pictures"),
    (["r1g0b0", "r1g0b0"], "already one of the reference pictures"),
    (["r1g0b0", "r2g0b0", "r3g0b0", "r0g1b0"], "at most 4 reference pictures; there are 5"),
])
def test_too_many_or_one_twice(service, further, said):
    session = service.start(NAME)
    with pytest.raises(SearchError, match=said):
        service.run_turn(session.session_id, "red", reference_id="r0g3b0", further=further)
    assert service.session(session.session_id).turns == ()


def test_an_unknown_one(service):
    session = service.start(NAME)
    with pytest.raises(UnknownImage, match="nowhere"):
        service.run_turn(session.session_id, "red", reference_id="r0g3b0", further=["nowhere"])
    assert service.session(session.session_id).turns == ()


def test_an_upload_has_a_part_in_it_and_says_where_it_was_cut_from(service):
    upload = service.add_upload(Image.new("RGB", (40, 40), "blue"))
    cut = Cut(upload, "r0g0b3", (0.1, 0.1, 0.5, 0.5))
    session = service.start(NAME, method=SLERP)
    one = service.run_turn(session.session_id, "red", reference_id="r0g3b0", further=[upload], cuts=[cut]).turn
    assert one.composition.cuts == (cut,) and one.excluded_ids == ("r0g3b0",)
    two = service.run_turn(session.session_id, "red", parent_id=one.turn_id).turn
    assert two.composition.cuts == (cut,), "the origin is not forgotten on the way"
    three = service.run_turn(session.session_id, "red", parent_id=two.turn_id, reference_id="r1g1b1").turn
    assert three.composition.cuts == ()
    [record] = session_to_circled(service.session(session.session_id))
    assert [turn["reference_image_id"] for turn in record["turns"]] == ["r0g3b0", "r0g3b0", "r1g1b1"]
    first, _, last = record["cirque"]["turns"]
    assert first["further_references"] == [upload]
    assert first["cut_out"] == [{"image_id": upload, "from": "r0g0b3", "region": [0.1, 0.1, 0.5, 0.5]}]
    assert "further_references" not in last and "cut_out" not in last


def test_comparisons_and_audits_take_one(service):
    methods = builtin_methods()
    compare = ComparisonService(service, InMemoryComparisonStore())
    with pytest.raises(SearchError, match="compared from one reference picture"):
        compare.run(NAME, "r0g3b0", "red", [methods["slerp"], methods["text-only"]], further=["r0g0b3"])
    session = service.start(NAME, method=SLERP)
    turn = service.run_turn(session.session_id, "red", reference_id="r0g3b0", further=["r0g0b3"]).turn
    with pytest.raises(SearchError, match="this turn has several"):
        LiveAudits(service).of(session.session_id, turn.turn_id)


def test_in_a_few_lines(searcher):
    search = Search(searcher, MethodSettings(base="slerp", exclude="history"))
    first = search.start(["r0g3b0", Image.new("RGB", (8, 8), "blue"), "r3g0b0"], "red")
    assert first.found.excluded_ids == ("r0g3b0", "r3g0b0")
    second = first.refine("r1g1b1", "red")
    assert set(second.found.excluded_ids) == {"r0g3b0", "r3g0b0", "r1g1b1"}
    searcher.said_of = lambda reference, watch=None: CaptionAnswer(
        caption={"r3g0b0": RED, "r0g0b3": BLUE}[reference.image_id])
    searcher.reader = GarmentReader()
    taken = search.start(["r3g0b0", "r0g0b3"], "the sleeves of the second picture")
    assert taken.notes[0] == "sleeves of picture 2: with long sleeves" and len(taken.found.excluded_ids) == 2
    alone = search.start(["r3g0b0", "r0g0b3"], "like the second picture but longer")
    assert alone.found.excluded_ids == ("r0g0b3",) and alone.found.composition.further == ()
    with pytest.raises(SearchError, match="no reference"):
        search.start([], "red")
    with pytest.raises(SearchError, match="already one"):
        search.start(["r0g3b0", "r0g3b0"], "red")
