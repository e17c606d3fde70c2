"""Every command and every Python block of the README and of the tutorials in docs/start, over fewer garments."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from annotation.accounts.roles import as_role
from annotation.accounts.service import PeopleService
from cir_core.settings import get_settings
from storage.stores import open_stores
from tests.fakes import drawn
from tests.fakes.forked import run

ROOT = Path(__file__).parents[2]
GARMENTS = 240
BLOCK = re.compile(r"^```(sh|python|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HERE = re.compile(r"^python3 - <<'PY'\n(.*?)^PY$", re.MULTILINE | re.DOTALL)
#: Need a person, or do not end.
NOT_RUN = ("make ", "cirque serve")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which somebody follows a tutorial, with the sample gallery in a home folder."""
    monkeypatch.setenv("CIRQUE_HOME", str(drawn.home(tmp_path / "home", GARMENTS, at="samples/atelier")))
    get_settings.cache_clear()
    return tmp_path


def add_person(name: str, role: str) -> None:
    """The command asks for a password on a terminal."""
    stores = open_stores(get_settings())
    PeopleService(stores.people).add(name, "correct horse", as_role(role))
    stores.close()


def follow(page: str, place: Path) -> list[str]:
    """Run all blocks in order. A TOML block is saved under the name in its first line. Gives what was printed."""
    environment, printed = dict(os.environ), list[str]()

    def done(*arguments: str) -> None:
        ended = run(*arguments, environment=environment, folder=place)
        assert ended.returncode == 0, (arguments, ended.stdout, ended.stderr)
        printed.append(ended.stdout)

    for language, text in BLOCK.findall((ROOT / page).read_text("utf-8")):
        if language == "toml":
            (place / text.partition("\n")[0].removeprefix("# ")).write_text(text, "utf-8")
        elif language == "python":
            done("-c", text)
        else:
            for code in HERE.findall(text):
                done("-c", code)
            for line in HERE.sub("", text).splitlines():
                if line.startswith("export "):
                    name, _, value = line.removeprefix("export ").partition("=")
                    environment[name] = value
                elif line.startswith("cirque user add "):
                    add_person(*shlex.split(line)[3::2])
                elif line.startswith("cirque ") and not line.startswith(NOT_RUN):
                    done("-m", "cli.main", *shlex.split(line, comments=True)[1:])
                else:
                    assert not line or line.startswith(NOT_RUN), line
    return printed


def test_first_search(place: Path) -> None:
    [printed] = follow("docs/start/first-search.md", place)
    found, refined = printed.splitlines()[1], printed.splitlines()[-1]
    assert "red" in found and "blue" in refined and "long" in refined


def test_first_study(place: Path) -> None:
    printed = follow("docs/start/first-study.md", place)
    assert (place / "queries.csv").read_text("utf-8").count("\n") == 7
    assert "First study" in printed[-1]


def test_readme(place: Path) -> None:
    [printed] = follow("README.md", place)
    assert printed.startswith("From: ") and printed.endswith("of the top 10 are the same\n")


@pytest.mark.extended
def test_own_method(place: Path) -> None:
    listed, evaluated, code = follow("docs/start/own-method.md", place)
    assert "gentle" in listed and "patient" in listed
    assert "Slerp, filtered a little" in evaluated and "Slerp, filtered a little" in code


@pytest.mark.extended
def test_first_benchmark(place: Path) -> None:
    printed = follow("docs/start/first-benchmark.md", place)
    assert "Hits@10" in printed[-1] and (place / "described" / "description.html").exists()
