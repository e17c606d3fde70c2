"""Images that a call gives by URL: who may have them fetched, how many, how much of each, and what stays."""

from __future__ import annotations

import asyncio
import base64
import gzip
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from fastapi import FastAPI
from gradio import processing_utils
from starlette.testclient import TestClient

from annotation.accounts.roles import may
from annotation.records import Role
from cir_core.errors import AccessError, CirqueError, QuotaExceeded
from cir_core.images.upload_quota import UploadQuota
from tests.fakes.loops import run
from tests.fakes.signed_in import SignedIn
from web.http.calls import Call, Caller, threads
from web.http.visitor import Visitor
from web.limits.gradio_limits import TooManyRequests
from web.limits.url_downloads import (
    FetchLimits,
    ImageFetcher,
    ImageRefused,
    is_public,
    public_address,
    turn_off_gradios_downloads,
)
from web.middleware.gradio_calls import GradioCalls
from web.middleware.gradio_errors import Screens
from web.search.media import media_routes

Write = Callable[[BaseHTTPRequestHandler], None]
MB = 2**20
HOST = "pictures.example"


@dataclass
class Server:
    url: str
    paths: list[str] = field(default_factory=list)   # of all requests


@contextmanager
def served(write: Write) -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.paths.append(self.path)
            with suppress(OSError):
                write(self)

        do_CONNECT = do_GET   # as of a proxy

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found = Server(f"http://{HOST}:{server.server_port}/x.png")
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield found
        server.shutdown()


async def validated(host: str) -> str:
    """This machine counts as a public address, under one name."""
    if host != HOST:
        raise ValueError(f"{host} failed validation")
    return "127.0.0.1"


def fetcher(quota: UploadQuota | None = None, **limits: Any) -> ImageFetcher:
    """Of one megabyte."""
    return ImageFetcher(1, quota, FetchLimits(**limits), validated)


@pytest.fixture(autouse=True)
def uploads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    return tmp_path / "gradio"


def files_in(folder: Path) -> list[Path]:
    """That have something in them: Gradio makes an empty one whenever it hands a file to a function."""
    return [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size]


def start(handler: BaseHTTPRequestHandler, *headers: tuple[str, str], status: int = 200) -> None:
    handler.send_response(status)
    for name, value in headers:
        handler.send_header(name, value)
    handler.end_headers()


def sending(count: int) -> Write:
    def write(handler: BaseHTTPRequestHandler) -> None:
        start(handler)
        handler.wfile.write(bytes(count))

    return write


def test_what_is_no_longer_than_an_upload_comes_whole(uploads: Path) -> None:
    images = fetcher()
    with served(sending(MB)) as server:
        path = run(images.fetch_image(server.url, "Ann"))
    assert (path.name, path.stat().st_size) == ("x.png", MB)
    assert path.is_relative_to(uploads) and images.kept == {str(path)}
    run(images.discard(path))
    assert files_in(uploads) == [] and not images.kept


@pytest.mark.parametrize("said", [True, False], ids=["with its length", "without"])
def test_an_endless_one_is_cut_off(uploads: Path, said: bool) -> None:
    sent = 0

    def write(handler: BaseHTTPRequestHandler) -> None:
        nonlocal sent
        start(handler, *([("Content-Length", str(2**28))] if said else []))
        while sent < 2**28:
            handler.wfile.write(bytes(2**16))
            sent += 2**16

    with served(write) as server, pytest.raises(ImageRefused, match="larger than 1 MB"):
        run(fetcher().fetch_image(server.url, "Ann"))
    assert sent < 2**26   # what was on the way when the connection was closed
    assert list(uploads.rglob("*")) == []


def test_a_compressed_one_is_not_decompressed() -> None:
    def write(handler: BaseHTTPRequestHandler) -> None:
        assert handler.headers["Accept-Encoding"] == "identity"
        start(handler, ("Content-Encoding", "gzip"))
        handler.wfile.write(gzip.compress(bytes(2**20)))

    with served(write) as server, pytest.raises(ImageRefused, match="content encoding"):
        run(fetcher().fetch_image(server.url, "Ann"))


@pytest.mark.parametrize("address", ["http://localhost/", "file:///etc/passwd", "//169.254.169.254/latest", "http://[",
                                     f"http://{HOST}:99999/"])
def test_a_redirect_to_an_address_inside_is_refused(address: str) -> None:
    with served(lambda handler: start(handler, ("Location", address), status=302)) as server, \
            pytest.raises(ImageRefused):
        run(fetcher().fetch_image(server.url, "Ann"))
    assert server.paths == ["/x.png"]


def test_three_redirects_are_followed_and_no_more() -> None:
    def write(handler: BaseHTTPRequestHandler) -> None:
        left = int(handler.path.rpartition("/")[2])
        if left:
            start(handler, ("Location", f"/{left - 1}"), status=302)
        else:
            sending(7)(handler)

    with served(write) as server:
        base = server.url.removesuffix("/x.png")
        assert run(fetcher().fetch_image(f"{base}/3", "Ann")).stat().st_size == 7
        with pytest.raises(ImageRefused, match="more than 3 times"):
            run(fetcher().fetch_image(f"{base}/4", "Ann"))
    assert server.paths == ["/3", "/2", "/1", "/0", "/4", "/3", "/2", "/1"]


@pytest.mark.parametrize("part", ["header", "body"])
def test_one_that_drips_is_given_up(uploads: Path, part: str, request: pytest.FixtureRequest) -> None:
    """Every byte comes in good time, and the last one never."""
    begun, gone, over = threading.Event(), threading.Event(), threading.Event()
    ending = threading.Timer(120, over.set)    # for a fetcher that waits for ever
    ending.start()
    request.addfinalizer(ending.cancel)

    class Loop(asyncio.SelectorEventLoop):
        """Its time begins with the answer, however long the machine takes until then."""

        _until_begun = 0.0

        def time(self) -> float:
            now = super().time()
            if not begun.is_set():
                self._until_begun = now
            return now - self._until_begun

    def fetch() -> None:
        with asyncio.Runner(loop_factory=Loop) as runner:
            runner.run(fetcher(seconds=0.5).fetch_image(server.url, "Ann"))

    def write(handler: BaseHTTPRequestHandler) -> None:
        begun.set()
        handler.send_response(200)
        (handler.flush_headers if part == "header" else handler.end_headers)()
        try:
            while not over.wait(0.05):
                handler.wfile.write(b"x")
        except OSError:
            gone.set()

    with served(write) as server, ThreadPoolExecutor(1) as thread:
        with pytest.raises(ImageRefused, match=r"within 0\.5 seconds"):
            thread.submit(fetch).result()
        assert gone.wait(60)   # the connection was closed
    assert list(uploads.rglob("*")) == []


def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with served(sending(7)) as proxy, served(sending(9)) as server:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/x.png").replace(HOST, "127.0.0.1"))
        assert run(fetcher().fetch_image(server.url, "Ann")).stat().st_size == 9
        with pytest.raises(ImageRefused, match="no public address"):
            run(ImageFetcher(1).fetch_image(server.url.replace(HOST, "127.0.0.1"), "Ann"))
    assert (proxy.paths, server.paths) == ([], ["/x.png"])


@pytest.mark.parametrize("host", ["localhost", "127.1", "0.0.0.0", "10.0.0.1", "169.254.169.254", "100.64.0.1",
                                  "224.0.0.1", "::1", "::ffff:127.0.0.1", "fe80::1", "x" * 70 + ".example", ""])
def test_inner_hosts_have_no_public_address(host: str) -> None:
    with pytest.raises(ValueError, match=r"is not known|has no public address"):
        run(public_address(host))


# IANA's registries of special-purpose addresses, multicast, and addresses that hold another one.
SPECIAL = (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
    "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32",
    "::/128", "::1/128", "::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64",
    "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10",
    "fec0::/10", "ff00::/8")


@pytest.mark.parametrize("network", SPECIAL)
def test_no_address_with_a_special_purpose_is_public(network: str) -> None:
    within = ip_network(network)
    first, last = int(within.network_address), int(within.broadcast_address)
    some = {first, min(first + 1, last), (first + last) // 2, last - (last > first), last}
    assert not [str(one) for one in map(type(within.network_address), some) if is_public(str(one))]


@pytest.mark.parametrize("address", [
    "1.1.1.1", "8.8.8.8", "100.128.0.1", "172.32.0.1", "192.0.1.1", "192.89.0.1", "198.20.0.1", "223.255.255.1",
    "2606:4700::1111", "2001:4860:4860::8888", "2a00::1"])
def test_addresses_beside_them_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("host", ["2002:7f00:1::", "[2002:7f00:1::]", "::ffff:127.0.0.1", "::127.0.0.1", "0177.0.0.1",
                                  "2130706433", "0x7f.1", "127.1", "64:ff9b::7f00:1", "fe80::1%lo"])
def test_other_ways_to_write_an_address_inside(host: str) -> None:
    with pytest.raises(ValueError, match=r"is not known|has no public address"):
        run(public_address(host))


def test_a_public_address_is_its_own() -> None:
    assert [run(public_address(host)) for host in ("8.8.8.8", "2001:4860:4860::8888")] == [
        "8.8.8.8", "2001:4860:4860::8888"]


def test_what_comes_counts_as_uploaded_until_it_is_too_much(uploads: Path, tmp_path: Path) -> None:
    quota = UploadQuota(tmp_path / "quota", megabytes=1)
    images = fetcher(quota)
    with served(sending(MB // 2 + 1)) as server:
        run(images.fetch_image(server.url, "Ann"))
        for _ in range(2):
            with pytest.raises(QuotaExceeded):
                run(images.fetch_image(server.url, "Ann"))
        assert len(server.paths) == 2   # the third was not begun
        assert len(files_in(uploads)) == 1
        run(images.fetch_image(server.url, "Ben"))


def test_a_data_url_counts_too(uploads: Path, tmp_path: Path) -> None:
    images = fetcher(UploadQuota(tmp_path / "quota", megabytes=1))
    sent = "data:image/jpeg;base64," + base64.b64encode(bytes(MB // 2 + 1)).decode()
    path = run(images.fetch_image(sent, "Ann"))
    assert (path.name, path.stat().st_size) == ("image.jpg", MB // 2 + 1)
    with pytest.raises(QuotaExceeded):
        run(images.fetch_image(sent, "Ann"))
    assert files_in(uploads) == [path]
    for wrong in ("data:", "data:image/png,abc", "data:image/png;base64,abcde"):
        with pytest.raises(ImageRefused, match="in base64"):
            run(images.fetch_image(wrong, "Ben"))


def test_two_of_a_person_and_four_in_all_are_fetched_at_a_time() -> None:
    """Where Ann asks for three, one of hers waits in vain; so does one of the five others' after four."""
    running, most, lock, go_on = 0, 0, threading.Lock(), threading.Event()

    def write(handler: BaseHTTPRequestHandler) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        go_on.wait(60)
        with lock:
            running -= 1
        sending(5)(handler)

    async def all_of(people: list[str], url: str) -> list[Any]:
        images = fetcher(wait=0.5)
        work = [asyncio.create_task(images.fetch_image(url, person)) for person in people]
        refused, _ = await asyncio.wait(work, return_when=asyncio.FIRST_EXCEPTION)
        assert len(refused) == 1
        go_on.set()
        return await asyncio.gather(*work, return_exceptions=True)

    for people in (["Ann"] * 3, ["Ann", "Ben", "Cem", "Dea", "Eva"]):
        go_on.clear()
        most = 0
        with served(write) as server:
            found = run(all_of(people, server.url))
        refused = [one for one in found if isinstance(one, TooManyRequests)]
        assert len(refused) == 1 and refused[0].seconds > 0
        assert sum(isinstance(one, Path) for one in found) == len(people) - 1
        assert most == len(people) - 1


def test_one_that_waits_gets_its_turn() -> None:
    async def all_of(url: str) -> list[Path]:
        images = fetcher(wait=30)
        return await asyncio.gather(*(images.fetch_image(url, "Ann") for _ in range(6)))

    with served(sending(3)) as server:
        assert len(set(run(all_of(server.url)))) == 6


def test_gradio_fetches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processing_utils, "async_transport", None)
    turn_off_gradios_downloads()

    async def get(url: str) -> None:
        await processing_utils.async_ssrf_protected_get(url)

    with served(sending(3)) as server:
        for url in (server.url, server.url.replace(HOST, "127.0.0.1")):
            with pytest.raises(gr.Error, match="by URL"):
                run(get(url))
    assert server.paths == []


@pytest.fixture
def client(uploads: Path) -> Iterator[Callable[..., TestClient]]:
    """``client(role, quota=...)`` of an app with ``/take``, which takes a file and lists, and tells the file's size."""
    def take(path: str, others: list[Any]) -> str:
        return f"{Path(path).name}: {Path(path).stat().st_size}"

    async def page(app: FastAPI) -> FastAPI:
        with Screens() as demo:
            taken = [gr.File(type="filepath"), gr.JSON()]
            gr.Button().click(take, taken, gr.Textbox(), queue=False, api_name="take")
        demo.has_launched = True   # as create_app does
        return gr.mount_gradio_app(app, demo, path="/", show_error=False, run_history=False, ssr_mode=False)

    with ExitStack() as clients:
        def of(role: Role, quota: UploadQuota | None = None) -> TestClient:
            app = FastAPI(openapi_url=None)
            app.add_middleware(GradioCalls, max_upload_mb=1, quota=quota, images=fetcher(quota))
            app.add_middleware(SignedIn, role=role)
            run(page(app))
            return clients.enter_context(TestClient(app, headers={"x-test-name": "Ann"}))

        yield of


def a_file(address: str) -> dict[str, Any]:
    return {"path": address, "url": address, "meta": {"_type": "gradio.FileData"}}


CALLS = ("run/take", "api/take", "call/take", "call/v2/take", "queue/join")


def test_who_may_not_search_has_nothing_fetched(client: Callable[..., TestClient], uploads: Path) -> None:
    ann = client("annotator")
    with served(sending(3)) as server:
        for address in (server.url, server.url.replace("http", "HTTP"), "data:image/png;base64,AAAA"):
            for call in CALLS:
                for data in ([a_file(address), []], [None, [{"deep": [a_file(address)]}]]):
                    answer = ann.post(f"/gradio_api/{call}", json={"data": data, "fn_index": 0})
                    assert answer.status_code == 403 and "may not search" in answer.json()["error"], (call, address)
    assert server.paths == [] and files_in(uploads) == []


def test_an_image_is_fetched_before_the_call_and_removed_after_it(
    client: Callable[..., TestClient], uploads: Path,
) -> None:
    ann = client("researcher")
    with served(sending(3)) as server:
        answer = ann.post("/gradio_api/run/take", json={"data": [a_file(server.url), []]})
        assert answer.json()["data"] == ["x.png: 3"]
        answer = ann.post("/gradio_api/run/take", json={"data": [a_file("data:image/png;base64,AAAA"), []]})
        assert answer.json()["data"] == ["image.png: 3"]
        assert server.paths == ["/x.png"] and files_in(uploads) == []
        event = ann.post("/gradio_api/call/take", json={"data": [a_file(server.url), []]}).json()["event_id"]
        assert "x.png: 3" in ann.get(f"/gradio_api/call/take/{event}").text
    assert len(files_in(uploads)) == 1   # Gradio's to remove


def test_a_call_takes_one_image_by_url(client: Callable[..., TestClient], uploads: Path) -> None:
    ann = client("researcher")
    with served(sending(3)) as server:
        for call in CALLS:
            answer = ann.post(f"/gradio_api/{call}", json={"data": [a_file(server.url), [a_file(server.url)]]})
            assert answer.status_code == 422 and "one image by URL" in answer.json()["error"], call
    assert server.paths == []


def test_refusals_are_sentences(client: Callable[..., TestClient], tmp_path: Path, uploads: Path) -> None:
    ann = client("researcher", UploadQuota(tmp_path / "quota", megabytes=1))
    for address in ("http://127.0.0.1/", "x" * 5000, "/" + "x/" * 3000, "x\0"):
        answer = ann.post("/gradio_api/run/take", json={"data": [a_file(address), []]})
        assert answer.status_code == 422 and answer.json()["error"].startswith("Invalid value"), address[:30]
    with served(sending(MB // 2 + 1)) as server:
        answers = [ann.post("/gradio_api/run/take", json={"data": [a_file(server.url), []]}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 429]
    assert int(answers[1].headers["Retry-After"]) > 0 and files_in(uploads) == []


def test_a_call_fetches_its_image_after_everything_else_is_checked(uploads: Path) -> None:
    """By its route or over MCP, in the order of rights, arguments, image; and nothing of it stays."""
    def take(visitor: Visitor, image: str | None = None, text: str = "") -> dict[str, Any]:
        """Take it."""
        return {"size": Path(str(image)).stat().st_size}

    def needs_a_text(visitor: Visitor, given: Any) -> None:
        if not given["text"]:
            raise CirqueError(f"{visitor.name} gave no text.")

    async def story(role: Role, image: str, text: str = "in red") -> Any:
        call = Call(take, "search", threads(1), image="image", early=needs_a_text)
        visitor = Visitor("Ann", role, may(role), open=False)
        return await Caller([call], fetcher()).answer(call, visitor, {"image": image, "text": text})

    with served(sending(3)) as server:
        with pytest.raises(AccessError):
            run(story("annotator", server.url))
        with pytest.raises(CirqueError, match="Ann gave no text"):
            run(story("researcher", server.url, ""))
        with pytest.raises(CirqueError, match="Ann gave no text"):
            run(story("researcher", "", ""))
        assert server.paths == []
        for image in (server.url, "data:image/png;base64,AAAA"):
            assert run(story("researcher", image)) == {"size": 3}
        for odd in ("x" * 5000, "\0", "/etc/passwd", "ftp://x/y", str(uploads)):
            with pytest.raises(ImageRefused, match="an image is"):
                run(story("researcher", odd))
    assert server.paths == ["/x.png"] and files_in(uploads) == []


# --- an address pasted into the search page ------------------------------------------------


class Taken:
    """A service that keeps what it is given."""

    def __init__(self) -> None:
        self.uploads: list[tuple[str, bytes]] = []

    def add_upload(self, source: Path, name: str, *, patience: float) -> str:
        self.uploads.append((name, source.read_bytes()))
        return "upload:1"


def pasted(address: object, *, quota: UploadQuota | None = None, name: str = "Ann", taken: Taken | None = None) -> Any:
    quota = quota or UploadQuota.unlimited()
    services: Any = SimpleNamespace(search=taken or Taken(), quota=quota, settings=SimpleNamespace(max_upload_mb=1))
    app = FastAPI()
    app.include_router(media_routes(services, fetcher(quota)))
    client = TestClient(SignedIn(app, "admin"))
    return client.post("/media/address", json={"address": address}, headers={"x-test-name": name} if name else {})


def test_a_pasted_address_becomes_an_upload(uploads: Path) -> None:
    taken = Taken()
    with served(sending(1000)) as server:
        answer = pasted(server.url, taken=taken)
    assert (answer.status_code, answer.json()) == (200, {"reference_id": "upload:1"})
    assert taken.uploads == [("x.png", bytes(1000))]
    assert files_in(uploads) == [], "the fetched file is not left behind"


@pytest.mark.parametrize(("address", "said"), [
    ("http://127.0.0.1/x.png", "no public address"), ("http://169.254.169.254/latest", "no public address"),
    ("http://[::1]/x.png", "no public address"), ("file:///etc/passwd", "http or https URL"),
    ("data:image/png;base64,AA==", "http or https URL"), ("in red", "http or https URL"), (7, "http or https URL"),
    (f"http://{HOST}:99999/", "URL"),
])
def test_a_pasted_address_inside_is_refused_in_plain_words(address: object, said: str) -> None:
    taken = Taken()
    answer = pasted(address, taken=taken)
    assert answer.status_code == 422 and said in answer.json()["error"] and not taken.uploads
    assert answer.json()["error"][0].isupper() and "Invalid value" not in answer.json()["error"]


def test_a_pasted_address_of_what_is_too_large_or_gone() -> None:
    with served(sending(MB + 1)) as server:
        assert "larger than 1 MB" in pasted(server.url).json()["error"]
    with served(lambda handler: start(handler, status=404)) as server:
        assert "status 404" in pasted(server.url).json()["error"]


def test_a_pasted_address_counts_as_an_upload_of_somebody(tmp_path: Path) -> None:
    with served(sending(10)) as server:
        quota = UploadQuota(tmp_path / "quota", pictures=1)
        assert pasted(server.url, quota=quota).status_code == 200
        refused = pasted(server.url, quota=quota)
        assert refused.status_code == 429 and refused.headers["Retry-After"]
        asked = len(server.paths)
        assert pasted(server.url, name="").status_code == 422 and len(server.paths) == asked
