"""How fast the app answers ``/healthz`` while something else is asked of it, seen from a process of its own.

    python -m tests.fuzz.watch http://127.0.0.1:8000 PID

asks all the time, over one connection, and answers each line on its standard input with one line of JSON: the slowest
answer since the line before, one that has not come yet included. Time in which a thread of the app, or this process,
could have run and waited for a core is not counted: others have taken it.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from tests.fakes.patience import PATIENCE
from tests.fuzz.outcome import Bad, Target
from tests.fuzz.tracebacks import ROOT

SLOWEST = 1.0       # seconds for an answer of /healthz: more is a finding
_PAUSE = 0.05       # seconds between two questions
_AGAIN = 2          # times that an input is sent again beside which it was slow
_SETTLED = 3        # fast answers in a row after which the app is taken to be at rest
_REST = 20.0        # seconds that are waited for them


@dataclass(frozen=True)
class Slowest:
    """``seconds`` for one answer of ``/healthz``, and how much CPU the app took meanwhile. ``beside``: the target."""

    seconds: float = 0.0
    cpu: float = 0.0
    beside: str = ""


class Watch:
    """Asks :mod:`tests.fuzz.watch`'s process. ``slowest`` of the whole run; ``passed``: how many answers were slow
    beside an input that did not slow them down when it was sent again."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.slowest, self.passed = Slowest(), 0

    def look(self, beside: str = "") -> Slowest:
        """The slowest answer since the last look."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the process that watches /healthz has ended"
        found = Slowest(**json.loads(line), beside=beside)
        if found.seconds > self.slowest.seconds:
            self.slowest = found
        return found

    def over(self, target: Target) -> Target:
        """``target``, for which it is a finding, too, when ``/healthz`` is slow beside an input, and slow twice more
        beside the same on an app at rest: another process on this machine may have been the reason."""
        def attempt(given: object) -> str:
            self.look(target.name)
            ended = target.attempt(given)
            found = self.look(target.name)
            if found.seconds <= SLOWEST:
                return ended
            for _ in range(_AGAIN):
                self._wait_for_rest(target.name)
                target.attempt(given)
                found = self.look(target.name)
                if found.seconds <= SLOWEST:
                    self.passed += 1
                    return ended
            raise Bad(f"/healthz takes more than {SLOWEST:g} s beside it")

        return replace(target, attempt=attempt)

    def _wait_for_rest(self, after: str) -> None:
        until, fast = time.monotonic() + _REST, 0
        while fast < _SETTLED and time.monotonic() < until:
            time.sleep(0.1)
            fast = fast + 1 if self.look(after).seconds < SLOWEST / 4 else 0


@contextmanager
def watching(url: str, pid: int) -> Iterator[Watch]:
    """Watch the app at ``url``, the process ``pid``."""
    process = subprocess.Popen([sys.executable, "-m", "tests.fuzz.watch", url, str(pid)], cwd=ROOT, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield Watch(process)
    finally:
        process.kill()
        process.communicate()


class _Poller(threading.Thread):
    def __init__(self, url: str, pid: int) -> None:
        super().__init__(daemon=True)
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)
        self._app, self._pids = psutil.Process(pid), (str(pid), "self")
        self._lock = threading.Lock()
        self._slowest = Slowest()
        self._began: tuple[float, float, float] | None = None

    def run(self) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            while True:
                self._began = (time.monotonic(), self._cpu(), self._starved())
                try:
                    self._connection.request("GET", "/healthz")
                    self._connection.getresponse().read()
                except (OSError, http.client.HTTPException):
                    self._connection.close()
                with self._lock:
                    self._note()
                    self._began = None
                time.sleep(_PAUSE)

    def taken(self) -> Slowest:
        with self._lock:
            self._note()
            found, self._slowest = self._slowest, Slowest()
        return found

    def _note(self) -> None:
        if self._began is not None:
            seconds = time.monotonic() - self._began[0] - max(0.0, self._starved() - self._began[2])
            if seconds > self._slowest.seconds:
                self._slowest = Slowest(seconds, self._cpu() - self._began[1])

    def _cpu(self) -> float:
        times = self._app.cpu_times()
        return float(times.user + times.system)

    def _starved(self) -> float:
        """Seconds that threads have waited for a core, where Linux tells: the second number, in nanoseconds."""
        waited = 0
        for pid in self._pids:
            for told in Path(f"/proc/{pid}/task").glob("*/schedstat"):
                with contextlib.suppress(OSError):     # a thread that has just ended
                    waited += int(told.read_text().split()[1])
        return waited / 1e9


def main() -> None:
    poller = _Poller(sys.argv[1], int(sys.argv[2]))
    poller.start()
    for _ in sys.stdin:
        said = asdict(poller.taken())
        said.pop("beside")
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
