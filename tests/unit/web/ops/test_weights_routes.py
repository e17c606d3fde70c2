"""Fetching an encoder from within the app: who may, what is said, and that it comes to an end. The server is small."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from tests.fakes.databases import settings_of
from tests.fakes.loops import run
from tests.fakes.people import PASSWORD
from tests.unit.cir_core.encoders.test_weights import SPEC, Hub
from tests.unit.cir_core.encoders.test_weights import content as content
from web.ops import weights
from web.server import create_app
from web.services import open_services


@pytest.fixture
def hub(content: bytes) -> Iterator[Hub]:
    hub = Hub(content)
    yield hub
    hub.close()


@pytest.fixture
def app(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """``app(name)``: a client of a person; "" where nobody has an account."""
    monkeypatch.setattr(weights, "weights_of", partial(weights.weights_of, endpoint=hub.address))
    (tmp_path / "home").mkdir()
    settings = settings_of(tmp_path / "home", photo_encoder=SPEC)
    services = open_services(settings)

    async def build() -> FastAPI:
        return create_app(settings, services)

    built = run(build())

    def client(name: str = "", role: str = "admin") -> TestClient:
        made = TestClient(built, base_url="http://127.0.0.1:7860", raise_server_exceptions=False)
        if name:
            services.people.add(name, PASSWORD, role)
            made.cookies.set("cirque", services.people.sign_in(name, PASSWORD))
        return made

    yield client


def finished(client: TestClient) -> dict[str, Any]:
    """The state when the download is over. Its thread is waited for, no clock."""
    for thread in threading.enumerate():
        if thread.name == "cirque-weights":
            thread.join()
    return client.get("/weights").json()


def test_without_accounts_one_button_fetches_it(app: Any, hub: Hub) -> None:
    client = app()
    before = client.get("/weights").json()
    assert (before["may"], before["ready"], before["running"], before["megabytes"]) == (True, False, False, 3)
    assert before["host"] == hub.address.removeprefix("http://") and hub.asked == [], "looking fetches nothing"
    assert client.post("/weights/fetch", json={}).status_code == 200
    after = finished(client)
    assert after["ready"] and not after["problem"] and len(hub.asked) == 1
    assert after["encoder"] == f"local-dir:HOME/{Path(after['file']).parent}"
    assert client.post("/weights/fetch", json={}).json()["problem"].endswith("is already on this machine.")


def test_a_failure_is_told_and_can_be_tried_again(app: Any, hub: Hub) -> None:
    client, hub.status = app(), 503
    client.post("/weights/fetch", json={})
    assert "it answered 503. Nothing was kept." in finished(client)["problem"]
    hub.status = 200
    client.post("/weights/fetch", json={})
    assert finished(client)["ready"]


def test_only_admins_may_and_only_they_see_paths(app: Any, hub: Hub) -> None:
    app("Ada")
    ben = app("Ben", "researcher")
    seen = ben.get("/weights").json()
    assert not seen["may"] and seen["megabytes"] == 3 and not {"file", "url", "encoder"} & set(seen)
    for path in ("fetch", "stop"):
        assert ben.post(f"/weights/{path}", json={}).status_code == 403
    cleo = app("Cleo", "annotator")
    assert cleo.get("/weights").status_code == 403 and hub.asked == []


def test_a_stop_ends_it(app: Any, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    client, begun, go_on = app(), threading.Event(), threading.Event()
    real = weights.fetch_weights

    def slow(wanted: Any, progress: Any, stopped: Any) -> str:
        def came(done: int, total: int) -> None:
            progress(done, total)
            begun.set()
            go_on.wait(60)
        return real(wanted, came, stopped)

    monkeypatch.setattr(weights, "fetch_weights", slow)
    client.post("/weights/fetch", json={})
    assert begun.wait(60)
    state = client.post("/weights/stop", json={}).json()
    assert state["running"] and state["stopping"] and state["done"] > 0 and state["total"] == len(hub.content)
    go_on.set()
    after = finished(client)
    assert after["problem"] == "The download was stopped. Nothing was kept." and not after["ready"]
