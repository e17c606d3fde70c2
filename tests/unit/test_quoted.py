"""What callers send is quoted in error sentences in part only, wherever such a sentence is composed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from annotation.accounts.roles import as_role
from annotation.studies.input_limits import checked_study
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.errors import CirqueError, DatasetError
from cir_core.methods.declared import find_method
from cir_core.support.texts import MAX_QUOTED, quoted, shortened

ROOT = Path(__file__).parents[2]
# Where a value is written as Python writes it though it may be long: it is ours, or the command to copy needs it whole.
WHOLE = {
    "cir_core/__init__.py: __name__", "cir_core/__init__.py: name", "cir_core/language/openai/model.py: self.name",
    "cir_core/search/protocol.py: card.domain", "cir_core/evaluation/runs/files.py: name",
    "cir_core/sessions/service.py: session.protocol.encoder.spec", "web/search/actions/settings.py: encoder",
    "storage/studies/scores.py: study.name", "storage/studies/scores.py: name", "cli/evaluate/answers.py: system",
    "cli/evaluate/answers.py: run.system", "cli/galleries/captions.py: name", "cli/galleries/galleries.py: name",
    "cli/studies/studies.py: study.name", "cli/studies/studies.py: made.name",
    "cli/studies/participants.py: study.name",
}


def test_short_texts_are_quoted_as_they_are() -> None:
    assert quoted("clip") == "'clip'" and quoted("it's") == '"it\'s"' and quoted("a\nb") == r"'a\nb'"
    assert (quoted(None), quoted(1.5), quoted(["a"])) == ("None", "1.5", "['a']")
    assert shortened("clip") == "clip" and shortened(3) == "3"
    assert quoted("x" * MAX_QUOTED) == repr("x" * MAX_QUOTED)


def test_long_texts_are_cut_with_an_ellipsis() -> None:
    assert quoted("x" * 10**6) == "'" + "x" * (MAX_QUOTED - 1) + "…'"
    assert shortened("x" * 61) == "x" * 59 + "…"
    assert len(quoted(["x" * 10**6])) == MAX_QUOTED
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert quoted(deep) == "a value of the type list"
    assert quoted(10**5000) == "a value of the type int"


@pytest.mark.parametrize("refuse", [lambda text: find_method(text, {}), as_role, checked_study])
def test_refusals_of_a_megabyte_are_short(refuse) -> None:
    with pytest.raises(CirqueError) as refused:
        refuse("a+" * 500_000)
    assert len(str(refused.value)) < 1_000


def test_faults_of_files_are_short_whatever_stands_there() -> None:
    with pytest.raises(DatasetError) as refused:
        ValidationIssues().add(Path("a.json"), "key " + "k" * 10**6, "p" * 10**6, "r" * 10**6)
    assert len(str(refused.value)) < 10_000


def test_no_sentence_quotes_a_value_that_is_not_cut() -> None:
    """``{name!r}`` in an f-string has no limit. :func:`quoted` reads the same where a text is short."""
    found = set()
    for room in ("cir_core", "annotation", "storage", "web", "cli"):
        for path in (ROOT / room).rglob("*.py"):
            text = path.read_text("utf-8")
            if "!r" not in text and "! r" not in text:     # parsing all of them takes seconds
                continue
            found |= {f"{path.relative_to(ROOT).as_posix()}: {ast.unparse(node.value)}"
                      for node in ast.walk(ast.parse(text))
                      if isinstance(node, ast.FormattedValue) and node.conversion == ord("r")}
    assert found == WHOLE
