"""Satisfaction, preservation and sessions on a gallery of a few garments, worked out by hand."""

from dataclasses import dataclass, field

import pytest

from cir_core.errors import DatasetError, LanguageModelError
from cir_core.methods.declared import Method
from cir_core.sample import evaluate_requests as module
from cir_core.sample.evaluate_requests import evaluate_requests, pick, read_truth, run_session
from cir_core.sample.request_figures import figures, gallery_limits, judge
from cir_core.sample.request_set import (
    PlannedRequest,
    Pool,
    ReferenceRequest,
    RequestSet,
    SessionPlan,
    make_request_set,
)
from cir_core.sample.requests import Request
from cir_core.search.searcher import TurnResult
from cir_core.types.composition import Composition
from cir_core.types.records import Hit, MethodSettings
from tests.fakes.colours import colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel, ScriptedLanguageModel

DRESS = {"category": "dress", "colour": "blue", "second_colour": "none", "pattern": "plain", "sleeves": "short",
         "neckline": "vneck", "length": "long", "fit": "regular", "trim": "none"}


def garment(**changes):
    return {**DRESS, **changes}


#: How many of the other eight attributes each shares with "ref", and whether it is red.
TRUTH = {
    "ref": garment(),
    "red8": garment(colour="red"),                                          # 8, the exact target
    "red7": garment(colour="red", sleeves="long"),                          # 7
    "red5": garment(colour="red", sleeves="long", fit="slim", length="short"),                    # 5
    "teal8": garment(colour="teal"),                                        # 8, not red
    "blue7": garment(fit="slim"),                                           # 7
    "blue6": garment(fit="slim", length="short"),                           # 6
    "grey8": garment(colour="grey"),                                        # 8
}
RED = {"colour": frozenset({"red"})}
IN_RED = Request("in red", "single", ("colour",), RED)


def result(*shown, **changes):
    hits = tuple(Hit(image_id, 1 / rank, rank) for rank, image_id in enumerate(shown, start=1))
    return TurnResult("a blue dress", "a red dress", (), [0.0], hits, (), None, {}, Composition([0.0], ()))


@pytest.fixture
def pool():
    return Pool(TRUTH)


def answer(pool, *shown, wants=RED, used=("ref",)):
    return judge(result(*shown), IN_RED, "ref", wants, used, pool)


def test_satisfaction_is_over_what_the_gallery_can_give(pool):
    found = answer(pool, "red8", "teal8", "red5", "blue7", "blue6", "red7")
    # Three images are red; two of them are among the first five: 2 / min(5, 3).
    assert found.possible == 3 and found.satisfied == (True, False, True, False, False)
    assert found.satisfaction == pytest.approx(2 / 3)
    # The five share 8, 8, 5, 7, 6 of the other eight: 6.8. The best three that are red share 8, 7, 5: 6.667.
    assert (found.shared, found.most_shared) == (pytest.approx(6.8), pytest.approx(20 / 3))
    assert found.preservation == 1.0  # 1.02, capped
    assert found.harmonic_mean == pytest.approx(2 * (2 / 3) / (2 / 3 + 1))
    assert found.query == "a red dress" and found.values == {"colour": ("red", "teal", "red", "blue", "blue")}


def test_preservation_is_over_the_best_that_satisfy(pool):
    found = answer(pool, "red5", "blue6", "red7", "blue7", "red8")
    # 5, 6, 7, 7, 8 of 20 / 3 in the mean.
    assert found.satisfaction == 1.0 and found.preservation == pytest.approx(6.6 / (20 / 3))


def test_nothing_satisfied_is_nothing_together(pool):
    found = answer(pool, "blue7", "teal8", "grey8", "blue6")
    assert (found.satisfaction, found.preservation, found.harmonic_mean) == (0.0, 1.0, 0.0)


def test_every_request_so_far_counts_and_its_groups_are_no_longer_compared(pool):
    wants = {**RED, "sleeves": frozenset({"elbow", "long"})}
    found = answer(pool, "red8", "red7", "red5", "teal8", "blue7", wants=wants)
    # Two are red with longer sleeves; of the other seven, red7 shares 7 and red5 5; shown: 7, 7, 5, 7, 6.
    assert found.possible == 2 and found.satisfaction == 1.0
    assert (found.shared, found.most_shared) == (pytest.approx(6.4), 6.0)


def test_used_images_could_not_be_shown_again(pool):
    found = answer(pool, "red7", "blue7", "teal8", "blue6", "grey8", used=("ref", "red8"))
    assert found.possible == 2 and found.satisfaction == 0.5
    assert found.most_shared == pytest.approx(6.0) and found.exact_targets == 0


def test_the_rank_of_an_exact_target(pool):
    assert answer(pool, "blue7", "red8", "teal8").exact_rank == 2
    missed = answer(pool, "blue7", "teal8")
    assert missed.exact_targets == 1 and missed.exact_rank is None
    # "with sleeves": either of two images satisfies and shares all else; the first of them counts.
    either = Pool({**TRUTH, "elbow": garment(sleeves="elbow"), "long": garment(sleeves="long")})
    found = judge(result("red8", "long", "elbow"), IN_RED, "ref", {"sleeves": frozenset({"elbow", "long"})}, ("ref",),
                  either)
    assert (found.exact_targets, found.exact_rank) == (2, 2)


def test_means_over_requests(pool):
    some = [answer(pool, "red8", "red7", "red5", "blue7", "teal8"), answer(pool, "blue7", "teal8", "red8")]
    found = figures(some, seed=1)
    # Satisfaction 1 and 1/3; exact target at rank 1 and 3.
    assert found.count == found.exact_count == 2
    assert found.measures["satisfaction@5"].value == pytest.approx(2 / 3)
    assert found.measures["satisfaction@5"].low <= 2 / 3 <= found.measures["satisfaction@5"].high
    assert (found.exact["R@1"].value, found.exact["R@10"].value) == (0.5, 1.0)
    none = figures([], seed=1)
    assert (none.count, none.measures, none.exact) == (0, {}, {})


def test_what_the_gallery_can_give(pool):
    tighter = Request("tighter", "comparative", ("fit",), {"fit": frozenset({"slim"})})
    both = {"colour": frozenset({"teal", "red"}), "fit": frozenset({"slim"})}
    asked = RequestSet("measured", 1, (
        ReferenceRequest("ref", IN_RED), ReferenceRequest("red8", tighter),
        ReferenceRequest("ref", Request("both", "double", ("colour", "fit"), both)),
    ), ())
    limits = gallery_limits(asked, pool)
    # "in red" for ref: red8 shares all 8. "tighter" for red8: blue7 shares 7, of red5 6. Two groups do not count.
    assert (limits.count, limits.nearest, limits.exact) == (2, 7.5, 0.5)
    assert limits.nearest_by_group == {"colour": 8.0, "fit": 7.0}
    assert limits.nearest_by_kind == {"single": 8.0, "comparative": 7.0}


def test_the_person_picks_what_satisfies_most_and_then_what_is_most_alike(pool):
    long = Request("longer sleeves", "comparative", ("sleeves",), {"sleeves": frozenset({"elbow", "long"})})
    wants = {**RED, **long.wants}

    def picked(*shown):
        return pick(shown, "ref", [IN_RED, long], wants, pool)

    assert picked("blue7", "red8", "red5", "red7") == "red7"   # both requests; 7 of 7 against 5
    assert picked("blue6", "teal8", "blue7") == "teal8"        # none satisfies
    assert picked("blue6", "red8", "teal8") == "red8"          # one of two requests
    assert picked("grey8", "teal8") == "grey8"                 # as good: the first
    # "in teal" takes "in red" back, which then no longer counts.
    teal = Request("in teal", "single", ("colour",), {"colour": frozenset({"teal"})})
    assert pick(("red8", "teal8"), "ref", [IN_RED, teal], teal.wants, pool) == "teal8"


@dataclass
class ScriptedSearcher:
    """Shows what is scripted, and remembers what it was asked."""

    script: list
    asked: list = field(default_factory=list)

    def gallery_reference(self, image_id):
        return image_id

    def turn(self, reference, text, settings, *, previous=None, k):
        assert settings.exclude == "history" and k == 10
        self.asked.append((reference, text, previous.references if previous else ()))
        return result(*self.script[len(self.asked) - 1])


def test_a_session_goes_on_from_the_pick_and_skips_what_nothing_can_satisfy(pool, monkeypatch):
    requests = {
        1: IN_RED, 2: None, 3: Request("longer sleeves", "comparative", ("sleeves",), {"sleeves": frozenset({"long"})}),
        4: Request("in blue", "single", ("colour",), {"colour": frozenset({"blue"})}),
    }
    seen = []

    def scripted(session, turn, reference_id, wants, used, pool, purpose):
        seen.append((turn, reference_id, {group: set(values) for group, values in wants.items()}, used))
        return requests[turn]

    monkeypatch.setattr(module, "next_request", scripted)
    pool = Pool({**TRUTH, "blue8": garment(sleeves="long")})
    searcher = ScriptedSearcher([("blue7", "red8", "red7"), ("teal8", "red5", "red7"), ("grey8", "blue6")])
    plan = SessionPlan("ref", (PlannedRequest("single", ("colour",)),) * 4, "s")
    first, second, third, fourth = run_session(plan, "measured", MethodSettings(exclude="history"), pool, searcher)
    assert second is None
    assert [(one.text, one.reference_id) for one in (first, third, fourth)] == [
        ("in red", "ref"), ("longer sleeves", "red8"), ("in blue", "red7")]
    assert searcher.asked == [("ref", "in red", ()), ("red8", "longer sleeves", ("ref",)),
                              ("red7", "in blue", ("ref", "red8"))]
    assert seen == [
        (1, "ref", {}, ("ref",)), (2, "red8", {"colour": {"red"}}, ("ref", "red8")),
        (3, "red8", {"colour": {"red"}}, ("ref", "red8")),
        (4, "red7", {"colour": {"red"}, "sleeves": {"long"}}, ("ref", "red8", "red7")),
    ]
    # Turn 3: red7 and red5 are red with long sleeves, both shown. Turn 4: red is taken back, long sleeves are not, and
    # blue8, which has them, is not shown.
    assert (first.satisfaction, third.satisfaction) == (pytest.approx(2 / 3), 1.0)
    assert fourth.wants == {"colour": ("blue",), "sleeves": ("long",)}
    assert (fourth.possible, fourth.satisfaction) == (1, 0.0)


# --- over a gallery ----------------------------------------------------------------------------


@pytest.fixture
def gallery(tmp_path):
    return colour_gallery(tmp_path, steps=3)


@pytest.fixture
def truth(gallery):
    """The colours of the images that are red, blue or neither."""
    def of(image_id):
        red, _, blue = image_id[1], image_id[3], image_id[5]
        return garment(colour="red" if red > blue else "blue" if blue > red else "grey",
                       sleeves="long" if "g2" in image_id else "short")

    return {image_id: of(image_id) for image_id in gallery.ids}


def method(name, **settings):
    return Method(name, name.title(), "", MethodSettings(**settings))


TEXT = method("text-only", base="text-only", history="latest")


def test_a_method_that_follows_the_words_satisfies_them(gallery, truth):
    asked = RequestSet("measured", 1, (ReferenceRequest("r0g0b2", IN_RED),), ())
    report = evaluate_requests(gallery, truth, FakeEncoder(), ScriptedLanguageModel(), [TEXT, method("image-only",
                               base="image-only")], seed=1, asked=asked)
    text, image = report.scores
    assert text.overall.measures["satisfaction@5"].value == 1.0
    assert image.overall.measures["satisfaction@5"].value < 1.0
    assert list(text.by_kind) == ["single"] and list(text.by_group) == ["colour"] and text.turns == ()
    assert text.protocol.digest != image.protocol.digest and report.digest in text.protocol.scope
    assert "r0g0b2" not in image.answers[0].shown  # the reference is left out


def test_methods_that_cannot_run_are_left_out_with_the_reason(gallery, truth):
    asked = RequestSet("measured", 1, (ReferenceRequest("r0g0b2", IN_RED),), ())
    language = ReplayingLanguageModel({"merge": [LanguageModelError("No language model is connected.")]})
    report = evaluate_requests(gallery, truth, FakeEncoder(), language,
                               [TEXT, method("joint", base="joint"), method("cirevl")], seed=1, asked=asked)
    assert [one.method for one in report.scores] == ["text-only"]
    assert "does not compose" in report.skipped["joint"]
    assert "No language model is connected." in report.skipped["cirevl"]


def test_a_drawn_set_gives_the_same_report_again(gallery, truth):
    asked = make_request_set(truth, seed=5, requests=16, sessions=8)
    first, again = (
        evaluate_requests(gallery, truth, FakeEncoder(), ScriptedLanguageModel(), [TEXT], seed=5, asked=asked, limit=6)
        for _ in range(2)
    )
    assert first == again and first.requests == 6 and len(first.scores[0].turns) == 4
    scores = first.scores[0]
    assert [one.count + left for one, left in zip(scores.turns, scores.skipped, strict=True)] == [first.sessions] * 4
    assert sum(one.count for one in scores.by_kind.values()) == 6


def test_texts_are_encoded_once_for_all_methods(gallery, truth, monkeypatch):
    made = []

    class Counting(FakeEncoder):
        def encode_texts(self, texts):
            made.extend(texts)
            return super().encode_texts(texts)

    asked = RequestSet("measured", 1, (ReferenceRequest("r0g0b2", IN_RED), ReferenceRequest("r0g1b2", IN_RED)), ())
    evaluate_requests(gallery, truth, Counting(), ScriptedLanguageModel(), [TEXT, method("other", base="text-only")],
                      seed=1, asked=asked)
    assert made.count("in red") == 1


def test_a_gallery_without_ground_truth_is_a_sentence(gallery, truth, tmp_path):
    del truth["r0g0b2"]
    with pytest.raises(DatasetError, match="no ground truth of 1 images"):
        evaluate_requests(gallery, truth, FakeEncoder(), ScriptedLanguageModel(), [TEXT], seed=1)
    small = colour_gallery(tmp_path, steps=2)
    same = {image_id: garment() for image_id in small.ids}
    with pytest.raises(DatasetError, match="Use a larger gallery"):
        evaluate_requests(small, same, FakeEncoder(), ScriptedLanguageModel(), [TEXT], seed=1)


def test_the_truth_of_tuning_is_never_that_of_the_measure(tmp_path):
    folder = tmp_path / "ground_truth"
    folder.mkdir()
    for split in ("train", "val", "test"):
        line = f'{{"id": "{split}1", "attributes": {{"colour": "red"}}}}\n'
        (folder / f"attributes.{split}.jsonl").write_text(line, "utf-8")
    assert set(read_truth(tmp_path)) == {"test1"}
    assert set(read_truth(tmp_path, "tuning")) == {"val1", "train1"}
    (folder / "attributes.train.jsonl").unlink()
    assert set(read_truth(tmp_path, "tuning")) == {"val1"}
