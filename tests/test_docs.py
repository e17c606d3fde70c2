"""What the docs name exists, and what exists is named."""

import json
import re
import runpy
import tomllib
from datetime import date
from pathlib import Path

import pytest
import typer.main

from annotation.kinds.validity.exports.study_files import item_table, judgement_table
from annotation.kinds.validity.rubric import newest_rubric
from benchmarks.published_pages import read_results
from cir_core.settings import Settings
from cli.main import app
from tests.fakes.study_records import STUDY
from web.http.pages import SCREENS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if "deploy" not in path.parts)]


def test_every_setting_is_documented_and_every_documented_setting_exists():
    page = (ROOT / "docs/reference/settings.md").read_text("utf-8")
    documented = set(re.findall(r"^\|`CIRQUE_([A-Z_]+)`", page, re.MULTILINE))
    assert documented == {name.upper() for name in Settings.model_fields}


GENERATED = runpy.run_path(str(ROOT / ".ci" / "reference.py"))["PAGES"]


@pytest.mark.parametrize("name", GENERATED)
def test_the_generated_pages_are_those_of_the_code(name):
    assert (ROOT / f"docs/reference/{name}.md").read_text("utf-8") == GENERATED[name]() + "\n", "run make reference"


def test_variables_named_anywhere_exist():
    known = {"CIRQUE_TEST_DATABASE_URL", *("CIRQUE_" + name.upper() for name in Settings.model_fields)}
    for page in PAGES:
        assert set(re.findall(r"\bCIRQUE_[A-Z_]+", page.read_text("utf-8"))) <= known, page


def commands() -> set[str]:
    found: set[str] = set()

    def walk(command, path: str) -> None:
        if hasattr(command, "alone"):   # a command, and a group
            found.add(path)
        if hasattr(command, "commands"):
            for name, child in command.commands.items():
                walk(child, f"{path} {name}")
        else:
            found.add(path)

    walk(typer.main.get_command(app), "cirque")
    return found


def test_commands_in_the_docs_exist():
    known = commands()
    for page in PAGES:
        text = page.read_text("utf-8")
        blocks = "\n".join(re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
        written = re.findall(r"`(cirque [a-z][^`\n]*)`", text)
        written += re.findall(r"^(?:\S+=\S+ )*(cirque [a-z].*)$", blocks, re.MULTILINE)
        for line in written:
            assert any(line.startswith(name) for name in known), f"{page.name}: {line}"


def test_every_command_is_documented():
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    for name in commands():
        assert name in text, name


def test_links_between_pages_lead_somewhere():
    figures = (ROOT / "benchmarks/figures").glob("*.md")
    for page in (*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "tests/security/threats.md", *figures):
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


# These two are the help of commands and calls.
PROSE = [page for page in PAGES if page.stem not in ("commands", "calls")]


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_sentence_has_more_than_35_words(page):
    """Of prose: code, tables and headings are left out."""
    text = page.read_text("utf-8")
    prose = re.sub(r"^```.*?^```|^ {4}.*?$|^ *\|.*?$|^#.*?$", "", text, flags=re.MULTILINE | re.DOTALL)
    parts = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", re.sub(r"\]\([^)]*\)", "]", prose))
    sentences = [one for part in parts for one in re.split(r'(?<=[.!?:])\s+(?=[A-Z*`"\[(])', " ".join(part.split()))]
    assert [one for one in sentences if len(one.split()) > 35] == []


def test_every_page_is_in_the_navigation_once():
    def listed(part) -> list[str]:
        return [part] if isinstance(part, str) else [name for one in (part.values() if isinstance(part, dict) else part)
                                                     for name in listed(one)]

    there = listed(tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]["nav"])
    assert sorted(there) == sorted(page.relative_to(ROOT / "docs").as_posix() for page in PAGES[1:])


def test_files_of_figures_named_in_the_docs_exist():
    for page in PAGES:
        for name in re.findall(r"benchmarks/figures/[\w-]+\.md", page.read_text("utf-8")):
            assert (ROOT / name).exists(), f"{page.name}: {name}"


def test_the_menu_in_the_pictures_is_the_app_s():
    """Nobody signs in there, and who needs no sign-in may do everything."""
    images = ROOT / "docs/images"
    shown = json.loads((images / "pictures.json").read_text("utf-8"))
    assert shown["menu"] == [page.title for page in SCREENS], "run make screenshots"
    assert all((images / name).exists() for name in shown["pictures"])


def test_figures_on_the_audit_s_page_are_those_that_were_measured():
    measured = read_results()["audit"]
    rows = {label: count for label, count, *_ in measured["tables"]["labels"]["rows"]}
    text, image, either = (rows[f"{one} alone is enough"] for one in ("The text", "The image", "Either"))
    every, needed = rows["All labelled queries"], rows["Both inputs are needed"]
    short, day = text + image + either, date.fromisoformat(measured["date"])
    page = " ".join((ROOT / "docs/how-to/evaluate/audit.md").read_text("utf-8").split())
    said = (f"{day.day} {day:%B %Y}, gallery digest `{measured['gallery']['digest']}`, encoder revision "
            f"`{measured['encoder']}`, built-in language model. "
            f"Of {every} queries, {short} ({short / every:.1%}) have a shortcut: {text} by the text, {image} by the "
            f"image, {either} by either. Both inputs are needed by {needed} ({needed / every:.1%}); "
            f"{rows['No retriever finds it']} are never found.")
    assert said.replace("%", " %") in page


def test_make_targets_named_in_the_docs_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for page in PAGES:
        assert set(re.findall(r"`make ([a-z]+)", page.read_text("utf-8"))) <= targets, page


def test_the_first_admin_is_made_as_the_service_s_account():
    """By root it would make a database that the service cannot open."""
    unit = (ROOT / "docs/deploy/cirque.service").read_text("utf-8")
    user, = re.findall(r"^User=(\w+)$", unit, re.MULTILINE)
    home, = re.findall(r"\bCIRQUE_HOME=(\S+)", unit)
    program, = re.findall(r"^ExecStart=(\S+) serve$", unit, re.MULTILINE)
    page = (ROOT / "docs/how-to/operate/deployment.md").read_text("utf-8")
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL))
    assert f"sudo -u {user} env CIRQUE_HOME={home} {program} user add " in blocks
    assert all(f"reuid={user} " in line and f"{program} " in line
               for line in blocks.splitlines() if "setpriv" in line)


def test_rubric_keys_and_reasons_are_documented():
    page = (ROOT / "docs/reference/studies/screens.md").read_text("utf-8")
    rubric = newest_rubric()
    documented = dict(re.findall(r"^\| `(\d)` \| `([A-Z_]+)` \|", page, re.MULTILINE))
    assert documented == {one.key: one.code for one in (*rubric.flags, rubric.valid)}
    assert set(re.findall(r"\b\d[a-z]\b", page)) >= {reason.code for flag in rubric.flags for reason in flag.reasons}


def test_columns_of_study_tables_are_documented():
    page = (ROOT / "docs/reference/studies/files.md").read_text("utf-8")
    listed = page.split("| Columns | In |")[1].split("\n\n")[0]
    names = set(re.findall(r"`(\w+)`", "\n".join(row.split("|")[1] for row in listed.splitlines()[2:])))
    tables = (judgement_table(STUDY, [], {}, []), item_table(STUDY, [], [], {}))
    assert names == {column.name for table in tables for column in table.columns}


def test_the_tests_that_the_threat_list_names_exist():
    page = (ROOT / "tests/security/threats.md").read_text("utf-8")
    threats = [row.split("|") for row in page.splitlines() if row.startswith("| ") and "`test_" in row]
    known = {name for path in (ROOT / "tests").rglob("test_*.py")
             for name in re.findall(r"^(?:async )?def (test_\w+)\(", path.read_text("utf-8"), re.MULTILINE)}
    assert len(threats) > 15 and all(re.findall(r"`(test_\w+)`", row[4]) for row in threats)
    assert set(re.findall(r"`(test_\w+)`", page)) <= known


def test_what_the_table_of_the_papers_names_exists():
    rows = [row.strip("|").split("|") for row in (ROOT / "benchmarks/figures/papers.md").read_text("utf-8").splitlines()
            if row.startswith("| ")]
    inside = re.compile(r"`((?:annotation|assets|cir_core|cli|web)/[\w/.-]+)`")
    named = {path for row in rows for path in inside.findall("|".join(row))}
    for row in rows:
        folder = Path()
        for path in re.findall(r"(?:\.\./)?[\w/]+\.py", row[-1]):
            if path.startswith("../"):
                folder, path = folder.parent / path[3:].rpartition("/")[0], path.rpartition("/")[2]
            elif "/" in path:
                folder, path = Path("tests") / path.rpartition("/")[0], path.rpartition("/")[2]
            named.add(str(folder / path))
    assert len(named) > 60
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
