"""CoRR over plain colours: what a round sees, what it makes of the query, and how it ends."""

import numpy as np
import pytest

from cir_core.errors import ImageUnreadable, LanguageModelUnavailable, Stopped
from cir_core.language.tasks import (
    ConstraintsAnswer,
    FreeReflectAnswer,
    FreeReflectTask,
    ReflectAnswer,
    ReflectTask,
    SilentReflectAnswer,
    SilentReflectTask,
)
from cir_core.methods.fusion import slerp
from cir_core.methods.observer import TurnObserver
from cir_core.methods.references import Previous
from cir_core.search.searcher import Searcher
from cir_core.types.composition import ReflectionRound
from cir_core.types.records import MethodSettings, Reflection, SoftFilter
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel, SilentLanguageModel

SAY = [ReflectAnswer(intent="more blue", query="blue"), ReflectAnswer(intent="purer", query="blue red")]


class NumberedCaptions:
    """Stored captions; ``without`` has none."""

    digest = "ca" * 8

    def __init__(self, without=()):
        self.without = without

    def caption_of(self, image_id):
        return None if image_id in self.without else f"caption of {image_id}"


@pytest.fixture
def searcher_for(gallery):
    def make(replies=SAY, captions=None, **options):
        language = ReplayingLanguageModel({"reflect": replies} if replies else {}, **options)
        return Searcher(gallery, FakeEncoder(), language, captions=captions)

    return make


def method(exclude="reference", base="text-only", soft_filter=None, **reflection):
    return MethodSettings(base=base, exclude=exclude, reflection=Reflection(**reflection), soft_filter=soft_filter)


def run(searcher, settings, text="red", **options):
    return searcher.turn(searcher.gallery_reference("r0g3b0"), text, settings, **{"k": 20, **options})


def texts(searcher, *said):
    return searcher.encoder.encode_texts(list(said))


def ids_of(hits):
    return tuple(hit.image_id for hit in hits)


@pytest.mark.parametrize(("images", "captions", "looked_at"), [(3, 5, 5), (5, 2, 5), (4, 0, 4), (1, 1, 1)])
def test_a_round_sees_k_pictures_and_n_captions_of_the_best(searcher_for, images, captions, looked_at):
    searcher = searcher_for(captions=NumberedCaptions())
    found = run(searcher, method(rounds=2, images=images, captions=captions))
    first, second = searcher.language.asked_as("reflect")
    v0 = texts(searcher, "red")[0]
    v1 = slerp(texts(searcher, "blue")[0], v0, history_weight=0.8)
    for task, one, query in zip((first, second), found.composition.rounds, (v0, v1), strict=True):
        best = ids_of(searcher.index.search(query, looked_at, exclude=["r0g3b0"]))
        assert one.looked_at == best and one.pictures == images
        assert [picture.digest for picture in task.candidates] == [
            searcher.picture_of(image_id).digest for image_id in best[:images]]
        assert task.captions == tuple(f"caption of {image_id}" for image_id in best[:captions])
        assert (task.modification_text, task.reference_caption) == ("red", "a garment")
        assert task.reference.digest == searcher.picture_of("r0g3b0").digest
    assert (first.round_number, second.round_number) == (1, 2)


def test_each_round_fuses_what_was_said_with_the_query_so_far(searcher_for):
    searcher = searcher_for()
    found = run(searcher, method(rounds=2))
    v0, u1, u2 = texts(searcher, "red", "blue", "blue red")
    v1 = slerp(u1, v0, history_weight=0.8)
    # "red" and "blue" are (1, 0.05) and (0, 1, 0.05) on their axes, nearly at right angles: v_1 is nearly
    # sin 18° = 0.31 of blue and sin 72° = 0.95 of red.
    assert v1[0] == pytest.approx(0.951, abs=2e-3) and v1[2] == pytest.approx(0.310, abs=2e-3)
    np.testing.assert_allclose(found.vector, slerp(u2, v1, history_weight=0.8), atol=1e-6)
    one, two = found.composition.rounds
    assert (one.number, one.query, one.intent) == (1, "blue", "more blue")
    assert (two.number, two.query, two.intent) == (2, "blue red", "purer")
    np.testing.assert_array_equal(one.vector, u1)
    np.testing.assert_array_equal(two.vector, u2)
    assert one.milliseconds > 0 and set(found.timings_ms) == {"caption", "encode text", "reflect", "search"}
    assert found.hits == tuple(sorted(found.hits, key=lambda hit: hit.rank))
    assert ids_of(found.hits) == ids_of(searcher.index.search(found.vector, 20, exclude=["r0g3b0"]))


def test_everything_a_model_says_is_kept(searcher_for):
    answer = ReflectAnswer(intent="i", satisfied=("s", "t"), problems=("p",), strategy="y", query="blue",
                           notes=("did not know “zebra”",))
    found = run(searcher_for([answer]), method(rounds=2))
    one = found.composition.rounds[0]
    assert (one.intent, one.satisfied, one.problems, one.strategy) == ("i", ("s", "t"), ("p",), "y")
    assert one.notes == ("did not know “zebra”",)
    assert found.notes.count("did not know “zebra”") == 1  # said in both rounds, told once
    assert found.composition.usage.calls >= 2 and found.composition.usage.models == ("replaying/1",)


def test_the_query_before_is_shown_only_where_the_method_says_so(searcher_for):
    for show, expected in ((False, [None, None]), (True, ["a garment red", "blue"])):
        searcher = searcher_for()
        run(searcher, method(base="cirevl", rounds=2, show_query=show))
        assert [task.previous_query for task in searcher.language.asked_as("reflect")] == expected


@pytest.mark.parametrize(("exclude", "there"), [("none", True), ("reference", False), ("history", False)])
def test_a_round_sees_the_reference_only_where_the_results_do(searcher_for, exclude, there):
    searcher = searcher_for()
    found = run(searcher, method(exclude=exclude, rounds=1, images=5), text="green")
    # "green" finds the green reference itself, and its two equals in colour.
    assert ("r0g3b0" in found.composition.rounds[0].looked_at) is there
    assert ("r0g3b0" in ids_of(found.hits)) is there


def test_earlier_references_are_not_shown_either(searcher_for):
    searcher = searcher_for()
    first = run(searcher, method(exclude="history", rounds=1), text="green")
    second = searcher.turn(searcher.gallery_reference("r0g2b0"), "green", method(exclude="history", rounds=2), k=64,
                           previous=Previous(first.vector, first.hits, ("r0g3b0",)))
    for seen in (*(one.looked_at for one in second.composition.rounds), ids_of(second.hits)):
        assert not {"r0g3b0", "r0g2b0"} & set(seen)


@pytest.mark.parametrize("captions", [0, 30])
def test_pseudo_feedback_takes_the_mean_of_the_best_and_asks_nobody(gallery, captions):
    searcher = Searcher(gallery, FakeEncoder(), SilentLanguageModel())
    found = run(searcher, method(rounds=2, images=5, captions=captions, fusion="pseudo-feedback"))
    query = texts(searcher, "red")[0]
    for one in found.composition.rounds:
        best = ids_of(searcher.index.search(query, 5, exclude=["r0g3b0"]))
        mean = searcher.features_of(best).mean(axis=0, dtype=np.float64)
        np.testing.assert_allclose(one.vector, mean / np.linalg.norm(mean), atol=1e-6)
        assert one.looked_at == best and one.pictures == 5 and one.query == ""
        query = slerp(one.vector, query, history_weight=0.8)
    np.testing.assert_allclose(found.vector, query, atol=1e-6)
    assert "caption" not in found.timings_ms


@pytest.mark.parametrize(("fusion", "weights"), [("linear", (0.2, 0.8)), ("replace", (1, 0))])
def test_other_fusions(searcher_for, fusion, weights):
    searcher = searcher_for()
    found = run(searcher, method(rounds=2, fusion=fusion))
    query = texts(searcher, "red")[0]
    for new in texts(searcher, "blue", "blue red"):
        query = weights[0] * new + weights[1] * query
        query /= np.linalg.norm(query)
    np.testing.assert_allclose(found.vector, query, atol=1e-6)
    names = [name for name, _ in found.hits[0].parts]
    assert names == (["reflection 2"] if fusion == "replace" else ["text", "reflection 1", "reflection 2"])


def test_all_the_weight_on_the_history_changes_nothing(searcher_for):
    plain = run(searcher_for(), MethodSettings(base="text-only"))
    found = run(searcher_for(), method(rounds=3, history_weight=1.0))
    assert len(found.composition.rounds) == 3
    np.testing.assert_array_equal(found.vector, plain.vector)
    assert found.hits == plain.hits


def test_no_weight_on_the_history_takes_the_last_query_said(searcher_for):
    searcher = searcher_for()
    found = run(searcher, method(rounds=2, history_weight=0.0))
    np.testing.assert_array_equal(found.vector, texts(searcher, "blue red")[0])
    assert [name for name, _ in found.hits[0].parts] == ["reflection 2"]


@pytest.mark.parametrize(("reasoning", "role", "answer", "said"), [
    ("free", "reflect-free", FreeReflectAnswer(reasoning="blue is missing", query="blue"), "blue is missing"),
    ("silent", "reflect-silent", SilentReflectAnswer(query="blue"), ""),
])
def test_other_prompts_get_the_same_and_answer_less(gallery, reasoning, role, answer, said):
    language = ReplayingLanguageModel({role: [answer]})
    searcher = Searcher(gallery, FakeEncoder(), language, captions=NumberedCaptions())
    found = run(searcher, method(rounds=2, reasoning=reasoning))
    usual = Searcher(gallery, FakeEncoder(), ReplayingLanguageModel({"reflect": [SAY[0]]}), captions=NumberedCaptions())
    expected = run(usual, method(rounds=2))
    asked, before = language.asked_as(role), usual.language.asked_as("reflect")
    assert [type(task) for task in asked] == [{"free": FreeReflectTask, "silent": SilentReflectTask}[reasoning]] * 2
    assert [task.inputs() for task in asked] == [task.inputs() for task in before]
    np.testing.assert_array_equal(found.vector, expected.vector)
    one = found.composition.rounds[0]
    assert (one.query, one.strategy, one.intent, one.satisfied, one.problems) == ("blue", said, "", (), ())


def test_reflection_that_stops_early_where_the_shown_images_stay(searcher_for):
    """The answer repeats the base query: v_1 = v_0, so the best are the same."""
    same = [ReflectAnswer(intent="i", problems=("p",), query="red")]
    for stop, rounds in (("never", 3), ("nothing-missing", 3), ("same-results", 1)):
        searcher = searcher_for(same)
        found = run(searcher, method(rounds=3, images=4, stop=stop))
        assert len(found.composition.rounds) == rounds == len(searcher.language.asked_as("reflect"))
    assert found.notes == ("reflection ended after 1 of 3 rounds: the first 4 results stayed the same",)


def test_reflection_that_stops_early_where_nothing_is_missing(searcher_for):
    """The round that finds no problem still counts (algorithm 1: the query is updated, then the criterion asked)."""
    say = [ReflectAnswer(intent="i", problems=("p",), query="blue"), ReflectAnswer(intent="i", query="blue red")]
    searcher = searcher_for(say)
    found = run(searcher, method(rounds=5, stop="nothing-missing"))
    assert [one.query for one in found.composition.rounds] == ["blue", "blue red"]
    assert found.notes == ("reflection ended after 2 of 5 rounds: the language model found nothing missing",)
    np.testing.assert_array_equal(found.vector, run(searcher_for(say), method(rounds=2)).vector)
    silent = Searcher(searcher.gallery, FakeEncoder(),
                      ReplayingLanguageModel({"reflect-silent": [SilentReflectAnswer(query="blue")]}))
    kept = run(silent, method(rounds=3, reasoning="silent", stop="nothing-missing"))
    assert len(kept.composition.rounds) == 3, "an answer without problems in its form does not say that there are none"


def test_what_is_asked_does_not_depend_on_whether_the_base_made_a_caption(gallery):
    """A model that sees looks at the reference itself; a blind one gets a caption under every base."""
    said = {"reflect": SAY, "constraints": [ConstraintsAnswer(prescriptive="red", proscriptive="green")]}
    for sees in (True, False):
        asked = []
        for base in ("cirevl", "slerp", "text-only"):
            language = ReplayingLanguageModel(said, sees=sees)
            searcher = Searcher(gallery, FakeEncoder(), language, captions=NumberedCaptions())
            run(searcher, method(base=base, rounds=1, soft_filter=SoftFilter()))
            (constraints,), (reflect,) = language.asked_as("constraints"), language.asked_as("reflect")
            assert isinstance(reflect, ReflectTask)
            asked.append((constraints.caption, reflect.reference_caption))
        assert set(asked) == {("", "")} if sees else {("a garment", "a garment")}


class StopsAfter(TurnObserver):
    """Asks to stop when ``rounds`` are over."""

    def __init__(self, rounds):
        super().__init__()
        self.rounds, self.said = rounds, []
        if rounds == 0:
            self.stop()

    def found(self, hits):
        self.said.append(ids_of(hits))

    def reflected(self, finished):
        assert isinstance(finished, ReflectionRound)
        self.said.append(finished)
        if finished.number == self.rounds:
            self.stop()


@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_stopping_between_rounds_keeps_those_before(searcher_for, rounds):
    searcher, watch = searcher_for(), StopsAfter(rounds)
    found = run(searcher, method(rounds=3), watch=watch)
    assert len(found.composition.rounds) == rounds == len(searcher.language.asked_as("reflect"))
    assert found.notes == (f"stopped after {rounds} of 3 rounds of reflection",)
    shorter = run(searcher_for(), method(rounds=rounds)) if rounds else run(
        searcher_for(), MethodSettings(base="text-only"))
    np.testing.assert_array_equal(found.vector, shorter.vector)
    assert found.hits == shorter.hits
    # Whoever looks on saw the candidates before each round and each round when it was over.
    expected = [entry for one in found.composition.rounds for entry in (one.looked_at, one)]
    assert watch.said == expected


def test_stopping_after_the_last_round_is_too_late_to_tell(searcher_for):
    found = run(searcher_for(), method(rounds=2), watch=StopsAfter(2))
    assert len(found.composition.rounds) == 2 and found.notes == ()


def test_stopping_while_an_answer_comes_in_keeps_the_rounds_before(searcher_for):
    found = run(searcher_for([SAY[0], Stopped("Stopped.")]), method(rounds=3))
    assert [one.query for one in found.composition.rounds] == ["blue"]
    assert found.notes == ("stopped after 1 of 3 rounds of reflection",)
    np.testing.assert_array_equal(found.vector, run(searcher_for(), method(rounds=1)).vector)


@pytest.mark.parametrize("error", [
    LanguageModelUnavailable("llm.example does not answer. Try again."),
    ImageUnreadable("r3g0b0.png is missing."),
])
def test_a_round_that_fails_leaves_those_before_and_says_so(searcher_for, error):
    searcher = searcher_for([SAY[0], error])
    found = run(searcher, method(rounds=3))
    assert [one.query for one in found.composition.rounds] == ["blue"]
    assert found.notes == (f"round 2 of reflection failed, the results are those before it: {error}",)
    assert len(searcher.language.asked_as("reflect")) == 2, "a third round has nothing new to look at"
    shorter = run(searcher_for(), method(rounds=1))
    np.testing.assert_array_equal(found.vector, shorter.vector)
    assert found.hits == shorter.hits


def test_a_first_round_that_fails_leaves_the_base(searcher_for):
    found = run(searcher_for([LanguageModelUnavailable("away")]), method(rounds=2))
    assert found.composition.rounds == () and "round 1 of reflection failed" in found.notes[0]
    assert found.hits == run(searcher_for(), MethodSettings(base="text-only")).hits


def test_a_model_that_sees_gets_pictures_and_no_invented_captions(searcher_for):
    searcher = searcher_for(sees=True)
    found = run(searcher, method(rounds=1, images=3, captions=10))
    (task,) = searcher.language.asked_as("reflect")
    assert task.captions == () and task.reference_caption == "" and searcher.language.asked_as("caption") == []
    # What nobody looked at is not said to have been looked at.
    assert len(found.composition.rounds[0].looked_at) == 3 == found.composition.rounds[0].pictures
    for picture, image_id in zip(task.candidates, found.composition.rounds[0].looked_at, strict=True):
        assert picture.load().getpixel((0, 0)) == searcher.gallery.load_image(image_id).getpixel((0, 0))
    assert task.reference.load().getpixel((0, 0)) == (0, 255, 0)


def test_a_model_that_sees_reads_stored_captions_too(searcher_for):
    searcher = searcher_for(sees=True, captions=NumberedCaptions())
    run(searcher, method(rounds=1, images=2, captions=4))
    (task,) = searcher.language.asked_as("reflect")
    assert len(task.captions) == 4 and len(task.candidates) == 2


def test_captions_belong_to_the_best_without_a_gap(searcher_for):
    """One image without a caption would shift the others by one."""
    best = ids_of(searcher_for().index.search(texts(searcher_for(), "red")[0], 10, exclude=["r0g3b0"]))
    searcher = searcher_for(sees=True, captions=NumberedCaptions(without={best[2]}))
    assert searcher.stored_captions(best[1:4]) == (f"caption of {best[1]}", "", f"caption of {best[3]}")
    assert searcher.stored_captions([best[2]]) == ()
    assert searcher.stored_captions(best[:2]) == tuple(f"caption of {image_id}" for image_id in best[:2])
    blind = searcher_for(captions=NumberedCaptions(without={best[2]}), caption="asked for")
    assert blind.stored_captions(best[1:4]) == (f"caption of {best[1]}", "asked for", f"caption of {best[3]}")


def test_more_asked_for_than_the_gallery_holds(searcher_for):
    found = run(searcher_for(captions=NumberedCaptions()), method(rounds=1, images=20, captions=50), k=100)
    assert len(found.composition.rounds[0].looked_at) == 50
    searcher = Searcher(searcher_for().gallery, FakeEncoder(), ReplayingLanguageModel({"reflect": SAY}),
                        within={"r0g3b0", "r3g0b0"})
    found = run(searcher, method(rounds=2))
    assert found.composition.rounds[0].looked_at == ("r3g0b0",)
    assert found.composition.rounds[0].pictures == 1


@pytest.mark.parametrize("soft_filter", [None, SoftFilter(1.0), SoftFilter(0.4, "reward"), SoftFilter(0.7, "penalty")])
@pytest.mark.parametrize("base", ["cirevl", "slerp", "text-only", "image-only"])
def test_the_ledger_adds_up_on_two_turns(gallery, base, soft_filter):
    language = ReplayingLanguageModel({
        "reflect": SAY,
        "constraints": [ConstraintsAnswer(prescriptive="red", proscriptive="green")],
    })
    searcher = Searcher(gallery, FakeEncoder(), language)
    settings = method(base=base, rounds=2, soft_filter=soft_filter)
    first = run(searcher, settings, k=64)
    second = searcher.turn(searcher.gallery_reference(first.hits[1].image_id), "blue", settings, k=64,
                           previous=Previous(first.vector, first.hits, ("r0g3b0",)))
    for found in (first, second):
        for hit in found.hits:
            assert sum(value for _, value in hit.parts) == pytest.approx(hit.score, abs=1e-5)
    names = [name for name, _ in second.hits[0].parts]
    latest = {"cirevl": "text", "slerp": "image and text", "text-only": "text", "image-only": "image"}[base]
    sides = ["reward", "penalty"] if soft_filter else []
    assert names == ["history", "picked", "not picked", latest, "reflection 1", "reflection 2", *sides]


def test_stopping_the_rounds_leaves_the_filter(searcher_for):
    """What the person stops is the reflection; the filter they chose still counts."""
    watch = TurnObserver()

    def stop_after(task):
        watch.stop()
        return SAY[0]

    language = ReplayingLanguageModel({
        "reflect": [stop_after], "constraints": [ConstraintsAnswer(prescriptive="red", proscriptive="green")],
    })
    searcher = Searcher(searcher_for().gallery, FakeEncoder(), language)
    found = searcher.turn(searcher.gallery_reference("r0g3b0"), "red", method(rounds=2, soft_filter=SoftFilter()),
                          watch=watch)
    assert len(found.composition.rounds) == 1
    assert found.composition.constraints.prescriptive == ("red",)
    assert dict(found.hits[0].parts)["reward"] > 0


def test_reflection_goes_on_where_the_best_image_alone_stays(searcher_for):
    drifting = searcher_for([ReflectAnswer(intent="i", problems=("p",), query="red green")])
    found = run(drifting, method(rounds=3, images=4, stop="same-results", history_weight=0.8))
    first, second, _ = (one.looked_at[:4] for one in found.composition.rounds)
    assert first[0] == second[0] and first != second
