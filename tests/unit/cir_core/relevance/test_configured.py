"""The setting CIRQUE_RELEVANCE: what it names, when a model is loaded, and features stored meanwhile."""

import json
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from cir_core.errors import RelevanceUnavailable
from cir_core.methods.relevance import Relevance
from cir_core.relevance.checkpoint import read_card
from cir_core.relevance.configured import configured_model, configured_scorer, problem_of
from cir_core.relevance.store import index_features
from cir_core.relevance.training.presets import preset_of
from cir_core.relevance.where import WEIGHTS_FILE, bundled_relevance_dir, folder_of, has_files
from cir_core.search.searcher import Searcher
from cir_core.types.methods import MethodSettings
from tests.fakes.colour_relevance import random_relevance
from tests.fakes.colours import colour_gallery
from tests.fakes.databases import settings_of
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import SilentLanguageModel


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return random_relevance(tmp_path_factory.mktemp("relevance") / "model")


@pytest.fixture
def settings(tmp_path, folder):
    return settings_of(tmp_path / "home", relevance=str(folder))


def test_what_the_setting_names(tmp_path, folder):
    assert folder_of("bundled") == bundled_relevance_dir() and folder_of(f" {folder} ") == folder
    assert has_files(str(folder)) and not has_files("off") and not has_files("") and not has_files(str(tmp_path))
    (tmp_path / "relevance.json").write_text("{}")
    assert not has_files(str(tmp_path)), "a card without weights"
    with pytest.raises(RelevanceUnavailable, match="CIRQUE_RELEVANCE"):
        folder_of("off")


def test_off_is_said_without_a_path(tmp_path):
    for spec in ("off", str(tmp_path / "nowhere")):
        settings = settings_of(tmp_path / "home", relevance=spec)
        assert "CIRQUE_RELEVANCE" in problem_of(settings) and str(tmp_path) not in problem_of(settings)
        with pytest.raises(RelevanceUnavailable, match="Needs a relevance model"):
            configured_model(settings)


def test_a_gallery_is_scored_with_features_that_are_stored_meanwhile(tmp_path, settings):
    gallery = colour_gallery(tmp_path, steps=2, edge=32)
    before = configured_scorer(gallery, settings)
    assert not before.complete and configured_scorer(gallery, settings) is before
    assert before.revision == configured_model(settings).identity.revision
    assert (before.size, before.gallery_name) == (8, "colours")
    query = before.query(Image.new("RGB", (32, 32), (0, 255, 0)), "red")
    on_demand = before.all_scores(query)
    index_features(gallery, configured_model(settings))
    after = configured_scorer(gallery, settings)
    assert after.complete and after is not before and configured_scorer(gallery, settings) is after
    np.testing.assert_allclose(after.all_scores(query), on_demand, atol=2e-3)


def test_a_real_network_ranks_a_gallery_as_its_scores_say(tmp_path, settings):
    gallery = colour_gallery(tmp_path, steps=2, edge=32)
    searcher = Searcher(gallery, FakeEncoder(), SilentLanguageModel(),
                        relevance=lambda one: configured_scorer(one, settings))
    method = MethodSettings("slerp", exclude="none").with_parts({"relevance": Relevance("gallery")})
    found = searcher.turn(searcher.gallery_reference("r0g1b0"), "red", method, k=8)
    scorer = configured_scorer(gallery, settings)
    scores = scorer.all_scores(scorer.query(gallery.load_for_encoder("r0g1b0"), "red"))
    assert [gallery.row_of(hit.image_id) for hit in found.hits] == np.argsort(-scores, kind="stable").tolist()
    assert [hit.score for hit in found.hits] == pytest.approx(sorted(scores.tolist(), reverse=True), abs=1e-6)


def test_importing_it_imports_no_torch():
    code = ("import sys, json; import cir_core.relevance.configured, cir_core.methods.steps, cir_core.search.searcher; "
            "print(json.dumps('torch' in sys.modules))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) is False


def test_the_bundled_models_card_is_that_of_its_training():
    folder = bundled_relevance_dir()
    card, text = read_card(folder), (folder / "MODEL_CARD.md").read_text("utf-8")
    trained, size, preset = card.trained, card.size, preset_of("sample", "sample")
    assert (card.preset, trained["epochs"], trained["epochs_before"]) == ("sample", preset.epochs, preset.start)
    assert (trained["negatives"], trained["negative_count"]) == (preset.rule, preset.negatives)
    for said in (
        f"seed {trained['seed']}", f"{trained['queries']:,} queries", f"{trained['images']:,} images",
        f"{trained['queries_before']:,} queries each", f"{trained['epochs_before']} epochs of the start",
        f"{size['layers']} layers, width {size['hidden']}, {size['heads']} heads", f"{size['tokens']} query tokens",
    ):
        assert said in " ".join(text.split()), said
    assert (folder / WEIGHTS_FILE).stat().st_size < 10 * 2**20
