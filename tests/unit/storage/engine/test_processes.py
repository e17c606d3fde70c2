"""Servers that share a home folder know of each other, and nothing stale is left behind."""

import logging
import os
from pathlib import Path

import pytest

from storage.engine.processes import ServingProcesses

pytestmark = pytest.mark.sqlite   # nothing here is kept in a database


def test_a_second_server_says_so_in_the_log_and_to_administrators(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    first, second = (ServingProcesses(tmp_path, sqlite=True) for _ in range(2))
    with caplog.at_level(logging.WARNING), first.serving("localhost:7860"):
        assert first.others() == [] and first.advice([]) == "" and not caplog.records
        with second.serving("localhost:7861"):
            assert second.others() == [f"process {os.getpid()} at localhost:7860"]
            assert first.others() == [f"process {os.getpid()} at localhost:7861"]
            assert "localhost:7860" in caplog.text and "one machine" in caplog.text
        assert first.others() == []
    assert list((tmp_path / "serving").iterdir()) == []


def test_what_a_killed_server_left_is_removed(tmp_path: Path):
    (tmp_path / "serving").mkdir()
    (tmp_path / "serving" / "old.lock").write_text("process 1 at localhost:1")
    assert ServingProcesses(tmp_path, sqlite=True).others() == []
    assert list((tmp_path / "serving").iterdir()) == []


def test_a_home_that_cannot_be_written_is_served(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    home = tmp_path / "home"
    home.write_text("not a folder")
    with caplog.at_level(logging.WARNING), ServingProcesses(home, sqlite=True).serving("localhost:1"):
        assert "cannot tell" in caplog.text


def test_a_database_server_needs_no_caution(tmp_path: Path):
    assert "network drive" not in ServingProcesses(tmp_path, sqlite=False).advice(["process 1 at x"])
