"""Uploads to the real app: quotas of a person, and many large pictures at one time."""

from __future__ import annotations

import asyncio
import base64
import gc
import io
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from PIL import Image
from starlette.testclient import TestClient

from cir_core.images import decode_budget
from tests.fakes.databases import settings_of
from tests.fakes.loops import run
from tests.fakes.patience import wait_for
from tests.fakes.people import PASSWORD
from web.http import background
from web.server import create_app
from web.services import open_services
from web.ui.static_files import handed_over


def a_picture(colour: int = 0, edge: int = 8) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (edge, edge), (colour, 0, 0)).save(content, "PNG")
    return content.getvalue()


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """``served(**settings)``: a client for each of two people, of an app with these settings."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    (tmp_path / "home").mkdir()

    with ExitStack() as clients:
        def open_app(**values: Any) -> tuple[TestClient, TestClient]:
            settings = settings_of(tmp_path / "home", **values)
            services = open_services(settings)

            async def build() -> FastAPI:   # where no loop runs, Gradio makes its own and never closes them
                return create_app(settings, services)

            app, found = run(build()), []
            for name in ("Ada", "Ben"):
                if name not in [account.name for account in services.people.people()]:
                    services.people.add(name, PASSWORD, "admin")
                client = TestClient(app, base_url="http://127.0.0.1:7860", raise_server_exceptions=False)
                client.cookies.set("cirque", services.people.sign_in(name, PASSWORD))
                found.append(clients.enter_context(client) if not found else client)
            found[1].portal = found[0].portal
            return found[0], found[1]

        yield open_app


def test_a_person_uploads_so_many_pictures_in_a_day(served: Any) -> None:
    ada, ben = served(uploads_per_day=3)
    for colour in (1, 1, 2):   # one that is kept already counts, too
        assert ada.post("/media/upload", content=a_picture(colour)).status_code == 200
    refused = ada.post("/media/upload", content=a_picture(3))
    assert refused.status_code == 429 and 0 < int(refused.headers["Retry-After"]) <= 86_400
    assert refused.json()["error"].startswith("You have uploaded 3 images today")
    assert ben.post("/media/upload", content=a_picture(3)).status_code == 200


def test_uploads_which_nginx_may_not_read_are_sent_by_cirque(served: Any) -> None:
    ada, _ = served(accel_redirect="/cirque-home")
    upload = ada.post("/media/upload", content=a_picture(7)).json()["reference_id"]
    address = f"/media/full?gallery=none&image={upload}"
    sent = ada.get(address)
    assert sent.status_code == 200 and sent.content and sent.headers["content-type"] == "image/png"
    assert "x-accel-redirect" not in sent.headers
    # By its own pixels: a browser need never ask again.
    assert sent.headers["cache-control"] == "private, max-age=31536000, immutable"
    stranger = TestClient(ada.app, base_url="http://127.0.0.1:7860")
    refused = stranger.get(address)
    assert refused.status_code == 401 and "x-accel-redirect" not in refused.headers
    for image in ("../cirque.db", "upload:../../cirque.db", "upload:" + "0" * 24):
        answer = ada.get("/media/full", params={"gallery": "none", "image": image})
        assert answer.status_code == 404 and "x-accel-redirect" not in answer.headers


def test_only_pictures_of_the_home_folder_are_handed_over(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "elsewhere.png"
    for path in (home / "galleries" / "a" / "ö %.png", home / "uploads" / "a.png", home / "cirque.db", outside):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    (home / "galleries" / "link.png").symlink_to(outside)
    settings: Any = SimpleNamespace(home=home, accel_redirect="/in/")

    def told(path: Path) -> str | None:
        answer = handed_over(path, "image/png", {}, settings)
        return answer.headers["x-accel-redirect"] if answer else None

    assert told(home / "galleries" / "a" / "ö %.png") == "/in/galleries/a/%C3%B6%20%25.png"
    for path in (home / "cirque.db", home / "galleries" / ".." / "cirque.db", home / "galleries" / "link.png", outside,
                 home / "galleries" / "gone.png", home / "uploads" / "a.png", home):
        assert told(path) is None, path
    settings.accel_redirect = ""
    assert told(home / "galleries" / "a" / "ö %.png") is None


def test_bytes_of_an_image_within_a_call_count_as_uploaded(served: Any) -> None:
    ada, ben = served(upload_mb_per_day=1)
    address = "data:image/png;base64," + base64.b64encode(bytes(2**19 + 1)).decode()
    sent = {"data": ["", {"path": address, "meta": {"_type": "gradio.FileData"}}, "in red", "", 5, "", [], []]}
    first, second = (ada.post("/gradio_api/run/search", json=sent) for _ in range(2))
    assert first.status_code != 429 and (second.status_code, second.json()["error"][:28]) == (
        429, "You have uploaded 1 MB today")
    assert ben.post("/gradio_api/run/search", json=sent).status_code == first.status_code


def test_pictures_of_the_named_call_count_with_them(served: Any) -> None:
    _, ben = served(uploads_per_day=1)

    def searched() -> str:
        uploaded = ben.post("/gradio_api/upload", files={"files": ("x.png", a_picture())}).json()[0]
        image = {"path": uploaded, "meta": {"_type": "gradio.FileData"}}
        return str(ben.post("/gradio_api/run/search", json={"data": ["", image, "in red", "", 5, "", [], []]}).text)

    assert "You have uploaded" not in searched()   # there is no gallery to search: the picture was taken before
    assert "You have uploaded 1 images today" in searched()


@pytest.mark.parametrize("path", ["/media/upload", "/gradio_api/upload"])
def test_a_person_uploads_so_many_bytes_in_a_day(served: Any, path: str) -> None:
    ada, ben = served(upload_mb_per_day=1, max_upload_mb=1)
    large = a_picture() + bytes(700_000)

    def upload(client: TestClient) -> httpx.Response:
        if path == "/media/upload":
            return client.post(path, content=large)
        return client.post(path, files={"files": ("x.png", large)})

    assert upload(ada).status_code == 200
    for _ in range(2):   # the second of them, before anything of it is read
        refused = upload(ada)
        assert refused.status_code == 429 and int(refused.headers["Retry-After"]) > 0
        assert "You have uploaded 1 MB today" in refused.json()["error"]
    assert upload(ben).status_code == 200
    other = "/gradio_api/upload" if path == "/media/upload" else "/media/upload"
    assert ada.post(other, content=b"x").status_code == 429
    again, _ = served(upload_mb_per_day=1, max_upload_mb=1)   # after a restart
    assert upload(again).status_code == 429


def test_uploads_that_wait_for_memory_hold_up_nobody_else(served: Any) -> None:
    """Forty uploads wait, which is as many as there are threads; a page that needs a thread is answered meanwhile."""
    ada, ben = served()
    budget = decode_budget.budget()
    with ThreadPoolExecutor(40) as threads:
        with budget.hold(10**12):
            uploads = [threads.submit(ada.post, "/media/upload", content=a_picture(number)) for number in range(40)]
            wait_for(lambda: len(budget._queue) == 4)
            assert ben.get("/media/thumb?gallery=none&image=a").status_code == 404   # in a thread of the app
            assert not any(upload.done() for upload in uploads)
            wait_for(lambda: _threads_at_work() == 4)   # those of the budget; the other uploads hold none
        assert [upload.result().status_code for upload in uploads] == [200] * 40


def _threads_at_work() -> int:
    """Of the app's, whose number depends on how many were ever needed at once: those that do not wait for work."""
    def is_idle(frame: FrameType | None) -> bool:
        while frame and Path(frame.f_code.co_filename).name in ("threading.py", "queue.py"):
            frame = frame.f_back
        return frame is None or "anyio" in frame.f_code.co_filename

    frames, names = sys._current_frames(), ("AnyIO worker", "cirque-decoding")
    return sum(thread.name.startswith(names) and not is_idle(frames.get(thread.ident or 0))
               for thread in threading.enumerate())


def test_who_waits_too_long_is_told_so(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, _ = served()
    monkeypatch.setattr("web.search.media.PATIENCE", 0.5)
    with decode_budget.budget().hold(10**12), ThreadPoolExecutor(6) as threads:   # four get a thread, and wait in it
        answers = list(threads.map(lambda number: ada.post("/media/upload", content=a_picture(number)), range(6)))
    assert [answer.status_code for answer in answers] == [503] * 6
    assert {answer.json()["error"] for answer in answers} == {
        "cirque is busy decoding large images. Try again in a moment."}
    assert all(int(answer.headers["Retry-After"]) > 0 for answer in answers)


def test_there_is_one_deadline_for_a_thread_and_for_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    now, go_on, begun, left = [0.0], threading.Event(), threading.Semaphore(0), list[float]()
    monkeypatch.setattr(background, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def others(_patience: float) -> None:
        begun.release()
        assert go_on.wait(60)

    async def story() -> None:
        before = [asyncio.create_task(background.in_decoding_thread(others, 60.0)) for _ in range(4)]
        for _ in before:
            assert await asyncio.to_thread(begun.acquire, timeout=60)
        last = asyncio.create_task(background.in_decoding_thread(left.append, 60.0))
        await asyncio.to_thread(wait_for, background._threads._work_queue.qsize)
        now[0] = 45.0
        go_on.set()
        await asyncio.gather(*before, last)

    run(story())
    assert left == [15.0]


def test_a_picture_that_is_kept_already_leaves_no_pixels_behind(tmp_path: Path) -> None:
    """Errors of the database's driver are parts of cycles, which are only collected some time later."""
    service = open_services(settings_of(tmp_path / "home")).search
    content = io.BytesIO()
    Image.new("RGB", (31, 17), (3, 4, 5)).save(content, "PNG")
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            service.add_upload(content.getvalue())
        # Not isinstance: it asks each object for its class, and those of torch.distributed warn when asked.
        images = [one for one in gc.get_objects() if issubclass(type(one), Image.Image)]
        assert not [image for image in images if image.size == (31, 17)]
    finally:
        gc.enable()


def test_a_region_is_cut_on_the_server_and_counts_as_a_picture(served: Any) -> None:
    ada, _ = served(uploads_per_day=3)
    whole = ada.post("/media/upload", content=a_picture(200, edge=64)).json()["reference_id"]

    def cut(**given: Any) -> httpx.Response:
        return ada.post("/media/region", json={"gallery": "any", "image": whole, "region": [0, 0, 0.5, 1], **given})

    made = cut()
    assert made.status_code == 200 and made.headers["cache-control"] == "no-store"
    part = ada.get("/media/full", params={"gallery": "any", "image": made.json()["reference_id"]})
    assert Image.open(io.BytesIO(part.content)).size == (32, 64)
    bad = cut(region=[0, 0, 0.1, 0.1])
    assert bad.status_code == 400 and "at least 16 × 16" in bad.json()["problem"]
    assert cut().status_code == 429


def test_what_is_no_region_is_refused_with_a_sentence(served: Any) -> None:
    ada, _ = served()
    whole = ada.post("/media/upload", content=a_picture(200, edge=64)).json()["reference_id"]
    for given, said in (
        ({"region": [0, 0, 2, 2]}, "beyond the picture"), ({"region": "all"}, "four numbers"),
        ({"image": 7}, "Give a gallery"), ({"image": "upload:" + "0" * 32}, "no longer on the server"),
        ({"image": "x", "gallery": "nosuch"}, "nosuch"),
    ):
        refused = ada.post("/media/region", json={"gallery": "any", "image": whole, "region": [0, 0, 1, 1], **given})
        assert refused.status_code == 400 and said in refused.json()["problem"], given


# --- the search call opens no other file or address ------------------------------------------

PICTURE = Path(__file__).parents[4] / "docs" / "images" / "metric-light.png"


def test_the_search_call_opens_no_file_of_the_machine_and_no_address_inside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    services = open_services(settings_of(tmp_path))
    services.people.add("Admin", PASSWORD, "admin")

    async def build() -> FastAPI:   # where no loop runs, Gradio makes its own and never closes them
        return create_app(settings_of(tmp_path), services)

    opened: list[object] = []
    monkeypatch.setattr(type(services.search), "add_upload", lambda self, *given, **_: opened.append(given))
    (tmp_path / "uploads").mkdir(exist_ok=True)
    (tmp_path / "uploads" / "somebodys.png").write_bytes(PICTURE.read_bytes())
    admin = TestClient(run(build()), base_url="http://127.0.0.1:7860", raise_server_exceptions=False)
    admin.cookies.set("cirque", services.people.sign_in("Admin", PASSWORD))
    for path in (PICTURE, tmp_path / "uploads" / "somebodys.png", tmp_path / "cirque.db", Path("/etc/passwd"),
                 "http://127.0.0.1:7860/media/full", "http://localhost/", "file:///etc/passwd"):
        image = {"path": str(path), "meta": {"_type": "gradio.FileData"}}
        answer = admin.post("/gradio_api/run/search", json={"data": ["", image, "in red", "", 5, "", [], []]})
        assert answer.status_code >= 400, path
        assert "root:" not in answer.text, path
    assert opened == []
    uploaded = admin.post("/gradio_api/upload", files={"files": ("x.png", PICTURE.read_bytes())}).json()[0]
    image = {"path": uploaded, "meta": {"_type": "gradio.FileData"}}
    admin.post("/gradio_api/run/search", json={"data": ["", image, "in red", "", 5, "", [], []]})
    assert len(opened) == 1   # so the others were refused for what they are
