"""What the shell is set to reaches neither tests nor what is measured: it may name a database in which people work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.own_settings import environment_of, settings_of, without_settings
from benchmarks.soak_app import App
from benchmarks.study_home import Room, make_home
from cir_core.settings import Settings
from tests.fakes import databases
from tests.fakes.shell import KEPT

ROOT = Path(__file__).parents[3]


@pytest.fixture
def in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The database that an admin's shell names, beside other settings. It is not there: whoever opens it makes it."""
    home = tmp_path / "in-use"
    for name, value in (("CIRQUE_DATABASE_URL", databases.sqlite_of(home)), ("CIRQUE_HOME", str(home)),
                        ("CIRQUE_LLM_BASE_URL", "http://127.0.0.1:9/v1"), ("CIRQUE_LLM_MODEL", "dear"),
                        ("CIRQUE_GALLERY", "mine"), ("CIRQUE_LOG", "json"), ("cirque_log_level", "debug")):
        monkeypatch.setenv(name, value)
    return home


def test_what_is_measured_has_no_settings_of_the_shell(
    in_use: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Settings().llm_model == "dear" and Settings().log_level == "debug", "else this shows nothing"
    home = tmp_path / "home"
    given: dict[str, Any] = {"home": home, "gallery": "given"}
    found = settings_of(**given)
    assert {name: getattr(found, name) for name in found.model_fields_set} == given
    assert found.resolved_database_url == databases.sqlite_of(home)
    assert {name: value for name, value in environment_of(home, CIRQUE_GALLERY="given").items()
            if name.upper().startswith("CIRQUE_")} == {
        "CIRQUE_HOME": str(home), "CIRQUE_HOST": "127.0.0.1", "CIRQUE_PORT": "0", "CIRQUE_GALLERY": "given"}
    assert environment_of(home)["PATH"] == os.environ["PATH"]
    for name in os.environ.keys() - without_settings(os.environ).keys():
        monkeypatch.delenv(name)
    assert found.model_dump() == Settings(**given).model_dump()


def test_the_app_of_a_soak_has_the_database_it_is_given_and_no_other(in_use: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert App(home)._environment({})["CIRQUE_DATABASE_URL"] == ""
    url = databases.sqlite_of(tmp_path / "given")
    environment = App(home, url)._environment({"CIRQUE_LLM_MODEL": "silent"})
    assert environment["CIRQUE_DATABASE_URL"] == url and environment["CIRQUE_HOME"] == str(home)
    assert environment["CIRQUE_LLM_MODEL"] == "silent"
    assert not {"CIRQUE_LLM_BASE_URL", "CIRQUE_GALLERY", "CIRQUE_LOG", "cirque_log_level"} & environment.keys()


def test_the_home_of_a_benchmark_leaves_the_database_of_the_shell_alone(in_use: Path, tmp_path: Path) -> None:
    make_home(tmp_path / "bench", 4, Room(alone=2, each=2, surveys_alone=1, surveys=1))
    assert (tmp_path / "bench" / "cirque.db").exists()
    assert not in_use.exists()


def test_a_home_of_tests_has_a_database_of_its_own(in_use: Path, tmp_path: Path) -> None:
    settings = databases.settings_of(tmp_path / "home")
    assert settings.resolved_database_url == databases.database_of(tmp_path / "home")
    assert databases.environment_of(tmp_path / "home")["CIRQUE_DATABASE_URL"] == settings.database_url
    assert str(in_use) not in settings.resolved_database_url


def test_no_setting_is_left_of_the_shell() -> None:
    assert os.environ.keys() - without_settings(os.environ).keys() <= KEPT


def test_tests_begin_without_the_settings_of_the_shell(in_use: Path) -> None:
    """As ``make test`` would in such a shell."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
         f"{__file__}::{test_no_setting_is_left_of_the_shell.__name__}"],
        cwd=ROOT, env={**os.environ, "CIRQUE_REFERENCE_DATA": "kept"}, capture_output=True, text=True)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout
