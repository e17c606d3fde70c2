"""Alive, ready, and counted: what a load balancer and a collector of metrics may know."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from PIL import Image
from pydantic import SecretStr, ValidationError
from sqlalchemy import create_engine, event
from starlette.testclient import TestClient

from cir_core.errors import (
    EncoderUnavailable,
    LanguageModelError,
    LanguageModelUnavailable,
    SettingsError,
    Stopped,
    StorageError,
)
from cir_core.gallery.indexing import index_folder
from cir_core.images.uploads import UploadFolder
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.language.wrappers.availability import CountedLanguageModel
from cir_core.sessions.pool import SearcherPool
from cir_core.sessions.service import SearchService
from cir_core.settings import Settings
from cir_core.types.records import MethodSettings
from storage.engine.database import observe_waits, open_database, writing
from storage.engine.readiness import Readiness
from tests.fakes.chat_server import ChatServer, Reply
from tests.fakes.databases import engine as engine
from tests.fakes.databases import settings_of, sqlite_of
from tests.fakes.encoder import FakeEncoder
from tests.fakes.loops import run
from tests.fakes.patience import wait_for
from tests.fakes.store import InMemorySessionStore
from web.http.meter import Meter
from web.http.prometheus import PrometheusMeter
from web.middleware.shutdown import ShutdownState
from web.ops.health import Checks, health_routes
from web.ops.warming import Warming
from web.services import Services, open_services


@pytest.fixture
def ask(tmp_path, engine):
    def client(shutdown_state=None, meter=None, at="127.0.0.1", database=engine, **settings):
        app = FastAPI()
        settings = Settings(**{"home": tmp_path, "min_free_mb": 0, **settings})
        app.include_router(health_routes(
            settings, Readiness(database), shutdown_state or ShutdownState(), meter or Meter()))
        return TestClient(app, client=(at, 5000))

    return client


def reasons(answer):
    return {name: found["reason"] for name, found in answer.json()["checks"].items() if not found["ok"]}


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_balancers_may_ask_by_head(ask, path):
    answer = ask().head(path)
    assert answer.status_code == 200 and not answer.content


def test_ready(ask):
    answer = ask().get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"ready": True, "checks": {
        "database": {"ok": True}, "home": {"ok": True}, "disk": {"ok": True}, "open": {"ok": True}}}
    assert ask().get("/healthz").json() == {"status": "ok"}


def test_not_ready_says_why_and_no_path_of_the_server(ask, tmp_path, engine, caplog):
    with writing(engine) as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
    answer = ask(min_free_mb=1e12).get("/readyz")
    assert answer.status_code == 503 and int(answer.headers["retry-after"]) > 0 and answer.json()["ready"] is False
    assert reasons(answer) == {"database": "the database has the schema of another version"}
    nowhere = create_engine(sqlite_of(tmp_path / "nowhere"))
    answer = ask(home=tmp_path / "gone", database=nowhere).get("/readyz")
    assert reasons(answer) == {"database": "the database does not answer", "home": "the home folder cannot be written"}
    assert answer.json()["checks"]["disk"] == {"ok": True, "warn": "the disk cannot be checked"}
    assert str(tmp_path) not in answer.text and str(tmp_path) in caplog.text


def test_a_disk_that_is_nearly_full_is_a_warning_while_all_can_be_saved(ask, caplog):
    """All processes share it: nobody could take over."""
    client = ask(min_free_mb=1e12)
    for _ in range(2):
        answer = client.get("/readyz")
        assert answer.status_code == 200 and answer.json()["ready"] is True
        assert answer.json()["checks"]["disk"] == {"ok": True, "warn": "the disk is nearly full"}
    assert caplog.text.count("the disk is nearly full") == 1


def test_a_database_that_can_only_be_read_is_not_ready(ask, engine, caplog):
    def freeze(connection):
        connection.exec_driver_sql("PRAGMA query_only = ON" if engine.dialect.name == "sqlite"
                                   else "SET TRANSACTION READ ONLY")

    event.listen(engine, "begin", freeze)
    answer = ask().get("/readyz")
    assert answer.status_code == 503 and reasons(answer) == {"database": "the database cannot be written"}
    assert "CIRQUE_DATABASE_URL" in caplog.text and "CIRQUE_DATABASE_URL" not in answer.text


def test_somebody_who_writes_for_long_makes_nothing_not_ready(ask, engine):
    client = ask()
    with writing(engine):
        assert client.get("/readyz").status_code == 200


@pytest.mark.sqlite   # elsewhere others write side by side
def test_a_database_that_nobody_gets_to_write_for_a_minute_is_not_ready(tmp_path, engine):
    now = [0.0]
    readiness = Readiness(engine, lambda: now[0])
    other = open_database(str(engine.url))   # of another program, so to speak: it takes no turns with ours
    with writing(other):
        assert readiness.can_be_written()
        now[0] = 59.0
        assert readiness.can_be_written()
        now[0] = 60.0
        assert not readiness.can_be_written()
    assert readiness.can_be_written()
    other.dispose()


def test_stopping_is_alive_and_not_ready(ask):
    shutdown_state = ShutdownState()
    shutdown_state.closed = True
    client = ask(shutdown_state=shutdown_state)
    assert client.get("/healthz").status_code == 200
    assert reasons(client.get("/readyz")) == {"open": "cirque is being stopped"}


def test_a_check_that_hangs_is_not_waited_for_and_not_begun_twice(monkeypatch):
    begun, go_on, genuine = [], threading.Event(), asyncio.wait

    def hangs():
        begun.append(1)
        assert go_on.wait(60)
        return ""

    async def story():
        checks = Checks({"slow": hangs, "next": lambda: ""}, patience=0.05)

        async def but_for_the_other(running, *, timeout):
            """As if ``timeout`` were long enough for the quick check, however busy the machine is."""
            await asyncio.gather(*(task for name, task in checks._running.items() if name == "next"))
            return await genuine(running, timeout=timeout)

        with monkeypatch.context() as patched:
            patched.setattr(asyncio, "wait", but_for_the_other)
            first = [await checks.run() for _ in range(3)]
        go_on.set()
        await asyncio.gather(*checks._running.values())
        return first, await checks.run()

    first, then = run(story())
    assert first == [{"slow": "this takes too long to find out", "next": ""}] * 3   # the other one is not to blame
    assert then == {"slow": "", "next": ""} and len(begun) == 1


@pytest.mark.parametrize(("settings", "at", "sent", "status"), [
    ({"metrics": False, "metrics_from": "127.0.0.1"}, "127.0.0.1", "", 404),
    ({"metrics": True, "metrics_from": "127.0.0.1"}, "127.0.0.1", "", 200),
    ({"metrics": True, "metrics_from": "10.0.0.0/8, ::1"}, "10.1.2.3", "", 200),
    ({"metrics": True, "metrics_from": "10.0.0.0/8"}, "127.0.0.1", "", 401),
    ({"metrics": True, "metrics_token": SecretStr("let me count")}, "127.0.0.1", "", 401),
    ({"metrics": True, "metrics_token": SecretStr("let me count")}, "9.9.9.9", "Bearer let me count", 200),
    ({"metrics": True, "metrics_token": SecretStr("let me count")}, "9.9.9.9", "Bearer let me", 401),
    ({"metrics": True, "metrics_token": SecretStr("let me count")}, "9.9.9.9", "Basic let me count", 401),
    ({"metrics": True, "metrics_from": "127.0.0.1"}, "9.9.9.9", "Bearer ", 401),
])
def test_who_may_read_metrics(ask, settings, at, sent, status):
    answer = ask(at=at, meter=PrometheusMeter(), **settings).get("/metrics", headers={"Authorization": sent})
    assert answer.status_code == status
    assert ("cirque_build_info" in answer.text) is (status == 200)


def test_metrics_that_nobody_may_read_are_refused_at_the_start(tmp_path):
    with pytest.raises(SettingsError, match="CIRQUE_METRICS_FROM"):
        open_services(settings_of(tmp_path, metrics=True))
    with pytest.raises(ValidationError, match="neither an IP address"):
        Settings(metrics_from="somewhere")
    with pytest.raises(ValidationError):
        Settings(log="xml")


def value(meter, line):
    content = meter.page()[0].decode()
    return next((float(it.rpartition(" ")[2]) for it in content.splitlines() if it.rpartition(" ")[0] == line), None)


def test_what_is_counted(engine):
    meter = PrometheusMeter()
    meter.running(lambda: 3)
    meter.unfinished(lambda: 2)
    for seconds in (0.001, 0.2):
        meter.answered("/study/save", "POST", 200, seconds)
    meter.answered("/study/save", "MADE-UP", 405, 0)
    meter.judged("circus/1")
    assert value(meter, 'cirque_requests_total{method="POST",route="/study/save",status="200"}') == 2
    assert value(meter, 'cirque_requests_total{method="other",route="/study/save",status="405"}') == 1
    assert value(meter, 'cirque_request_seconds_bucket{le="0.1",method="POST",route="/study/save"}') == 1
    assert value(meter, 'cirque_judgements_saved_total{protocol="circus/1"}') == 1
    assert value(meter, "cirque_running_searches") == 3
    assert value(meter, "cirque_unfinished_requests") == 2
    assert value(meter, "process_resident_memory_bytes") > 2**20
    observe_waits(engine, meter.waited)
    with writing(engine):
        pass
    assert value(meter, "cirque_write_wait_seconds_count") == 1


def test_calls_to_a_language_model_are_counted_by_how_they_ended():
    class Model:
        name, sees = "x", False

        def complete(self, task, watch=None):
            if isinstance(task.error, Exception):
                raise task.error
            return "said"

    class Asked:
        role = "caption"

        def __init__(self, error=None):
            self.error = error

    heard = []
    model = CountedLanguageModel(Model(), lambda *told: heard.append(told))
    assert model.complete(Asked()) == "said"
    for error in (LanguageModelUnavailable("away"), Stopped("stop"), StorageError("x")):
        with pytest.raises(type(error)):
            model.complete(Asked(error))
    assert heard == [("caption", it) for it in ("answered", "unavailable", "stopped", "failed")]


# --- the model is loaded ahead of the first search -------------------------------------------

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
