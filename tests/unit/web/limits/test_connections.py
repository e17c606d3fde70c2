"""The real HTTP server closes slow and idle connections, by a clock that the tests turn, and no others."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from cir_core.settings import Settings
from tests.fakes.patience import wait_for
from web.limits.connections import _HEADERS, _LOOK, _STALL_RATE, _STALLED, Connections, Networks, most_connections
from web.server import server_config

LARGE = 32 * 2**20      # bytes, more than the system buffers of a connection hold
PATIENCE = 60.0         # real seconds, for what comes at once unless the machine is busy
LOOKS = 50              # until a test expects a connection to be closed: four times as many as one may stall


class SteppedLoop(asyncio.SelectorEventLoop):
    """Its clock stands still until it is turned."""

    _now = 0.0

    def time(self) -> float:
        return self._now

    def pass_time(self, seconds: float) -> None:
        """From another thread: until all is done that is due by then, and what had been sent before has been read."""
        done = threading.Event()

        def turn() -> None:
            self._now += seconds
            self.call_soon(lambda: self.call_soon(done.set))   # what is due comes between the two

        self.call_soon_threadsafe(turn)
        assert done.wait(PATIENCE)


class Server:
    """What the tests use of one that runs in a thread."""

    def __init__(self) -> None:
        self.loop = SteppedLoop()
        self.received = 0                     # bytes of the request body that came last
        self.given_up = threading.Event()     # an answer that was not read
        self._opened = list[socket.socket]()

    def connect(self) -> socket.socket:
        self._opened.append(socket.create_connection(self._address, timeout=PATIENCE))
        return self._opened[-1]

    def look(self, times: int = 1) -> None:
        """So often the server looks at each connection."""
        for _ in range(times):
            self.loop.pass_time(_LOOK)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        server = uvicorn.Server(server_config(self._app(), Settings()))
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign]
        started = threading.Event()

        async def serve(listener: socket.socket) -> None:
            self.loop.call_soon(started.set)
            await server.serve(sockets=[listener])

        def run(listener: socket.socket) -> None:
            with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
                runner.run(serve(listener))

        with socket.create_server(("127.0.0.1", 0)) as listener:
            self._address = listener.getsockname()
            thread = threading.Thread(target=run, args=(listener,), daemon=True)
            thread.start()
            try:
                assert started.wait(PATIENCE)
                yield
            finally:
                for one in self._opened:
                    one.close()
                server.should_exit = True
                for _ in range(int(PATIENCE / 0.01)):
                    with contextlib.suppress(RuntimeError):    # it has ended
                        self.loop.call_soon_threadsafe(self._turn)
                    thread.join(0.01)
                    if not thread.is_alive():
                        break

    def _turn(self) -> None:
        self.loop._now += 1

    def _app(self) -> FastAPI:
        app = FastAPI(openapi_url=None)

        @app.post("/length")
        async def length(request: Request) -> Response:
            self.received = 0
            async for piece in request.stream():
                self.received += len(piece)
            return PlainTextResponse(str(self.received))

        @app.get("/large")
        async def large() -> Response:
            async def pieces() -> Any:
                try:
                    for _ in range(LARGE // 2**16):
                        yield b"x" * 2**16
                finally:
                    self.given_up.set()

            return StreamingResponse(pieces())

        @app.get("/quiet")
        async def quiet() -> Response:
            async def pieces() -> Any:
                yield b"begun\n"
                await asyncio.sleep(2 * _STALLED)
                yield b"ended\n"

            return StreamingResponse(pieces())

        return app


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr("web.server.most_connections", lambda: 60)
    server = Server()
    with server.running():
        yield server


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


def until_closed(server: Server, connection: socket.socket, drip: bytes = b"") -> bytes:
    """What comes until the server hangs up, while ``drip`` is sent before each of its looks. TimeoutError if it does
    not."""
    told = b""
    for _ in range(LOOKS):
        try:
            if drip:
                connection.sendall(drip)
            server.look()
            connection.setblocking(False)
            while piece := connection.recv(2**16):
                told += piece
            return told
        except BlockingIOError:
            connection.settimeout(PATIENCE)
        except OSError:
            return told
    raise TimeoutError("The server holds this connection.")


def closed(connection: socket.socket) -> bool:
    """Whether the server has hung up, without a word."""
    try:
        return connection.recv(2**16) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def test_who_asks_nothing_is_hung_up_on(server: Server) -> None:
    assert until_closed(server, server.connect()) == b""


def test_headers_that_come_a_byte_at_a_time_are_not_waited_for(server: Server) -> None:
    connection = server.connect()
    connection.sendall(b"GET /large HTTP/1.1\r\nX-Slow: ")
    assert until_closed(server, connection, b"a").startswith(b"HTTP/1.1 408 ")
    connection = server.connect()
    assert b"200 OK" in ask(connection)
    connection.sendall(b"GET /large HTTP/1.1\r\nX-Slow: ")     # the second request of a connection
    assert until_closed(server, connection, b"a").startswith(b"HTTP/1.1 408 ")


def test_a_body_that_comes_a_byte_at_a_time_is_not_waited_for(server: Server) -> None:
    connection = server.connect()
    connection.sendall(b"POST /length HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
    assert until_closed(server, connection, b"a") == b""


def test_an_answer_that_is_not_read_is_given_up(server: Server) -> None:
    connection = server.connect()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**14)
    connection.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
    for _ in range(LOOKS):
        server.look()
        if server.given_up.is_set():
            break
    came = 0
    try:
        while piece := connection.recv(2**20):
            came += len(piece)
    except OSError:    # the server reset it
        pass
    assert came < LARGE


def test_who_is_not_slow_is_left_alone(server: Server) -> None:
    stream = server.connect()
    stream.sendall(b"GET /quiet HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    told = b""
    while b"begun" not in told:
        told += stream.recv(2**16)
    connection = server.connect()
    for _ in range(12):     # one connection, kept for longer than headers may take
        assert ask(connection).endswith(b"\r\n\r\n5")
        server.loop.pass_time(_HEADERS / 10)
    pieces, each = int(_STALLED / _LOOK) + 3, int(1.2 * _STALL_RATE * _LOOK)     # for longer than a stall may last
    connection.sendall(b"POST /length HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (pieces * each))
    for number in range(1, pieces + 1):
        connection.sendall(b"x" * each)
        wait_for(lambda number=number: server.received == number * each)
        server.look()
    assert answer(connection).endswith(b"\r\n\r\n%d" % (pieces * each))
    server.loop.pass_time(2 * _STALLED)
    assert until_closed(server, stream).count(b"ended") == 1, "a stream that has nothing to say for a while"


def test_there_are_so_many_connections_and_half_of_them_for_one_address(server: Server) -> None:
    idle = [server.connect() for _ in range(30)]
    for connection in idle:
        assert b"200 OK" in ask(connection)
    assert closed(server.connect())
    server.look(LOOKS)
    assert all(map(closed, idle))
    assert b"200 OK" in ask(server.connect())


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
