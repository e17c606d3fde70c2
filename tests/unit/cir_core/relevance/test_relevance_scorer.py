"""Scores over a gallery, with and without stored features."""

import numpy as np
import pytest

from cir_core.errors import UnknownImage
from cir_core.relevance import scorer as scorer_module
from cir_core.relevance.scorer import RelevanceScorer
from cir_core.relevance.store import index_features
from tests.fakes.relevance import gallery_of, noise, random_model, write_photos


@pytest.fixture
def gallery(tmp_path):
    return gallery_of(write_photos(tmp_path / "photos", 7), tmp_path / "home")


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
