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


WRITTEN = """
[[request]]
class = "colour"
reference = {colour = "!black"}
text = "in black"
wants = {colour = "black"}
[[request]]
class = "vague"
text = "for the office"
expect = "choices"
[[request]]
class = "nowhere"
reference = {category = "shirt"}
text = "a belt"
wants = {category = "shirt", trim = "belt"}
[[dialogue]]
reference = {sleeves = "!long"}
[[dialogue.turn]]
text = "with long sleeves"
wants = {sleeves = "long"}
[[dialogue.turn]]
text = "and blurgh"
wants = {sleeves = "long"}
"""


def test_requests_of_a_file_by_class_and_turn_with_what_failed(cirque, tmp_path):
    ours, path = tmp_path / "ours.toml", tmp_path / "requests.json"
    ours.write_text(WRITTEN, "utf-8")
    found = cirque("requests", "--file", ours, "--methods", "guided,text-only", "--references", 2, "--json", path,
                   "--failures", "--tables", tmp_path / "tables")
    assert found.exit_code == 0, found.output
    report = json.loads(path.read_text("utf-8"))
    assert (report["file"], report["requests"], report["dialogues"], report["asked"]) == ("ours.toml", 3, 1, 6)
    [without] = report["without"]
    assert without in found.output and "no image has what it wants" in without   # a shirt has no belt here
    guided, text = report["scores"]
    assert list(guided["by_class"]) == ["colour", "vague"] and len(guided["turns"]) == 2
    mean = sum(one["satisfaction"] for one in guided["answers"] if one["name"] == "colour") / 2
    assert guided["overall"]["measures"]["satisfaction@5"]["value"] == pytest.approx(mean)
    assert guided["by_class"]["vague"]["measures"]["as expected"]["value"] == 1.0
    assert (guided["overall"]["silent"], text["overall"]["silent"]) == (0, None)
    of_file = json.loads((tmp_path / "tables" / "requests-by-class.json").read_text("utf-8"))
    assert [row["class"] for row in of_file["rows"]] == ["colour", "vague", "all"] * 2
    failed = json.loads((tmp_path / "tables" / "requests-failed.json").read_text("utf-8"))["rows"]
    wrong = [one for scores in report["scores"] for one in scores["answers"]
             if ((one["satisfaction"] or 0) < 1 and one["wants"]) or one["as_expected"] is False or one["silent"]]
    assert [(row["where"], row["turn"]) for row in failed] == [(one["where"], one["turn"]) for one in wrong]


def test_options_of_a_file_need_one(cirque, tmp_path):
    assert "requests of your own" in cirque("requests", "--failures").output
    assert "requests of your own" in cirque("requests", "--references", 2).output
    found = cirque("requests", "--file", tmp_path / "none.toml")
    assert found.exit_code != 0 and "none.toml cannot be read" in str(found.exception)


def test_an_unknown_method_is_a_sentence(cirque):
    found = cirque("requests", "--methods", "sfot")
    assert found.exit_code != 0 and "No method 'sfot'" in str(found.exception)
