"""The language of a study's screens: catalogues, and what they must have."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from annotation.kinds.table import KINDS
from cir_core.errors import StudyError
from tests.fakes.preferences import a_study
from web.ui.languages import catalogue, checked_language, language_of, languages, translated

ROOT = Path(__file__).resolve().parents[4]
FOLDERS = ("annotation", "cir_core", "storage", "web")
_HOLE = re.compile(r"\{\w+\}")


def sentences() -> Iterator[str]:
    """Texts of the product's Python code, "{}" for their values."""
    for path in (each for folder in FOLDERS for each in sorted((ROOT / folder).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)


def in_templates() -> set[str]:
    return {text for path in (ROOT / "web" / "templates" / "pages").glob("take_*.html")
            for text in re.findall(r't\("([^"]+)"\)', path.read_text("utf-8"))}


def in_scripts() -> str:
    return "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "assets" / "js").rglob("*.js")))


@pytest.mark.parametrize("language", [one for one in languages() if one != "en"])
def test_a_catalogue_has_the_pages_of_participants_and_nothing_that_nobody_says(language: str) -> None:
    texts, scripts = catalogue(language), in_scripts()
    words = {word for kind in KINDS.values() for word in (kind.one, kind.many)}
    said = "\n".join(_HOLE.sub("{}", text) for text in [*sentences(), *in_templates(), *words])
    assert len(in_templates()) > 8 and in_templates() <= texts.keys() and words <= texts.keys()
    assert [text for text in texts if _HOLE.sub("{}", text) not in said and json.dumps(text, ensure_ascii=False) not in
            scripts and not re.search(rf'"{re.escape(text)}"', scripts)] == []
    for english, text in texts.items():
        assert sorted(_HOLE.findall(text)) == sorted(_HOLE.findall(english)), english


def test_what_the_pages_of_participants_say_is_translated() -> None:
    """The titles and sentences that the code hands to a page."""
    tree = ast.parse((ROOT / "web" / "recruitment" / "participants.py").read_text("utf-8"))
    handed = {part.value for call in ast.walk(tree) if isinstance(call, ast.Call)
              and getattr(call.func, "id", "") in ("_notice", "translated") for part in call.args
              if isinstance(part, ast.Constant) and isinstance(part.value, str) and " " in part.value}
    assert len(handed) >= 4
    for language in languages():
        assert language == "en" or handed - {"This link does not work"} <= catalogue(language).keys()   # of no study


def test_a_text_is_found_with_its_values_and_others_stay_as_they_are() -> None:
    assert translated("de", "Thank you") == "Vielen Dank"
    asked = "Which {hand}?\nLeft"
    assert translated("de", f"Choose an answer to: {asked}") == f"Wählen Sie eine Antwort auf: {asked}"
    long = "This answer is too long: 300,000 characters, and the limit is 262,144. Shorten the note; what you wrote "
    assert translated("de", f"{long}stays on the page until then.").startswith(
        "Diese Antwort ist zu lang: 300,000 Zeichen, und höchstens 262,144 sind möglich.")
    assert translated("de", "Choose one of 1 to 5.") == "Wählen Sie eine Zahl von 1 bis 5."
    assert translated("de", "Set B is better (Set A 2, Set B 4)") == "Set B ist besser (Set A 2, Set B 4)"
    for other in (long, "Our own words.", "Choose an answer to", "Choose one of 5.", ""):
        assert translated("de", other) == other
    assert all(translated(other, "Thank you") == "Thank you" for other in ("en", "xx", "../de"))


def test_a_study_speaks_english_until_a_language_is_chosen_that_there_is() -> None:
    study = a_study()
    assert language_of(study) == "en"
    assert language_of(replace(study, settings={"language": "de"})) == "de"
    for other in ("xx", 7, None, ["de"], "../de"):
        assert language_of(replace(study, settings={"language": other})) == "en"
    assert checked_language("de") == "de"
    for wrong in ("xx", "", "../de", None, ["de"], "DE"):
        with pytest.raises(StudyError, match="Choose one of: en, de"):
            checked_language(wrong)
