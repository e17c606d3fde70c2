"""cirque as processes of their own that have everything imported when they begin: ``python app.py`` takes 3 to 4 s of
CPU for that, and the tests start it many times.

:mod:`tests.fakes.fork_server` forks itself for each start. The child is an interpreter with its own arguments,
environment and files, which ends by itself or by a signal. Tests about the start itself start it plainly.
"""

from __future__ import annotations

import json
import os
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import IO, Protocol

from tests.fakes.cpu_time import used_by, used_by_trees
from tests.fakes.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
_ADDRESS = "PYTEST_CIRQUE_FORKS"
_READ_LATE = ("CIRQUE_", "COLUMNS", "PYTEST_")     # variables that no import reads
_running: set[int] = set()     # process ids
_ended_used = 0.0              # CPU seconds of those that have ended
_warmed = 0.0                  # those of the server of forks, once it is closed


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
          plainly: bool = False, folder: Path = ROOT) -> Running:
    """``python ARGUMENTS`` in ``folder``. ``arguments`` are a script and its own, "-m", a module and its own, or "-c",
    code and its own. Errors go where the output goes, unless there is a file for them. ``plainly``: not forked."""
    if not plainly and sys.platform == "linux" and _as_imports_see_it(environment) == _as_imports_see_it(os.environ):
        return _Forked(arguments, environment, output, errors or output, folder)
    return subprocess.Popen([sys.executable, *arguments], cwd=folder, env=dict(environment), stdin=subprocess.DEVNULL,
                            stdout=output, stderr=errors or subprocess.STDOUT)


def run(*arguments: str, environment: Mapping[str, str], folder: Path = ROOT, timeout: float = PATIENCE,
        plainly: bool = False) -> subprocess.CompletedProcess[str]:
    """As :func:`start`, until it ends. Raises subprocess.TimeoutExpired."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = start(*arguments, environment=environment, output=output, errors=errors, plainly=plainly,
                        folder=folder)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(arguments, code, output.read(), errors.read())


def _as_imports_see_it(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith(_READ_LATE)}


def cpu_seconds() -> float:
    """What all forked processes have used until now, those aside that run below this one."""
    return _ended_used + (0.0 if serve.cache_info().currsize else used_by_trees(_running))


class _Forked:
    def __init__(self, arguments: tuple[str, ...], environment: Mapping[str, str], output: IO[str],
                 errors: IO[str], folder: Path) -> None:
        self.returncode: int | None = None
        read, write = os.pipe()
        message = json.dumps({"argv": arguments, "environment": dict(environment), "folder": str(folder)}).encode()
        try:
            socket.send_fds(_connection(), [message], [output.fileno(), errors.fileno(), write])
        finally:
            os.close(write)
        self._told = os.fdopen(read, buffering=1)
        self.pid = int(self._told.readline())
        _running.add(self.pid)

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
            global _ended_used
            self.returncode = int(self._told.readline())
            _ended_used += float(self._told.readline())
            _running.discard(self.pid)
            self._told.close()
        return self.returncode

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def warming() -> float:
    """CPU seconds of the server of forks itself, also when it has been closed."""
    return _warmed or (used_by(serve().pid) if serve.cache_info().currsize else 0.0)


@lru_cache(maxsize=1)
def serve() -> subprocess.Popen[bytes]:
    """The server of forks, for this process and those that inherit its environment: the workers of pytest-xdist. It
    ends when the pipe of its standard output is closed, as it is when this process ends."""
    address = Path(tempfile.mkdtemp(prefix="cirque-forks-")) / "socket"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(address))
        listening.listen()
        os.environ[_ADDRESS] = str(address)
        return subprocess.Popen([sys.executable, "-m", "tests.fakes.fork_server"], cwd=ROOT, stdin=listening,
                                stdout=subprocess.PIPE)


def worker() -> str:
    """How execnet starts a worker that is forked too; :func:`serve` comes first."""
    script = Path(__file__).with_name("forked_worker.py")
    return f"popen//python={shlex.join([sys.executable, '-S', '-E', str(script)])}"


@lru_cache(maxsize=1)
def _connection() -> socket.socket:
    if _ADDRESS not in os.environ:
        serve()
    asking = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    asking.connect(os.environ[_ADDRESS])
    return asking


def close() -> None:
    """At the end of all tests."""
    if _connection.cache_info().currsize:
        _connection().close()
    global _warmed
    if serve.cache_info().currsize:
        _warmed = warming()
        with serve() as running:
            running.kill()
        shutil.rmtree(Path(os.environ.pop(_ADDRESS)).parent)
