"""Methods over benchmarks and CIRCLED's sessions, on colours: every step can be followed by eye."""

import gc
from dataclasses import replace

import pytest

from cir_core.datasets.readers.circled import CircledSession, CircledTurn
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import (
    DatasetError,
    EncoderUnavailable,
    GalleryError,
    LanguageModelError,
    LanguageModelUnavailable,
    SearchError,
)
from cir_core.evaluation.evaluate_benchmark import run_methods
from cir_core.evaluation.evaluate_circled import run_sessions
from cir_core.evaluation.evaluate_replay import FixedSession, FixedTurn, replay
from cir_core.evaluation.evaluate_run import evaluate_run
from cir_core.language.tasks import CaptionAnswer, ConstraintsAnswer
from cir_core.methods.declared import Method
from cir_core.registry.kinds import evaluator_of
from cir_core.search.prepare import Composed
from cir_core.search.searcher import Searcher
from cir_core.types.composition import Usage
from cir_core.types.records import MethodSettings, SoftFilter
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel, ScriptedLanguageModel, SilentLanguageModel

TEXT = Method("text", "Text", "", MethodSettings(base="text-only"))
SLERP = Method("slerp", "Slerp", "", MethodSettings(base="slerp"))
CIREVL = Method("cirevl", "CIReVL", "", MethodSettings(base="cirevl"))
REDS = ("r1g0b0", "r3g0b0", "r2g0b0")   # the brighter, the nearer to "red": 3, 2, 1


def query(name, target, text="red", reference="r0g3b0", **more):
    targets = (target,) if isinstance(target, str) else target
    return BenchmarkQuery(name, reference, text, targets, **more)


def benchmark(*queries, kind="circo", **pools):
    return Benchmark(kind, "val", queries, pools or {"": None}, lambda image_id: ())


def run(of, gallery, method=TEXT, language=None, **more):
    [found] = run_methods(of, gallery, FakeEncoder(), language or SilentLanguageModel(), [method], **more)
    return found


def turn_of(gallery, one, settings, language, within=None):
    """What the search screen's turn finds for the same query."""
    searcher = Searcher(gallery, FakeEncoder(), language, within=within)
    return searcher.turn(searcher.gallery_reference(one.reference_id), one.modification_text, settings, k=50,
                         target_id=one.target_ids[0])


def test_ranks_are_over_the_pool_in_its_order(gallery):
    # "red" ties on pink and orange, which the pool's order decides; pure red is nearer, blue farther.
    pink, orange = "r3g0b1", "r3g1b0"
    queries = [query("a", pink, pool="one"), query("b", pink, pool="other"), query("c", orange, pool="one")]
    found = run(benchmark(*queries, one=("r0g0b3", orange, pink, "r3g0b0"), other=(pink, orange)), gallery)
    whole = ("r3g0b0", orange, pink, "r0g0b3")
    assert found.run.rankings == {"a": whole, "b": (pink, orange), "c": whole}
    assert list(found.run.rankings) == list(found.target_ranks) == ["a", "b", "c"]
    assert found.target_ranks == {"a": (3,), "b": (1,), "c": (2,)}
    assert found.failures == {} and found.notes == {} and found.usage == Usage()
    assert found.run.scores["b"][0] == found.run.scores["b"][1] < found.run.scores["a"][0] == pytest.approx(1)


def test_small_galleries_are_ranked_by_themselves_and_tasks_count_the_same(gallery):
    """R@1 by task: 1 of 1, and 0 and 1 of 2; the mean of the tasks is (1 + 0.5) / 2, that of the queries 2 / 3."""
    pools = {"focus/0": ("r0g0b3", "r1g0b0"), "change/0": ("r0g0b3", "r1g0b0", "r3g0b0"),
             "change/1": ("r0g0b3", "r2g0b0")}
    queries = [query("focus/0", "r1g0b0", pool="focus/0"), query("change/0", "r1g0b0", pool="change/0"),
               query("change/1", "r2g0b0", pool="change/1")]
    whole = benchmark(*queries, kind="genecis", **pools)
    found = run(whole, gallery)
    assert found.run.rankings == {"focus/0": ("r1g0b0", "r0g0b3"), "change/0": ("r3g0b0", "r1g0b0", "r0g0b3"),
                                  "change/1": ("r2g0b0", "r0g0b3")}
    assert list(found.run.rankings) == ["focus/0", "change/0", "change/1"]
    scores = evaluate_run(whole, found.run, evaluator_of(whole), target_ranks=found.target_ranks, seed=None)
    figures = {measure: estimate.value for measure, estimate in scores.figures.items()}
    assert figures["recall", "1"] == pytest.approx(0.75) and figures["recall", "2"] == figures["recall", "3"] == 1
    assert {group: of["recall", "1"].value for group, of in scores.by_group.items()} == {"focus": 1, "change": 0.5}
    with pytest.raises(DatasetError, match="not in the pool of 2 images"):
        evaluate_run(whole, replace(found.run, rankings={**found.run.rankings, "focus/0": ("r3g0b0",)}),
                     evaluator_of(whole), seed=None)


@pytest.mark.parametrize("method", [TEXT, SLERP, CIREVL, Method("soft", "Soft", "", MethodSettings(
    base="slerp", soft_filter=SoftFilter(0.5)))])
def test_every_figure_is_that_of_a_turn(gallery, method):
    """Alone, with the search screen's own code."""
    said = {"constraints": [ConstraintsAnswer(prescriptive="red", proscriptive="green")]}
    queries = [query(str(i), image_id, text, reference) for i, (image_id, text, reference) in enumerate(
        (target, text, reference) for target in gallery.ids[::9] for text in ("red", "blue dots")
        for reference in gallery.ids[5::25])]
    found = run(benchmark(*queries), gallery, method, ReplayingLanguageModel(said, caption="green"), depth=50)
    settings = replace(method.settings, exclude="none")
    for one in queries[::3]:
        turn = turn_of(gallery, one, settings, ReplayingLanguageModel(said, caption="green"))
        assert found.run.rankings[one.query_id] == tuple(hit.image_id for hit in turn.hits)
        assert found.run.scores[one.query_id] == tuple(hit.score for hit in turn.hits)
        assert found.target_ranks[one.query_id] == (turn.target_rank,)


def test_several_targets_have_a_rank_each(gallery):
    found = run(benchmark(query("a", REDS)), gallery)
    assert found.target_ranks == {"a": (3, 1, 2)}


def test_cirr_takes_the_reference_out_and_ranks_the_image_set(gallery):
    ids = (*REDS, "r3g3b0", "r0g0b3")
    one = query("12", "r2g0b0", reference="r1g0b0", pool="cirr", excluded_ids=("r1g0b0",), subset_ids=(
        "r0g0b3", "r2g0b0", "r3g0b0", "r3g3b0"))
    found = run(benchmark(one, kind="cirr", cirr=ids), gallery, depth=3)
    # The nearest without r1g0b0; the image set as a whole, though only three are listed.
    assert found.run.rankings["12"] == ("r3g0b0", "r2g0b0", "r3g3b0")
    assert found.target_ranks["12"] == (2,)
    assert found.run.subset_rankings["12"] == ("r3g0b0", "r2g0b0", "r3g3b0", "r0g0b3")
    assert found.card.method.exclude == "reference"


def test_nothing_else_is_taken_out_whatever_the_method_says(gallery):
    history = Method("own", "Own", "", MethodSettings(base="image-only", exclude="history"))
    found = run(benchmark(query("a", "r0g3b0", text="", reference="r0g3b0")), gallery, history)
    # The reference itself is what is nearest.
    assert found.target_ranks == {"a": (1,)} and found.card.method.exclude == "none"


def test_hidden_targets_leave_a_run_without_ranks(gallery):
    found = run(benchmark(query("a", ()), query("b", "r3g0b0")), gallery, depth=1)
    assert found.target_ranks == {"a": (), "b": (1,)} and found.run.rankings == {"a": ("r3g0b0",), "b": ("r3g0b0",)}


def test_one_bad_query_does_not_stop_a_run(gallery):
    def caption(task):
        raise LanguageModelError("The answer was no caption.")

    language = ReplayingLanguageModel({"caption": [CaptionAnswer(caption="green"), caption,
                                                   CaptionAnswer(caption="blue")]})
    queries = [query(name, "r1g0b0", reference=reference, pool="") for name, reference in
               (("a", "r0g3b0"), ("b", "r0g0b3"), ("c", "r0g0b2"))]
    found = run(benchmark(*queries), gallery, CIREVL, language)
    assert found.failures == {"b": "The answer was no caption."}
    assert list(found.run.rankings) == list(found.target_ranks) == ["a", "c"]
    assert found.usage.calls == 4   # a and c: a caption and a merge each


def test_a_query_that_cannot_be_asked_or_ranked_says_why(gallery):
    queries = [query("empty", "r1g0b0", text=" "), query("outside", "r0g0b3", pool="reds"),
               query("out", "r0g3b0", excluded_ids=("r0g3b0",)), query("fine", "r1g0b0")]
    found = run(benchmark(*queries, **{"": None, "reds": REDS}), gallery)
    assert list(found.target_ranks) == ["fine"]
    assert "Say what should be different" in found.failures["empty"]
    assert "'r0g0b3' is not among the 3 images that are ranked" in found.failures["outside"]
    assert "is excluded from the results" in found.failures["out"]


def test_a_filter_that_could_not_be_asked_for_is_a_failure_not_the_base_method(gallery):
    soft = Method("soft", "Soft", "", MethodSettings(base="text-only", soft_filter=SoftFilter()))
    said = {"constraints": [LanguageModelError("no constraints"),
                            ConstraintsAnswer(prescriptive="red", proscriptive="green")]}
    found = run(benchmark(query("a", "r1g0b0"), query("b", "r1g0b0")), gallery, soft, ReplayingLanguageModel(said))
    assert found.failures == {"a": "no constraints"} and list(found.target_ranks) == ["b"]


class ComposingEncoder(FakeEncoder):
    """Composes by the text alone, but looks at the image."""

    def encode_composed(self, images, texts):
        assert len(images) == len(texts)
        return self.encode_texts(texts)


def test_an_image_that_cannot_be_read_fails_its_query_alone(gallery):
    joint = Method("joint", "Joint", "", MethodSettings(base="joint"))
    gallery.path_of("r0g0b3").write_bytes(b"no image")
    queries = [query("a", "r1g0b0"), query("b", "r1g0b0", reference="r0g0b3"), query("c", "r1g0b0")]
    [found] = run_methods(benchmark(*queries), gallery, ComposingEncoder(), SilentLanguageModel(), [joint])
    assert list(found.failures) == ["b"] and list(found.target_ranks) == ["a", "c"]
    assert "r0g0b3.png" in found.failures["b"]


def test_a_server_that_goes_away_ends_the_method_after_those_before_it(gallery):
    away = LanguageModelUnavailable("The server cannot be reached. Try again later.")
    language = ReplayingLanguageModel({"caption": [away]})
    runs = run_methods(benchmark(query("a", "r1g0b0")), gallery, FakeEncoder(), language, [TEXT, CIREVL, SLERP])
    assert next(runs).method == "text"
    with pytest.raises(LanguageModelUnavailable, match="CIReVL ended after 0 of 1 queries: The server cannot"):
        next(runs)


def test_an_encoder_that_does_not_compose(gallery):
    joint = Method("joint", "Joint", "", MethodSettings(base="joint"))
    with pytest.raises(EncoderUnavailable, match="does not compose"):
        run(benchmark(query("a", "r1g0b0")), gallery, joint)


def test_images_that_the_gallery_lacks_are_counted_and_named(gallery):
    of = benchmark(query("a", "r1g0b0", reference="no-1"), pool=("r1g0b0", "no-2"))
    with pytest.raises(GalleryError, match=r"lacks 2 of the 3 images of circo-val, the first: 'no-2', 'no-1'.*"
                                           r"cirque datasets index"):
        run(of, gallery)
    with pytest.raises(SearchError, match="depth is 0"):
        run(benchmark(query("a", "r1g0b0")), gallery, depth=0)


def test_progress_and_notes(gallery):
    seen = []
    queries = [query(str(i), "r1g0b0") for i in range(70)]
    language = ScriptedLanguageModel("green", notes=("a stand-in",))
    found = run(benchmark(*queries), gallery, CIREVL, language, progress=lambda *step: seen.append(step))
    assert seen == [("CIReVL", 64, 70), ("CIReVL", 70, 70)]
    assert found.notes == {"a stand-in": 70}


def test_the_card_knows_benchmark_method_and_domain(gallery):
    one, other = benchmark(query("a", "r1g0b0"), kind="cirr"), benchmark(query("a", "r2g0b0"), kind="cirr")
    card = run(one, gallery).card
    assert (card.split, card.caption_mode, card.domain) == ("val", "single", "garment")
    assert card.digest == run(one, gallery).card.digest
    assert len({card.digest, run(other, gallery).card.digest, run(one, gallery, SLERP).card.digest,
                run(one, gallery, domain="dress").card.digest}) == 4


def test_of_an_answered_query_only_the_result_is_kept(gallery):
    """A composed query has some ten vectors; a run over 100,000 queries must not hold them."""
    alive = []

    def count():
        gc.collect()
        return sum(type(one) is Composed for one in gc.get_objects())

    before = count()  # other tests may have left some

    def progress(*step):
        alive.append(count() - before)

    language = ScriptedLanguageModel("green", notes=("a stand-in",))
    found = run(benchmark(*(query(str(i), "r1g0b0") for i in range(70))), gallery, CIREVL, language, progress=progress)
    assert alive == [0, 0] and found.notes == {"a stand-in": 70} and len(found.target_ranks) == 70


# -- sessions --------------------------------------------------------------------------

TURNS = (("r0g3b0", "green"), ("r0g0b3", "blue"), ("r3g3b0", "red"))


def session(name="s1", targets=("r3g0b0",), turns=TURNS, subset="cirr_val"):
    return CircledSession(name, subset, targets, tuple(CircledTurn(*turn) for turn in turns))


def replayed(sessions, gallery, method=CIREVL, language=None, **more):
    language = language or ScriptedLanguageModel("")
    [found] = run_sessions(sessions, gallery, FakeEncoder(), language, [method], **more)
    return found


@pytest.mark.parametrize("history", ["feedback", "latest", "average", "weighted"])
def test_ranks_of_a_session_are_those_of_its_replay(gallery, history):
    method = Method("m", "M", "", MethodSettings(history=history))
    found = replayed([session()], gallery, method)
    fixed = FixedSession("", "r3g0b0", tuple(FixedTurn(*turn) for turn in TURNS))
    ranks, _ = replay(Searcher(gallery, FakeEncoder(), ScriptedLanguageModel("")), fixed,
                      MethodSettings(history=history, exclude="none"))
    assert found.ranks == {"s1": tuple(ranks)}
    assert list(found.run.rankings) == ["s1/1", "s1/2", "s1/3"]
    for turn, rank in enumerate(ranks, start=1):
        listed = found.run.rankings[f"s1/{turn}"]
        assert len(listed) == 50 and (listed.index("r3g0b0") + 1 if "r3g0b0" in listed else 51) == min(rank, 51)


def test_the_best_of_several_targets_counts(gallery):
    latest = Method("m", "M", "", MethodSettings(base="text-only", history="latest"))
    both, red, blue = (replayed([session(targets=targets)], gallery, latest).ranks["s1"]
                       for targets in (("r3g0b0", "r0g0b3"), ("r3g0b0",), ("r0g0b3",)))
    assert both == tuple(min(pair) for pair in zip(red, blue, strict=True)) != red


def test_references_leave_the_results_only_when_asked(gallery):
    latest = Method("m", "M", "", MethodSettings(base="text-only", history="latest"))
    kept = replayed([session()], gallery, latest)
    gone = replayed([session()], gallery, latest, exclude_history_images=True)
    for turn, references in enumerate((("r0g3b0",), ("r0g3b0", "r0g0b3"), ("r0g3b0", "r0g0b3", "r3g3b0")), start=1):
        assert not set(references) & set(gone.run.rankings[f"s1/{turn}"])
    assert "r0g0b3" in kept.run.rankings["s1/2"] and gone.card.method.exclude == "history"
    # What was a reference has no rank any more; the other target counts.
    left = replayed([session(targets=("r0g0b3", "r3g0b0"))], gallery, latest, exclude_history_images=True)
    assert left.ranks["s1"][1:] == gone.ranks["s1"][1:]
    none = replayed([session(targets=("r0g0b3",))], gallery, latest, exclude_history_images=True)
    assert none.ranks == {} and "Turn 2: every target has been a reference" in none.failures["s1"]


def test_a_session_that_fails_midway_is_left_out_whole(gallery):
    merges = iter(range(9))

    class Failing(ScriptedLanguageModel):
        def complete(self, task, watch=None):
            if getattr(task, "modification_text", "") and next(merges) == 1:
                raise LanguageModelError("no merge")
            return super().complete(task, watch)

    found = replayed([session("s1"), session("s2")], gallery, language=Failing(""))
    assert found.failures == {"s1": "no merge"} and list(found.ranks) == ["s2"]
    assert list(found.run.rankings) == ["s2/1", "s2/2", "s2/3"]


def test_pools_of_subsets_and_hidden_targets(gallery):
    sessions = [session("s1", subset="fashioniq_dress_val"), session("s2", targets=())]
    pool = {"fashioniq_dress_val": ("r0g0b3", "r3g0b0")}
    found = replayed(sessions, gallery, Method("m", "M", "", MethodSettings(base="text-only", history="latest")),
                     pools=pool, domain=lambda subset: "scene" if subset == "cirr_val" else "garment")
    assert set(found.run.rankings["s1/1"]) == set(pool["fashioniq_dress_val"])
    assert found.ranks == {"s1": (2, 2, 1), "s2": ()}   # "green" ties between the two: pool order
    assert found.card.split == "fashioniq_dress_val, cirr_val" and found.card.domain == "garment+scene"
    with pytest.raises(GalleryError, match="lacks 1 of the 4 images of these sessions, the first: 'no'"):
        replayed([session(targets=("no",))], gallery)
