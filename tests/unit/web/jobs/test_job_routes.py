"""The calls of the page Jobs: who may, what they answer, what is run, and which folders may be indexed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from annotation.records import Role
from cir_core.jobs.records import JobRecord, JobRecords
from cir_core.settings import Settings
from tests.fakes.databases import settings_of
from tests.fakes.encoder import FakeEncoder
from tests.fakes.signed_in import SignedIn
from web.http.pages import in_demo, pages_for
from web.jobs.processes import JobProcesses
from web.jobs.routes import job_routes
from web.services import Services, open_services

INDEX = ("index", "/srv/private/photos", "--name", "mine")
POSTS = ("stop", "resume", "forget")
FORM = {"folder": "photos", "name": "mine", "encoder": "atelier"}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "root" / "photos" / "deep").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path / "elsewhere")
    return settings_of(tmp_path / "home").model_copy(update={"index_folder": tmp_path / "root"})


@pytest.fixture
def services(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Services:
    monkeypatch.setattr("cir_core.encoders.load_encoder", lambda spec, **_: FakeEncoder())
    monkeypatch.setattr("cir_core.encoders.found.found_encoders", lambda home: [])
    return open_services(settings)


@pytest.fixture
def records(settings: Settings) -> JobRecords:
    return JobRecords(settings.home)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Jobs that were run, and for whom, in place of processes."""
    found: list[tuple[str, str]] = []
    monkeypatch.setattr(JobProcesses, "run", lambda self, job_id, account: found.append((job_id, account)))
    return found


@pytest.fixture
def open_as(services: Services) -> Callable[[Role], TestClient]:
    def client(role: Role) -> TestClient:
        app = FastAPI()
        app.include_router(job_routes(services))
        app.add_middleware(SignedIn, role=role)
        return TestClient(app, headers={"x-test-name": "Rosa"}, raise_server_exceptions=True)

    return client


def problem(client: TestClient, path: str, status: int = 400, **sent: Any) -> str:
    answer = client.post(f"/jobs/{path}", json=sent) if sent else client.get(f"/jobs/{path}")
    assert answer.status_code == status, answer.text
    return str(answer.json()["problem"])


def begun(records: JobRecords, **fields: Any) -> JobRecord:
    record = replace(records.begin(INDEX, "/srv/private", "Ada"), **fields)
    records.write(record)
    return record


def test_only_who_manages_sees_and_stops_jobs(
    open_as: Callable[[Role], TestClient], records: JobRecords, ran: list[Any],
) -> None:
    job = begun(records).job_id
    for role in ("analyst", "annotator"):
        client = open_as(role)  # type: ignore[arg-type]
        for path in ("all", "choices"):
            assert f"{role}s may not" in problem(client, path, 403)
        for path in POSTS:
            assert f"{role}s may not" in problem(client, path, 403, id=job)
        assert f"{role}s may not" in problem(client, "index", 403, **FORM)
    assert not records.asked_to_stop(job) and ran == []
    researcher = open_as("researcher")
    assert [one["id"] for one in researcher.get("/jobs/all").json()["jobs"]] == [job]
    assert "may not manage accounts" in problem(researcher, "index", 403, **FORM)
    assert researcher.get("/jobs/all").json()["may_index"] is False


def test_the_page_is_in_the_menu_of_those_alone_and_absent_from_a_public_demo() -> None:
    for may, there in ((frozenset({"manage"}), True), (frozenset({"search", "annotate", "results"}), False)):
        assert any(page["page"] == "jobs" for page in pages_for(may)) == there  # type: ignore[arg-type]
    assert not any(in_demo(method, path) for method, path in (
        ("GET", "/jobs"), ("GET", "/jobs/all"), ("POST", "/jobs/stop"), ("POST", "/jobs/index")))


def test_what_is_told_names_no_folder_of_the_server(
    open_as: Callable[[Role], TestClient], records: JobRecords,
) -> None:
    job = begun(records, stage="Indexing", done=3, total=9, rate=2.0, left=(60.0, 50.0, 130.0),
                log=("Reading /srv/private/photos/a.png",)).job_id
    client = open_as("researcher")
    answer = client.get(f"/jobs/all?open={job}")
    [one] = answer.json()["jobs"]
    assert "/srv" not in answer.text and one["command"] == "cirque index photos --name mine"
    assert (one["state"], one["done"], one["total"], one["rate"]) == ("running", 3, 9, 2.0)
    assert one["left"] == "50 s to 2 min"
    assert one["log"] == ["Reading a.png"] and client.get("/jobs/all").json()["jobs"][0]["log"] is None
    begun(records, state="failed", error="The disk of /srv/private/home is full.")
    assert "/srv" not in client.get("/jobs/all").text


def test_stopping_resuming_and_forgetting(
    open_as: Callable[[Role], TestClient], records: JobRecords, ran: list[Any], services: Services,
) -> None:
    client, job = open_as("researcher"), begun(records).job_id
    assert "is running" in problem(client, "resume", id=job) and "is running" in problem(client, "forget", id=job)
    assert client.post("/jobs/stop", json={"id": job}).json() == {"stopping": True}
    assert records.asked_to_stop(job) and client.get("/jobs/all").json()["jobs"][0]["stopping"]
    records.write(replace(records.find(job), state="stopped"))
    assert client.post("/jobs/stop", json={"id": job}).json() == {"stopping": False}
    assert client.post("/jobs/resume", json={"id": job}).json() == {"id": job} and ran == [(job, "Rosa")]
    assert client.post("/jobs/forget", json={"id": job}).status_code == 200 and records.all() == []
    for path in POSTS:
        assert "There is no job" in problem(client, path, id=job)
        assert "There is no job" in problem(client, path, id="../cirque")
        assert client.post(f"/jobs/{path}", json={"id": 7}).status_code == 400
    assert [(one.act.kind, one.act.by) for one in services.log.acts()] == [
        ("job.forgotten", "Rosa"), ("job.resumed", "Rosa"), ("job.stopped", "Rosa")]


def test_a_record_of_another_command_is_not_run(
    open_as: Callable[[Role], TestClient], records: JobRecords, ran: list[Any],
) -> None:
    job = records.add(("user", "add", "Mallory", "--role", "admin"), "/", "Mallory").job_id
    assert "command line" in problem(open_as("admin"), "resume", id=job) and ran == []


# --- indexing a folder ----------------------------------------------------------------------------

def test_an_admin_indexes_a_folder_below_that_of_the_settings(
    open_as: Callable[[Role], TestClient], records: JobRecords, ran: list[Any], tmp_path: Path,
) -> None:
    admin = open_as("admin")
    assert admin.get("/jobs/all").json()["may_index"] is True
    choices = admin.get("/jobs/choices").json()
    assert choices["folders"] == [".", "photos", "photos/deep"] and choices["encoders"] == ["atelier"]
    job = admin.post("/jobs/index", json=FORM).json()["id"]
    assert records.find(job).command == ("index", str(tmp_path / "root" / "photos"), "--name", "mine", "--encoder",
                                         "atelier") and ran == [(job, "Rosa")]


@pytest.mark.parametrize(("field", "value"), [
    ("folder", ".."), ("folder", "../elsewhere"), ("folder", "/etc"), ("folder", "link"), ("folder", "photos/../.."),
    ("folder", "none"), ("folder", "a\0b"), ("name", "--help"), ("name", "../x"), ("name", ""),
    ("encoder", "local-dir:/etc"), ("encoder", "--yes"), ("encoder", ""),
])
def test_nothing_else_is_indexed(
    open_as: Callable[[Role], TestClient], records: JobRecords, ran: list[Any], field: str, value: str,
) -> None:
    assert problem(open_as("admin"), "index", **FORM | {field: value})
    assert records.all() == [] and ran == []


@pytest.mark.parametrize("folder", [".", "home", "home/uploads"])
def test_nobody_indexes_what_is_in_the_home_folder_or_around_it(
    open_as: Callable[[Role], TestClient], services: Services, ran: list[Any], tmp_path: Path, folder: str,
) -> None:
    (tmp_path / "home" / "uploads").mkdir(parents=True, exist_ok=True)
    object.__setattr__(services, "settings", services.settings.model_copy(update={"index_folder": tmp_path}))
    admin = open_as("admin")
    assert "own files" in problem(admin, "index", **FORM | {"folder": folder}) and ran == []
    folders = admin.get("/jobs/choices").json()["folders"]
    assert {"elsewhere", "root"} <= set(folders) and folder not in folders


def test_without_the_setting_nothing_is_indexed_from_here(
    open_as: Callable[[Role], TestClient], services: Services, ran: list[Any], tmp_path: Path,
) -> None:
    object.__setattr__(services, "settings", services.settings.model_copy(update={"index_folder": None}))
    admin = open_as("admin")
    assert admin.get("/jobs/all").json()["may_index"] is False
    assert "CIRQUE_INDEX_FOLDER" in problem(admin, "choices") and "CIRQUE_INDEX_FOLDER" in problem(
        admin, "index", **FORM)
