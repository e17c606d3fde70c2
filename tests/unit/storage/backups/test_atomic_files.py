"""What is in the making takes its place whole or not at all, and is nobody else's to touch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cir_core.errors import StorageError
from storage.backups import atomic_files
from storage.backups.atomic_files import clear_abandoned, in_the_making

# Begins a file, puts a journal beside it, and dies as by kill -9.
KILLED = """
import os, signal, sys
from pathlib import Path
from storage.backups.atomic_files import in_the_making
with in_the_making(Path(sys.argv[1])) as path:
    path.write_text("half")
    path.with_name(path.name + "-journal").write_text("beside it")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def kill_in_the_middle(target: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(target)], cwd=Path(__file__).parents[4], check=False)


def test_it_takes_its_place_with_nothing_beside_it(tmp_path: Path) -> None:
    with in_the_making(tmp_path / "a") as path:
        path.write_text("whole")
        (path.parent / "a-journal").write_text("")
        assert not (tmp_path / "a").exists()
    assert names(tmp_path) == ["a"] and (tmp_path / "a").read_text() == "whole"


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), in_the_making(tmp_path / "a") as path:
        path.write_text("half")
        _ = 1 / 0
    assert names(tmp_path) == []


@pytest.mark.parametrize("links", [True, False])
def test_two_at_once_under_one_name(tmp_path: Path, links: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not links:
        def refuse(*_: object) -> None:
            raise PermissionError

        monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(StorageError, match="a already exists"), in_the_making(tmp_path / "a") as second:
        second.write_text("second")
        with in_the_making(tmp_path / "a") as first:
            first.write_text("first")
        assert second.read_text() == "second"   # nobody else removes it
    assert names(tmp_path) == ["a"] and (tmp_path / "a").read_text() == "first"


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_what_a_kill_left_is_gone_with_the_next(tmp_path: Path) -> None:
    kill_in_the_middle(tmp_path / "a")
    kill_in_the_middle(tmp_path / "other")
    # The second had already removed what the first left.
    [left] = names(tmp_path)
    assert names(tmp_path / left) == ["lock", "other", "other-journal"]
    with in_the_making(tmp_path / "a") as path:
        path.write_text("whole")
    assert names(tmp_path) == ["a"]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_only_what_is_surely_abandoned_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    kill_in_the_middle(elsewhere / "a")
    [left] = elsewhere.iterdir()
    begun = tmp_path / "cirque-unfinished-begun"   # somebody has made it, and is just about to lock it
    begun.mkdir()
    (begun / "lock").write_text("")
    (tmp_path / "cirque-unfinished-linked").symlink_to(left)
    (tmp_path / "cirque-unfinished-file").write_text("a file of this name")
    (tmp_path / "cirque-unfinished-mine").mkdir()
    before = names(tmp_path)
    clear_abandoned(tmp_path)
    assert names(tmp_path) == before and names(left) == ["a", "a-journal", "lock"]

    mine = os.geteuid()
    monkeypatch.setattr(atomic_files.os, "geteuid", lambda: mine + 1)
    clear_abandoned(elsewhere)   # somebody else's
    assert left.exists()
    monkeypatch.undo()
    clear_abandoned(elsewhere)
    assert not left.exists()
