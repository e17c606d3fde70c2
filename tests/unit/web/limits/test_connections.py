"""The real HTTP server closes slow and idle connections, after times made short here, and no others."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from cir_core.settings import Settings
from web.limits import connections
from web.limits.connections import Connections, most_connections
from web.limits.networks import Networks
from web.server import server_config

LARGE = 32 * 2**20      # bytes, more than the system buffers of a connection hold
GONE = 15.0             # seconds within which a test expects a connection to be closed
LONG = 2.0              # seconds of the timeouts in tests that stay below them
Connect = Callable[[], socket.socket]


def an_app() -> FastAPI:
    app = FastAPI(openapi_url=None)

    @app.post("/length")
    async def length(request: Request) -> Response:
        return PlainTextResponse(str(len(await request.body())))

    @app.get("/large")
    async def large() -> Response:
        async def pieces() -> Any:
            for _ in range(LARGE // 2**16):
                yield b"x" * 2**16

        return StreamingResponse(pieces())

    @app.get("/quiet")
    async def quiet() -> Response:
        async def pieces() -> Any:
            yield b"begun\n"
            await asyncio.sleep(1.5 * LONG)
            yield b"ended\n"

        return StreamingResponse(pieces())

    return app


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Connect]:
    timeout = getattr(request, "param", 0.6)
    for name, seconds in (("_LOOK", 0.1), ("_HEADERS", timeout), ("_STALLED", timeout)):
        monkeypatch.setattr(connections, name, seconds)
    monkeypatch.setattr("web.server.most_connections", lambda: 60)
    config = server_config(an_app(), Settings())
    server = uvicorn.Server(config)
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        opened: list[socket.socket] = []

        def connected() -> socket.socket:
            opened.append(socket.create_connection(listener.getsockname(), timeout=GONE))
            return opened[-1]

        while not server.started:
            time.sleep(0.01)
        yield connected
        for one in opened:
            one.close()
        server.should_exit = True
        thread.join(10)


def ask(connection: socket.socket, path: str = "/length", body: bytes = b"12345", method: str = "POST") -> bytes:
    connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                       + body)
    return answer(connection)


def answer(connection: socket.socket) -> bytes:
    """One whole answer that says its length."""
    told = b""
    while b"\r\n\r\n" not in told:
        piece = connection.recv(2**16)
        assert piece, "the server closed this connection"
        told += piece
    head, _, content = told.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(content) < length:
        content += connection.recv(2**16)
    return head + b"\r\n\r\n" + content


def until_closed(connection: socket.socket, drip: bytes = b"", every: float = 0.05) -> bytes:
    """What comes until the server hangs up, while ``drip`` is sent again and again. TimeoutError if it does not."""
    told, until = b"", time.monotonic() + GONE
    connection.settimeout(every)
    while time.monotonic() < until:
        try:
            if drip:
                connection.sendall(drip)
            piece = connection.recv(2**16)
        except TimeoutError:
            continue
        except OSError:
            return told
        if not piece:
            return told
        told += piece
    raise TimeoutError("The server holds this connection.")


def test_who_asks_nothing_is_hung_up_on(connect: Connect) -> None:
    assert until_closed(connect()) == b""


def test_headers_that_come_a_byte_at_a_time_are_not_waited_for(connect: Connect) -> None:
    connection = connect()
    connection.sendall(b"GET /large HTTP/1.1\r\nX-Slow: ")
    assert until_closed(connection, b"a").startswith(b"HTTP/1.1 408 ")
    connection = connect()
    assert b"200 OK" in ask(connection)
    connection.sendall(b"GET /large HTTP/1.1\r\nX-Slow: ")     # the second request of a connection
    assert until_closed(connection, b"a").startswith(b"HTTP/1.1 408 ")


def test_a_body_that_comes_a_byte_at_a_time_is_not_waited_for(connect: Connect) -> None:
    connection = connect()
    connection.sendall(b"POST /length HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
    assert until_closed(connection, b"a") == b""


def test_an_answer_that_is_not_read_is_given_up(connect: Connect) -> None:
    connection = connect()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**14)
    connection.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
    time.sleep(3)      # five times as long as a stall may last
    connection.settimeout(GONE)
    came = 0
    try:
        while piece := connection.recv(2**20):
            came += len(piece)
    except OSError:    # the server reset it
        pass
    assert came < LARGE


@pytest.mark.parametrize("connect", [LONG], indirect=True)
def test_who_is_not_slow_is_left_alone(connect: Connect) -> None:
    stream = connect()
    stream.sendall(b"GET /quiet HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    connection = connect()
    for _ in range(4):     # one connection, kept for longer than headers may take
        assert ask(connection).endswith(b"\r\n\r\n5")
        time.sleep(LONG / 2)
    connection.sendall(b"POST /length HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n")
    for _ in range(30):    # 20 kB a second, for three seconds
        connection.sendall(b"x" * 2000)
        time.sleep(LONG / 20)
    assert answer(connection).endswith(b"\r\n\r\n60000")
    assert until_closed(stream).count(b"ended") == 1, "a stream that has nothing to say for a while"


@pytest.mark.parametrize("connect", [30.0], indirect=True)
def test_there_are_so_many_connections_and_half_of_them_for_one_address(
    connect: Connect, monkeypatch: pytest.MonkeyPatch,
) -> None:
    idle = [connect() for _ in range(30)]
    for connection in idle:
        assert b"200 OK" in ask(connection)
    assert until_closed(connect(), b"G") == b""
    monkeypatch.setattr(connections, "_HEADERS", 0.1)
    for connection in idle:
        assert until_closed(connection) == b""
    monkeypatch.setattr(connections, "_HEADERS", 30.0)
    assert b"200 OK" in ask(connect())


def test_refused_connections_are_logged_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    counted = Connections(0, Networks(""), clock=lambda: now[0])
    for seconds in (0, 1, 59, 60, 100, 120):
        now[0] = float(seconds)
        assert not counted.enter("10.9.9.9")
    assert len(caplog.records) == 3, "after 0, 60 and 120 seconds"


def test_proxies_are_not_counted_as_one_address() -> None:
    counted = Connections(8, exempt=Networks("10.0.0.1"))
    assert [counted.enter("10.9.9.9") for _ in range(5)] == [True] * 4 + [False]
    assert [counted.enter("10.0.0.1") for _ in range(5)] == [True] * 4 + [False], "eight in all"
    counted.leave("10.9.9.9")
    assert counted.enter("10.0.0.1") and not counted.enter("10.9.9.9")


def test_there_are_files_left_for_the_rest_of_the_app() -> None:
    resource = pytest.importorskip("resource")
    most = most_connections()
    assert 16 <= most <= 4096
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert soft == resource.RLIM_INFINITY or soft - most >= 256
