"""cirque as processes of their own that have everything imported when they begin: ``python app.py`` takes 3 to 4 s of
CPU for that, and the tests start it many times.

:mod:`tests.fakes.fork_server` forks itself for each start. The child is an interpreter with its own arguments,
environment and files, which ends by itself or by a signal. Tests about the start itself start it plainly.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import IO, Protocol

ROOT = Path(__file__).resolve().parents[2]
_READ_LATE = ("CIRQUE_", "COLUMNS", "PYTEST_")     # variables that no import reads


class Running(Protocol):
    """What tests use of :class:`subprocess.Popen`."""

    pid: int
    returncode: int | None

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int) -> None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


def start(*arguments: str, environment: Mapping[str, str], output: IO[str], errors: IO[str] | None = None,
          plainly: bool = False) -> Running:
    """``python ARGUMENTS`` in the root of the repository. ``arguments`` are a script and its own, or "-m", a module and
    its own. Errors go where the output goes, unless there is a file for them. ``plainly``: not forked."""
    if not plainly and sys.platform == "linux" and _as_imports_see_it(environment) == _as_imports_see_it(os.environ):
        return _Forked(arguments, environment, output, errors or output)
    return subprocess.Popen([sys.executable, *arguments], cwd=ROOT, env=dict(environment), stdin=subprocess.DEVNULL,
                            stdout=output, stderr=errors or subprocess.STDOUT)


def _as_imports_see_it(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith(_READ_LATE)}


class _Forked:
    def __init__(self, arguments: tuple[str, ...], environment: Mapping[str, str], output: IO[str],
                 errors: IO[str]) -> None:
        self.returncode: int | None = None
        read, write = os.pipe()
        message = json.dumps({"argv": arguments, "environment": dict(environment)}).encode()
        try:
            socket.send_fds(_server()[0], [message], [output.fileno(), errors.fileno(), write])
        finally:
            os.close(write)
        self._told = os.fdopen(read, buffering=1)
        self.pid = int(self._told.readline())

    def poll(self) -> int | None:
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        until = None if timeout is None else time.monotonic() + timeout
        while (code := self._look(0.5 if until is None else max(0.0, until - time.monotonic()))) is None:
            if until is not None and time.monotonic() >= until:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
        return code

    def _look(self, seconds: float) -> int | None:
        if self.returncode is None and select.select([self._told], [], [], seconds)[0]:
            self.returncode = int(self._told.readline())
            self._told.close()
        return self.returncode

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@lru_cache(maxsize=1)
def _server() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """Started with the first process that is asked for; it ends when the socket is closed, as it is when this process
    ends."""
    own, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        return own, subprocess.Popen([sys.executable, "-m", "tests.fakes.fork_server"], cwd=ROOT, stdin=its,
                                     stdout=subprocess.DEVNULL)


def close() -> None:
    """At the end of all tests."""
    if _server.cache_info().currsize:
        asks, running = _server()
        asks.close()
        running.wait(60)
