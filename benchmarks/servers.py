"""Server processes on a free port."""

from __future__ import annotations

import random
import re
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[1]


def lasting_port() -> int:
    """A free port outside the system's ephemeral range, so that no other process gets it by chance."""
    for port in random.SystemRandom().sample(range(20_000, 32_000), 200):
        with socket.socket() as tried, suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("No port between 20000 and 32000 is free.")


@dataclass(frozen=True)
class Server:
    address: str
    pid: int

    @property
    def memory_mb(self) -> float:
        """Resident memory, MB of 2**20 bytes."""
        return float(psutil.Process(self.pid).memory_info().rss) / 2**20


@contextmanager
def running(command: Sequence[str], environment: Mapping[str, str], log: Path) -> Iterator[Server]:
    """Start a server and wait for its address. Raises RuntimeError with its log on failure."""
    with log.open("w") as stream:
        process = subprocess.Popen(command, cwd=ROOT, env=dict(environment), stdout=stream, stderr=subprocess.STDOUT)
    try:
        until = time.monotonic() + 120
        while not (found := re.search(r"http://[^\s/]+", log.read_text())):
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{command} did not come up:\n{log.read_text()}")
            time.sleep(0.05)
        yield Server(found[0], process.pid)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
