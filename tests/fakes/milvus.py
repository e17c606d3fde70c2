"""The embedded Milvus server as a process of its own, over its wire on this machine alone."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

from cir_core.errors import IndexUnavailable
from cir_core.index.milvus.server import MilvusServer
from tests.fakes.patience import PATIENCE, wait_for


class MilvusProcess:
    """Use as ``with MilvusProcess(folder) as server``. It keeps its data in ``folder`` and its port when it is started
    again."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port: int = found.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self._folder = folder
        self.start()

    def __enter__(self) -> MilvusProcess:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()

    def start(self) -> None:
        with (self._folder / "log").open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "milvus_lite", "server", "--data-dir", str(self._folder / "data"), "--host",
                 "127.0.0.1", "--port", str(self.port)], stdout=log, stderr=subprocess.STDOUT)
        try:
            wait_for(self._answers, going=lambda: self._process.poll() is None, told=(self._folder / "log").read_text)
        except AssertionError:
            self.kill()
            raise

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(PATIENCE)

    def _answers(self) -> bool:
        try:
            MilvusServer(self.address, seconds=PATIENCE).call(
                lambda client: client.get_server_version(timeout=PATIENCE))
            return True
        except IndexUnavailable:
            return False
