"""Candidate features on disk: made once, resumed, reused, never taken for complete when they are not."""

import json
import os
from typing import ClassVar

import numpy as np
import pytest

from cir_core.errors import GalleryError, UnknownImage
from cir_core.gallery.paths import locked
from cir_core.relevance import scorer as scorer_module
from cir_core.relevance import store
from cir_core.relevance.scorer import RelevanceScorer
from cir_core.relevance.store import FeaturesOnDemand, features_path, index_features, open_features
from tests.fakes.places import Apart
from tests.fakes.relevance import gallery_of, noise, random_model, write_photos


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(store, "_BATCH", 2)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Encodes an image once: what is checked is what becomes of its features."""
    made, known = random_model(tmp_path_factory.mktemp("model") / "model"), {}
    encode = made.encode_candidates

    def one(image):
        key = image.size, image.tobytes()
        if key not in known:
            known[key] = encode([image])
        return known[key]

    made.encode_candidates = lambda images: np.concatenate([encode([]), *map(one, images)])
    return made


@pytest.fixture
def gallery(tmp_path):
    return gallery_of(write_photos(tmp_path / "photos", 7), tmp_path / "home")


class Killed(BaseException):
    """As a signal: nothing of the run catches it."""


def kill_at(model, monkeypatch, call):
    """Kill the run at that call of the model (from 1). Returns the numbers of images of each call."""
    calls, encode = [], model.encode_candidates

    def encoded(images):
        calls.append(len(images))
        if len(calls) == call:
            raise Killed
        return encode(images)

    monkeypatch.setattr(model, "encode_candidates", encoded)
    return calls


def counts(outcome):
    return outcome.images, outcome.encoded, outcome.reused, len(outcome.skipped)


def expected(gallery, model):
    return np.concatenate([model.encode_candidates([gallery.load_for_encoder(name)]) for name in gallery.ids])


def test_an_index_holds_the_models_features(gallery, model):
    seen = []
    assert open_features(gallery, model) is None
    outcome = index_features(gallery, model, progress=lambda done, images: seen.append((done, images)))
    found = open_features(gallery, model)
    assert counts(outcome) == (7, 7, 0, 0) and seen == [(0, 7), (2, 7), (4, 7), (6, 7), (7, 7)]
    assert found.tokens.shape == (7, model.tokens, model.dim) and not found.missing
    np.testing.assert_allclose(found.tokens, expected(gallery, model), atol=2e-3)
    np.testing.assert_array_equal(found.rows([5, 0, 5]), found.tokens[[5, 0, 5]])
    stem = f"{model.identity.revision}-{gallery.generation}"
    assert {path.name for path in outcome.path.parent.iterdir()} == {f"{stem}{end}" for end in (
        ".f16", ".json", ".hashes", ".sums")} | {"lock"}


def test_a_second_run_makes_nothing(gallery, model, monkeypatch):
    before = index_features(gallery, model).path.stat()
    calls = kill_at(model, monkeypatch, 1)
    assert counts(index_features(gallery, model)) == (7, 0, 7, 0) and not calls
    assert features_path(gallery, model.identity.revision).stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize("call", [1, 2, 4])
def test_a_killed_run_is_resumed(gallery, model, monkeypatch, call):
    kill_at(model, monkeypatch, call)
    with pytest.raises(Killed):
        index_features(gallery, model)
    assert open_features(gallery, model) is None
    monkeypatch.undo()
    monkeypatch.setattr(store, "_BATCH", 2)
    done = 2 * (call - 1)
    assert counts(index_features(gallery, model)) == (7, 7 - done, done, 0)
    np.testing.assert_allclose(open_features(gallery, model).tokens, expected(gallery, model), atol=2e-3)


@pytest.mark.parametrize("damage", ["journal cut off", "journal of zeros", "journal beyond the end", "features cut off",
                                    "features gone", "rows never written", "journal gone"])
def test_damage_to_an_unfinished_run(gallery, model, monkeypatch, damage):
    kill_at(model, monkeypatch, 3)
    with pytest.raises(Killed):
        index_features(gallery, model)
    monkeypatch.undo()
    path = features_path(gallery, model.identity.revision)
    partial, journal = path.with_suffix(".partial"), path.with_suffix(".done")
    assert [line.split()[0] for line in journal.read_text().splitlines()] == ["0", "1", "2", "3"]
    if damage == "journal cut off":
        journal.write_text("0\n1\n2")      # the next line would make it 24, 25, ...
    elif damage == "journal of zeros":
        journal.write_bytes(b"0\n1\n" + b"\0" * 8)
    elif damage == "journal beyond the end":
        journal.write_text("0\n1\n7\n99999999\n-3\nx\n")
    elif damage == "features cut off":
        os.truncate(partial, 100)
    elif damage == "features gone":
        partial.unlink()
    elif damage == "rows never written":
        journal.write_text("0\n1\n2\n3\n4\n5\n6\n")
    else:
        journal.unlink()
    outcome = index_features(gallery, model)
    assert outcome.encoded == {"journal cut off": 5, "journal of zeros": 5, "journal beyond the end": 5,
                               "rows never written": 3}.get(damage, 7)
    np.testing.assert_allclose(open_features(gallery, model).tokens, expected(gallery, model), atol=2e-3)
    assert not journal.exists() and not partial.exists()


@pytest.mark.parametrize("step", ["unlink", "write_atomically", "replace", "sync_folder", "write_durably"])
def test_killed_while_it_is_published(gallery, model, monkeypatch, step):
    def kill(*_args, **_options):
        raise Killed

    publish = store._publish

    def killed(*args):
        if step in ("unlink", "replace"):
            monkeypatch.setattr(*((type(args[1]), "unlink") if step == "unlink" else (store.os, "replace")), kill)
        else:
            monkeypatch.setattr(store, step, kill)
        publish(*args)

    monkeypatch.setattr(store, "_publish", killed)
    with pytest.raises(Killed):
        index_features(gallery, model)
    monkeypatch.undo()
    assert open_features(gallery, model) is None
    assert counts(index_features(gallery, model)) == (7, 0, 7, 0)
    np.testing.assert_allclose(open_features(gallery, model).tokens, expected(gallery, model), atol=2e-3)


def test_a_new_generation_reuses_equal_bytes(tmp_path, gallery, model):
    first = index_features(gallery, model)
    before = np.array(open_features(gallery, model).tokens)
    photos = tmp_path / "photos"
    (photos / "03.png").rename(photos / "99.png")
    noise(1000).save(photos / "05.png")
    noise(1001).save(photos / "50.png")
    newer = gallery_of(photos, tmp_path / "home")
    assert newer.generation != gallery.generation and open_features(newer, model) is None
    assert counts(index_features(newer, model)) == (8, 2, 6, 0)
    found = open_features(newer, model)
    np.testing.assert_array_equal(found.rows([newer.row_of("99")]), before[[gallery.row_of("03")]])
    np.testing.assert_allclose(found.tokens, expected(newer, model), atol=2e-3)
    assert not first.path.exists() and open_features(gallery, model) is None


def test_damaged_hashes_are_not_reused(tmp_path, gallery, model):
    first = index_features(gallery, model)
    for content in (b"\xff" * 448, b"ab"):
        first.path.with_suffix(".hashes").write_bytes(content)
        first.path.with_suffix(".json").unlink()
        assert counts(index_features(gallery, model)) == (7, 7, 0, 0)


def test_other_weights_have_their_own_features(tmp_path, gallery, model):
    index_features(gallery, model)
    other = random_model(tmp_path / "other", seed=1)
    assert open_features(gallery, other) is None
    assert counts(index_features(gallery, other)) == (7, 7, 0, 0)
    assert open_features(gallery, model) is not None


def test_an_unreadable_image_is_missing_until_it_can_be_read(gallery, model, monkeypatch):
    whole = gallery.path_of("02").read_bytes()
    gallery.path_of("02").write_bytes(whole[:40])
    gallery.path_of("04").rename(gallery.path_of("04").with_suffix(".away"))
    outcome = index_features(gallery, model)
    assert counts(outcome) == (7, 5, 0, 2) and [name for name, _ in outcome.skipped] == ["02", "04"]
    found = open_features(gallery, model)
    assert found.missing == {2, 4} and not found.tokens[[2, 4]].any() and found.tokens[[0, 1, 3, 5, 6]].any(2).all()
    calls = kill_at(model, monkeypatch, 0)
    assert counts(index_features(gallery, model)) == (7, 0, 5, 2) and not calls   # as unreadable as before
    gallery.path_of("02").write_bytes(whole)
    assert counts(index_features(gallery, model)) == (7, 1, 5, 1)
    assert open_features(gallery, model).missing == {4}


@pytest.mark.parametrize("listing", [
    b"", b"{", b"[]", b"{}", b'{"missing": null}', b'{"missing": ["1"]}', b'{"missing": [7]}', b'{"missing": [-1]}',
    b'{"missing": [[1]]}', b'{"missing": [true]}', b"\xff", b"[" * 100_000,
])
def test_damaged_listings(gallery, model, listing):
    path = index_features(gallery, model).path
    path.with_suffix(".json").write_bytes(listing)
    assert open_features(gallery, model) is None
    assert counts(index_features(gallery, model)) == (7, 0, 7, 0)
    assert json.loads(path.with_suffix(".json").read_bytes())["missing"] == []


@pytest.mark.parametrize("size", [0, 100, -2, 2])
def test_features_of_another_size(gallery, model, size):
    path = index_features(gallery, model).path
    os.truncate(path, size if size in (0, 100) else path.stat().st_size + size)
    assert open_features(gallery, model) is None
    assert counts(index_features(gallery, model)) == (7, 7, 0, 0)
    assert open_features(gallery, model) is not None


def test_two_runs_at_one_time(gallery, model):
    folder = features_path(gallery, model.identity.revision).parent
    folder.mkdir()
    with locked(folder), pytest.raises(GalleryError, match="Gallery 'g' is being indexed"):
        index_features(gallery, model)


def test_features_on_demand_are_made_once_and_kept(gallery, model, monkeypatch):
    features, whole = FeaturesOnDemand(gallery, model, keep=3), expected(gallery, model)
    calls = kill_at(model, monkeypatch, 0)
    np.testing.assert_allclose(features.rows([6, 0, 6]), whole[[6, 0, 6]], atol=2e-3)
    assert calls == [2]
    np.testing.assert_allclose(features.rows([0, 1]), whole[[0, 1]], atol=2e-3)
    assert calls == [2, 1]
    # More than are kept, and still all are there.
    np.testing.assert_allclose(features.rows(range(7)), whole, atol=2e-3)
    assert len(features._known) == 3
    assert features.rows([]).shape == (0, model.tokens, model.dim)


def test_features_on_demand_of_an_unreadable_image(gallery, model):
    features, whole = FeaturesOnDemand(gallery, model), gallery.path_of("02").read_bytes()
    gallery.path_of("02").write_bytes(b"")
    assert not features.rows([2]).any() and features.rows([1, 2]).any((1, 2)).tolist() == [True, False]
    gallery.path_of("02").write_bytes(whole)
    assert features.rows([2]).any()


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("damage", ["flip", "nan", "cut", "old nan"])
def test_damaged_features_are_named_made_on_demand_and_stored_again_alone(gallery, model, damage, monkeypatch, caplog):
    path = index_features(gallery, model).path
    row = path.stat().st_size // 7
    whole, content = path.read_bytes(), bytearray(path.read_bytes())
    if damage == "flip":
        content[3 * row + 10] ^= 1
    elif damage == "cut":
        del content[-5:]
    else:
        content[3 * row:3 * row + 2] = b"\x00\x7e"
    if damage == "old nan":
        path.with_suffix(".sums").unlink()
        path.with_suffix(".json").write_text('{"missing": []}')
    path.write_bytes(content)
    [said] = store.check_features(gallery.name, gallery.folder)
    assert str(path) in said and f"cirque relevance index {gallery.name}" in said
    found = RelevanceScorer(model, gallery)
    query = found.query(noise(50), "shorter")
    true = RelevanceScorer(model, gallery)._made.rows(range(7)).astype(np.float64) @ query
    scores = true.mean(axis=1) if model.identity and found.model.card.reading == "mean" else true.max(axis=1)
    np.testing.assert_allclose(found.all_scores(query), scores, atol=2e-3)
    np.testing.assert_allclose(RelevanceScorer(model, gallery).scores_of(query, range(7)), scores, atol=2e-3)
    if damage != "cut":     # of another size: as if there were none
        assert "damaged" in caplog.text and found._stored.damaged == {3}
    calls = kill_at(model, monkeypatch, 0)
    assert counts(index_features(gallery, model)) == ((7, 7, 0, 0) if damage == "cut" else (7, 1, 6, 0))
    assert sum(calls) == (7 if damage == "cut" else 1)
    assert store.check_features(gallery.name, gallery.folder) == []
    if damage != "cut":
        kept = np.frombuffer(path.read_bytes(), np.uint8).reshape(7, -1)
        before = np.frombuffer(whole, np.uint8).reshape(7, -1)
        np.testing.assert_array_equal(np.delete(kept, 3, 0), np.delete(before, 3, 0))


@pytest.mark.parametrize("rows", [[], [0], [6], [1, 2, 5]])
def test_all_features_are_verified_at_once(gallery, model, rows):
    path = index_features(gallery, model).path
    row = path.stat().st_size // 7
    for damaged in rows:
        flip(path, damaged * row + 4)
    found = open_features(gallery, model)
    assert found.damaged == frozenset() and found.verify() == found.damaged == frozenset(rows)


def test_damaged_checksums_are_made_again(gallery, model):
    path = index_features(gallery, model).path
    flip(path.with_suffix(".sums"), 40)
    assert open_features(gallery, model) is None and store.check_features(gallery.name, gallery.folder)
    assert counts(index_features(gallery, model)) == (7, 7, 0, 0)
    assert store.check_features(gallery.name, gallery.folder) == []


def test_features_that_are_damaged_before_an_interrupted_run_resumes(gallery, model, monkeypatch):
    kill_at(model, monkeypatch, 3)
    with pytest.raises(Killed):
        index_features(gallery, model)
    monkeypatch.undo()
    flip(features_path(gallery, model.identity.revision).with_suffix(".partial"), 20)
    assert index_features(gallery, model).encoded == 4      # three that were left, and the first
    np.testing.assert_allclose(open_features(gallery, model).tokens, expected(gallery, model), atol=2e-3)


def test_damaged_hashes_are_named_and_written_again(gallery, model):
    path = index_features(gallery, model).path
    hashes = path.with_suffix(".hashes")
    sound = hashes.read_bytes()
    flip(hashes, 5)
    [problem] = store.check_features(gallery.name, gallery.folder)
    assert "hashes" in problem and "cirque relevance index" in problem
    assert index_features(gallery, model).encoded == 0 and hashes.read_bytes() == sound
    assert store.check_features(gallery.name, gallery.folder) == []


# --- the scorer, with and without stored features --------------------------------------------

@pytest.mark.parametrize("reading", ["mean", "max"])
def test_stored_and_on_demand_give_equal_scores(tmp_path, gallery, reading, monkeypatch):
    monkeypatch.setattr(scorer_module, "_BATCH", 3)
    model = random_model(tmp_path / "model", reading=reading)
    on_demand = RelevanceScorer(model, gallery)
    query = on_demand.query(noise(50), "a red dress with long sleeves")
    assert query.shape == (model.dim,) and np.linalg.norm(query) == pytest.approx(1, abs=1e-5)
    found = on_demand.all_scores(query)
    index_features(gallery, model)
    stored = RelevanceScorer(model, gallery)
    assert stored.complete and not on_demand.complete and found.dtype == np.float32
    np.testing.assert_allclose(stored.all_scores(query), found, atol=1e-3)   # half precision, other batches
    np.testing.assert_allclose(stored.scores_of(query, [6, 0, 3, 3]), found[[6, 0, 3, 3]], atol=1e-3)
    np.testing.assert_allclose(stored.scores_of(query, range(7)), stored.all_scores(query), atol=1e-6)
    tokens = model.encode_candidates([gallery.load_for_encoder(name) for name in gallery.ids])
    direct = tokens.astype(np.float64) @ query
    np.testing.assert_allclose(found, direct.mean(axis=1) if reading == "mean" else direct.max(axis=1), atol=1e-3)
    assert np.ptp(found) > 0.01      # the images do differ


@pytest.mark.parametrize("stored", [True, False])
def test_unreadable_images_rank_last(tmp_path, gallery, stored):
    gallery.path_of("02").write_bytes(b"no image")
    model = random_model(tmp_path / "model")
    if stored:
        index_features(gallery, model)
    scorer = RelevanceScorer(model, gallery)
    assert scorer.complete == stored
    query = scorer.query(noise(50), "shorter")
    for found in (scorer.all_scores(query), scorer.scores_of(query, range(7))):
        assert found[2] == -1 and np.argsort(-found)[-1] == 2 and (np.delete(found, 2) > -1).all()


def test_scores_of_sets(tmp_path, gallery):
    model = random_model(tmp_path / "model")
    scorer = RelevanceScorer(model, gallery)
    query = scorer.query(noise(50), "shorter")
    scores = scorer.all_scores(query)
    assert scorer.set_score(query, ["03", "01", "05"], 2) == pytest.approx((scores[3] + scores[1]) / 2, abs=1e-3)
    assert scorer.set_score(query, ["03"], 10) == pytest.approx(scores[3], abs=1e-3)
    assert np.isnan(scorer.set_score(query, [], 10)) and scorer.scores_of(query, []).shape == (0,)
    with pytest.raises(UnknownImage):
        scorer.set_score(query, ["none"], 10)


def test_features_made_in_parts_that_lie_apart_are_the_same(tmp_path, model):
    """Of rows 2 and 3, the second batch, one cannot be read; the first part is found by the run after a crash."""
    photos, found = write_photos(tmp_path / "photos", 7), []
    for home, places in (("here", [None]), ("apart", [Apart(lost=3), Apart()])):
        gallery = gallery_of(photos, tmp_path / home)
        for place in places:
            path = gallery.path_of(gallery.ids[2])
            content = path.read_bytes()
            path.write_bytes(b"no image")
            try:
                outcome = index_features(gallery, model, place=place, load=Given(model))
            except RuntimeError:
                continue
            finally:
                path.write_bytes(content)
            found.append((outcome.skipped, {end: outcome.path.with_suffix(end).read_bytes()
                                            for end in (".f16", ".sums", ".hashes", ".json")}))
    assert found[0] == found[1] and [name for name, _ in found[0][0]] == [gallery.ids[2]]
    assert counts(outcome) == (7, 2, 4, 1)      # of the last three of four batches, five rows, four can be read


class Given:
    """Gives ``model``, here and wherever this is sent to within the process."""

    models: ClassVar = {}

    def __init__(self, model):
        self.key = id(model)
        self.models[self.key] = model

    def __call__(self):
        return self.models[self.key]
