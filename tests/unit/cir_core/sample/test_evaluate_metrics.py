"""Result sets and their metrics, on a gallery of plain colours and garments of a few attributes."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from cir_core.datasets.records import BenchmarkQuery
from cir_core.errors import DatasetError
from cir_core.sample.evaluate_metrics import (
    ResultSets,
    build_sets,
    grade,
    metric_values,
    relevance_values,
    request_share,
    target_share,
)
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import SilentLanguageModel

TARGET = {"category": "dress", "colour": "red", "fit": "slim", "trim": "none"}
TRUTH = {"target": TARGET, "near": {**TARGET, "fit": "loose"},
         "far": {"category": "shirt", "colour": "blue", "fit": "loose", "trim": "none"}}
LISTS = ((("r3g0b0", "r1g0b0"), ("r0g0b0", "r3g0b0")), (("r2g0b0", "r0g3b0"), ("r2g0b0", "r0g3b0")))


@pytest.fixture
def sets(gallery):
    queries = tuple(BenchmarkQuery(f"dress:{number}", reference, text, ("r3g0b0",), pool="dress")
                    for number, (reference, text) in enumerate([("r0g0b3", "red"), ("r0g3b0", "redder")]))
    return ResultSets(
        gallery.digest, "0" * 16, queries, ("one", "two"), {"one": "a", "two": "b"}, LISTS,
        {"target": np.array([[0.5, 0.25], [0.75, 0.75]])}, {"target": 0.5}, np.array([[1, 6], [10, 11]]),
        {"CLIP similarity, reference alone": np.ones((2, 2))}, {})


class Redness:
    """A relevance of a third for each step of red, plus one if "redder" is asked."""

    def __init__(self, gallery):
        self.gallery, self.model, self.rows = gallery, SimpleNamespace(encode_queries=self._encode), 0

    def _encode(self, images, texts):
        assert len(images) == len(texts) == 2   # a batch
        return np.array([[float(text == "redder")] for text in texts], np.float32)

    def scores_of(self, query, rows):
        self.rows += len(rows)
        return np.array([int(self.gallery.ids[row][1]) / 3 + query[0] for row in rows], np.float32)


def test_nearness_is_the_mean_share_of_the_targets_attributes():
    query = BenchmarkQuery("q", "far", "", ("target",))
    assert target_share(TRUTH, ["target"], query) == 1
    assert target_share(TRUTH, ["near"], query) == 0.75
    assert target_share(TRUTH, ["target", "near", "far", "far"], query) == pytest.approx((4 + 3 + 1 + 1) / 16)


def test_what_was_asked_counts_three_times_what_stays():
    # From near to target the fit becomes slim; category, colour and trim stay.
    query = BenchmarkQuery("q", "near", "slimmer", ("target",))
    assert request_share(TRUTH, ["target"], query) == 1
    assert request_share(TRUTH, ["near"], query) == 0.25           # unchanged; 0.75 by nearness
    assert target_share(TRUTH, ["near"], query) == 0.75
    assert request_share(TRUTH, ["far"], query) == pytest.approx(0.25 / 3)
    slim = {"slim": {**TRUTH["far"], "fit": "slim"}, **TRUTH}      # all that was asked, one of three that should stay
    assert request_share(slim, ["slim"], query) == pytest.approx(0.75 + 0.25 / 3)
    assert request_share(slim, ["slim", "near"], query) == pytest.approx((0.75 + 0.25 / 3 + 0.25) / 2)


@pytest.mark.parametrize(("group", "value", "before", "asked", "expected"), [
    ("sleeves", "long", "short", "long", 1), ("sleeves", "elbow", "short", "long", 0.5),
    ("sleeves", "short", "elbow", "long", 0), ("sleeves", "elbow", "elbow", "long", 0),
    ("sleeves", "none", "short", "long", 0), ("pattern", "dots", "plain", "stripes", 0),
    ("colour", "blue", "red", "green", 0)])
def test_a_step_in_the_direction_that_was_asked_counts_half(group, value, before, asked, expected):
    assert grade(group, value, before, asked) == expected


def test_recall_and_rank_are_of_the_target(sets):
    found = metric_values(sets)
    assert found["Recall@5"].tolist() == [[1, 0], [0, 0]] and found["Recall@10"].tolist() == [[1, 1], [1, 0]]
    assert found["reciprocal rank"] == pytest.approx(np.array([[1, 1 / 6], [1 / 10, 1 / 11]]))
    assert (found["CLIP similarity, reference alone"] == 1).all()


def test_cirqrs_is_the_mean_of_a_set_and_each_image_is_scored_once(sets, gallery):
    scorer, steps = Redness(gallery), []
    found = relevance_values(pickle.loads(pickle.dumps(sets)), scorer, lambda *step: steps.append(step))
    # (3 + 1) / 6 and 3 / 6; 1 + 2 / 6 twice.
    assert found == pytest.approx(np.array([[4 / 6, 3 / 6], [8 / 6, 8 / 6]]))
    assert scorer.rows == 3 + 2 and steps == [(1, 2), (2, 2)]


def test_sets_of_another_gallery_are_refused(sets, gallery, tmp_path):
    other = SimpleNamespace(digest="f" * 16)
    with pytest.raises(DatasetError, match="another version"):
        relevance_values(sets, SimpleNamespace(gallery=other))
    with pytest.raises(DatasetError, match="cirque sample build"):
        build_sets(gallery, tmp_path, FakeEncoder(), SilentLanguageModel(), [])
