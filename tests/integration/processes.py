"""The app as processes of their own, and the program of nginx."""

from __future__ import annotations

import re
import shutil
import signal
import time
from pathlib import Path

import httpx

from tests.fakes.databases import environment_of
from tests.fakes.forked import Running, start

ROOT = Path(__file__).parents[2]


class App:
    """``python app.py``; ``said`` is all it printed and logged. ``plainly``: not forked from one that is there."""

    def __init__(self, home: Path, log: Path, *, plainly: bool = False, **settings: str) -> None:
        self.home, self._log = home, log
        chosen = {"PORT": "0", "HOST": "127.0.0.1", "GALLERY": "none", **settings}
        environment = environment_of(home, **{f"CIRQUE_{name}": value for name, value in chosen.items()})
        with log.open("w") as stream:
            self.process = start("app.py", environment=environment, output=stream, plainly=plainly)

    @property
    def said(self) -> str:
        return self._log.read_text()

    @property
    def url(self) -> str:
        """Once it listens."""
        until = time.monotonic() + 120
        while not (found := re.search(r"http://[^\s\"]+", self.said)):
            assert self.process.poll() is None and time.monotonic() < until, self.said
            time.sleep(0.05)
        return found[0]

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(30)


def wait_until_answers(url: str, process: Running, patience: float = 120) -> None:
    until = time.monotonic() + patience
    while True:
        try:
            httpx.get(url, timeout=5)
            return
        except httpx.TransportError:
            assert process.poll() is None and time.monotonic() < until, f"{url} does not answer"
            time.sleep(0.05)


def nginx() -> str:
    """The program; Debian keeps it out of an ordinary person's path."""
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    assert found, "This test needs nginx (Debian: apt-get install nginx-light)."
    return found
