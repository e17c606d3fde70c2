"""From starting the process to the first answered page, against importing gradio alone."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from benchmarks.timing import HEADER, in_turn
from cir_core.gallery import open_gallery
from cir_core.sample import NAME, ensure_sample
from cli.console import open_encoder


def run(folder: Path) -> None:
    home = folder / "start-home"
    ensure_sample(home, open_encoder("atelier"))
    print(f"\nStart: cirque serve until / answers, {len(open_gallery(NAME, home=home))} images.")
    print("bare: python -c 'import gradio' as a process of its own")
    print(HEADER)
    pair = in_turn(lambda _: _first_page(home), lambda _: _import_gradio(), pairs=3)
    print(pair.line("process start to first page"), flush=True)


def _import_gradio() -> None:
    subprocess.run([sys.executable, "-c", "import gradio"], check=True, capture_output=True)


def _first_page(home: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "CIRQUE_HOME": str(home), "CIRQUE_PORT": str(port), "CIRQUE_HOST": "127.0.0.1"}
    server = subprocess.Popen([sys.executable, "-m", "cli.main", "serve"], env=environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as page:
                    if page.status == 200:
                        return
            except OSError:
                time.sleep(0.05)
        raise TimeoutError("the server did not answer within two minutes")
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=30)
