"""Sessions with a simulated person, on colours: every step can be followed by eye."""

import random

import pytest

from cir_core import evaluate_sample
from cir_core.datasets.fashioniq import FashionIQQuery
from cir_core.search import Searcher
from tests.fakes.colours import colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ScriptedLanguageModel

REFERENCE, TARGET = "r0g3b0", "r3g0b0"
QUERY = FashionIQQuery(REFERENCE, TARGET, ("green",), "dress")  # no help: the target is red


@pytest.fixture
def searcher(tmp_path, monkeypatch):
    # What the person says from turn 2 on, whatever was picked.
    monkeypatch.setattr(evaluate_sample, "relative_captions", lambda picked, target, rng: ["red", "red"])
    return Searcher(colour_gallery(tmp_path), FakeEncoder(), ScriptedLanguageModel(""))


def session(searcher, max_turns=4):
    everything = {image_id: {} for image_id in searcher.gallery.ids}
    return evaluate_sample._session(searcher, QUERY, everything, random.Random(0), max_turns)


def test_turns_lead_to_the_target_and_the_first_hit_ends_the_session(searcher):
    ranks = session(searcher)
    assert len(ranks) > 1 and ranks[0] > 10 and ranks[-1] < ranks[0]
    assert all(rank > 10 for rank in ranks[:-1])


def test_a_session_stops_after_its_last_turn(searcher):
    assert len(session(searcher, max_turns=1)) == 1
    assert session(searcher, max_turns=2) == session(searcher)[:2]


def test_nothing_left_to_say_ends_it(searcher, monkeypatch):
    monkeypatch.setattr(evaluate_sample, "relative_captions", lambda picked, target, rng: [])
    assert len(session(searcher)) == 1


def test_the_person_takes_the_shown_image_closest_to_the_target_and_none_twice(searcher):
    hits = searcher.index.search(searcher.features_of(["r3g3b0"])[0], 10)
    shown = [hit.image_id for hit in hits]
    likeness = dict(zip(shown, searcher.features_of(shown) @ searcher.features_of([TARGET])[0], strict=True))
    best = evaluate_sample._closest(searcher, hits, TARGET, ())
    assert likeness[best] == max(likeness.values())
    assert evaluate_sample._closest(searcher, hits, TARGET, (best,)) not in (best, None)
    assert evaluate_sample._closest(searcher, hits, TARGET, shown) is None
