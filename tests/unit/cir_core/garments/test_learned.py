"""The learned reader of the bundled encoder: its record, its probabilities, and what the screen says by it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.training.learned_reader import reliability, trained
from cir_core.garments.learned import RECORD, LearnedReader, load_reader, places_of, reader_of
from cir_core.garments.lexicon import BY_KEY, GROUPS
from cir_core.garments.zero_shot import prompts
from cir_core.methods import guidance
from cir_core.methods.guidance import Aspect, Guidance, read_requests, telling, ticks
from cir_core.sample.atelier.catalogue import catalogue
from cir_core.types.composition import Composition
from tests.fakes.encoder import FakeEncoder

VALUES = sum(len(group.keys) for group in GROUPS)


def some_reader(seed=3, dim=5):
    rng = np.random.default_rng(seed)
    return LearnedReader("r", rng.normal(size=(VALUES, dim)).astype(np.float32),
                         rng.normal(size=VALUES).astype(np.float32))


def captions(group, *values, category="dress"):
    return tuple(prompts(group, value, category)[0] for value in values)


def test_the_record_is_that_of_the_bundled_encoder_and_small():
    reader = load_reader(RECORD)
    assert reader.weights.shape == (VALUES, 192) and reader.offsets.shape == (VALUES,)
    assert RECORD.stat().st_size < 200_000
    bundled = SimpleNamespace(identity=SimpleNamespace(revision=reader.revision))
    assert reader_of(bundled).digest == reader.digest and reader_of(FakeEncoder()) is None


def test_probabilities_are_the_softmax_of_each_groups_rows():
    reader, x = some_reader(), np.random.default_rng(4).normal(size=(3, 5)).astype(np.float32)
    start = 0
    for group in GROUPS:
        rows = slice(start, start := start + len(group.keys))
        expected = np.exp(x @ reader.weights[rows].T + reader.offsets[rows])
        expected /= expected.sum(axis=1, keepdims=True)
        assert np.exp(reader.scores(x)[group.key]) == pytest.approx(expected, abs=1e-5), group.key


@pytest.mark.parametrize(("wanted", "others"), [
    (("a red dress",), ("a dress in my favourite colour",)),
    (("a red dress",), ("a striped dress",)),          # of two groups
    (("a red dress",), ("a red shirt",)),              # the same value
    ((), ("a red dress",)),
    (("a red dress",), ()),
])
def test_other_captions_are_not_read(wanted, others):
    assert places_of(wanted, others) is None and some_reader().columns(wanted, others) is None


@pytest.mark.parametrize("category", ["dress", "shirt", "toptee"])
@pytest.mark.parametrize("group", ["colour", "second_colour", "pattern", "sleeves", "neckline", "trim"])
def test_captions_of_every_value_are_read(group, category):
    first, *rest = BY_KEY[group].keys
    yes, no = places_of(captions(group, first, category=category), captions(group, *rest, category=category))
    assert len(yes) == 1 and len(no) == len(rest)


def test_lengths_in_every_categorys_words_are_one_value():
    wanted = captions("length", "long") + captions("length", "long", category="toptee")
    assert [len(side) for side in places_of(wanted, captions("length", "short", "medium"))] == [1, 2]


@pytest.mark.parametrize(("p", "by_reader", "by_texts"), [
    (0.99, "yes", "yes"), (0.96, "not sure", "yes"), (0.6, "not sure", "yes"), (0.4, "not sure", "no"),
    (0.04, "not sure", "no"), (0.01, "no", "no"),
])
def test_it_may_be_unsure_and_texts_are_not(p, by_reader, by_texts):
    red = Aspect("colour", "red", captions("colour", "red"), captions("colour", "green"), turn=1)
    made = Composition(np.ones(2), ()).with_parts({"guidance": Guidance(), "aspects": (red,)})
    value = 1.6 * (guidance.FLOOR + np.log(p)) / (1 + guidance.FLOOR * 1.6)
    parts = [(("asked: red", value),)]
    assert list(ticks(made, parts)) == [[("red", by_texts)]]
    assert list(ticks(made, parts, {"red": np.array([p])})) == [[("red", by_reader)]]


def test_requests_are_read_by_the_probabilities_of_their_values(monkeypatch):
    reader, x = some_reader(), np.random.default_rng(6).normal(size=(4, 5)).astype(np.float32)
    monkeypatch.setattr(guidance, "aspect_reader", lambda encoder: reader)
    red = Aspect("colour", "red", captions("colour", "red"), captions("colour", "green", "blue"), turn=1)
    others = (replace(red, label="stays", turn=0), replace(red, label="wish", marked="more"),
              replace(red, label="free", wanted=("a thing",)))
    made = Composition(np.ones(2), ()).with_parts({"guidance": Guidance(), "aspects": (red, *others)})
    keys = BY_KEY["colour"].keys
    p = np.exp(reader.scores(x)["colour"][:, [keys.index(key) for key in ("red", "green", "blue")]].astype(np.float64))
    assert {label: pytest.approx(p[:, 0] / p.sum(axis=1)) for label in ["red"]} == read_requests(made, x, object())
    assert read_requests(None, x, object()) == {}
    monkeypatch.undo()
    assert read_requests(made, x, FakeEncoder()) == {}, "another encoder has no such reader"


def test_only_what_tells_results_apart_is_shown():
    rows = [[("red", "yes"), ("long", "yes")], [("red", "yes"), ("long", "no")], [("red", "yes"), ("long", "not sure")]]
    assert telling(rows) == {"long"} and telling([]) == telling(rows[:1]) == frozenset()


def test_training_is_deterministic_and_reads_what_can_be_told():
    """Vectors that tell every value: a one for each, and noise."""
    garments = catalogue(5, {"train": 200})
    rows = np.concatenate([np.eye(len(group.keys))[[group.keys.index(one.attributes[group.key]) for one in garments]]
                           for group in GROUPS], axis=1)
    features = (rows + np.random.default_rng(1).normal(0, 0.1, rows.shape)).astype(np.float32)
    held_out = np.arange(200) % 4 == 0
    made, calibration = trained("r", features, garments, held_out)
    again, _ = trained("r", features, garments, held_out)
    assert made.digest == again.digest != some_reader().digest
    right = [read == dict(one.attributes) for read, one in zip(made.predict(features), garments, strict=True)]
    assert np.mean(right) > 0.9
    assert sum(one.count for one in calibration) == 50 * VALUES


def test_reliability_counts_by_tenths():
    found = reliability(np.array([0.05, 0.95, 0.97, 1.0]), np.array([False, True, False, True]))
    assert [(one.low, one.count, one.true) for one in found] == [(0.0, 1, 0.0), (0.9, 3, pytest.approx(2 / 3))]
