"""The embedded Milvus server as a process of its own, over its wire on this machine alone."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.own_settings import environment_of
from benchmarks.servers import lasting_port
from cir_core.errors import IndexUnavailable
from cir_core.index.milvus.server import MilvusServer


class MilvusProcess:
    """Serves the data in ``folder``, on the same port whenever it is started. ``seconds``: for a start."""

    def __init__(self, folder: Path, seconds: float = 120.0) -> None:
        self.port = lasting_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._folder, self._seconds = folder, seconds
        self.start()

    def start(self) -> None:
        """Raises RuntimeError with the log if it does not come up."""
        self._folder.mkdir(exist_ok=True)
        with (self._folder / "log").open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "milvus_lite", "server", "--data-dir", str(self._folder / "data"), "--host",
                 "127.0.0.1", "--port", str(self.port)], env=environment_of(self._folder), stdout=log,
                stderr=subprocess.STDOUT)
        until = time.monotonic() + self._seconds
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                self.kill()
                raise RuntimeError(f"Milvus Lite did not come up:\n{(self._folder / 'log').read_text()}")
            time.sleep(0.1)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def _answers(self) -> bool:
        try:
            MilvusServer(self.address, seconds=self._seconds).call(
                lambda client: client.get_server_version(timeout=self._seconds))
            return True
        except IndexUnavailable:
            return False


@contextmanager
def embedded_milvus(folder: Path) -> Iterator[str]:
    """Its address."""
    running = MilvusProcess(folder)
    try:
        yield running.address
    finally:
        running.kill()
