"""Which files of tests a change asks for."""

from __future__ import annotations

import pytest

from tests.fakes.imported import ROOT, is_touched

METHODS = "tests/unit/cir_core/methods/test_soft_filter.py"


def touched(test: str, *changed: str) -> bool:
    assert (ROOT / test).is_file(), test
    return is_touched(ROOT / test, frozenset(ROOT / name for name in changed))


@pytest.mark.parametrize(("test", "changed"), [
    (METHODS, METHODS),
    (METHODS, "cir_core/errors.py"),                              # far below
    (METHODS, "cir_core/__init__.py"),                            # runs with every import of what is beside it
    (METHODS, "tests/fakes/encoder.py"),
    ("tests/unit/cir_core/language/test_openai_model.py", "cir_core/language/prompts/caption.toml"),
    ("tests/web/test_search_story.py", "assets/js/search/picker.js"),
    ("tests/web/test_search_story.py", "assets/css/app.css"),     # of every screen
    ("tests/web/test_search_story.py", "tests/web/conftest.py"),
    ("tests/web/test_analysis_story.py", "assets/js/analysis/one.js"),
    ("tests/test_docs.py", "README.md"),
])
def test_what_a_file_reaches_asks_for_it(test: str, changed: str) -> None:
    assert touched(test, "LICENSE", changed)


@pytest.mark.parametrize(("test", "changed"), [
    (METHODS, "web/server.py"),
    ("tests/unit/cir_core/support/test_files.py", "cir_core/methods/fusion.py"),   # cir_core offers a search
    (METHODS, "assets/js/search/picker.js"),
    (METHODS, "tests/web/conftest.py"),
    ("tests/web/test_search_story.py", "assets/js/analysis/one.js"),
    ("tests/web/test_search_story.py", "cir_core/errors.py"),     # what the server does is for the tests below it
])
def test_what_a_file_does_not_reach_leaves_it_out(test: str, changed: str) -> None:
    assert not touched(test, changed)
