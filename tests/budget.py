"""CPU seconds of the tests by tier, against the budgets of ``tests/budget.toml``.

``pytest --spent NAME`` keeps what a run has used in ``.make/spent/NAME.json``: the tests' own process, commands,
servers and browsers alike. Elapsed seconds depend on what else the machine does; CPU seconds hardly.

    python -m tests.budget              # the table; status 1 if a tier or a test is over its budget
    python -m tests.budget NAME COMMAND # run a command and keep what it used as tier NAME
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
import tomllib
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import forked
from tests.fakes.cpu_time import used_here
from tests.fakes.imported import BROWSER, PROCESSES, imports_of

ROOT = Path(__file__).parents[1]
SPENT = ROOT / ".make" / "spent"
_SHORT = 0.05     # seconds; in a phase as short, no other process does anything worth looking for
_MOST = 20        # tests in the list
_GROWN = 8        # MB
_CHROMIUM = 1.5    # times the CPU seconds of its headless shell
_TOLERANCE = 1.25


class Meter:
    """In each process that runs tests: notes in every report, as ``cpu``, what its phase has used, and as ``peak`` how
    large the process has been until its end (:class:`_Size`)."""

    def __init__(self) -> None:
        self._until_now, self._size = 0.0, _Size()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._until_now = _everything()
        _output(session.config)["collection"] = self._until_now

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        return (yield from self._measured(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        return (yield from self._measured(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        return (yield from self._measured(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        report.cpu, report.peak = item.stash[_USED], self._size.peak()    # type: ignore[attr-defined] # xdist carries them on
        return report

    def _measured(self, item: pytest.Item) -> Generator[None, object, object]:
        began, own = time.monotonic(), time.process_time()
        try:
            return (yield)
        finally:
            used = time.process_time() - own
            if time.monotonic() - began > _SHORT:
                used = max(0.0, _everything() - self._until_now)
            item.stash[_USED] = used
            self._until_now += used

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        _output(session.config)["peak"] = self._size.peak()


class Ledger:
    """In the process that reports: adds up, prints and keeps it."""

    def __init__(self, config: pytest.Config, name: str) -> None:
        self._config, self._name = config, name
        self._used: dict[str, float] = defaultdict(float)       # by node id
        self._extended: set[str] = set()
        self._workers: list[Mapping[str, float]] = []
        self._peaks: dict[str, float] = defaultdict(float)      # by worker
        self._grown: dict[str, float] = defaultdict(float)      # by node id: what it has added to its worker's peak

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._used[report.nodeid] += getattr(report, "cpu", 0.0)
        worker, peak = getattr(report, "worker_id", ""), getattr(report, "peak", 0.0)
        self._grown[report.nodeid] += peak - self._peaks[worker]
        self._peaks[worker] = peak
        if "extended" in report.keywords:
            self._extended.add(report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._workers.append(getattr(node, "workeroutput", {}))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        workers = self._workers or [_output(self._config)]
        tiers: dict[str, float] = defaultdict(float)
        for node, used in self._used.items():
            tiers[self._tier(node)] += used
        tiers["collection"] = sum(worker.get("collection", 0.0) for worker in workers) + (
            time.process_time() + forked.warming() if self._workers else 0.0)
        dearest = sorted(self._used.items(), key=lambda one: -one[1])[:_MOST]
        largest = sorted(self._grown.items(), key=lambda one: -one[1])[:_MOST // 4]
        peaks = [round(worker.get("peak", 0.0)) for worker in workers]
        terminalreporter.section(f"CPU seconds of {self._name}")
        for node, used in dearest:
            terminalreporter.write_line(f"{used:7.1f}  {node}")
        for tier, used in tiers.items():
            terminalreporter.write_line(f"{used:7.0f}  {tier}")
        terminalreporter.write_line("Largest size of each worker, MB: " + ", ".join(map(str, peaks)) + "; of that by")
        for node, grown in largest:
            terminalreporter.write_line(f"{grown:7.0f}  {node}")
        files: dict[str, float] = defaultdict(float)
        for node, used in self._used.items():
            files[node.partition("::")[0]] += used
        tests = {node: used for node, used in self._used.items() if node not in self._extended}
        _keep(self._name, tiers, tests, [] if self._extended else peaks,
              dict(sorted(files.items(), key=lambda one: -one[1])))

    def _tier(self, node: str) -> str:
        if node in self._extended:
            return "extended"
        if self._config.getoption("only_databases"):
            return self._name
        imported = imports_of(ROOT / node.partition("::")[0])
        if BROWSER in imported:
            return "chromium" if self._config.getoption("full_chromium") else "browser"
        return "processes" if PROCESSES & imported else "quick"


_USED = pytest.StashKey[float]()
_OUTPUT = pytest.StashKey[dict[str, float]]()


def _output(config: pytest.Config) -> dict[str, float]:
    """What reaches the controller, or stays here where there is none."""
    if hasattr(config, "workeroutput"):
        found: dict[str, float] = config.workeroutput
        return found
    return config.stash.setdefault(_OUTPUT, {})


class _Size:
    """MB of memory that are this process's own: not those it shares with the process that it was forked from, nor
    files of libraries, which all processes share."""

    def __init__(self) -> None:
        self._whole, self._peak = 0.0, 0.0     # the largest size with all that is shared, and without

    def peak(self) -> float:
        """The largest until now. Linux tells the largest size with what is shared alone; what is shared is looked up
        when that has grown, which takes 10 ms."""
        whole = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        if whole > self._whole + _GROWN:
            self._whole = whole
            self._peak = max(self._peak, whole - _shared())
        return self._peak


def _shared() -> float:
    try:
        lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(float(line.split()[1]) for line in lines if line.startswith(("Shared_", ))) / 1024


def _everything() -> float:
    return used_here() + forked.cpu_seconds()


def _keep(name: str, tiers: Mapping[str, float], tests: Mapping[str, float], peaks: list[int],
          files: Mapping[str, float]) -> None:
    SPENT.mkdir(parents=True, exist_ok=True)
    (SPENT / f"{name}.json").write_text(json.dumps(
        {"tiers": tiers, "tests": tests, "peaks": peaks, "files": files}, indent=1), "utf-8")


def over(spent: Mapping[str, Any], budgets: Mapping[str, Any]) -> Iterator[str]:
    """What is over its budget: a tier by more than a quarter, a test that is not of the extended tier, a worker (where
    no test of the extended tier ran, for they load models of full size)."""
    dearer = _CHROMIUM if "chromium" in spent["tiers"] else 1.0
    for tier, used in spent["tiers"].items():
        if used > _TOLERANCE * budgets["tiers"][tier]:
            yield f"{tier}: {used:.0f} CPU s, the budget is {budgets['tiers'][tier]}"
    for test, used in spent["tests"].items():
        may = dearer * budgets.get("files", {}).get(test.partition("::")[0], budgets["test"])
        if used > may:
            yield f"{test}: {used:.1f} CPU s, a test may use {may:g}"
    for peak in spent["peaks"]:
        if peak > budgets["worker"]:
            yield f"a worker grew to {peak} MB, it may have {budgets['worker']}"


def main(arguments: list[str]) -> int:
    if arguments:
        name, *command = arguments
        done = subprocess.run(command, cwd=ROOT, check=False)
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        _keep(name, {name: ended.ru_utime + ended.ru_stime}, {}, [], {})
        return done.returncode
    budgets = tomllib.loads((ROOT / "tests" / "budget.toml").read_text("utf-8"))
    faults = []
    for path in sorted(SPENT.glob("*.json")):
        spent = json.loads(path.read_text("utf-8"))
        for tier, used in spent["tiers"].items():
            print(f"{tier:12} {used:6.0f} of {budgets['tiers'][tier]} CPU s")
        faults += over(spent, budgets)
    print(*[f"OVER BUDGET {fault}" for fault in faults], sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
