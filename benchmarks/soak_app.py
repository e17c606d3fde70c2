"""The app as a process that is killed again and again, always at the same port."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from benchmarks.driver import Connection, Refused
from benchmarks.own_settings import environment_of
from benchmarks.servers import ROOT, lasting_port

_PATIENCE = 120.0    # seconds until it must answer


class App:
    """``python app.py`` over ``home`` and ``database`` (none: the file in ``home``). ``up`` is set while it answers;
    ``age`` is another number after each start and each end, so that a client can tell whether its call met one."""

    def __init__(self, home: Path, database: str = "") -> None:
        self._home, self._database = home, database
        self._port = lasting_port()
        self.address = f"http://127.0.0.1:{self._port}"
        self.up, self.age = asyncio.Event(), 0
        self.kills = 0
        self.seconds_to_ready: list[float] = []
        self.most_memory_mb = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self, **changes: str) -> None:
        """Returns when it answers. ``changes``: settings of this run. Raises RuntimeError with its log otherwise."""
        log = self._home / f"app-{self.age}.log"
        began = time.monotonic()
        with log.open("w") as stream:
            self._process = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, stdout=stream,
                                             stderr=subprocess.STDOUT, env=self._environment(changes))
        while not await self._answers() or self._process.poll() is not None:
            if self._process.poll() is not None or time.monotonic() - began > _PATIENCE:
                raise RuntimeError(f"The app did not come up:\n{log.read_text()}")
            await asyncio.sleep(0.05)
        self.seconds_to_ready.append(time.monotonic() - began)
        self.age += 1
        self.up.set()

    def kill(self) -> None:
        """kill -9."""
        assert self._process is not None
        self._note_memory()
        self.age += 1
        self.kills += 1
        self.up.clear()
        self._process.kill()
        self._process.wait()

    async def stop(self) -> None:
        """As a service manager does."""
        if self._process is None or self._process.poll() is not None:
            return
        self._note_memory()
        self.age += 1
        self.up.clear()
        self._process.terminate()
        try:
            await asyncio.to_thread(self._process.wait, 30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    async def trouble(self, over: asyncio.Event, rng: random.Random, least: float, most: float) -> None:
        """Kill and start, after between ``least`` and ``most`` seconds of work each time, until it is ``over``."""
        while not over.is_set():
            try:
                await asyncio.wait_for(over.wait(), rng.uniform(least, most))
            except TimeoutError:
                self.kill()
                await self.start()

    @property
    def ended(self) -> str:
        """Why it is not there though nobody ended it; empty if it is, or somebody did."""
        status = None if self._process is None or not self.up.is_set() else self._process.poll()
        return "" if status is None else f"the app ended by itself, with status {status}; see its log"

    def said(self) -> str:
        """What all its runs wrote."""
        return "\n".join(path.read_text(errors="replace") for path in sorted(self._home.glob("app-*.log")))

    def _environment(self, changes: Mapping[str, str]) -> dict[str, str]:
        return environment_of(self._home, CIRQUE_PORT=str(self._port), CIRQUE_DATABASE_URL=self._database, **changes)

    async def _answers(self) -> bool:
        connection = Connection(self.address)
        try:
            await connection.get("/healthz")
        except (OSError, Refused):
            return False
        finally:
            connection.close()
        return True

    def _note_memory(self) -> None:
        assert self._process is not None
        self.most_memory_mb = max(self.most_memory_mb, psutil.Process(self._process.pid).memory_info().rss / 2**20)
