"""Peak memory of the real server under attack: large simultaneous uploads, endless language model replies.

Resident memory is read from /proc every 20 ms: Linux only. Growth is relative to the warmed-up state; "later"
is the same, some time after the last request. Figures are MB of 2**20 bytes and comparable across machines.
"""

from __future__ import annotations

import io
import json
import socketserver
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

from benchmarks.own_settings import environment_of
from benchmarks.servers import Server, running

_EVERY = 0.02   # seconds
_SERVE = [sys.executable, "-m", "cli.main", "serve"]
_HEADER = "| What | Before | Growth | Later | Slowest /healthz | Answers |\n|---|---|---|---|---|---|"


@dataclass(frozen=True)
class Size:
    """``edge``: pixels per side of ``uploads`` simultaneous images; ``later``: seconds."""

    edge: int = 7746   # 60 megapixels
    uploads: int = 20
    later: float = 60.0


FULL = Size()
QUICK = Size(edge=4472, uploads=8, later=5.0)   # 20 megapixels


class Watch:
    """Context manager that samples a process's memory and times ``/healthz``."""

    def __init__(self, server: Server) -> None:
        self._server, self._over = server, threading.Event()
        self.most, self.slowest = 0.0, 0.0
        self._threads = [threading.Thread(target=self._sample), threading.Thread(target=self._ask)]

    def __enter__(self) -> Watch:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _sample(self) -> None:
        while not self._over.wait(_EVERY):
            self.most = max(self.most, self._server.memory_mb)

    def _ask(self) -> None:
        while not self._over.wait(0.1):
            began = time.perf_counter()
            with urllib.request.urlopen(f"{self._server.address}/healthz", timeout=60):
                self.slowest = max(self.slowest, time.perf_counter() - began)


def run(folder: Path, size: Size = FULL) -> None:
    """Print the tables."""
    home = folder / "bounds"
    _make_gallery(home)
    print(f"\nBounds of memory: {size.uploads} uploads of {size.edge**2 / 1e6:.0f} megapixels at one time")
    print(_HEADER)
    for loaded in (False, True):
        # The server loads the models of its initial gallery at start; if that does not exist it loads none.
        environment = environment_of(home, CIRQUE_GALLERY="atelier" if loaded else "none")
        with running(_SERVE, environment, folder / "bounds.log") as server:
            if loaded:
                _search(server)
            for kind in ("PNG RGB", "PNG RGBA", "PNG L", "JPEG RGB"):
                pictures = [_picture(kind, size.edge, number) for number in range(size.uploads)]
                name = f"{kind}, {len(pictures[0]) // 1000} kB each, models {'loaded' if loaded else 'not loaded'}"
                _upload(server, _picture(kind, 300, 255))   # warm-up: loads libraries
                calls = [partial(_upload, server, picture) for picture in pictures]
                print(_line(name, server, calls, size), flush=True)
    print("\nA search while the language model's server replies without end")
    print(_HEADER)
    for kind in ("body", "stream", "line of a stream", "error"):
        with _endless(kind) as address:
            environment = environment_of(home, CIRQUE_LLM_BASE_URL=address, CIRQUE_LLM_MODEL="endless")
            with running(_SERVE, environment, folder / "bounds.log") as server:
                _search(server)
                print(_line(f"endless {kind}", server, [lambda: _search(server, "cirevl")], size), flush=True)


def _line(name: str, server: Server, calls: Sequence[Callable[[], str]], size: Size) -> str:
    time.sleep(3)
    before = server.memory_mb
    with Watch(server) as watch, ThreadPoolExecutor(len(calls)) as threads:
        answers = Counter(done.result() for done in [threads.submit(call) for call in calls])
        time.sleep(0.5)
    time.sleep(size.later)
    after = server.memory_mb - before
    said = ", ".join(f"{count} × {answer}" for answer, count in answers.items())
    return (f"| {name} | {before:.0f} | {watch.most - before:+.0f} | {after:+.0f} ({after / before:+.0%}) | "
            f"{watch.slowest * 1000:.0f} ms | {said} |")


def _picture(kind: str, edge: int, number: int) -> bytes:
    from PIL import Image

    form, mode = kind.split()
    colour: Any = {"L": number, "RGB": (number, 90, 90), "RGBA": (number, 90, 90, 128)}[mode]
    content = io.BytesIO()
    Image.new(mode, (edge, edge), colour).save(content, form)
    return content.getvalue()


def _upload(server: Server, picture: bytes) -> str:
    request = urllib.request.Request(f"{server.address}/media/upload", picture, {"Content-Type": "image/png"})
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return str(answer.status)
    except urllib.error.HTTPError as error:
        return str(error.code)


def _search(server: Server, method: str = "") -> str:
    """Outcome of a named call: "fell back" if the built-in model had to answer."""
    call, image = f"{server.address}/gradio_api/call/search", _any_image(server)
    body = json.dumps({"data": [image, None, "in red", "", 5, method, [], []]}).encode()
    request = urllib.request.Request(call, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=300) as answer:
        event = json.load(answer)["event_id"]
    with urllib.request.urlopen(f"{call}/{event}", timeout=300) as stream:
        text = stream.read().decode()
    if "event: complete" not in text:
        return "failed: " + text[-200:]
    found = json.loads(text.rpartition("data: ")[2])[0]
    return "fell back" if any("answered instead of" in note for note in found["notes"]) else "found"


def _any_image(server: Server) -> str:
    with urllib.request.urlopen(f"{server.address}/media/find?gallery=atelier", timeout=300) as answer:
        return str(json.load(answer)["images"][0]["id"])


def _make_gallery(home: Path) -> None:
    from cir_core.encoders import load_encoder
    from cir_core.gallery.indexing import index_folder
    from cir_core.sample.atelier.build import build_atelier

    home.mkdir(parents=True)
    drawn = build_atelier(home / "drawn", limit=60)
    index_folder(drawn.images, name="atelier", encoder=load_encoder("atelier"), home=home, split="test")


@contextmanager
def _endless(kind: str) -> Iterator[str]:
    """The address of a chat server with endless replies; it stops after 4 GB."""
    words = {
        "body": (b'{"id": "', b"x" * 65536), "error": (b'{"error": {"message": "', b"x" * 65536),
        "line of a stream": (b"data: ", b"x" * 65536),
        "stream": (b"", b'data: {"id": "1", "choices": [{"index": 0, "delta": {"reasoning": "hm "}}]}\n\n' * 800),
    }
    begin, block = words[kind]
    status = "500 Internal Server Error" if kind == "error" else "200 OK"
    media = "text/event-stream" if "stream" in kind else "application/json"

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            length = 0
            while (line := self.rfile.readline().strip().lower()):
                name, _, value = line.partition(b":")
                length = int(value) if name == b"content-length" else length
            self.rfile.read(length)
            try:
                self.wfile.write(f"HTTP/1.1 {status}\r\nContent-Type: {media}\r\nConnection: close\r\n\r\n".encode())
                self.wfile.write(begin)
                for _ in range(2**32 // len(block)):
                    self.wfile.write(block)
            except OSError:
                pass

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        yield f"http://127.0.0.1:{cast(tuple[str, int], server.server_address)[1]}/v1"
        server.shutdown()
        serving.join()
