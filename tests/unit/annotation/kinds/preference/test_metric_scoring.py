"""Scores of sets by a method: means of what a search shows, over a real gallery of plain colours."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from annotation.kinds.preference.metric_scoring import checked_name, method_scores, relevance_scores
from annotation.records import Item
from cir_core.errors import ImageUnreadable, LanguageModelError, LanguageModelUnavailable, Stopped, StudyError
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import Observer
from cir_core.language.tasks import ConstraintsAnswer
from cir_core.methods.declared import Method
from cir_core.search.searcher import Searcher
from cir_core.types.methods import SoftFilter
from cir_core.types.records import MethodSettings
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel, ScriptedLanguageModel, SilentLanguageModel
from tests.fakes.preferences import an_item

TEXT = Method("text", "Text", "", MethodSettings(base="text-only"))
SLERP = Method("slerp", "Slerp", "", MethodSettings(base="slerp"))
CIREVL = Method("cirevl", "CIReVL", "", MethodSettings(base="cirevl"))
REDS = ["r1g0b0", "r2g0b0", "r3g0b0", "r3g1b0", "r2g1b0"]
GREENS = ["r0g1b0", "r0g2b0", "r0g3b0", "r1g3b0", "r1g2b0"]


def question(number=0, one=REDS, two=GREENS, *, text="red", reference="r0g0b3") -> Item:
    return an_item(number, text=text, set_ids=[list(one), list(two)], reference_id=reference)


def scored(items, gallery, method=TEXT, language=None, **more):
    return method_scores(items, gallery, FakeEncoder(), language or SilentLanguageModel(), method, **more)


def searched(gallery, text, reference, method, language=None):
    """What a search shows of every image."""
    searcher = Searcher(gallery, FakeEncoder(), language or SilentLanguageModel())
    found = searcher.turn(searcher.gallery_reference(reference), text, method.settings, k=len(gallery))
    return {hit.image_id: hit.score for hit in found.hits}


def test_by_hand(gallery):
    """The text "red" is (1, 0, 0, .05) before it gets length 1; a full red image is the same vector, so its cosine is
    1; a full green one is (0, 1, 0, .05), which has .05² / (1 + .05²) = .0025 / 1.0025 = 1 / 401 with it."""
    found = scored([question(one=["r3g0b0"] * 5, two=["r3g0b0", "r0g3b0"])], gallery)
    assert found.scores == pytest.approx({("i0", 1): 1.0, ("i0", 2): (1 + 1 / 401) / 2}, abs=1e-6)
    assert found.name == "text in colours" and found.notes == ()
    for part in ("their score by Text", "eq. 7", "the gallery colours of 64 images", "encoder fake", "protocol "):
        assert part in found.description


@pytest.mark.parametrize("method", [TEXT, SLERP])
def test_means_are_of_the_scores_that_a_search_shows(gallery, method):
    items = [question(0), question(1, text="green and dark"), question(2, reference="r1g1b1")]
    found = scored(items, gallery, method)
    for item in items:
        shown = searched(gallery, item.shown["text"], item.hidden["reference_id"], method)
        for number, ids in enumerate(item.hidden["set_ids"], 1):
            assert found.scores[item.item_id, number] == np.mean([shown[image_id] for image_id in ids])


def test_a_filtered_method_scores_by_its_filter(gallery):
    soft = Method("soft", "SoFT", "", MethodSettings(base="text-only", soft_filter=SoftFilter()))

    def model():
        return ReplayingLanguageModel({"constraints": [ConstraintsAnswer(prescriptive="red", proscriptive="green")]})

    found = scored([question()], gallery, soft, model())
    shown = searched(gallery, "red", "r0g0b3", soft, model())
    plain = scored([question()], gallery)
    assert found.scores["i0", 1] == np.mean([shown[image_id] for image_id in REDS])
    assert found.scores["i0", 1] != plain.scores["i0", 1]


def test_questions_about_one_query_share_its_composition(gallery):
    model = ScriptedLanguageModel("a blue dress")
    found = scored([question(0), question(1, GREENS, REDS), question(2, text="dark")], gallery, CIREVL, model)
    assert len([task for task in model.asked if task.role == "merge"]) == 2
    assert found.scores["i0", 1] == found.scores["i1", 2]


def test_sets_that_the_gallery_cannot_score_are_counted(gallery):
    found = scored([question(0), question(1, one=[*REDS[:4], "gone"]), question(2, reference="gone"),
                    question(3, two=[])], gallery)
    assert set(found.scores) == {("i0", 1), ("i0", 2), ("i1", 2), ("i3", 1)}
    assert found.notes == (
        "Questions whose reference is not in the gallery, both sets without a score: 1 of 4.",
        "Sets without a score, because the gallery lacks one of their images: 2 of 8.")


def test_another_gallery_scores_nothing_and_says_so(gallery):
    with pytest.raises(StudyError, match=r"images of none of the 2 sets\. Name the gallery"):
        scored([question(reference="gone")], gallery)
    with pytest.raises(StudyError, match="no questions"):
        scored([], gallery)


def test_a_query_that_fails_fails_alone(gallery):
    def merge(task):
        if task.modification_text == "dark":
            raise LanguageModelError("The answer was no query.")
        return ScriptedLanguageModel().complete(task)

    items = [question(0), question(1, text="dark")]
    found = scored(items, gallery, CIREVL, ReplayingLanguageModel({"merge": [merge]}))
    assert set(found.scores) == {("i0", 1), ("i0", 2)}
    assert found.notes == ("Sets without a score, because CIReVL failed on their query: 2 of 4. The first such query "
                           "is “dark”: The answer was no query.",)
    with pytest.raises(StudyError, match="CIReVL failed on every query; on 'dark' of the image r0g0b3: The answer"):
        scored(items[1:], gallery, CIREVL, ReplayingLanguageModel({"merge": [merge]}))


def test_what_ends_a_run_is_raised(gallery):
    down = ReplayingLanguageModel({"caption": [LanguageModelUnavailable("It is away.")]})
    with pytest.raises(LanguageModelUnavailable, match="CIReVL ended after 0 of 1 queries: It is away"):
        scored([question()], gallery, CIREVL, down)


def test_progress_is_told_and_a_watch_stops_it(gallery):
    items = [question(number, text=f"red {number}") for number in range(70)]
    told = []
    scored(items, gallery, progress=lambda *now: told.append(now))
    assert told == [("Text", 64, 70), ("Text", 70, 70)]
    watch = Observer()
    with pytest.raises(Stopped, match="Text ended after 64 of 70 queries: it was stopped"):
        scored(items, gallery, watch=watch, progress=lambda *_: watch.stop())


def test_the_watch_hears_what_was_used_and_can_interrupt_a_model(gallery):
    watch = Observer()
    scored([question()], gallery, CIREVL, ReplayingLanguageModel({}), watch=watch)
    assert watch.usage.calls == 2

    class Waiting(ScriptedLanguageModel):
        def complete(self, task, inner=None):
            watch.stop()
            assert inner.stopped
            raise Stopped("Stopped before it had answered.")

    with pytest.raises(Stopped, match="before it had answered"):
        scored([question()], gallery, CIREVL, Waiting(), watch=watch)


@pytest.mark.parametrize("name", ["", " ", "x" * 61, "recall@3", "Recall@5", "two\nlines", "a\x07b"])
def test_names_that_no_metric_can_have(gallery, name):
    with pytest.raises(StudyError, match="name"):
        checked_name(name)
    assert scored([question()], gallery, name=" my cosine ").name == "my cosine"


# --- CIRQRS, with numbers that are known -----------------------------------------------------

class Redness:
    """The score of r2g0b1 is 2/3, whatever is asked; of ``unreadable`` -1, as the scorer has it."""

    revision = "f" * 16

    def __init__(self, gallery: Gallery, unreadable: str = "") -> None:
        self.gallery, self.asked, self._unreadable = gallery, [], unreadable

    def query(self, reference: Any, text: str) -> Any:
        self.asked.append((reference.getpixel((0, 0)), text))
        return np.zeros(3, np.float32)

    def scores_of(self, query: Any, rows: Any) -> Any:
        ids = [self.gallery.ids[row] for row in rows]
        return np.array([-1.0 if one == self._unreadable else int(one[1]) / 3 for one in ids], np.float32)


def scored_question(number=0, one=REDS, two=GREENS, reference="r0g0b3"):
    return an_item(number, text="red", set_ids=[list(one), list(two)], reference_id=reference)


def test_a_set_has_the_mean_of_its_images_and_a_query_is_encoded_once(gallery):
    scorer: Any = Redness(gallery)
    steps = []
    found = relevance_scores([scored_question(0), scored_question(1, ["r3g0b0", "r3g0b0", "r0g0b0"])], scorer,
                             progress=lambda *step: steps.append(step))
    # Reds: (1 + 2 + 3 + 3 + 2) / 15; greens: (0 + 0 + 0 + 1 + 1) / 15; of the second, one image twice: 6 / 9.
    assert found.scores == {("i0", 1): pytest.approx(11 / 15), ("i0", 2): pytest.approx(2 / 15),
                            ("i1", 1): pytest.approx(6 / 9), ("i1", 2): pytest.approx(2 / 15)}
    assert found.name == "CIRQRS" and scorer.revision in found.description and found.notes == ()
    assert scorer.asked == [((0, 0, 255), "red")] and steps == [("CIRQRS", 0, 1), ("CIRQRS", 1, 1)]


def test_what_cannot_be_scored_is_left_out_and_counted(gallery):
    scorer: Any = Redness(gallery, unreadable="r3g1b0")
    items = [scored_question(0), scored_question(1, reference="nosuch"), scored_question(2, two=["r0g0b0", "nosuch"])]
    found = relevance_scores(items, scorer, name="mine")
    assert set(found.scores) == {("i0", 2)} and found.name == "mine"
    assert [note.rpartition(": ")[2] for note in found.notes] == ["1 of 3.", "1 of 6.", "2 of 6."]


def test_without_any_score_it_says_why(gallery, monkeypatch):
    scorer: Any = Redness(gallery)
    with pytest.raises(StudyError, match="none of the 2 sets"):
        relevance_scores([scored_question(0, ["nosuch"], ["nosuch"])], scorer)
    with pytest.raises(StudyError, match="is reserved"):
        relevance_scores([scored_question(0)], scorer, name="Recall@5")
    with pytest.raises(Stopped):
        relevance_scores([scored_question(0)], scorer, watch=SimpleNamespace(stopped=True))  # type: ignore[arg-type]

    def unreadable(image_id):
        raise ImageUnreadable("It is damaged.")

    monkeypatch.setattr(gallery, "load_for_encoder", unreadable)
    with pytest.raises(StudyError, match="can be read"):
        relevance_scores([scored_question(0)], scorer)
