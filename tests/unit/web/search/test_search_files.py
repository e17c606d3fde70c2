"""The search call opens what was uploaded, and no other file or address."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from tests.fakes.databases import settings_of
from tests.fakes.loops import run
from tests.fakes.people import PASSWORD
from web.server import create_app
from web.services import open_services

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
