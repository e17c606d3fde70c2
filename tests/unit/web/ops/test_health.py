"""Alive, ready, and counted: what a load balancer and a collector of metrics may know."""

from __future__ import annotations

import asyncio
import threading

import pytest
from fastapi import FastAPI
from pydantic import SecretStr, ValidationError
from sqlalchemy import create_engine, event
from starlette.testclient import TestClient

from cir_core.errors import LanguageModelUnavailable, SettingsError, Stopped, StorageError
from cir_core.language.wrappers.metered import CountedLanguageModel
from cir_core.settings import Settings
from storage.engine.database import observe_waits, open_database, writing
from storage.engine.readiness import Readiness
from tests.fakes.databases import engine as engine
from tests.fakes.databases import settings_of, sqlite_of
from tests.fakes.loops import run
from web.http.meter import Meter
from web.http.prometheus import PrometheusMeter
from web.middleware.shutdown import ShutdownState
from web.ops.health import Checks, health_routes
from web.services import open_services


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
    with pytest.raises(ValidationError, match="no IP address"):
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
