"""Images that a named call gives by URL are fetched up to the size of an upload."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
import safehttpx
from gradio import processing_utils

from tests.fakes.loops import run
from web.url_downloads import bound_downloads

Write = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def served(write: Write) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with suppress(OSError):
                write(self)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://pictures.example:{server.server_port}/x.png"
        server.shutdown()


@pytest.fixture(autouse=True)
def _bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """One megabyte; this machine counts as a public address."""
    async def validated(host: str) -> str:
        if host != "pictures.example":
            raise ValueError(f"{host} failed validation")
        return "127.0.0.1"

    monkeypatch.setattr(safehttpx, "async_validate_url", validated)
    monkeypatch.setattr(processing_utils, "async_transport", None)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    bound_downloads(1)


def fetched(url: str) -> bytes:
    async def get() -> httpx.Response:
        return await processing_utils.async_ssrf_protected_get(url)

    return bytes(run(get()).content)


def start(handler: BaseHTTPRequestHandler, *headers: tuple[str, str], status: int = 200) -> None:
    handler.send_response(status)
    for name, value in headers:
        handler.send_header(name, value)
    handler.end_headers()


def test_what_is_no_longer_than_an_upload_comes_whole() -> None:
    def write(handler: BaseHTTPRequestHandler) -> None:
        start(handler)
        handler.wfile.write(bytes(2**20))

    with served(write) as url:
        assert len(fetched(url)) == 2**20


def test_an_endless_one_is_cut_off() -> None:
    sent = 0

    def write(handler: BaseHTTPRequestHandler) -> None:
        nonlocal sent
        start(handler)
        while sent < 2**28:
            handler.wfile.write(bytes(2**16))
            sent += 2**16

    with served(write) as url, pytest.raises(httpx.ReadError, match="larger than 1 MB"):
        fetched(url)
    assert sent < 2**26   # what was on the way when the connection was closed


def test_a_compressed_one_is_not_decompressed() -> None:
    def write(handler: BaseHTTPRequestHandler) -> None:
        assert handler.headers["Accept-Encoding"] == "identity"
        start(handler, ("Content-Encoding", "gzip"))
        handler.wfile.write(gzip.compress(bytes(2**28)))

    with served(write) as url, pytest.raises(httpx.ReadError, match="compressed"):
        fetched(url)


def test_a_redirect_to_an_address_inside_is_refused() -> None:
    with served(lambda handler: start(handler, ("Location", "http://localhost/"), status=302)) as url, \
            pytest.raises(ValueError, match="failed validation"):
        fetched(url)


@pytest.mark.parametrize("part", ["header", "body"])
def test_one_that_drips_is_given_up(part: str) -> None:
    """Every byte comes in good time, and the last one never."""
    bound_downloads(1, seconds=0.5)
    gone = threading.Event()

    def write(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        (handler.flush_headers if part == "header" else handler.end_headers)()
        until = time.monotonic() + 20
        try:
            while time.monotonic() < until:
                handler.wfile.write(b"x")
                time.sleep(0.05)
        except OSError:
            gone.set()

    with served(write) as url:
        began = time.monotonic()
        with pytest.raises(httpx.ReadError, match=r"within 0\.5 seconds"):
            fetched(url)
        assert time.monotonic() - began < 10
        assert gone.wait(10)   # the connection was closed


@pytest.mark.parametrize("how", ["refused", "compressed", "whole"])
def test_no_connection_is_left_open(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[object] = []
    close = safehttpx.AsyncSecureTransport.aclose

    async def noted(self: safehttpx.AsyncSecureTransport) -> None:
        closed.append(self)
        await close(self)

    monkeypatch.setattr(safehttpx.AsyncSecureTransport, "aclose", noted)

    def write(handler: BaseHTTPRequestHandler) -> None:
        if how != "refused":
            start(handler, *([("Content-Encoding", "gzip")] if how == "compressed" else []))

    with served(write) as url, suppress(httpx.TransportError):
        fetched(url)
    assert len(set(closed)) == 1
