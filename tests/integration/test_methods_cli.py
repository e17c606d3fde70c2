"""``cirque methods`` and the choice of methods to evaluate, as a person types them."""

from __future__ import annotations

import json

import pytest
from rich.console import Console
from typer.testing import CliRunner

from cir_core.errors import MethodError
from cir_core.methods.declared import all_methods, builtin_methods
from cir_core.settings import get_settings
from cli.evaluate.evaluate import DEFAULT_METHODS
from cli.evaluate.method_options import chosen_methods
from cli.main import app
from tests.fakes.databases import use_home

MINE = """
[methods.mine]
title = "Slerp, filtered [a little]"
source = "our lab"
base = "slerp"
text_weight = 0.6
soft_filter = { weight = 0.2 }
"""


@pytest.fixture
def cirque(tmp_path, monkeypatch):
    use_home(monkeypatch, tmp_path)
    monkeypatch.delenv("CIRQUE_METHODS", raising=False)

    def run(*arguments, methods=None):
        if methods is not None:
            path = tmp_path / "mine.toml"
            path.write_text(methods)
            monkeypatch.setenv("CIRQUE_METHODS", str(path))
        get_settings.cache_clear()
        return CliRunner().invoke(app, [*arguments])

    yield run
    get_settings.cache_clear()


def test_the_list_has_every_method_with_its_parts(cirque, tmp_path):
    result = cirque("methods", "--json", str(tmp_path / "methods.json"), methods=MINE)
    assert result.exit_code == 0, result.output
    content = {one["name"]: one for one in json.loads((tmp_path / "methods.json").read_text())}
    assert list(content) == [*builtin_methods(), "mine"]
    assert content["mine"]["changed"] == {"text_weight": 0.6, "soft_filter.weight": 0.2}
    assert content["corr-linear"]["changed"] == {"reflection.fusion": "linear"}
    assert content["cirevl"]["changed"] == {} and content["cirevl"]["settings"]["gamma"] == 0.44


def test_the_table_says_what_a_method_is_made_of(cirque, monkeypatch):
    monkeypatch.setattr("cli.admin.methods.out", Console(highlight=False, markup=False, emoji=False, width=220))
    result = cirque("methods", methods=MINE)
    assert result.exit_code == 0
    printed = result.output
    lines = {line.split()[0]: line for line in printed.splitlines() if line.split()}
    assert "Slerp, filtered [a little]" in lines["mine"] and "our lab" in lines["mine"]
    assert "slerp (text_weight = 0.6) → feedback → SoFT (weight = 0.2)" in lines["mine"]
    assert "cirevl → feedback → CoRR → SoFT" in lines["corr-soft"]
    assert "cirevl → weighted " in lines["weighted"] and "CoRR (fusion = linear)" in lines["corr-linear"]
    assert "→ pseudo-feedback " in lines["corr-prf"] and "CIRQUE_METHODS" not in printed


def test_a_bad_file_is_one_sentence(cirque):
    result = cirque("methods", methods="[methods.mine]\nbase = 'clip'\n")
    assert isinstance(result.exception, MethodError)
    assert "mine.toml" in str(result.exception) and "base" in str(result.exception)


def test_methods_to_evaluate():
    methods = all_methods()
    names = [method.name for method in chosen_methods(DEFAULT_METHODS, None, methods)]
    assert names == ["text-only", "image-only", "cirevl"]
    names = [method.name for method in chosen_methods(" soft , corr,soft,", "cirevl", methods)]
    assert names == ["soft", "corr", "cirevl"]
    assert [method.name for method in chosen_methods("corr,cirevl", "cirevl", methods)] == ["corr", "cirevl"]
    assert [method.name for method in chosen_methods("all", "cirevl", methods)] == list(methods)
    with pytest.raises(MethodError, match="'sfot'"):
        chosen_methods("soft,sfot", None, methods)
    with pytest.raises(MethodError, match="'base'"):
        chosen_methods("soft", "base", methods)
    with pytest.raises(MethodError, match="cirque methods"):
        chosen_methods(" , ", None, methods)
