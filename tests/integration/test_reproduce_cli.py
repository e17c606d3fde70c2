"""``cirque reproduce`` as a person types it, on a small sample benchmark."""

from __future__ import annotations

import json
import re
import shutil
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
def drawn(tmp_path_factory) -> Path:
    return indexed(tmp_path_factory.mktemp("prepared") / "home", 90, at="../drawn").with_name("drawn")


@pytest.fixture
def cirque(drawn, tmp_path):
    """Runs ``cirque reproduce sample`` with those garments, in a copy of their home."""
    shutil.copytree(drawn.with_name("home"), tmp_path / "home")

    def run(*arguments):
        get_settings.cache_clear()
        return CliRunner().invoke(app, ["reproduce", "sample", "--annotations", str(drawn), "--gallery", NAME,
                                        "--quick", *map(str, arguments)])

    with commands_at(tmp_path / "home"):
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
    assert isinstance(refused.exception, SettingsError) and "no reproduction" in str(refused.exception)
    (tmp_path / "mine" / "run.json").write_text(json.dumps({"of": {"dataset": "cirr"}}))
    refused = cirque("--out", tmp_path / "mine", "--yes")
    assert isinstance(refused.exception, SettingsError) and "another reproduction" in str(refused.exception)


@pytest.mark.extended
def test_in_parts_it_gives_the_files_of_one_run_and_says_what_was_not_run(cirque, tmp_path):
    at_once, in_parts = tmp_path / "at-once", tmp_path / "in-parts"
    done = cirque("--out", at_once, "--yes", *only(*STEPS))
    assert done.exit_code == 1, done.output         # no language model can judge
    for names in (("sessions", "concatenation"), ("turns", "filters", "audit"), STEPS):
        cirque("--out", in_parts, "--yes", *only(*names))
    made = files(at_once)
    assert files(in_parts) == made
    tex = made["report.tex"].decode().replace(r"\allowbreak{}", "")
    assert "Judging needs a connected language model" in tex and str(tmp_path) not in tex
    for name in ("tables/filters-filters.csv", "tables/description-sizes.tex", "tables/audit-gaps.json",
                 "tables/turns-hits-at-10.md", "figures/audit-labels.pdf", "cards/sessions.json", "cards/audit.json"):
        assert name in made, sorted(made)
    assert set(json.loads((at_once / "run.json").read_text())["steps"]) == {*STEPS}
