"""Sessions: the searcher and a store behind one door."""

import dataclasses
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from cir_core.errors import (
    ImageUnreadable,
    LanguageModelError,
    LanguageModelUnavailable,
    SearchError,
    Stopped,
    StorageError,
    UnknownImage,
    UnknownSession,
)
from cir_core.gallery.indexing import index_folder
from cir_core.images.uploads import UploadFolder
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.language.tasks import CaptionAnswer, MergeTask
from cir_core.language.wrappers.availability import FallbackLanguageModel
from cir_core.language.wrappers.routed import RoutedLanguageModel
from cir_core.methods.declared import Method, builtin_methods
from cir_core.methods.observer import TurnObserver
from cir_core.sessions.compare import DEPTH, ComparisonService
from cir_core.sessions.export import session_to_circled
from cir_core.sessions.pool import SearcherPool
from cir_core.sessions.service import SearchService
from cir_core.types.composition import Adjustment, Marks
from cir_core.types.records import UPLOAD_PREFIX, MethodSettings, SoftFilter
from tests.fakes.colours import NAME, colour_gallery
from tests.fakes.comparison_store import InMemoryComparisonStore
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel, ScriptedLanguageModel
from tests.fakes.store import InMemorySessionStore
from tests.fakes.store import service as service


def test_the_history_that_leaves_the_results_is_that_of_the_whole_branch(service):
    session = service.start(NAME, method=MethodSettings(exclude="history"))
    parent, references = None, ("r0g3b0", "r3g0b0", "r0g0b3")
    for number, reference in enumerate(references, 1):
        turn = service.run_turn(session.session_id, "red", reference_id=reference, parent_id=parent).turn
        assert turn.excluded_ids == references[:number]
        parent = turn.turn_id
    # A branch from the first turn has the first reference behind it, and nothing of the others.
    first = service.session(session.session_id).turns[0]
    other = service.run_turn(session.session_id, "red", reference_id="r1g1b1", parent_id=first.turn_id).turn
    assert other.excluded_ids == ("r0g3b0", "r1g1b1")


def test_three_turns_and_a_branch(service):
    session = service.start(NAME)
    one = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    two = service.run_turn(session.session_id, "blue", reference_id=one.hits[0].image_id, parent_id=one.turn_id).turn
    other = service.run_turn(session.session_id, "red", reference_id=one.hits[1].image_id, parent_id=one.turn_id).turn
    session = service.session(session.session_id)
    assert [turn.number for turn in session.turns] == [1, 2, 2]
    assert two.branch_id == one.branch_id != other.branch_id
    assert [t.turn_id for t in session.path_to(other.turn_id)] == [one.turn_id, other.turn_id]


def test_a_session_goes_on_from_what_is_stored_alone(service):
    """A new process has only the stored turn; it must compute the same next turn."""
    session = service.start(NAME)
    one = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    again = SearchService(service._pool, service._store, service._uploads)
    a = service.run_turn(session.session_id, "blue", parent_id=one.turn_id).turn
    b = again.run_turn(session.session_id, "blue", parent_id=one.turn_id).turn
    np.testing.assert_array_equal(a.vector, b.vector)
    assert a.hits == b.hits and a.reference_id == "r0g3b0"


def test_an_upload_is_a_reference(service):
    upload = service.add_upload(Image.new("RGB", (40, 30), (255, 0, 0)), "mine.png")
    assert upload.startswith(UPLOAD_PREFIX)
    session = service.start(NAME, method=MethodSettings(base="image-only"))
    turn = service.run_turn(session.session_id, "", reference_id=upload, k=3).turn
    assert turn.hits[0].image_id.endswith("g0b0")
    assert service.picture(NAME, upload).is_file()
    assert service.add_upload(Image.new("RGB", (40, 30), (255, 0, 0))) == upload  # same pixels, one file


def test_a_model_that_sees_is_given_the_upload(service, tmp_path):
    pixels = []

    def caption(task):
        pixels.append((task.picture.load().size, task.picture.load().getpixel((0, 0)), task.picture.digest))
        return CaptionAnswer(caption="a plain colour")

    language = ReplayingLanguageModel({"caption": [caption]}, sees=True)
    pool = SearcherPool(tmp_path / "home", lambda encoder: language, lambda spec: FakeEncoder())
    service = SearchService(pool, service._store, service._uploads)
    session = service.start(NAME)
    upload = service.add_upload(Image.new("RGB", (40, 30), (255, 0, 0)))
    other = service.add_upload(Image.new("RGB", (40, 30), (0, 0, 255)))
    for reference_id in (upload, other, upload, "r0g3b0"):
        service.run_turn(session.session_id, "red", reference_id=reference_id)
    assert pixels[:2] == [((40, 30), (255, 0, 0), upload), ((40, 30), (0, 0, 255), other)]
    assert len(pixels) == 3 and pixels[2][:2] == ((8, 8), (0, 255, 0))


def test_marks_are_of_the_turn_before_and_stay_with_the_turn(service):
    session = service.start(NAME)
    one = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    picked, more, less = (one.hits[i].image_id for i in (0, 1, 2))
    marks = Marks((more,), (less,))
    two = service.run_turn(session.session_id, "blue", reference_id=picked, parent_id=one.turn_id, marks=marks).turn
    plain = service.run_turn(session.session_id, "blue", reference_id=picked, parent_id=one.turn_id).turn
    assert service.session(session.session_id).turn(two.turn_id).composition.marks == marks
    assert plain.composition.marks == Marks() and not np.array_equal(two.vector, plain.vector)
    with pytest.raises(UnknownImage, match="'nope'"):
        service.run_turn(session.session_id, "red", parent_id=one.turn_id, marks=Marks(("nope",)))
    assert len(service.session(session.session_id).turns) == 3


@pytest.mark.parametrize("history", ["average", "weighted", "latest"])
def test_aggregated_turns_go_on_from_what_is_stored(service, history):
    session = service.start(NAME, method=MethodSettings(base="text-only", history=history))
    turn, weights = None, {"average": (1, 1, 1), "weighted": (0.64, 0.8, 1), "latest": (0, 0, 1)}[history]
    for text in ("red", "blue", "green"):
        turn = service.run_turn(session.session_id, text, reference_id="r0g3b0", parent_id=turn and turn.turn_id).turn
    total = np.array(weights) @ FakeEncoder().encode_texts(["red", "blue", "green"])
    np.testing.assert_allclose(turn.vector, total / np.linalg.norm(total), atol=1e-6)


def test_what_cannot_be_done_says_why_and_stores_nothing(service):
    session = service.start(NAME)
    with pytest.raises(SearchError, match="Choose a reference image first"):
        service.run_turn(session.session_id, "red")
    with pytest.raises(UnknownImage):
        service.run_turn(session.session_id, "red", reference_id="nope")
    with pytest.raises(UnknownImage, match="Upload it again"):
        service.run_turn(session.session_id, "red", reference_id=UPLOAD_PREFIX + "0" * 32)
    with pytest.raises(UnknownImage):
        service.run_turn(session.session_id, "red", reference_id="upload:../../etc/passwd")
    with pytest.raises(SearchError, match="not part of this session"):
        service.run_turn(session.session_id, "red", reference_id="r0g3b0", parent_id="elsewhere")
    with pytest.raises(UnknownSession):
        service.run_turn("unknown", "red", reference_id="r0g3b0")
    with pytest.raises(ImageUnreadable):
        service.add_upload(b"not an image")
    service._uploads.folder.write_text("in the way")
    with pytest.raises(StorageError, match="cannot be stored"):
        service.add_upload(Image.new("RGB", (4, 4)))
    assert service.session(session.session_id).turns == ()


def test_a_gallery_indexed_anew_does_not_mix_into_an_old_session(service, tmp_path):
    session = service.start(NAME)
    other_encoder = replace(session.protocol, encoder=replace(session.protocol.encoder, revision="0" * 16))
    other_images = replace(session.protocol, gallery_digest="0" * 16, gallery_size=63)
    for name, card, sentence in (("a", other_encoder, "Start a new session"), ("b", other_images, "63 images")):
        stale = service._store.create_session(replace(session, session_id=name, protocol=card))
        with pytest.raises(SearchError, match=sentence):
            service.run_turn(stale.session_id, "red", reference_id="r0g3b0")
        assert service.session(name).turns == ()


def test_a_caption_is_of_one_encoder(service, tmp_path):
    """Two galleries of the same files: what one encoder saw is not what the other sees."""
    index_folder(tmp_path / "photos", name="other", encoder=FakeEncoder(40, spec="other"), home=tmp_path / "home")
    asked = []

    class Captioner(ScriptedLanguageModel):
        def complete(self, task, watch=None):
            asked.append(task.role)
            return super().complete(task)

    pool = SearcherPool(tmp_path / "home", lambda encoder: Captioner("green"),
                        lambda spec: FakeEncoder(40 if spec == "other" else 32, spec=spec))
    service = SearchService(pool, service._store, service._uploads)
    for gallery in (NAME, "other", "other"):
        session = service.start(gallery)
        service.run_turn(session.session_id, "red", reference_id="r0g3b0")
    assert asked.count("caption") == 2 and asked.count("merge") == 3


def test_without_a_text_nothing_is_repeated(service):
    session = service.start(NAME, method=MethodSettings(base="image-only"), target_id="r3g0b0")
    one = service.run_turn(session.session_id, "", reference_id="r0g3b0").turn
    two = service.run_turn(session.session_id, "", reference_id="r3g3b0", parent_id=one.turn_id).turn
    assert service.trace(service.session(session.session_id), two.turn_id).repeats == ()
    assert [name for name, _ in two.hits[0].parts] == ["history", "picked", "not picked", "image"]


def test_find_a_target(service):
    challenge = service.deal(NAME, seed=3)
    assert challenge.target_id != challenge.reference_id
    assert service.deal(NAME, seed=3) == challenge
    session = service.start(NAME, target_id=challenge.target_id)
    one = service.run_turn(session.session_id, "red", reference_id=challenge.reference_id).turn
    two = service.run_turn(session.session_id, "red", parent_id=one.turn_id).turn
    trace = service.trace(service.session(session.session_id), two.turn_id)
    assert trace.ranks == (one.target_rank, two.target_rank)
    assert [(repeat.turn, repeat.earlier) for repeat in trace.repeats] == [(2, 1)]
    assert service.scores([session.session_id]) is None  # not finished: it does not count yet
    service.reveal_target(session.session_id)
    scores = service.scores([session.session_id])
    assert scores is not None and scores.sessions == 1
    # What is searched after the end changes neither the scores nor the plot.
    for parent in (two.turn_id, one.turn_id, None):
        after = service.run_turn(session.session_id, "green", reference_id=challenge.target_id, parent_id=parent).turn
        assert after.target_rank is None
        assert service.scores([session.session_id]) == scores
    assert service.trace(service.session(session.session_id), after.turn_id).ranks == trace.ranks


def test_export_is_circled_form_with_a_card(service):
    session = service.start(NAME)
    one = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    service.run_turn(session.session_id, "blue", reference_id="r3g3b0", parent_id=one.turn_id)
    session = service.session(session.session_id)
    (record,) = session_to_circled(session)
    assert all(turn["target_rank"] is None for turn in record["cirque"]["turns"])
    assert record["num_turns"] == len(record["turns"]) == 2
    assert record["turns"][1] == {"turn": 2, "reference_image_id": "r3g3b0", "relative_caption": "blue"}
    assert record["session_id"] == "colours_all_0000" and record["ground_truth_ids"] == []
    assert record["cirque"]["protocol"]["digest"] == session.protocol.digest
    assert session_to_circled(session, first=3)[0]["session_id"] == "colours_all_0003"


def test_the_export_has_thumbs_without_names(service):
    session_id = service.start(NAME).session_id
    one = service.run_turn(session_id, "red", reference_id="r0g3b0").turn
    two = service.run_turn(session_id, "blue", parent_id=one.turn_id).turn
    other = service.run_turn(session_id, "green", parent_id=one.turn_id).turn
    a, b = (hit.image_id for hit in one.hits[:2])
    for turn, image, person, up in ((one, a, "secret-of-Zoe", True), (two, a, "Ann", False), (one, b, "Ann", True)):
        service.judge(session_id, turn.turn_id, image, person, up)
    session = service.session(session_id)
    first, second = (record["cirque"]["turns"] for record in session_to_circled(session))

    def told(turn):
        return [(one["image_id"], one["up"], one["person"]) for one in turn.get("thumbs", [])]

    of_one = [(a, True, "person 1"), (b, True, "person 2")]
    assert [told(turn) for turn in first] == [of_one, [(a, False, "person 2")]]
    assert [told(turn) for turn in second] == [of_one, []] and "thumbs" not in second[1]
    assert first[1]["thumbs"][0]["created_at"] == session.thumbs_of(two.turn_id)[0].created_at.isoformat()
    assert "Zoe" not in str(session_to_circled(session)) and session.tip_of(other.branch_id) == other


def test_a_kept_weight_goes_on_with_the_branch(service):
    method = MethodSettings(soft_filter=SoftFilter(1.0))
    service._pool._language_for = lambda encoder: ReplayingLanguageModel({})
    session = service.start(NAME, method=method)
    one = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    kept = service.save_adjusted(session.session_id, one.turn_id, Adjustment(soft_filter=SoftFilter(0.25)))
    on = service.run_turn(session.session_id, "blue", parent_id=kept.turn_id).turn
    old = service.run_turn(session.session_id, "blue", parent_id=one.turn_id).turn
    assert on.composition.soft_filter == SoftFilter(0.25) and on.protocol_digest == kept.protocol_digest
    assert old.composition.soft_filter == SoftFilter(1.0) and old.protocol_digest == session.protocol.digest


class _Away(ScriptedLanguageModel):
    """Is unavailable for merging while ``away``."""

    away = True

    def complete(self, task, watch=None):
        if self.away and isinstance(task, MergeTask):
            raise LanguageModelUnavailable("host cannot be reached. Check that it runs.")
        return super().complete(task, watch)


def test_a_turn_in_which_another_model_stood_in_has_a_digest_of_its_own(tmp_path):
    colour_gallery(tmp_path)
    home, model = tmp_path / "home", _Away("green")
    pool = SearcherPool(home, lambda encoder: FallbackLanguageModel(model, BuiltinLanguageModel(encoder)),
                        lambda spec: FakeEncoder())
    service = SearchService(pool, InMemorySessionStore(), UploadFolder(home / "uploads", max_megapixels=4))
    session = service.start(NAME, method=MethodSettings())
    stood_in = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    model.away = False
    own = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    assert own.protocol_digest == session.protocol.digest != stood_in.protocol_digest
    assert stood_in.composition.usage.stand_ins == (BuiltinLanguageModel.name,)
    text_only = service.start(NAME, method=MethodSettings(base="text-only"))
    assert service.run_turn(text_only.session_id, "red", reference_id="r0g3b0").turn.protocol_digest == (
        text_only.protocol.digest), "nobody was asked, so nobody stood in"


class TestUsualMethod:
    """What a search begins with if nobody names a method."""

    def searching(self, tmp_path, language, domain="scene"):
        colour_gallery(tmp_path)
        home = tmp_path / "home"
        pool = SearcherPool(home, language, lambda spec: FakeEncoder(), domain=domain)
        return SearchService(pool, InMemorySessionStore(), UploadFolder(home / "uploads", max_megapixels=4))

    def test_pictures_that_nothing_can_describe_are_searched_with_the_picture_itself(self, tmp_path):
        service = self.searching(tmp_path, BuiltinLanguageModel)
        usual = service.usual(NAME)
        assert service.start(NAME).method == usual.settings == builtin_methods()["slerp"].settings
        assert "Slerp" in usual.reason and "no captions" in usual.reason

    def test_a_model_that_captions_makes_guided_the_usual_one(self, service):
        assert service.start(NAME).method == builtin_methods()["guided"].settings and not service.usual(NAME).reason

    def test_so_do_captions_of_the_manifest(self, tmp_path):
        service = self.searching(tmp_path, BuiltinLanguageModel)
        manifest = tmp_path / "manifest.csv"
        names = [image.name for image in (tmp_path / "photos").iterdir()]
        manifest.write_text("id,path,caption\n" + "".join(f"{name},{name},a red dress\n" for name in names), "utf-8")
        index_folder(tmp_path / "photos", name="told", encoder=FakeEncoder(), home=tmp_path / "home", manifest=manifest)
        assert service.start("told").method == builtin_methods()["guided"].settings

    def test_a_server_that_gets_captions_from_the_built_in_model_does_not_help(self, tmp_path):
        routed = RoutedLanguageModel(ScriptedLanguageModel("a dog"), {"caption": BuiltinLanguageModel(FakeEncoder())})
        service = self.searching(tmp_path, lambda encoder: routed)
        assert service.start(NAME).method.base == "slerp" and routed.inner.asked == []


# --- the same turn with several methods ------------------------------------------------------

METHODS = builtin_methods()
TEXT, IMAGE, CIREVL = METHODS["text-only"], METHODS["image-only"], METHODS["cirevl"]


class NoMerge(ScriptedLanguageModel):
    """A model that cannot merge."""

    def complete(self, task, watch=None):
        if isinstance(task, MergeTask):
            raise LanguageModelError("The merge broke.")
        return super().complete(task, watch)


@pytest.fixture
def make(tmp_path):
    def build(language=None):
        home = tmp_path / "home"
        model = language or ScriptedLanguageModel("green")
        pool = SearcherPool(home, lambda encoder: model, lambda spec: FakeEncoder())
        search = SearchService(pool, InMemorySessionStore(), UploadFolder(home / "uploads", max_megapixels=4))
        return search, ComparisonService(search, InMemoryComparisonStore())

    colour_gallery(tmp_path)
    return build


def test_each_column_is_what_the_method_finds_alone(make):
    search, compare = make()
    made = compare.run(NAME, "r0g3b0", "red", [TEXT, IMAGE, CIREVL])
    assert [column.method for column in made.columns] == ["text-only", "image-only", "cirevl"]
    searcher = search.searcher(NAME)
    for column, method in zip(made.columns, (TEXT, IMAGE, CIREVL), strict=True):
        alone = searcher.turn(searcher.gallery_reference("r0g3b0"), "red", method.settings, k=DEPTH)
        assert column.hits == alone.hits and column.protocol.method == method.settings
        assert column.timings_ms["total"] >= column.timings_ms["search"]
    assert len({column.protocol.digest for column in made.columns}) == 3
    assert compare.comparison(made.comparison_id) == made


def test_it_goes_on_from_a_turn(make):
    search, compare = make()
    session = search.start(NAME)
    one = search.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    made = compare.run(NAME, one.hits[0].image_id, "blue", [TEXT, METHODS["guided"]], session_id=session.session_id,
                       parent_id=one.turn_id)
    two = search.run_turn(session.session_id, "blue", reference_id=one.hits[0].image_id, parent_id=one.turn_id).turn
    assert made.columns[1].hits == two.hits[:DEPTH]
    assert (made.session_id, made.parent_id) == (session.session_id, one.turn_id)
    with pytest.raises(SearchError, match="Reload"):
        compare.run(NAME, "r0g3b0", "red", [TEXT, CIREVL], session_id=session.session_id, parent_id="gone")


def test_a_blind_order_is_drawn_and_repeats_with_its_seed(make):
    _, compare = make()
    methods = [TEXT, IMAGE, CIREVL, METHODS["slerp"]]
    orders = {
        seed: [c.method for c in compare.run(NAME, "r0g3b0", "red", methods, blind=True, seed=seed).columns]
        for seed in range(8)
    }
    assert len({tuple(order) for order in orders.values()}) > 3
    assert all(sorted(order) == sorted(m.name for m in methods) for order in orders.values())
    again = compare.run(NAME, "r0g3b0", "red", methods, blind=True, seed=5)
    assert [column.method for column in again.columns] == orders[5] and again.seed == 5


def test_a_method_that_cannot_run_takes_part_with_its_problem(make):
    _, compare = make(NoMerge("green"))
    made = compare.run(NAME, "r0g3b0", "red", [TEXT, CIREVL, METHODS["joint"]])
    assert [bool(column.problem) for column in made.columns] == [False, True, True]
    assert made.columns[1].problem == "The merge broke." and made.columns[1].hits == ()
    assert "does not compose" in made.columns[2].problem
    with pytest.raises(SearchError, match="None of the methods"):
        compare.run(NAME, "r0g3b0", "red", [CIREVL, METHODS["joint"]])


def test_what_cannot_be_compared(make):
    _, compare = make()
    for methods, sentence in (([TEXT], "2 to 6"), ([TEXT, TEXT], "twice"), ([TEXT, IMAGE] * 4, "2 to 6")):
        with pytest.raises(SearchError, match=sentence):
            compare.run(NAME, "r0g3b0", "red", methods)
    with pytest.raises(SearchError, match="Say what should be different"):
        compare.run(NAME, "r0g3b0", " ", [TEXT, IMAGE])
    same = Method("image-again", "Image again", "", MethodSettings(base="image-only"))
    assert compare.run(NAME, "r0g3b0", "", [IMAGE, same]).columns[0].hits


def test_the_same_images_are_left_out_for_everybody(make):
    _, compare = make()
    methods = [TEXT, dataclasses.replace(CIREVL, settings=MethodSettings(exclude="none"))]
    made = compare.run(NAME, "r3g0b0", "red", methods, exclude="reference")
    assert all("r3g0b0" not in {hit.image_id for hit in column.hits} for column in made.columns)


def test_stopping_keeps_what_is_done(make):
    _, compare = make()
    watch, done = TurnObserver(), []

    def column_done():
        done.append(1)
        if len(done) == 2:
            watch.stop()

    made = compare.run(NAME, "r0g3b0", "red", [TEXT, IMAGE, CIREVL], watch=watch, column_done=column_done)
    assert [bool(column.problem) for column in made.columns] == [False, False, True]
    assert made.columns[2].problem == "Stopped before it started."
    watch.stop()
    with pytest.raises(Stopped, match="before any method"):
        compare.run(NAME, "r0g3b0", "red", [TEXT, IMAGE], watch=watch)


def test_a_blind_run_takes_the_methods_as_they_were_asked_for(make):
    """Otherwise the progress would tell which of the columns is the slow one."""
    language = ReplayingLanguageModel({}, caption="green")
    _, compare = make(language)
    for seed in range(6):
        asked = []
        compare.run(NAME, "r0g3b0", "red", [CIREVL, TEXT, IMAGE], blind=True, seed=seed,
                    column_done=lambda: asked.append(sum(task.role == "merge" for task in language.asked)))  # noqa: B023
        assert asked[0] == asked[-1] == seed + 1  # the one that merges was always run first


def test_the_caption_counts_for_every_column_that_needs_it(make):
    """It is made once; what a column shows is what its method costs alone."""
    language = ReplayingLanguageModel({}, caption="green")
    _, compare = make(language)
    made = compare.run(NAME, "r0g3b0", "red", [CIREVL, METHODS["average"], TEXT])
    assert sum(task.role == "caption" for task in language.asked) == 1
    first, second, text = made.columns
    assert first.timings_ms["caption"] == second.timings_ms["caption"] > 0 and "caption" not in text.timings_ms
    # one caption and one merge each; text alone asks nobody
    assert [column.composition.usage.calls for column in made.columns] == [2, 2, 0]
    assert text.composition.usage.models == ()


def test_it_does_not_go_on_in_another_gallery(make, tmp_path):
    search, compare = make()
    index_folder(tmp_path / "photos", name="other", encoder=FakeEncoder(), home=tmp_path / "home")
    session = search.start(NAME)
    one = search.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    with pytest.raises(SearchError, match="not part of this session"):
        compare.run("other", "r0g3b0", "red", [TEXT, CIREVL], session_id=session.session_id, parent_id=one.turn_id)
    with pytest.raises(UnknownSession):
        compare.run(NAME, "r0g3b0", "red", [TEXT, CIREVL], parent_id=one.turn_id)
