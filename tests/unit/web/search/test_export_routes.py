"""Files of sessions over HTTP: their names, importing them, and who gets them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest
from fastapi import FastAPI, Request
from PIL import Image
from starlette.testclient import TestClient

from annotation.accounts.roles import EVERYTHING
from cir_core.methods.declared import builtin_methods
from cir_core.sessions import export
from cir_core.sessions.export import digest_of
from tests.fakes.colours import NAME
from web.http.visitor import LOCAL_VISITOR, Visitor
from web.search import routes
from web.search.routes import export_routes, import_routes


@pytest.fixture
def noted() -> list[Any]:
    return []


@pytest.fixture
def page(services: Any, noted: list[Any]) -> Iterator[TestClient]:
    """Asks as the account that the header x-name names, else as nobody."""
    services.log = SimpleNamespace(note=noted.append)
    app = FastAPI()

    @app.middleware("http")
    async def visit(request: Request, call: Any) -> Any:
        name = request.headers.get("x-name")
        request.state.visitor = Visitor(name, "admin", EVERYTHING, open=False) if name else LOCAL_VISITOR
        return await call(request)

    app.include_router(export_routes(services))
    app.include_router(import_routes(services))
    with TestClient(app) as client:
        yield client


@pytest.fixture
def session(services: Any) -> str:
    upload = services.search.add_upload(Image.new("RGB", (40, 30), "blue"))
    session_id = services.search.start(NAME, method=builtin_methods()["slerp"].settings).session_id
    services.search.run_turn(session_id, "ärmellos / \"rot\"", reference_id=upload)
    return session_id


def test_a_file_has_a_name_of_its_own_on_every_system(page: TestClient, services: Any, session: str) -> None:
    answer = page.get(f"/export/{session}.json")
    day = f"{services.search.session(session).latest.created_at:%Y-%m-%d}"
    name = f"cirque ärmellos rot {day} {session}.json"
    assert answer.headers["Content-Disposition"] == (
        f"attachment; filename=\"{name.replace('ä', 'a')}\"; filename*=UTF-8''{quote(name)}")
    assert session in answer.text and answer.json()[0]["cirque"]["session_id"] == session


def test_importing_twice_is_importing_once(page: TestClient, services: Any, session: str, noted: list[Any]) -> None:
    content = page.get(f"/export/{session}.json").content
    answer = page.post("/import/sessions", content=content, headers={"Content-Type": "application/json"})
    assert answer.json() == {"sessions": [
        {"id": session, "new": False, "notes": ["This session is here already."]}]}
    assert [one.kind for one in noted] == ["session.exported"]
    assert len(services.search.sessions()) == 1


def test_what_is_imported_belongs_to_who_imports_it(page: TestClient, services: Any, session: str) -> None:
    content = page.get(f"/export/{session}.json").content
    two = services.search.session(session).latest
    services.search.remove(session, "")
    services.search._store._sessions.clear()      # as in another cirque
    answer = page.post("/import/sessions", content=content,
                       headers={"Content-Type": "application/json", "x-name": "Ann"})
    assert answer.json()["sessions"][0]["new"]
    rows, count = services.search.listed("Ann", ())
    assert count == 1 and rows[0].session_id == session
    assert services.search.session(session).latest == two


@pytest.mark.parametrize(("content", "kind", "status", "said"), [
    (b"[", "application/json", 400, "cut off"), (b"{}", "application/json", 400, "list of records"),
    (b"[{}]", "text/plain", 400, "as JSON"), (b"[{}]", "application/x-www-form-urlencoded", 400, "as JSON"),
    (b"[" + b" " * 3000 + b"]", "application/json", 413, "cirque sessions import"),
])
def test_what_cannot_be_imported_is_said(
    page: TestClient, services: Any, monkeypatch: pytest.MonkeyPatch, content: bytes, kind: str, status: int, said: str,
) -> None:
    monkeypatch.setattr(routes, "MOST_IMPORTED", 2000)
    answer = page.post("/import/sessions", content=content, headers={"Content-Type": kind})
    assert answer.status_code == status and said in answer.json()["problem"]
    assert services.search.sessions() == ()


def test_its_pictures_count_as_uploads(page: TestClient, services: Any, session: str) -> None:
    content = page.get(f"/export/{session}.json").content
    counted = []
    services.quota = SimpleNamespace(
        add_picture=counted.append, check=counted.append, end_bytes=counted.append,
        add_bytes=lambda person, count: counted.append((person, count)))
    page.post("/import/sessions", content=content, headers={"Content-Type": "application/json", "x-name": "Ann"})
    assert counted == ["Ann", ("Ann", len(content)), "Ann", "Ann"]   # checked, its bytes, its picture, ended
    assert len(json.loads(content)[0]["cirque"]["whole"]["pictures"]) == 1


def test_thumbs_of_a_file_are_nobodys_of_those_here(page: TestClient, services: Any, session: str) -> None:
    turn = services.search.session(session).latest
    services.search.judge(session, turn.turn_id, turn.hits[0].image_id, "Ann", True)
    records = json.loads(page.get(f"/export/{session}.json").content)
    whole = records[0]["cirque"]["whole"]
    assert [thumb["person"] for thumb in whole["session"]["thumbs"]] == ["person 1"]
    whole["session"]["thumbs"][0]["person"] = "Bob"   # by whoever edits the file
    whole["digest"] = digest_of(whole["session"], whole["pictures"])
    services.search._store._sessions.clear()
    answer = page.post("/import/sessions", content=json.dumps(records), headers={"Content-Type": "application/json"})
    assert answer.json()["sessions"][0]["new"]
    assert [thumb.person for thumb in services.search.session(session).thumbs] == ["imported: person 1"]


def test_pictures_beyond_what_can_be_imported_are_left_out_and_named(
    page: TestClient, services: Any, session: str, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(export, "MOST_PICTURES", 10)
    content = page.get(f"/export/{session}.json").content
    assert json.loads(content)[0]["cirque"]["whole"]["pictures"] == {}
    services.search._store._sessions.clear()
    [upload] = [path for path in services.search._uploads.folder.rglob("*") if path.is_file()]
    upload.unlink()
    answer = page.post("/import/sessions", content=content, headers={"Content-Type": "application/json"})
    assert "does not contain 1 uploaded picture" in answer.json()["sessions"][0]["notes"][0]
