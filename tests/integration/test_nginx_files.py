"""docs/nginx.conf in front of two processes that answer 503, go away, or die in the middle."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from tests.fakes.patience import PATIENCE
from tests.integration.proxies import HOST, as_documented, sent_again

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nginx")
PEOPLE = [f"person-{number}" for number in range(16)]   # all with one process by chance: one of 32,768 runs
WITHOUT = ("/sign-in", "/join/secret", "/people/invite", "/gradio_api/call/search", "/gradio_api/queue/join",
           "/analysis/scores/compute", "/study/more", "/study/save/more", "/other/study/save")


class Process(ThreadingHTTPServer):
    """Notes what it is asked. It answers 503 to what is in ``busy``, and hangs up on what is in ``deadly`` after it
    has read it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []
        self.busy: set[str] = set()
        self.deadly: set[str] = set()
        self._serving = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._serving.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def leave(self) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Process
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append(self.path)
        self.close_connection = True
        if self.path in self.server.deadly:
            return
        self.send_response(503 if self.path in self.server.busy else 200)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")   # so that no connection outlives the process
        self.end_headers()

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        pass


class Site:
    def __init__(self, folder: Path) -> None:
        self._open = ExitStack()
        self.processes = [Process(), Process()]
        for process in self.processes:
            self._open.callback(process.leave)
        url = self._open.enter_context(as_documented(folder, *(process.address for process in self.processes)))
        self._client = self._open.enter_context(
            httpx.Client(base_url=url, verify=False, headers={"Host": HOST}, timeout=PATIENCE))
        self.close = self._open.close

    def ask(self, method: str, path: str, person: str = "") -> httpx.Response:
        return self._client.request(method, path, headers={"Cookie": f"__Host-cirque={person}"} if person else {})

    def times(self, path: str) -> int:
        return sum(process.asked.count(path) for process in self.processes)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    found = Site(tmp_path)
    yield found
    found.close()


def test_503_for_some_requests_takes_nothing_from_the_others(site: Site) -> None:
    """cirque says 503 to any stranger who asks /readyz while the disk is nearly full."""
    for process in site.processes:
        process.busy = {"/readyz"}
    for person in PEOPLE:
        assert site.ask("GET", "/readyz", person).status_code == 503
        assert site.ask("GET", "/study/mine", person).status_code == 200
        assert site.ask("POST", "/study/save", person).status_code == 200
    assert site.times("/readyz") == 2 * len(PEOPLE), "the other one was asked too, before anybody was told 503"


def test_a_process_that_is_away_is_passed_over_and_another_that_stops_too(site: Site) -> None:
    here, away = site.processes
    landed = {site.ask("GET", "/study/mine", person).headers["x-landed-on"] for person in PEOPLE}
    assert landed == {here.address, away.address}
    away.busy = {"/study/mine", "/study/save"}   # as while it is being stopped
    for person in PEOPLE:
        assert site.ask("GET", "/study/mine", person).status_code == 200
        assert site.ask("POST", "/study/save", person).status_code == 200
    away.leave()
    for method, path in (("GET", "/study/mine"), ("POST", "/study/save"), ("POST", "/sign-in")):
        answers = [site.ask(method, path, person) for person in PEOPLE]
        assert {answer.status_code for answer in answers} == {200}, path
        # nginx names all that it tried
        assert {answer.headers["x-landed-on"].split(", ")[-1] for answer in answers} == {here.address}


@pytest.mark.parametrize("path", sent_again())
def test_a_save_with_a_token_is_repeated_when_a_process_dies(site: Site, path: str) -> None:
    for process in site.processes:
        process.deadly = {path}
        process.asked.clear()
        for person in PEOPLE:
            assert site.ask("POST", path, person).status_code == 200
        assert len(PEOPLE) > process.asked.count(path) > 0
        process.deadly = set()


@pytest.mark.parametrize("path", WITHOUT)
def test_what_carries_no_token_is_never_sent_twice(site: Site, path: str) -> None:
    for process in site.processes:
        process.deadly = {path}
    assert site.ask("POST", path, "person").status_code == 502
    assert site.times(path) == 1
    for process in site.processes:
        process.deadly, process.busy = set(), {path}
    assert site.ask("POST", path, "person").status_code == 503
    assert site.times(path) == 2
