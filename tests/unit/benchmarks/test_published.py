"""Figures in the docs are those of the results, and the results those of this gallery, encoder and language model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import published
from benchmarks.published import FAMILIES, revisions
from benchmarks.published_pages import ROOT, pages, read_results, written
from cir_core.language.builtin.model import BuiltinLanguageModel
from cir_core.sample.gallery import SPLIT

RESULTS = read_results()


@pytest.fixture(scope="module")
def now() -> dict[str, str]:
    return revisions()


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_of_this_gallery_encoder_and_language_model(name: str, now: dict[str, str]) -> None:
    found = RESULTS[name]
    changed = [what for what, revision in now.items() if found[what] != revision]
    assert changed == [], f"changed since {found['date']}: make figures ONLY={name}"
    assert found["command"] == FAMILIES[name].command, f"make figures ONLY={name}"


def test_results_are_of_the_gallery_in_the_pictures() -> None:
    shown = json.loads((ROOT / "docs/images/pictures.json").read_text("utf-8"))["gallery"]
    assert {(one["gallery"]["digest"], one["gallery"]["images"]) for one in RESULTS.values()} == {
        (shown["digest"], shown["size"])}


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_tables_of_the_pages_are_those_of_the_results(page: Path) -> None:
    text = page.read_text("utf-8")
    assert written(text, RESULTS) == text, "python -m benchmarks.published --pages"


def test_revisions_change_with_what_is_drawn_and_answered(
    monkeypatch: pytest.MonkeyPatch, now: dict[str, str],
) -> None:
    """Under an unchanged name."""
    complete, draw = BuiltinLanguageModel.complete, published.catalogue

    def other(self: BuiltinLanguageModel, task: Any, watch: Any = None) -> Any:
        found = complete(self, task, watch)
        return found.model_copy(update={"query": found.query + "."}) if hasattr(found, "query") else found

    monkeypatch.setattr(BuiltinLanguageModel, "complete", other)
    monkeypatch.setattr(published, "catalogue", lambda: [one for one in draw() if one.split == SPLIT][1:])
    changed = revisions()
    assert {what for what in now if changed[what] != now[what]} == {"sample", "model"}
    assert changed["model"].startswith(BuiltinLanguageModel.name)


TABLE = {"columns": [{"key": "method", "name": "method", "kind": "text"},
                     {"key": "R@1", "name": "R@1", "kind": "percent"},
                     {"key": "R@1_low", "name": "R@1 low", "kind": "percent"},
                     {"key": "R@1_high", "name": "R@1 high", "kind": "percent"},
                     {"key": "MRR", "name": "MRR", "kind": "percent"},
                     {"key": "protocol", "name": "protocol", "kind": "text"}],
         "rows": [["slerp", 0.25, 0.2, 0.3, 0.5, "abc"]], "note": ""}
PAGE = """# Figures
<!-- results: one.single: R@1 -->
old
<!-- end -->
after
"""


def test_a_page_has_the_chosen_columns_and_keeps_its_text() -> None:
    text = written(PAGE, {"one": {"tables": {"single": TABLE}}})
    assert text == PAGE.replace("old", r"""
| method | R@1 \[95 %\] |
| --- | ---: |
| slerp | 25.00 \[20.0, 30.0\] |
""")
    assert written(text, {"one": {"tables": {"single": TABLE}}}) == text
    other = {**TABLE, "rows": [["slerp", 0.26, 0.2, 0.3, 0.5, "abc"]]}
    assert written(text, {"one": {"tables": {"single": other}}}) != text


def test_a_column_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError, match="R@9"):
        written(PAGE.replace("R@1", "R@9"), {"one": {"tables": {"single": TABLE}}})
