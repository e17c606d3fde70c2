"""Time from process start to the first page, against a bare Gradio app.

A first start creates its home folder, its database and its tables; ``cirque demo`` also renders and indexes the
sample gallery. A restart has stored judgements.
"""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.own_settings import environment_of
from benchmarks.servers import lasting_port
from benchmarks.study_home import Room, make_home
from benchmarks.timing import HEADER, in_turn

_CIRQUE = [sys.executable, "-m", "cli.main"]


@dataclass(frozen=True)
class Size:
    """``stored`` judgements; ``pairs`` of starts per line; ``demo``: also one that renders the sample gallery."""

    stored: int = 100_000
    pairs: int = 3
    demo: bool = True


FULL = Size()
QUICK = Size(stored=2_000, pairs=1, demo=False)


def run(folder: Path, size: Size = FULL) -> None:
    """Print the table."""
    print("\nStart: from starting the process until / answers.")
    print("bare: a Gradio app with one event, as a process of its own")
    print(HEADER)
    numbers = itertools.count()

    def fresh(command: str) -> None:
        _until_it_answers([*_CIRQUE, command], folder / f"fresh-{next(numbers)}")

    def bare(_: int) -> None:
        port = lasting_port()
        _until_it_answers([sys.executable, "-m", "benchmarks.bare_start", str(port)], folder, port)

    first = in_turn(lambda _: fresh("serve"), bare, size.pairs)
    print(first.line("first start, cirque serve"), flush=True)
    stored = folder / "start-stored"
    make_home(stored, size.stored, Room(alone=20, each=20, surveys_alone=1, surveys=1))
    again = in_turn(lambda _: _until_it_answers([*_CIRQUE, "serve"], stored), bare, size.pairs)
    print(again.line(f"restart, {size.stored:,} judgements stored"), flush=True)
    if size.demo:
        began = time.perf_counter()
        fresh("demo")
        print(f"first start, cirque demo, which draws and indexes the sample gallery: "
              f"{time.perf_counter() - began:.0f} s, once", flush=True)


def _until_it_answers(command: Sequence[str], home: Path, port: int | None = None) -> None:
    port = port or lasting_port()
    environment = environment_of(home, CIRQUE_PORT=str(port))
    server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 600
        while time.monotonic() < deadline and server.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as page:
                    if page.status == 200:
                        return
            except OSError:
                time.sleep(0.05)
        raise TimeoutError(f"{' '.join(command)} did not answer")
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=60)
