"""The app as processes of their own, and the program of nginx."""

from __future__ import annotations

import re
import shutil
import signal
from pathlib import Path

import httpx

from tests.fakes.databases import environment_of
from tests.fakes.forked import Running, start
from tests.fakes.patience import PATIENCE, wait_for

ROOT = Path(__file__).parents[2]
_APP = "\nimport runpy; runpy.run_path('app.py', run_name='__main__')"


class App:
    """``python app.py``; ``said`` is all it printed and logged. ``plainly``: not forked from one that is there.
    ``first``: code that runs before it in the same process."""

    def __init__(self, home: Path, log: Path, *, plainly: bool = False, first: str = "", **settings: str) -> None:
        self.home, self._log = home, log
        chosen = {"PORT": "0", "HOST": "127.0.0.1", "GALLERY": "none", **settings}
        environment = environment_of(home, **{f"CIRQUE_{name}": value for name, value in chosen.items()})
        with log.open("w") as stream:
            self.process = start(*(("-c", first + _APP) if first else ("app.py",)), environment=environment,
                                 output=stream, plainly=plainly)

    @property
    def said(self) -> str:
        return self._log.read_text()

    @property
    def url(self) -> str:
        """Once it listens."""
        return wait_for(lambda: re.search(r"http://[^\s\"]+", self.said), going=lambda: self.process.poll() is None,
                        told=lambda: self.said)[0]

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)


def wait_until_answers(url: str, process: Running) -> None:
    def answers() -> bool:
        try:
            httpx.get(url, timeout=PATIENCE)
            return True
        except httpx.TransportError:
            return False

    wait_for(answers, going=lambda: process.poll() is None, told=lambda: f"{url} does not answer")


def nginx() -> str:
    """The program; Debian keeps it out of an ordinary person's path."""
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    assert found, "This test needs nginx (Debian: apt-get install nginx-light)."
    return found
