"""What language models are told that the images show: the same by evaluation and audit."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from cir_core.settings import get_settings
from cli.main import app
from tests.fakes.colours import colour_gallery
from tests.fakes.databases import use_home
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ScriptedLanguageModel

pytestmark = pytest.mark.sqlite   # nothing here is kept in a database


@pytest.fixture
def told(tmp_path, monkeypatch):
    """The domains that a command's language model hears of."""
    gallery = colour_gallery(tmp_path, steps=2)
    use_home(monkeypatch, tmp_path / "home")
    monkeypatch.setenv("CIRQUE_DOMAIN", "toptee")
    for module in ("answers", "audit"):
        monkeypatch.setattr(f"cli.evaluate.{module}.open_encoder", lambda spec: FakeEncoder())

    def annotations(dataset):
        root = tmp_path / dataset
        candidates = [{"did": image_id, "img_path": f"{image_id}.png"} for image_id in gallery.ids]
        query = {"qid": "1", "query_txt": "red", "query_img_path": "r0g1b0.png", "query_modality": "image,text",
                 "pos_cand_list": ["r1g0b0"]}
        for name, lines in ((f"query/test/mbeir_{dataset}_task7_test.jsonl", [query]),
                            (f"cand_pool/mbeir_{dataset}_task7_cand_pool.jsonl", candidates)):
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return root

    def run(command, dataset, *more):
        get_settings.cache_clear()
        language = ScriptedLanguageModel("green")
        monkeypatch.setattr("cir_core.language.builtin.BuiltinLanguageModel", lambda encoder: language)
        methods = {"evaluate": "--methods", "audit": "--retrievers"}[command]
        result = CliRunner().invoke(app, [command, "mbeir", "--annotations", str(annotations(dataset)), methods,
                                          "cirevl", "--gallery", "colours", *more])
        assert result.exit_code == 0, (result.output, result.exception)
        return {task.domain for task in language.asked}

    yield run
    get_settings.cache_clear()


@pytest.mark.parametrize("command", ["evaluate", "audit"])
def test_the_data_set_then_the_settings_unless_told_otherwise(told, command):
    assert told(command, "cirr") == {"scene"}
    assert told(command, "circo") == {"circo"}
    assert told(command, "mine") == {"toptee"}
    assert told(command, "cirr", "--domain", "dress") == {"dress"}


def test_sessions_too(told, tmp_path, monkeypatch):
    language = ScriptedLanguageModel("green")
    told("evaluate", "cirr")
    monkeypatch.setattr("cir_core.language.builtin.BuiltinLanguageModel", lambda encoder: language)
    for subset, more, expected in (("cirr_val", (), "scene"), ("mine_val", (), "toptee"),
                                   ("cirr_val", ("--domain", "dress"), "dress")):
        path = tmp_path / "sessions.json"
        path.write_text(json.dumps([{
            "session_id": "s", "subset": subset, "ground_truth_ids": ["r1g0b0"],
            "turns": [{"turn": 1, "reference_image_id": "r0g1b0", "relative_caption": "red"}]}]))
        language.asked.clear()
        result = CliRunner().invoke(app, ["evaluate", "circled", "--annotations", str(path), "--methods", "cirevl",
                                          "--gallery", "colours", *more])
        assert result.exit_code == 0, (result.output, result.exception)
        assert {task.domain for task in language.asked} == {expected}
