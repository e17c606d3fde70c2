"""``cirque evaluate requests`` over a small sample gallery, drawn and indexed."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from cir_core.gallery.gallery import open_gallery
from cir_core.sample.evaluate_requests import read_truth
from cir_core.sample.gallery import sample_folder
from cir_core.sample.request_set import make_request_set
from cir_core.settings import get_settings
from cli.main import app
from tests.fakes import drawn
from tests.fakes.databases import use_home

pytestmark = pytest.mark.sqlite   # nothing here is kept in a database

LIMIT = 16


@pytest.fixture(scope="module")
def sample_home(tmp_path_factory):
    return drawn.home(tmp_path_factory.mktemp("home"), 90, at="samples/atelier")


@pytest.fixture
def cirque(sample_home, monkeypatch):
    def run(*arguments):
        use_home(monkeypatch, sample_home)
        monkeypatch.setenv("COLUMNS", "200")
        get_settings.cache_clear()
        return CliRunner().invoke(app, ["evaluate", *map(str, arguments)])

    yield run
    get_settings.cache_clear()


def test_figures_are_printed_and_every_request_is_in_the_file(cirque, sample_home, tmp_path):
    path = tmp_path / "requests.json"
    found = cirque("requests", "--methods", "text-only,image-only,joint", "--limit", LIMIT, "--seed", 3, "--json", path)
    assert found.exit_code == 0, found.output
    report = json.loads(path.read_text("utf-8"))
    assert (report["requests"], report["sessions"], report["seed"]) == (LIMIT, LIMIT, 3)
    text, image = report["scores"]
    assert list(report["skipped"]) == ["joint"] and "does not compose" in found.output
    for scores in (text, image):
        asked = [turn["count"] + left for turn, left in zip(scores["turns"], scores["skipped"], strict=True)]
        assert asked == [LIMIT] * 4
        share = scores["overall"]["measures"]["satisfaction@5"]
        mean = sum(one["satisfaction"] for one in scores["answers"]) / LIMIT
        assert share["value"] == pytest.approx(mean) and share["low"] <= mean <= share["high"]
        printed = [float(number) for number in re.findall(r"(\d+\.\d\d)\s", found.output)]
        assert any(abs(number - 100 * share["value"]) <= 0.0051 for number in printed)
        assert scores["protocol"]["digest"] in found.output
    # The words alone satisfy, the picture alone is what was there before.
    of_text, of_image = (scores["overall"]["measures"] for scores in (text, image))
    assert of_text["satisfaction@5"]["value"] > of_image["satisfaction@5"]["value"]
    assert of_text["preservation@5"]["value"] < of_image["preservation@5"]["value"]
    truth = read_truth(sample_folder(sample_home))
    in_gallery = {image_id: truth[image_id] for image_id in open_gallery("atelier", home=sample_home).ids}
    asked = make_request_set(in_gallery, seed=3).first(LIMIT)
    assert report["digest"] == asked.digest
    assert [one["text"] for one in text["answers"]] == [one.request.text for one in asked.requests]
    for group, wanted in text["answers"][0]["wants"].items():
        assert set(wanted) == asked.requests[0].request.wants[group]
    assert "By kind of request" in found.output and "turn 4" in found.output


def test_requests_are_part_of_the_sample_benchmark(cirque, tmp_path):
    path = tmp_path / "sample.json"
    found = cirque("sample", "--methods", "text-only", "--limit", 4, "--no-sessions", "--json", path)
    assert found.exit_code == 0, found.output
    report = json.loads(path.read_text("utf-8"))
    assert report["requests"]["requests"] == 4 and len(report["requests"]["scores"][0]["answers"]) == 4
    assert "satisfaction@5" in found.output and "R@50" in found.output
    without = cirque("sample", "--methods", "text-only", "--limit", 4, "--no-sessions", "--no-requests", "--json", path)
    assert "satisfaction@5" not in without.output and json.loads(path.read_text("utf-8"))["requests"] is None


def test_an_unknown_method_is_a_sentence(cirque):
    found = cirque("requests", "--methods", "sfot")
    assert found.exit_code != 0 and "No method 'sfot'" in str(found.exception)
