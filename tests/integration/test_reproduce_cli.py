"""``cirque reproduce`` as a person types it, on a small sample benchmark."""

from __future__ import annotations

import json
import re
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cir_core.errors import SettingsError
from cir_core.sample.gallery import NAME
from cir_core.settings import get_settings
from cli.main import app
from tests.fakes.drawn import home as indexed
from tests.integration.homes import commands_at

STEPS = ("sessions", "filters", "description", "turns", "judging", "concatenation", "audit")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory) -> Path:
    return garments(tmp_path_factory.mktemp("prepared"), 90, {})


def garments(folder: Path, count: int, queries: dict[str, int]) -> Path:
    """So many, indexed in the home beside; of a category one query, or so many."""
    drawn = indexed(folder / "home", count, at="../drawn").with_name("drawn")
    for path in (drawn / "captions").iterdir():
        few = json.loads(path.read_text("utf-8"))[:queries.get(path.name.split(".")[1], 1)]
        path.write_text(json.dumps(few), "utf-8")
    return drawn


@pytest.fixture
def cirque(prepared, tmp_path):
    """Runs ``cirque reproduce sample`` with those garments, in a copy of their home."""
    with reproducing(prepared, tmp_path) as run:
        yield run


@pytest.fixture
def larger(tmp_path):
    """The same with so many garments that some dresses need a second turn."""
    with reproducing(garments(tmp_path / "prepared", 240, {"dress": 8}), tmp_path) as run:
        yield run


@contextmanager
def reproducing(drawn: Path, folder: Path):
    shutil.copytree(drawn.with_name("home"), folder / "home")

    def run(*arguments):
        get_settings.cache_clear()
        return CliRunner().invoke(app, ["reproduce", "sample", "--annotations", str(drawn), "--gallery", NAME,
                                        "--quick", *map(str, arguments)])

    with commands_at(folder / "home"):
        yield run


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*")
            if path.is_file() and not str(path.relative_to(folder)).startswith(("work", "run.json"))}


def only(*names):
    return [part for name in names for part in ("--only", name)]


def test_it_estimates_first_and_asks(cirque, tmp_path):
    listed = cirque("--out", tmp_path / "paper", "--dry-run", *only("filters", "audit"))
    assert listed.exit_code == 0 and not (tmp_path / "paper").exists()
    assert re.search(r"2 steps to run over \d+ queries: about \d+ minutes of processor time", listed.output)
    refused = cirque("--out", tmp_path / "paper")
    assert isinstance(refused.exception, SettingsError) and "--yes" in str(refused.exception)


def test_other_files_and_another_reproduction_are_left_alone(cirque, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    refused = cirque("--out", tmp_path / "mine", "--yes")
    assert isinstance(refused.exception, SettingsError) and "files of something else" in str(refused.exception)
    (tmp_path / "mine" / "run.json").write_text(json.dumps({"of": {"dataset": "cirr"}}))
    refused = cirque("--out", tmp_path / "mine", "--yes")
    assert isinstance(refused.exception, SettingsError) and "another reproduction" in str(refused.exception)


def test_without_a_drawn_sample_the_estimate_says_so_and_draws_nothing(tmp_path):
    with commands_at(tmp_path / "home"):
        listed = CliRunner().invoke(app, ["reproduce", "sample", "--out", str(tmp_path / "paper"), "--dry-run"])
        refused = CliRunner().invoke(app, ["reproduce", "sample", "--out", str(tmp_path / "paper")])
    assert listed.exit_code == 0, listed.output
    assert "6,000 garments of the sample are drawn and indexed first" in listed.output
    assert "over 900 queries" in listed.output      # 300 of each of three categories
    assert isinstance(refused.exception, SettingsError) and "--yes" in str(refused.exception)
    assert not list((tmp_path / "home").rglob("*.jpg"))


def test_what_is_finished_is_kept_and_gives_the_same_files(cirque, tmp_path):
    paper = tmp_path / "paper"
    done = cirque("--out", paper, "--yes", *only("concatenation", "audit"))
    assert done.exit_code == 0, done.output
    made = files(paper)
    for name in ("tables/audit-gaps.json", "figures/audit-labels.pdf", "cards/audit.json"):
        assert name in made, sorted(made)
    assert str(tmp_path) not in made["report.tex"].decode().replace(r"\allowbreak{}", "")
    (paper / "tables" / "audit-gaps.json").unlink()
    again = cirque("--out", paper, "--yes", *only("concatenation", "audit"))
    assert "0 steps to run" in again.output and "audit: kept" in again.output
    assert files(paper) == made
    assert set(json.loads((paper / "run.json").read_text())["steps"]) == {"concatenation", "audit"}


@pytest.mark.extended
def test_constructed_sessions_in_parts_and_what_was_not_run(larger, tmp_path):
    at_once, in_parts = tmp_path / "at-once", tmp_path / "in-parts"
    done = larger("--out", at_once, "--yes", *only(*STEPS))
    assert done.exit_code == 2, done.output     # turns: of shirts and tops no session is left; judging: none excluded
    for names in (("sessions", "concatenation"), ("turns", "filters", "audit"), STEPS):
        larger("--out", in_parts, "--yes", *only(*names))
    made = files(at_once)
    assert files(in_parts) == made
    tex = made["report.tex"].decode().replace(r"\allowbreak{}", "")
    assert "work/kept/excluded has no session: work/kept/stages.json" in tex and str(tmp_path) not in tex
    assert "sample_shirt_test.json: it contains no session" in tex.replace(r"\_", "_")
    for name in ("tables/filters-filters.csv", "tables/description-sizes.tex", "tables/turns-hits-at-10.md",
                 "cards/sessions.json"):
        assert name in made, sorted(made)
