"""App process that is killed and restarted repeatedly, always on the same port."""

from __future__ import annotations

import asyncio
import itertools
import random
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import orjson
import psutil

from benchmarks.driver import Connection, Refused
from benchmarks.own_settings import environment_of
from benchmarks.servers import ROOT, lasting_port

_PATIENCE = 120.0    # seconds until it must respond


class App:
    """``python app.py`` of the checkout ``root`` over ``home`` and ``database`` (none: the file in ``home``). ``up`` is
    set while it responds, ``warm`` once its model is loaded; ``age`` changes at each start and each
    end, so that a client can detect that its call was interrupted. ``niceness``: 0 to 19, that of the process."""

    def __init__(self, home: Path, database: str = "", root: Path = ROOT, niceness: int = 0) -> None:
        self._home, self._database, self._root, self._niceness = home, database, root, niceness
        self._port = lasting_port()
        self.address = f"http://127.0.0.1:{self._port}"
        self.up, self.warm, self.age = asyncio.Event(), asyncio.Event(), 0
        self.kills = 0
        self.seconds_to_ready: list[float] = []
        self.seconds_to_warm: list[float] = []
        self.most_memory_mb = 0.0
        self._process: subprocess.Popen[bytes] | None = None
        self._watching: asyncio.Task[None] | None = None

    async def start(self, **changes: str) -> None:
        """Start and wait for the first response, which is before its model is loaded. ``changes``: settings of this
        run. Raises RuntimeError with its log on failure."""
        log = self._home / f"app-{self._port}-{self.age:03d}.log"
        began = time.monotonic()
        with log.open("w") as stream:
            command = ["nice", "-n", str(self._niceness), sys.executable, "app.py"]   # nice execs the app
            self._process = subprocess.Popen(command, cwd=self._root, stdout=stream, stderr=subprocess.STDOUT,
                                             env=self._environment(changes))
        while not await self._answers() or self._process.poll() is not None:
            if self._process.poll() is not None or time.monotonic() - began > _PATIENCE:
                raise RuntimeError(f"The app did not come up:\n{log.read_text()}")
            await asyncio.sleep(0.05)
        self.seconds_to_ready.append(time.monotonic() - began)
        self.age += 1
        self.up.set()
        self._watching = asyncio.create_task(self._watch(self.age, began))

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """Send SIGKILL."""
        assert self._process is not None
        self._note_memory()
        self.age += 1
        self.kills += 1
        self._is_down()
        self._process.kill()
        self._process.wait()

    async def stop(self) -> None:
        """Stop as a service manager does."""
        if self._process is None or self._process.poll() is not None:
            return
        self._note_memory()
        self.age += 1
        self._is_down()
        self._process.terminate()
        try:
            await asyncio.to_thread(self._process.wait, 30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    async def trouble(self, over: asyncio.Event, rng: random.Random, least: float, most: float) -> None:
        """Kill and restart, after between ``least`` and ``most`` seconds of work each time, until it is ``over``. They
        count from the app's first response, and every second time from when its model is loaded."""
        for number in itertools.count():
            if number % 2:
                await self._warm_or(over)
            try:
                await asyncio.wait_for(over.wait(), rng.uniform(least, most))
                return
            except TimeoutError:
                self.kill()
                await self.start()

    @property
    def ended(self) -> str:
        """Why the app is down unexpectedly; empty if it is up or was stopped on purpose."""
        status = None if self._process is None or not self.up.is_set() else self._process.poll()
        return "" if status is None else f"the app ended by itself, with status {status}; see its log"

    def said(self) -> str:
        """Logs of all its runs."""
        return "\n".join(path.read_text(errors="replace") for path in sorted(self._home.glob("app-*.log")))

    def _environment(self, changes: Mapping[str, str]) -> dict[str, str]:
        return environment_of(self._home, CIRQUE_PORT=str(self._port), CIRQUE_DATABASE_URL=self._database,
                              PYTHONPATH=str(self._root), **changes)

    async def _warm_or(self, over: asyncio.Event) -> None:
        waits = [asyncio.create_task(event.wait()) for event in (self.warm, over)]
        await asyncio.wait(waits, timeout=_PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()

    async def _watch(self, age: int, began: float) -> None:
        """Poll until the model is loaded or the process has ended."""
        connection = Connection(self.address)
        try:
            while self.age == age:
                try:
                    checks = orjson.loads(await connection.get("/readyz"))["checks"]
                except Refused:     # not ready
                    checks = {}
                except OSError:
                    return
                if self.age == age and checks.get("model", {}).get("state") == "ready":
                    self.warm.set()
                    self.seconds_to_warm.append(time.monotonic() - began)
                    return
                await asyncio.sleep(0.2)
        finally:
            connection.close()

    def _is_down(self) -> None:
        self.up.clear()
        self.warm.clear()
        if self._watching is not None:
            self._watching.cancel()

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
