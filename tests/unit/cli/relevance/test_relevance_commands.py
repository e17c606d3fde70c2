"""``cirque relevance index`` and ``show``, with a network of random weights."""

import pytest
from typer.testing import CliRunner

from cir_core.errors import GalleryError, RelevanceUnavailable
from cir_core.relevance.checkpoint import load_checkpoint
from cir_core.settings import get_settings
from cli.main import app
from tests.fakes.colour_relevance import random_relevance
from tests.fakes.colours import NAME, colour_gallery
from tests.fakes.databases import use_home


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return random_relevance(tmp_path_factory.mktemp("relevance") / "model")


@pytest.fixture
def run(tmp_path, monkeypatch, model):
    use_home(monkeypatch, tmp_path / "home")
    monkeypatch.setenv("CIRQUE_RELEVANCE", str(model))
    get_settings.cache_clear()
    yield lambda *words: CliRunner().invoke(app, ["relevance", *words], env={"COLUMNS": "200"})
    get_settings.cache_clear()


def test_features_are_made_once_and_the_command_says_what_it_did(run, tmp_path, model):
    colour_gallery(tmp_path, steps=2, edge=32)
    first = run("index", NAME)
    assert first.exit_code == 0, first.output
    revision = load_checkpoint(model).revision
    assert f"features of 8 images under relevance model {revision}" in first.output
    assert "8 made, 0 reused, 0 skipped" in first.output
    assert "0 made, 8 reused, 0 skipped" in run("index", NAME, "--relevance", str(model)).output


def test_what_cannot_be_indexed_is_said(run, tmp_path):
    assert isinstance(run("index", "nowhere").exception, GalleryError)
    colour_gallery(tmp_path, steps=2)
    refused = run("index", NAME, "--relevance", "off")
    assert isinstance(refused.exception, RelevanceUnavailable) and "CIRQUE_RELEVANCE" in str(refused.exception)


def test_the_card_of_a_model(run, model):
    card = run("show")
    assert card.exit_code == 0, card.output
    for said in (load_checkpoint(model).revision, "atelier", "CIRQRS, eq. 1", "sample", "R@10 0.125", "0.07"):
        assert said in card.output
    assert isinstance(run("show", "off").exception, RelevanceUnavailable)
    assert isinstance(run("show", str(model.parent)).exception, RelevanceUnavailable)
