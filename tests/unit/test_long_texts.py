"""Nobody makes the server compose a long text: a run of accents takes the square of its length, with the GIL held."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from annotation.accounts.account_names import MAX_NAME, clean_name
from annotation.accounts.service import MAX_PASSWORD, Passwords
from annotation.records import name_key
from annotation.records.names import MOST
from annotation.studies.creation import LONGEST_NAME, kept_name
from cir_core.captions.captions import tidy_caption
from cir_core.errors import AccessError, CirqueError, SearchError, StudyError
from cir_core.support.texts import MAX_TEXT, clean_text
from tests.fakes.people import LIGHT

ROOT = Path(__file__).parents[2]
# U+0327 belongs in front of U+0301: each pair has to be sorted past all pairs before it.
ACCENTS = "\u0301\u0327"
# What may be composed at most for a text of so many characters: Greek has letters of four code points.
FOUR = "\u03b1\u0313\u0300\u0345"


@pytest.fixture
def composed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How long what was composed was."""
    lengths: list[int] = []
    normalize = unicodedata.normalize

    def noting(form: str, text: str) -> str:
        lengths.append(len(text))
        return normalize(form, text[:10_000])   # a test that fails should not take minutes

    monkeypatch.setattr(unicodedata, "normalize", noting)
    return lengths


@pytest.mark.parametrize(("read", "most", "error"), [
    (clean_name, MAX_NAME, AccessError), (kept_name, LONGEST_NAME, StudyError), (clean_text, MAX_TEXT, SearchError),
    (Passwords(LIGHT).hash, MAX_PASSWORD, AccessError),
])
def test_what_is_far_too_long_is_refused_by_its_length(
    composed: list[int], read: Callable[[str], object], most: int, error: type[CirqueError],
) -> None:
    with pytest.raises(error, match=f"{most}|{most:,}"):
        read("a" + ACCENTS * 80_000)
    assert max(composed, default=0) <= 4 * most


def test_a_name_nobody_has_and_a_caption_are_cut_before(composed: list[int]) -> None:
    assert name_key("a" + ACCENTS * 80_000) == ""
    assert max(composed, default=0) <= 4 * MOST
    composed.clear()
    assert not Passwords(LIGHT).check("a" + ACCENTS * 80_000, Passwords(LIGHT).hash("correct horse")).right
    assert max(composed) <= MAX_PASSWORD
    composed.clear()
    assert len(tidy_caption("a" + ACCENTS * 80_000)) <= MAX_TEXT
    assert max(composed) <= 4 * MAX_TEXT


def test_no_text_that_fits_is_refused_for_how_it_is_written() -> None:
    letter = unicodedata.normalize("NFC", FOUR)
    assert len(letter) == 1 and len(FOUR) == 4
    assert clean_name(f"  {FOUR * MAX_NAME}\n") == letter * MAX_NAME
    assert kept_name(FOUR * LONGEST_NAME) == letter * LONGEST_NAME
    assert clean_text(FOUR * MAX_TEXT) == letter * MAX_TEXT
    assert name_key(FOUR * MOST) == name_key(letter * MOST) != ""
    assert tidy_caption(FOUR * MAX_TEXT) == letter * MAX_TEXT
    # Blanks and line ends do not count, however many: they are one blank afterwards.
    assert clean_text("in red,\n" + " " * 9000 + "longer") == "in red, longer"
    for read, most in ((clean_name, MAX_NAME), (kept_name, LONGEST_NAME), (clean_text, MAX_TEXT)):
        with pytest.raises(CirqueError, match=f"{most}|{most:,}"):
            read(letter * (most + 1))


def test_every_place_that_composes_is_known() -> None:
    """Another one is a decision: whose text is it, and how long may it be?"""
    found = {path.relative_to(ROOT).as_posix() for package in ("annotation", "cir_core", "cli", "storage", "web")
             for path in (ROOT / package).rglob("*.py") if "unicodedata.normalize(" in path.read_text("utf-8")}
    assert found == {
        # bounded: the tests above
        "cir_core/support/texts.py", "annotation/records/names.py", "annotation/accounts/service.py",
        "cir_core/captions/captions.py",
        "annotation/records/people.py",         # names of accounts, which clean_name has bounded
        "web/http/json_api.py",                        # names of studies, which kept_name has bounded
        "cir_core/reports/latex_text.py",    # names and texts of a report, which are bounded where they come in
        "annotation/sources/tables/pictures.py",    # names of files in a folder or archive of whoever makes a study
        "cir_core/images/folders.py",    # paths, and patterns of at most as many characters
        "cir_core/gallery/scan.py",   # paths and texts of whoever runs cirque
        "cir_core/gallery/sources/texts.py",   # captions, which are cut first
        "cir_core/language/builtin/reading/vocabulary.py",       # what clean_text has bounded, and captions
        "cir_core/language/builtin/reading/foreign.py",     # the same
        "cir_core/language/acts.py",      # what clean_text has bounded
        "cir_core/sessions/store.py",     # stored names and requests; the words searched for are cut off by "asked"
        "cir_core/language/builtin/reading/dictionaries.py",   # the product's own tables, and a letter
    }
