"""What the tests need besides Python is installed where that can be done, and named where it cannot."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a shell script")


@pytest.fixture
def machine(tmp_path):
    """A machine with nothing but the programs that are put there."""

    class Machine:
        def put(self, name, *lines):
            (tmp_path / name).write_text("\n".join(["#!/bin/sh", *lines, ""]))
            (tmp_path / name).chmod(0o755)

        def remove(self, name):
            (tmp_path / name).unlink()

        def ask(self, *packages):
            return subprocess.run(["/bin/bash", ROOT / ".ci/tools", *packages], env={"PATH": str(tmp_path)},
                                  capture_output=True, text=True)

        @property
        def installed(self):
            log = tmp_path / "asked"
            return log.read_text().splitlines() if log.exists() else []

    found = Machine()
    found.put("apt-get", f'echo "$@" >> {tmp_path}/asked')
    return found


def test_what_is_there_is_left_alone(machine):
    machine.put("openssl")
    machine.put("google-chrome")
    asked = machine.ask("openssl", "chromium")
    assert (asked.returncode, asked.stdout, asked.stderr, machine.installed) == (0, "", "", [])


def test_root_gets_what_is_missing_and_no_more(machine):
    machine.put("id", "echo 0")
    machine.put("openssl")
    assert machine.ask("openssl", "chromium").returncode == 0
    assert machine.installed == ["-qq update", "-qq install -y chromium"]


@pytest.mark.parametrize("why", ["not root", "no apt-get", "not found"])
def test_where_nothing_can_be_installed_one_sentence_says_what_to_do(machine, why):
    machine.put("id", "echo 1000" if why == "not root" else "echo 0")
    if why == "no apt-get":
        machine.remove("apt-get")
    if why == "not found":
        machine.put("apt-get", 'test "$2" = update')
    asked = machine.ask("openssl", "chromium")
    assert asked.returncode == 1 and machine.installed == []
    assert asked.stderr == ("The tests need what is not installed here: openssl chromium. Install it (Debian: apt-get "
                            "install openssl chromium) and run make again.\n")
