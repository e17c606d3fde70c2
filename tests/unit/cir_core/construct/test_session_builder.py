"""One session, turn by turn: CIRCLED's equations and each reading on which its paper and its code differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from cir_core.construct.sessions.difference import ask_difference, tidy_instruction
from cir_core.construct.sessions.settings import ConstructionSettings
from cir_core.construct.sessions.subsets import subset_name, subsets_of
from cir_core.construct.sessions.texts import TextsAlone
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import LanguageModelError, SearchError, Stopped
from cir_core.gallery.gallery import open_gallery
from cir_core.gallery.indexing import index_folder
from cir_core.jobs.spending import Budget, ItemWatch, Spending
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.language.observer import Observer
from cir_core.language.tasks import CaptionTask, DifferenceAnswer, DifferenceTask, MergeTask, Picture
from tests.fakes.colour_person import ColourPerson, caption_of
from tests.fakes.construction import SHOWN, colour_construction
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel


def build(gallery, query, language=None, **more):
    benchmark = Benchmark("cirr", "val", [query], {"cirr": None}, lambda image_id: ())
    construction = colour_construction(gallery, language or ColourPerson(), benchmark=benchmark, **more)
    spending = Spending(Budget())
    [builder] = construction.builders(construction.subsets.subsets, spending).values()
    return builder.build(query, ItemWatch(spending))


FAR = BenchmarkQuery("far", "r3g0b0", "shinier", ("r1g2b3",), pool="cirr")
SEVERAL = replace(FAR, target_ids=("r0g0b3", "r1g3b1"))


def test_turn_one_is_cirevl_and_a_later_turn_eq_9(gallery):
    session = build(gallery, FAR)
    encoder, features = FakeEncoder(), dict(zip(gallery.ids, np.asarray(gallery.features, np.float64), strict=True))
    first, second = session.turns[:2]
    v = encoder.encode_texts([first.merged])[0].astype(np.float64)
    order = sorted(gallery.ids, key=lambda name: -float(features[name] @ v))
    assert {hit.image_id for hit in first.hits} == set(order[:3])
    picked = features[second.reference_id]
    others = [features[hit.image_id] for hit in first.hits if hit.image_id != second.reference_id]
    h = encoder.encode_texts([second.merged])[0]
    v = v + 0.08 * picked - 0.29 * np.mean(others, axis=0) + 0.44 * h
    v /= np.linalg.norm(v)
    for hit in second.hits:
        assert hit.score == pytest.approx(float(features[hit.image_id] @ v), abs=1e-6)
    assert second.ranks["r1g2b3"] == 1 + sum(
        float(one @ v) > float(features["r1g2b3"] @ v) + 1e-9 for one in features.values())


def test_the_image_picked_has_the_caption_closest_to_the_target_s(gallery):
    session = build(gallery, FAR)
    encoder = FakeEncoder()
    captions = {image_id: caption_of(_picture(gallery, image_id)) for image_id in gallery.ids}
    target = encoder.encode_texts([captions["r1g2b3"]])[0]
    used = {"r3g0b0"}
    for turn, later in zip(session.turns, session.turns[1:], strict=False):
        likeness = {hit.image_id: float(encoder.encode_texts([captions[hit.image_id]])[0] @ target)
                    for hit in turn.hits if hit.image_id not in used}
        best = max(likeness.values())
        assert later.reference_id == next(name for name, value in likeness.items() if value == best)
        assert later.caption == captions[later.reference_id]
        used.add(later.reference_id)
    assert len(session.turns) > 3


def test_by_image_vectors_others_are_picked(gallery):
    by_image = build(gallery, FAR, settings=replace(SHOWN, select_by="image"))
    features = dict(zip(gallery.ids, np.asarray(gallery.features, np.float64), strict=True))
    shown = [hit.image_id for hit in by_image.turns[0].hits if hit.image_id != "r3g0b0"]
    assert by_image.turns[1].reference_id == max(shown, key=lambda name: float(features[name] @ features["r1g2b3"]))


def test_turns_are_counted_from_the_first_or_after_it(gallery):
    for count, longest in (("all", 4), ("after-first", 5)):
        settings = replace(SHOWN, max_turns=4, count_turns=count)
        session = build(gallery, replace(FAR, target_ids=("r2g2b2",)), settings=settings)
        assert (session.success, len(session.turns)) == (False, longest), count
    assert ConstructionSettings().total_turns == 6


def test_a_new_text_differs_from_all_texts_or_from_the_generated_ones(gallery):
    asked = {}
    for history in ("all", "generated"):
        language = ColourPerson()
        session = build(gallery, FAR, language, settings=replace(SHOWN, history=history))
        tasks = [task for task in language.asked if isinstance(task, DifferenceTask) and task.attempt == 1]
        texts = [turn.text for turn in session.turns]
        start = 0 if history == "all" else 1
        assert [task.history for task in tasks] == [tuple(texts[start:n]) for n in range(1, len(texts))]
        asked[history] = tasks
        # The filter compares with T_1 in both cases.
        assert all(turn.closest is not None for turn in session.turns[1:]) and session.turns[0].closest is None
    assert asked["generated"][0].history == () and asked["all"][0].history == ("shinier",)


def test_of_several_targets_the_best_ranked_or_the_first_is_described(gallery):
    described = {}
    for which in ("best", "first"):
        language = ColourPerson()
        session = build(gallery, SEVERAL, language, settings=replace(SHOWN, difference_target=which))
        described[which] = [_image_of(gallery, task.target)
                            for task in language.asked if isinstance(task, DifferenceTask) and task.attempt == 1]
        best = [min(turn.ranks, key=turn.ranks.__getitem__) for turn in session.turns[:-1]]
        assert described[which] == (best if which == "best" else ["r0g0b3"] * len(best))
        assert set(session.turns[0].ranks) == {"r0g0b3", "r1g3b1"}
        assert session.success == (min(session.turns[-1].ranks.values()) <= 3)
    assert described["best"] != described["first"]


def test_a_target_outside_the_gallery_has_no_rank_and_does_no_harm(gallery):
    alone = build(gallery, FAR)
    both = build(gallery, replace(FAR, target_ids=("away", *FAR.target_ids)))
    assert [turn.ranks for turn in both.turns] == [turn.ranks for turn in alone.turns]


def test_texts_too_close_to_earlier_ones_are_requested_three_times_in_all(gallery):
    class Parrot(ColourPerson):
        def _answer(self, task):
            if isinstance(task, DifferenceTask):
                return DifferenceAnswer(instruction="more blue")
            return super()._answer(task)

    language = Parrot()
    session = build(gallery, FAR, language)
    attempts = [task.attempt for task in language.asked if isinstance(task, DifferenceTask)]
    later = len(session.turns) - 1
    assert attempts == [1, *[1, 2, 3] * (later - 1)] and later > 2
    assert [turn.text for turn in session.turns[1:]] == ["More blue"] * later
    assert session.turns[2].closest.similarity == pytest.approx(1) and session.turns[2].closest.turn == 2
    assert "kept after 3 attempts" in " ".join(session.turns[2].notes)


def test_a_model_that_sees_gets_images_alone_and_another_one_captions(gallery):
    for sees in (True, False):
        language = ColourPerson(sees=sees)
        build(gallery, FAR, language)
        [task, *_] = [task for task in language.asked if isinstance(task, DifferenceTask)]
        for picture in task.pictures():
            assert picture.load is not None and picture.digest
            assert (picture.caption is None) == sees


def test_each_image_is_captioned_once(gallery):
    language = ColourPerson()
    build(gallery, FAR, language)
    digests = [task.picture.digest for task in language.asked if isinstance(task, CaptionTask)]
    assert len(digests) == len(set(digests)) > 5


def test_an_image_without_a_caption_is_passed_over(gallery):
    first = build(gallery, FAR).turns[1].reference_id
    bad = gallery.image(gallery.row_of(first)).sha256

    def refuse(task):
        if isinstance(task, CaptionTask) and task.picture.digest == bad:
            raise LanguageModelError("I cannot describe this image.")

    session = build(gallery, FAR, ColourPerson(fail=refuse))
    assert first not in [turn.reference_id for turn in session.turns] and len(session.turns) > 1
    assert f"{first} was passed over" in session.turns[1].notes[0]
    for image_id in ("r1g2b3", "r3g0b0"):   # the target, the reference
        bad = gallery.image(gallery.row_of(image_id)).sha256
        with pytest.raises(LanguageModelError, match="cannot describe"):
            build(gallery, FAR, ColourPerson(fail=refuse))


def test_what_a_method_would_tolerate_fails_the_session(gallery):
    def refuse(task):
        if isinstance(task, MergeTask):
            raise LanguageModelError("no merge")

    with pytest.raises(LanguageModelError, match="no merge"):
        build(gallery, FAR, ColourPerson(fail=refuse))


def test_a_stopped_construction_asks_nothing(gallery):
    benchmark = Benchmark("cirr", "val", [FAR], {"cirr": None}, lambda image_id: ())
    language = ColourPerson()
    construction = colour_construction(gallery, language, benchmark=benchmark)
    spending = Spending(Budget(calls=3))
    [builder] = construction.builders(construction.subsets.subsets, spending).values()
    with pytest.raises(Stopped, match="3 requests were sent"):
        builder.build(FAR, ItemWatch(spending))
    assert len(language.asked) == 3
    # What was sent is paid for, and waited for; unless the run is abandoned.
    assert spending.stopped and not ItemWatch(spending).stopped
    spending.shutdown()
    assert ItemWatch(spending).stopped


def test_copies_of_an_image_are_one_image(tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    for name, colour in (("a", (250, 0, 0)), ("b", (250, 0, 0)), ("c", (240, 10, 0)), ("d", (0, 0, 250)),
                         ("e", (0, 250, 0)), ("f", (250, 250, 0))):
        Image.new("RGB", (8, 8), colour).save(photos / f"{name}.png")
    index_folder(photos, name="copies", encoder=FakeEncoder(), home=tmp_path / "home")
    found = open_gallery("copies", home=tmp_path / "home")
    # The copy of the reference is never gone on from.
    short = replace(SHOWN, max_turns=2)
    session = build(found, BenchmarkQuery("q", "a", "more red", ("d",), pool="cirr"), settings=short)
    assert {"a", "b"} <= {hit.image_id for hit in session.turns[0].hits}
    assert [turn.reference_id for turn in session.turns[1:2]] == ["c"]
    benchmark = Benchmark("cirr", "val", [], {"one": ("b", "a", "d"), "two": ("a", "e")}, lambda image_id: ())
    folded = subsets_of(benchmark, found, fold_duplicates=True)
    assert [one.image_ids for one in folded.subsets] == [("b", "d"), ("e",)]
    assert folded.notes == ("1 image is left out: byte for byte the same as another one.",)
    # As in the release, a target can vanish.
    folding = replace(SHOWN, fold_duplicates=True)
    with pytest.raises(SearchError, match="No target is among the 5 images"):
        build(found, BenchmarkQuery("q", "d", "more red", ("b",), pool="cirr"), settings=folding)


def test_selecting_and_diversity_encoders_are_used_for_their_part_alone(gallery):
    class Recording(FakeEncoder):
        def __init__(self):
            super().__init__(48, revision="other")
            self.texts = []

        def encode_texts(self, texts):
            self.texts += texts
            return super().encode_texts(texts)

    selecting, diversity = Recording(), Recording()
    session = build(gallery, FAR, selecting=selecting, diversity=diversity)
    captions = {caption_of(_picture(gallery, image_id)) for image_id in gallery.ids}
    assert selecting.texts and set(selecting.texts) <= captions
    texts = {turn.text for turn in session.turns}
    assert texts <= {text[:1].upper() + text[1:] for text in diversity.texts} | {"shinier"}
    assert not set(diversity.texts) & captions
    # Each text once, alone: vectors do not depend on what is encoded beside them.
    assert len(selecting.texts) == len(set(selecting.texts))


def test_texts_are_encoded_by_themselves():
    sizes = []

    class Batches(FakeEncoder):
        def encode_texts(self, texts):
            sizes.append(len(texts))
            return super().encode_texts(texts)

    inner = Batches()
    alone = TextsAlone(inner)
    assert alone.encode_texts(["red", "blue", "red"]).shape == (3, 32) and alone.encode_texts([]).shape == (0, 32)
    assert sizes == [1, 1, 0] and alone.identity == inner.identity
    assert (alone.dim, alone.name) == (inner.dim, inner.name)
    assert alone.encode_images([Image.new("RGB", (4, 4))]).shape == (1, 32)


@pytest.mark.parametrize(("kind", "dataset", "pool", "split", "name"), [
    ("fashioniq", "", "dress", "val", "fashioniq_dress_val"), ("cirr", "", "cirr", "train", "cirr_train"),
    ("circo", "", "circo", "val", "circo_val"), ("lasco", "", "lasco", "val", "lasco_val"),
    ("mbeir", "CIRR", "CIRR", "test", "cirr_test"), ("sample", "", "shirt", "test", "sample_shirt_test"),
    ("mbeir", "", "mbeir", "", "mbeir"),
])
def test_names_of_subsets(kind, dataset, pool, split, name):
    assert subset_name(Benchmark(kind, split, (), {pool: None}, lambda image_id: (), dataset=dataset), pool) == name


@pytest.mark.parametrize(("said", "kept"), [
    ('"add a belt"', "Add a belt"), ("Caption: Remove the dog.", "Remove the dog."), ("make it\n red ", "Make it red"),
    ("The image shows a red car", "A red car"), ("Result: “change the sky”", "Change the sky"),
    ("caption:", "Caption:"), ("", ""), ("Add the image shows", "Add the image shows"),
])
def test_instructions_are_tidied_as_in_the_release(said, kept):
    assert tidy_instruction(said) == kept


def _picture(gallery, image_id):
    from cir_core.language.tasks import Picture

    return Picture(features=np.asarray(gallery.features[gallery.row_of(image_id)]))


def _image_of(gallery, picture):
    return next(image.image_id for image in gallery.images if image.sha256 == picture.digest)


# --- f_diff, asked again until it says something new -----------------------------------------

# Unit vectors in the plane; with "make it red" (1, 0) the cosine is the first number.
TEXTS = {
    "make it red": (1.0, 0.0),
    "a red one": (0.96, 0.28),
    "more red": (0.8, 0.6),           # 0.8 exactly: as float32 a little above, so it is rejected
    "add a belt": (0.6, 0.8),         # with "more red" 0.6 · 0.8 + 0.8 · 0.6 = 0.96
    "longer sleeves": (0.0, 1.0),     # with "more red" 0.6, with "add a belt" 0.8
    "halfway": (0.5, 0.8660254),
    "no collar": (-0.6, 0.8),         # with "longer sleeves" 0.8, with "add a belt" 0.28
}
TARGET = Picture("a blue dress")


class Plane:
    def __init__(self) -> None:
        self.encoded: list[list[str]] = []

    def encode_texts(self, texts):
        self.encoded.append(list(texts))
        return np.array([TEXTS[text] for text in texts], dtype=np.float32)


def ask(said, history, **options):
    model = ReplayingLanguageModel({"difference": [DifferenceAnswer(instruction=text) for text in said]})
    encoder = Plane()
    task = DifferenceTask(Picture("a red dress"), TARGET, tuple(history))
    answer, notes = ask_difference(model, encoder, task, **options)
    return answer.instruction, notes, [asked.attempt for asked in model.asked_as("difference")], encoder


def test_the_first_text_of_a_session_is_never_checked():
    for history in ((), ("",), (" ",)):
        instruction, notes, attempts, encoder = ask(["make it red"], history)
        assert (instruction, notes, attempts, encoder.encoded) == ("make it red", (), [1], [])


@pytest.mark.parametrize(("said", "history", "kept", "attempts"), [
    (["add a belt"], ["make it red"], "add a belt", [1]),                            # 0.6
    (["a red one", "add a belt"], ["make it red"], "add a belt", [1, 2]),            # 0.96, then 0.6
    (["more red", "a red one", "add a belt"], ["make it red"], "add a belt", [1, 2, 3]),
    # T_1 counts as every other: 0.28 with the last text, 0.96 with the first.
    (["a red one", "longer sleeves"], ["make it red", "no collar"], "longer sleeves", [1, 2, 3]),
    (["make it red"], ["no collar"], "make it red", [1]),                            # -0.6
])
def test_what_is_too_close_to_anything_said_is_asked_for_again(said, history, kept, attempts):
    instruction, notes, asked, _ = ask(said, history)
    assert (instruction, asked) == (kept, attempts)
    # "longer sleeves" is 0.8 from "no collar": the last answer is kept for want of a better one.
    assert bool(notes) == (kept == "longer sleeves")


def test_after_three_attempts_the_last_is_kept_with_a_note():
    said = ["make it red", "a red one", "more red", "add a belt"]
    instruction, notes, attempts, _ = ask(said, ["make it red"])
    assert instruction == "more red" and attempts == [1, 2, 3]
    [note] = notes
    assert "3 attempts" in note and "0.800" in note and note.endswith("make it red")


def test_limit_and_attempts_are_options():
    assert ask(["a red one"], ["make it red"], tau=0.97)[2] == [1]
    assert ask(["add a belt", "no collar"], ["make it red"], tau=0.5)[0] == "no collar"
    assert ask(["halfway", "no collar"], ["make it red"], tau=0.5)[2] == [1, 2]      # a cosine of τ is too close
    instruction, notes, attempts, _ = ask(["a red one", "no collar"], ["make it red"], attempts=1)
    assert (instruction, attempts, len(notes)) == ("a red one", [1], 1)


def test_all_questions_are_watched_and_their_errors_pass_through():
    model = ReplayingLanguageModel({"difference": [DifferenceAnswer(instruction="a red one"),
                                                   LanguageModelError("The answer has no instruction.")]})
    watch = Observer()
    with pytest.raises(LanguageModelError, match="no instruction"):
        ask_difference(model, Plane(), DifferenceTask(history=("make it red",)), watch=watch)
    assert watch.usage.calls == 2


def test_the_built_in_model_turns_to_another_aspect():
    class Colours:
        """What speaks of a colour or a tone points one way, everything else another."""

        def encode_texts(self, texts):
            return np.array([[1, 0] if "colour" in text or "tone" in text else [0, 1] for text in texts], np.float32)

    task = DifferenceTask(Picture("a red dress with short sleeves"), Picture("a blue dress with long sleeves"),
                          ("another tone altogether",))
    first = BuiltinLanguageModel().complete(task).instruction
    answer, notes = ask_difference(BuiltinLanguageModel(), Colours(), task)
    assert "colour" in first and "sleeve" in answer.instruction and notes == ()
