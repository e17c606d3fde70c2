"""Sessions with a simulated person and methods over them, on colours: every step can be
followed by eye."""

import random

import numpy as np
import pytest

from cir_core.datasets.records import BenchmarkQuery
from cir_core.evaluation.evaluate_replay import (
    FixedSession,
    FixedTurn,
    RememberingEncoder,
    SessionSet,
    digest_of,
    replay,
    score_sessions,
)
from cir_core.evaluation.evaluate_single import Category, single_turn, single_turn_values
from cir_core.evaluation.metrics.multi_turn import multi_turn_scores, session_values
from cir_core.methods.declared import Method
from cir_core.sample import evaluate_sessions
from cir_core.sample.evaluate_sessions import neutral_sessions
from cir_core.search.searcher import Searcher
from cir_core.types.composition import Usage
from cir_core.types.records import MethodSettings
from tests.fakes.colours import colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ScriptedLanguageModel

REFERENCE, TARGET = "r0g3b0", "r3g0b0"
FIRST = "green"  # no help: the target is red


@pytest.fixture
def searcher(tmp_path):
    return Searcher(colour_gallery(tmp_path), FakeEncoder(), ScriptedLanguageModel(""))


@pytest.fixture
def says(monkeypatch):
    """What the person says turn by turn, whatever was picked; the last one again and again."""
    def script(*turns):
        left = list(turns)
        monkeypatch.setattr(evaluate_sessions, "relative_captions",
                            lambda picked, target, rng: left.pop(0) if len(left) > 1 else left[0])
    return script


class First:
    """A draw that always takes the reference of these tests."""

    def choice(self, ids):
        return REFERENCE


def search(searcher, max_turns=4):
    truth = {image_id: {} for image_id in searcher.gallery.ids}
    return evaluate_sessions._search(searcher, "dress", TARGET, truth, First(), max_turns)


def test_turns_lead_to_the_target_and_the_first_hit_ends_the_session(searcher, says):
    says([FIRST], ["red", "red"])
    built = search(searcher)
    assert len(built.ranks) > 1 and built.ranks[0] > 10 >= built.ranks[-1]
    assert all(rank > 10 for rank in built.ranks[:-1])
    assert [turn.text for turn in built.session.turns] == [FIRST, *["red"] * (len(built.ranks) - 1)]


def test_a_session_stops_after_its_last_turn(searcher, says):
    says([FIRST], ["red"])
    whole = search(searcher)
    for turns in (1, 2):
        says([FIRST], ["red"])
        cut = search(searcher, max_turns=turns)
        assert cut.ranks == whole.ranks[:turns] and cut.session.turns == whole.session.turns[:turns]


def test_nothing_left_to_say_ends_it(searcher, says):
    says([FIRST], [])
    assert len(search(searcher).ranks) == 1


def test_the_person_takes_the_shown_image_closest_to_the_target_and_none_twice(searcher):
    hits = searcher.index.search(searcher.features_of(["r3g3b0"])[0], 10)
    shown = [hit.image_id for hit in hits]
    likeness = dict(zip(shown, searcher.features_of(shown) @ searcher.features_of([TARGET])[0], strict=True))
    best = evaluate_sessions._closest(searcher, hits, TARGET, ())
    assert likeness[best] == max(likeness.values())
    assert evaluate_sessions._closest(searcher, hits, TARGET, (best,)) not in (best, None)
    assert evaluate_sessions._closest(searcher, hits, TARGET, shown) is None


def test_the_method_that_made_a_session_gets_its_ranks_again(searcher, says):
    """A session holds everything that its ranks came from."""
    says([FIRST], ["red"])
    built = search(searcher)
    ranks, usage = replay(searcher, built.session, evaluate_sessions.CONSTRUCTION)
    assert tuple(ranks) == built.ranks and usage == Usage()


SESSION = FixedSession("dress", TARGET, tuple(
    FixedTurn(reference, text) for reference, text in (("r0g3b0", "green"), ("r0g0b3", "blue"), ("r3g3b0", "red"))))


def test_latest_sees_only_the_last_turn_and_aggregations_see_all(searcher):
    def last_rank(session, **settings):
        return replay(searcher, session, MethodSettings(base="text-only", exclude="none", **settings))[0][-1]

    alone = FixedSession("dress", TARGET, SESSION.turns[-1:])
    assert last_rank(SESSION, history="latest") == last_rank(alone, history="latest")
    assert last_rank(SESSION, history="average") > last_rank(alone, history="average")
    # a = 0 weighs earlier turns with nothing
    assert last_rank(SESSION, history="weighted", decay=0.0) == last_rank(alone, history="latest")


def test_neutral_sessions_use_every_turn_and_take_the_nearest_of_ten():
    rng = random.Random(5)
    truth = {f"i{n:03}": {key: str(rng.randrange(3)) for key in "abcdef"} for n in range(200)}
    ids = list(truth)
    category = Category("dress", ids, [BenchmarkQuery("dress:0", ids[0], "x", (ids[1],))] * 30)
    spoken = []

    def say(picked, target, rng):
        spoken.append(target)
        return ["something"]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate_sessions, "relative_captions", say)
        sessions = neutral_sessions([category], truth, seed=1, turns=4)
        again = neutral_sessions([category], truth, seed=1, turns=4)
        other = neutral_sessions([category], truth, seed=2, turns=4)
    assert sessions == again and digest_of(sessions) == digest_of(again) != digest_of(other)
    shared = np.array([[evaluate_sessions._shared(truth[turn.reference_id], truth[ids[1]]) for turn in one.turns]
                       for one in sessions])
    assert shared.shape == (30, 4)
    for one in sessions:
        references = [turn.reference_id for turn in one.turns]
        assert len(set(references)) == 4 and ids[1] not in references
    # Two of six values agree by chance (1/3 each); the best of ten agrees on more.
    assert shared[:, 1:].mean() > shared[:, 0].mean() + 1
    assert len(spoken) == 3 * 30 * 4


def test_session_values_are_what_the_metrics_average():
    ranks = [[200, 4, 30], [50, 10, 1, 1], [3], [50, 50]]
    scores = multi_turn_scores(ranks)
    assert session_values(ranks, 4).mean(axis=0) == pytest.approx(
        [*scores.hits_at_10, scores.final_recall_at_10, scores.auc])
    assert session_values([[1], [30]], 1).mean(axis=0) == pytest.approx([0.5, 0.5, 0.5])


def test_single_turn_values():
    # rank 1: every cutoff and 1; rank 4: not R@1, ¼; rank 50: R@50 only; rank 51: none
    assert single_turn_values([1, 4, 50, 51]).tolist() == [
        [1, 1, 1, 1, 1], [0, 1, 1, 1, 0.25], [0, 0, 0, 1, 0.02], [0, 0, 0, 0, 1 / 51]]


def test_a_method_over_queries(tmp_path):
    searcher = Searcher(colour_gallery(tmp_path), FakeEncoder(), ScriptedLanguageModel("", notes=("a stand-in",)))
    queries = [BenchmarkQuery(target, REFERENCE, "red", (target,)) for target in (TARGET, "r0g0b3")]
    categories = [Category("dress", searcher.gallery.ids, queries),
                  Category("shirt", searcher.gallery.ids, queries[:1])]
    method = Method("cirevl", "CIReVL", "", MethodSettings(exclude="history"))
    seen = []
    found = single_turn(method, categories, lambda _: searcher, searcher.card(method.settings), seed=1,
                        progress=lambda *step: seen.append(step))
    red, blue = found.ranks["dress"]
    assert red == 1 and blue > 50 and found.ranks["shirt"] == [1]
    assert found.by_category["dress"]["R@10"] == 0.5 and found.by_category["shirt"]["R@10"] == 1.0
    assert found.measures["R@10"].value == pytest.approx(0.75)  # of the categories, not of 2 in 3 queries
    assert found.measures["MRR"].value == pytest.approx(((1 + 1 / blue) / 2 + 1) / 2)
    assert seen == [("CIReVL", 1, 3), ("CIReVL", 2, 3), ("CIReVL", 3, 3)]
    assert found.notes == {"a stand-in": 3}
    assert list(found.spent.stages) == ["caption", "merge", "encode text", "search"]
    assert found.spent.total >= sum(found.spent.stages.values()) > 0


def test_sessions_of_a_method(searcher):
    fixed = SessionSet.of("neutral", [SESSION, FixedSession("dress", TARGET, SESSION.turns[-1:])])
    assert fixed.measures == ("Hits@10(1)", "Hits@10(2)", "Hits@10(3)", "Final R@10", "AUC")
    method = Method("text", "Text", "", MethodSettings(base="text-only", history="latest"))
    scores = score_sessions(method, fixed, {"dress": searcher}, searcher.card(method.settings), seed=1)
    assert [len(ranks) for ranks in scores.ranks] == [3, 1]
    assert scores.measures["Hits@10(1)"].value == 0.5   # only the second session begins with "red"
    assert scores.measures["Final R@10"].value == 1.0


def test_texts_are_encoded_once():
    class Counting(FakeEncoder):
        asked = 0

        def encode_texts(self, texts):
            self.asked += 1
            return super().encode_texts(texts)

    counting = Counting()
    encoder = RememberingEncoder(counting)
    first = encoder.encode_texts(["red", "blue"])
    assert encoder.encode_texts(("red", "blue")) is first and counting.asked == 1
    assert encoder.encode_texts(["red"]).shape == (1, 32) and counting.asked == 2
    assert encoder.identity == counting.identity
