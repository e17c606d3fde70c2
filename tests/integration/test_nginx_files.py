"""docs/deploy/nginx.conf in front of two processes that answer 503, go away, or die in the middle."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from benchmarks.servers import lasting_port
from tests.fakes.patience import PATIENCE, wait_for
from tests.integration.processes import ROOT, nginx, wait_until_answers
from tests.integration.proxies import HOST, as_documented, sent_again

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nginx")
PEOPLE = [f"person-{number}" for number in range(16)]   # all with one process by chance: one of 32,768 runs
WITHOUT = ("/sign-in", "/join/secret", "/people/invite", "/gradio_api/call/search", "/gradio_api/queue/join",
           "/analysis/scores/compute", "/study/more", "/study/save/more", "/other/study/save")


class Process(ThreadingHTTPServer):
    """Notes what it is asked. It has nginx send the files of ``inside``. It answers 503 to what is in ``busy``, and
    hangs up on what is in ``deadly`` after it has read it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []
        self.busy: set[str] = set()
        self.deadly: set[str] = set()
        self.inside: dict[str, str] = {}   # the file that nginx is told to send
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
        if inside := self.server.inside.get(self.path):
            self.send_header("X-Accel-Redirect", inside)
            self.send_header("Content-Type", "image/webp")
            self.send_header("Cache-Control", "private, max-age=31536000, immutable")
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


def test_plain_calls_of_one_person_are_shared_by_the_processes(site: Site) -> None:
    landed = {site.ask("POST", "/api/search", "person").headers["x-landed-on"] for _ in PEOPLE}
    assert landed == {process.address for process in site.processes}
    assert len({site.ask("POST", "/gradio_api/run/search", "person").headers["x-landed-on"] for _ in PEOPLE}) == 1


def test_nginx_sends_the_pictures_that_it_is_told_to_and_no_others(site: Site, tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in ("galleries/one/a b.webp", "cirque.db", "studies/s/t-s.webp"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(name.encode())
    inside = {"/media/thumb": "/cirque-home/galleries/one/a%20b.webp", "/study/image/s/t-s.webp":
              "/cirque-home/studies/s/t-s.webp", "/db": "/cirque-home/cirque.db",
              "/up": "/cirque-home/galleries/../cirque.db", "/coded": "/cirque-home/galleries/%2e%2e/cirque.db"}
    for process in site.processes:
        process.inside = inside
    sent = site.ask("GET", "/media/thumb")
    assert (sent.status_code, sent.content) == (200, b"galleries/one/a b.webp")
    assert sent.headers["content-type"] == "image/webp" and "immutable" in sent.headers["cache-control"]
    assert sent.headers["x-content-type-options"] == "nosniff" and "sandbox" in sent.headers["content-security-policy"]
    assert "x-accel-redirect" not in sent.headers
    assert site.ask("GET", "/study/image/s/t-s.webp").content == b"studies/s/t-s.webp"
    for path in ("/db", "/up", "/coded"):
        assert site.ask("GET", path).content != b"cirque.db", path
    for path in inside.values():
        answer = site.ask("GET", path)   # nobody can ask for what only cirque may tell nginx to send
        assert answer.status_code == 404 or not answer.content, path
        assert b"galleries" not in answer.content and b"studies" not in answer.content


# --- what nginx writes about invitations -----------------------------------------------------

# What a distribution puts around it: both logs are on.
AROUND = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log {folder}/access.log;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxied; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  {documented}
}}
"""


def logs_in(folder: Path) -> str:
    return "\n".join(path.read_text() for path in folder.glob("*.log"))


def test_no_invitation_is_in_nginx_s_logs(tmp_path: Path) -> None:
    plain, secure = lasting_port(), lasting_port()
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=cirque.example.org",
                    "-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "certificate")], check=True,
                   capture_output=True)
    conf, shared = ((ROOT / "docs" / "deploy" / name).read_text("utf-8") for name in ("nginx.conf", "nginx-proxy.conf"))
    (tmp_path / "shared").write_text(shared)
    for documented, here in (
        ("/etc/nginx/cirque-proxy.conf", tmp_path / "shared"), ("/etc/ssl/certs/cirque.pem", tmp_path / "certificate"),
        ("/etc/ssl/private/cirque.key", tmp_path / "key"), ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("listen 443 ssl", f"listen 127.0.0.1:{secure} ssl"),
    ):
        assert documented in conf, documented
        conf = conf.replace(documented, str(here))
    conf = re.sub(r"server 127\.0\.0\.1:786\d", lambda _: f"server 127.0.0.1:{lasting_port()}", conf)  # nobody there
    conf = conf.replace("/var/log/nginx", str(tmp_path))
    (tmp_path / "nginx.conf").write_text(AROUND.format(folder=tmp_path, documented=conf))
    running = subprocess.Popen([nginx(), "-c", str(tmp_path / "nginx.conf"), "-p", str(tmp_path)])
    try:
        wait_until_answers(f"http://127.0.0.1:{plain}/", running)
        with httpx.Client(verify=False, headers={"Host": "cirque.example.org"}, timeout=PATIENCE) as client:
            moved = client.get(f"http://127.0.0.1:{plain}/join/marker-secret")
            assert moved.status_code == 301
            assert moved.headers["location"] == "https://cirque.example.org/join/marker-secret"
            for _ in range(3):   # by each of them, and once nginx knows that both are away
                assert client.get(f"https://127.0.0.1:{secure}/join/marker-secret").status_code == 502
            client.post(f"https://127.0.0.1:{secure}/join/marker-secret", data={"name": "Ada"})
            client.get(f"http://127.0.0.1:{plain}/other-plain")
            client.get(f"https://127.0.0.1:{secure}/other-secure")
        wait_for(lambda: all(one in logs_in(tmp_path) for one in ("other-plain", "other-secure")))
    finally:
        running.terminate()
        running.wait(PATIENCE)
    logs = logs_in(tmp_path)
    assert "other-plain" in logs and logs.count("other-secure") >= 2   # both logs are kept, of everything else
    assert "marker-secret" not in logs
