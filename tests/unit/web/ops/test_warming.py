"""The model is loaded ahead of the first search; what goes wrong there stops nothing, and readiness tells of it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from PIL import Image
from starlette.testclient import TestClient

from cir_core.errors import EncoderUnavailable, LanguageModelError
from cir_core.gallery.indexing import index_folder
from cir_core.images.uploads import UploadFolder
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.sessions.pool import SearcherPool
from cir_core.sessions.service import SearchService
from cir_core.types.records import MethodSettings
from tests.fakes.chat_server import ChatServer, Reply
from tests.fakes.databases import settings_of
from tests.fakes.encoder import FakeEncoder
from tests.fakes.patience import wait_for
from tests.fakes.store import InMemorySessionStore
from web.middleware.shutdown import ShutdownState
from web.ops.health import health_routes
from web.ops.warming import Warming
from web.services import Services, open_services

Load = Callable[[str], FakeEncoder]


def index(home: Path) -> None:
    folder = home / "pictures"
    folder.mkdir()
    Image.new("RGB", (8, 8), "red").save(folder / "red.png")
    index_folder(folder, name="demo", encoder=FakeEncoder(), home=home)


def test_a_language_server_gets_no_request_at_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cir_core.encoders.load_encoder", lambda spec, **_: FakeEncoder())
    index(tmp_path)
    with ChatServer([Reply("red")]) as server:
        settings = settings_of(tmp_path, gallery="demo", llm_base_url=server.url, llm_model="any", llm_retries=0)
        services = open_services(settings)
        assert Warming(services).attempt().state == "ready"
        assert server.requests == []
        searcher = services.search.searcher("demo")
        with pytest.raises(LanguageModelError):     # a search does send some: the server is connected
            searcher.turn(searcher.gallery_reference(searcher.gallery.ids[0]), "in red", MethodSettings(), k=1)
        assert server.requests


@pytest.fixture
def services_with(tmp_path: Path) -> Callable[[Load], Services]:
    def made(load: Load) -> Services:
        services = open_services(settings_of(tmp_path, gallery="demo"))
        pool = SearcherPool(tmp_path, BuiltinLanguageModel, load)
        search = SearchService(pool, InMemorySessionStore(), UploadFolder(tmp_path / "uploads", max_megapixels=1))
        return Services(**{**vars(services), "search": search})

    return made


def readiness(services: Services, warming: Warming) -> tuple[int, Any]:
    app = FastAPI()
    app.include_router(health_routes(services.settings, services.database, ShutdownState(), services.meter, warming))
    answer = TestClient(app).get("/readyz")
    assert (answer.status_code == 200) is answer.json()["ready"]
    return answer.status_code, answer.json()["checks"]["model"]


def test_without_a_gallery_a_new_installation_is_ready(services_with: Any, caplog: pytest.LogCaptureFixture) -> None:
    services = services_with(lambda spec: FakeEncoder())
    warming = Warming(services)
    assert readiness(services, warming) == (200, {"ok": True, "state": "idle"})
    with caplog.at_level(logging.DEBUG, "cirque.server"):
        assert warming.attempt().state == "no gallery"
    assert readiness(services, warming) == (200, {"ok": True, "state": "no gallery"})
    assert not caplog.records
    index(services.settings.home)
    assert warming.attempt().state == "ready", "a gallery that comes later is loaded when it is looked for again"


def test_while_the_model_is_loaded_others_are_asked_and_a_search_waits_for_the_same_load(services_with: Any) -> None:
    begun, go_on, loaded, searched = threading.Event(), threading.Event(), list[str](), threading.Event()

    def load(spec: str) -> FakeEncoder:
        loaded.append(spec)
        begun.set()
        assert go_on.wait(60)
        return FakeEncoder()

    services = services_with(load)
    index(services.settings.home)
    now = [0.0]
    warming = Warming(services, clock=lambda: now[0])
    warming.start()
    assert begun.wait(60)
    reason = "the model of the default gallery is being loaded"
    assert readiness(services, warming) == (503, {"ok": False, "state": "warming", "reason": reason})
    assert warming.loading
    now[0] = 120.0      # a model that takes this long is no reason to keep out those who judge
    assert readiness(services, warming) == (200, {"ok": True, "state": "warming", "warn": reason})

    def search() -> None:
        searcher = services.search.searcher("demo")
        searcher.turn(searcher.gallery_reference(searcher.gallery.ids[0]), "in red", MethodSettings(), k=1)
        searched.set()

    loading = services.search._pool._loading
    [(spec, lock)], waits = loading.items(), threading.Event()

    class Watched:
        def __enter__(self) -> None:
            waits.set()
            lock.acquire()

        def __exit__(self, *_: object) -> None:
            lock.release()

    loading[spec] = Watched()
    threading.Thread(target=search, daemon=True).start()
    assert waits.wait(60) and not searched.is_set()
    go_on.set()
    assert searched.wait(60) and loaded == ["fake"]
    wait_for(lambda: warming.found.state == "ready")
    assert readiness(services, warming) == (200, {"ok": True, "state": "ready"})
    warming.stop()


def test_a_model_that_cannot_be_loaded_is_a_warning_and_tried_again(
    services_with: Any, caplog: pytest.LogCaptureFixture,
) -> None:
    errors: list[Exception] = [EncoderUnavailable("/srv/weights.pt is missing."),
                               EncoderUnavailable("/srv/weights.pt is missing."), OSError("the disk is full")]

    def load(spec: str) -> FakeEncoder:
        if errors:
            raise errors.pop(0)
        return FakeEncoder()

    services = services_with(load)
    index(services.settings.home)
    warming = Warming(services)
    with caplog.at_level(logging.DEBUG, "cirque.server"):
        warming.attempt()
        told = {"ok": True, "state": "failed", "warn": "the model of the default gallery is not available"}
        assert readiness(services, warming) == (200, told)
        assert "/srv" in caplog.text, "for whoever reads the log"
        said = len(caplog.records)
        warming.attempt()
        assert len(caplog.records) == said, "the same is not said twice"
        warming.attempt()
    assert readiness(services, warming)[1]["warn"] == "the model could not be loaded"
    warned = [one for one in caplog.records if one.levelno == logging.WARNING]
    assert len(warned) == 2 and "OSError: the disk is full" in warned[1].getMessage() and not warned[1].exc_info
    assert warming.attempt().state == "ready"
    assert readiness(services, warming) == (200, {"ok": True, "state": "ready"})


def test_a_load_that_failed_is_tried_again_by_itself(services_with: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.ops.warming._FIRST", 0.01)
    again, tries = threading.Event(), list[str]()

    def load(spec: str) -> FakeEncoder:
        tries.append(spec)
        if len(tries) < 3:
            raise EncoderUnavailable("not yet")
        again.set()
        return FakeEncoder()

    services = services_with(load)
    index(services.settings.home)
    Warming(services).start()
    assert again.wait(60) and len(tries) == 3


def test_damage_of_the_default_gallery_is_a_warning(tmp_path: Path, services_with: Any) -> None:
    services = services_with(lambda spec: FakeEncoder())
    home = services.settings.home
    folder = home / "pictures"
    folder.mkdir()
    for name in ("red", "green", "blue"):
        Image.new("RGB", (8, 8), name).save(folder / f"{name}.png")
    index_folder(folder, name="demo", encoder=FakeEncoder(), home=home)
    warming = Warming(services)
    assert warming.gallery_problem() == "" and warming.attempt().state == "ready"

    def gallery() -> Any:
        app = FastAPI()
        app.include_router(health_routes(services.settings, services.database, ShutdownState(), services.meter,
                                         warming))
        answer = TestClient(app).get("/readyz")
        assert answer.status_code == 200
        return answer.json()["checks"]["gallery"]

    assert gallery() == {"ok": True}
    [path] = (home / "galleries" / "demo").glob("features-*.f32")
    content = bytearray(path.read_bytes())
    content[130] ^= 1
    path.write_bytes(content)
    assert gallery() == {"ok": True, "warn": "1 image of the default gallery left out: damaged vectors"}
    path.write_bytes(bytes(len(content)))
    assert gallery() == {"ok": True, "warn": "the default gallery cannot be opened"}
