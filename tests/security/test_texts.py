"""Texts that people and data sets bring are shown as text: where the code could make HTML of them, and nowhere else.

``tests/web/test_stored_script.py`` shows it in a browser; this finds the next place before it is used.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from cir_core.support.tables import csv_file
from web.ui.static_files import fill

ROOT = Path(__file__).parents[2]
HOSTILE = "<img src=x onerror=alert(1)>{{ 7*7 }}"


def places(pattern: str, folder: str, *endings: str) -> set[tuple[str, str]]:
    return {(path.relative_to(ROOT).as_posix(), line.strip())
            for path in sorted((ROOT / folder).rglob("*")) if path.suffix in endings
            for line in path.read_text("utf-8").splitlines() if re.search(pattern, line)}


def test_templates_escape_whatever_they_are_filled_with() -> None:
    shown = fill("pages/notice_page.html", style="", icon="", problem=HOSTILE, title=HOSTILE, again=None, visitor=None,
                 root="", first="/")
    assert "<img" not in shown and "&lt;img src=x" in shown and "{{ 7*7 }}" in shown


def test_the_only_thing_that_templates_do_not_escape_is_cirques_own_style() -> None:
    assert places(r"\|\s*safe\b|autoescape|Markup", "web/templates", ".html") == {
        ("web/templates/pages/gate.html", "<style>{{ style | safe }}</style>")}
    assert not places(r"autoescape\s*=\s*False|Markup\(", "web", ".py")


def test_scripts_make_elements_and_set_texts() -> None:
    """One place takes HTML: a template of the server, escaped there."""
    found = places(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|new Function|\beval\(|"
                   r"createContextualFragment|DOMParser|setHTMLUnsafe", "assets/js", ".js")
    assert {(path, line.partition("//")[0].strip()) for path, line in found} == {
        ("assets/js/search/page.js", "place.innerHTML = html;")}


def test_addresses_that_scripts_set_are_never_of_a_data_set() -> None:
    """``javascript:`` in an address would run: nothing of a study or a gallery is taken for one."""
    assert not places(r"javascript:", "assets/js", ".js") and not places(r"javascript:", "web", ".py", ".html")


@pytest.mark.parametrize("text", ['=HYPERLINK("http://evil.example","x")', "+1", "-1+cmd|' /C calc'!A0", "@SUM(A1)",
                                  "\t1", "\r1", "\n1", "＝1", "＋1", "－1", "＠x"])
def test_no_cell_of_a_table_is_a_formula(text: str) -> None:
    rows = list(csv.reader(io.StringIO(csv_file(["name"], [[text], [[text]]]).decode("utf-8-sig"), newline="")))
    assert rows[1] == [f"'{text}"]
    assert not rows[2][0].startswith(("=", "+", "-", "@"))   # a list is JSON


@pytest.mark.parametrize(("text", "written"), [
    ("x;=1+1", "x;'=1+1"), ('x; "=1', "x; \"'=1"), ("x\t@SUM(A1)", "x\t'@SUM(A1)"), ("x\n-1+cmd|1", "x\n'-1+cmd|1"),
    ("\t=1", "'\t'=1"), ("\r=1", "'\r'=1"), ("\n=1", "'\n'=1"), ("=1;+2", "'=1;'+2"), ("x;＝1", "x;'＝1"),
    ("a; b = c\nd", "a; b = c\nd"), (["x;=1"], '["x;\'=1"]'),
])
def test_no_part_of_a_cell_is_a_formula_where_lists_are_parted_by_semicolons(text: object, written: str) -> None:
    rows = list(csv.reader(io.StringIO(csv_file(["name"], [[text]]).decode("utf-8-sig"), newline="")))
    assert rows[1] == [written]


def test_every_table_that_cirque_writes_goes_through_the_same_guard() -> None:
    """``csv.writer`` is used where cells are guarded, and for the list of the drawn sample, which has no text of
    anybody's."""
    users = {path for folder in ("annotation", "cir_core", "cli", "web", "storage")
             for path, _ in places(r"csv\.(writer|DictWriter)", folder, ".py")}
    assert users == {
        "cir_core/audit/circus/traces.py", "cir_core/sample/atelier/build.py", "cir_core/support/tables.py"}
    for guarded in users - {"cir_core/sample/atelier/build.py"}:
        assert "as_text(" in (ROOT / guarded).read_text("utf-8")
