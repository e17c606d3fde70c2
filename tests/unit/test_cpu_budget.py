"""What tests use is added up for whatever they start, and compared with their budgets."""

from __future__ import annotations

import subprocess
import sys
import time

from tests.budget import over
from tests.fakes.cpu_time import used_here
from tests.fakes.patience import wait_for

BUDGETS = {"tiers": {"quick": 100, "browser": 200}, "test": 10, "worker": 1200}
# A child that works, and one of its own that does; both then wait to be killed.
WORKS = "import sys, time\nwhile time.process_time() < 0.4: pass\nprint('done', flush=True)\nsys.stdin.read()"
PARENT = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {WORKS!r}])\n{WORKS}"


def test_processes_count_while_they_run_and_when_they_have_ended() -> None:
    before, own = used_here(), time.process_time()
    with subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout and process.stdin
        assert [process.stdout.readline() for _ in range(2)] == [b"done\n"] * 2
        running = used_here() - before - (time.process_time() - own)
        process.stdin.close()
        wait_for(lambda: process.poll() is not None)
    # Ticks of a hundredth of a second, for each of two processes.
    assert running >= 2 * 0.4 - 0.04
    assert used_here() - before - (time.process_time() - own) >= 0.4 - 0.02


def test_a_tier_may_use_a_quarter_more_and_a_test_no_more_at_all() -> None:
    spent = {"tiers": {"quick": 125.0, "browser": 251.0}, "tests": {"a": 10.0, "b": 10.1}, "peaks": [1200, 1201]}

    assert list(over(spent | {"tests": {"c.py::a": 15.0, "c.py::b": 15.1}}, BUDGETS | {"files": {"c.py": 15}})) == [
        "browser: 251 CPU s, the budget is 200", "c.py::b: 15.1 CPU s, a test may use 15",
        "a worker grew to 1201 MB, it may have 1200"]
    assert list(over(spent, BUDGETS)) == [
        "browser: 251 CPU s, the budget is 200", "b: 10.1 CPU s, a test may use 10",
        "a worker grew to 1201 MB, it may have 1200"]
