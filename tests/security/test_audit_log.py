"""The audit log: what is noted, by whom, with the act or not at all; who reads it and as which files."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import Engine, insert
from starlette.testclient import TestClient
from typer.testing import CliRunner

from annotation.accounts.audit_log import every_act, log_file, read_filter
from annotation.accounts.service import Passwords, PeopleService
from annotation.kinds.validity.answers import Validity
from annotation.records import AUDIT_ACTIONS, AUDIT_GROUPS, AuditEvent, AuditFilter, Decision, LoggedEvent, MetricScores
from annotation.studies.service import StudyService
from cir_core.errors import LogError, SignInFailed, TooManyTries
from cir_core.types.records import new_id
from cli.main import app as command
from storage.accounts import audit_log as storage_log
from storage.accounts.audit_log import SqlAuditLog
from storage.accounts.store import SqlPeopleStore
from storage.engine.database import writing
from storage.engine.processes import ServingProcesses
from storage.mapping import tables
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import engine as engine
from tests.fakes.people import LIGHT, PASSWORD, Clock
from tests.fakes.studies import make_preference_study, make_study, valid
from tests.integration.homes import command_home  # noqa: F401
from web.accounts.routes import log_routes, people_routes
from web.accounts.sign_in import sign_in_routes
from web.http.visitor import StudyMembers
from web.middleware.auth import AuthMiddleware, Place
from web.studies.manage import studies_routes

SECRET_NOTE = "marker-note that somebody wrote"


@pytest.fixture
def log(engine: Engine) -> SqlAuditLog:
    return SqlAuditLog(engine)


@pytest.fixture
def store(log: SqlAuditLog) -> SqlStudyStore:
    return SqlStudyStore(log.engine)


@pytest.fixture
def people(log: SqlAuditLog) -> PeopleService:
    return PeopleService(SqlPeopleStore(log.engine), passwords=Passwords(LIGHT))


@pytest.fixture
def open_as(log: SqlAuditLog, store: SqlStudyStore, people: PeopleService, tmp_path: Path) -> Callable[..., TestClient]:
    services: Any = SimpleNamespace(people=people, processes=ServingProcesses(tmp_path, sqlite=True),
                                    study_store=store, log=log, study_members=StudyMembers(store),
                                    settings=SimpleNamespace(home=tmp_path, accel_redirect=""))

    def browse(name: str = "") -> TestClient:
        app = FastAPI(openapi_url=None)
        for routes in (sign_in_routes, people_routes, studies_routes, log_routes):
            app.include_router(routes(services))
        client = TestClient(AuthMiddleware(app, people, Place("testserver")), follow_redirects=False)
        if name:
            assert client.post("/sign-in", json={"name": name, "password": PASSWORD}).status_code == 200
        return client

    return browse


def noted(log: SqlAuditLog, **which: Any) -> list[tuple[str, str, str]]:
    """Oldest first."""
    return [(one.act.kind, one.act.by, one.act.about) for one in reversed(log.acts(AuditFilter(**which), limit=1000))]


# --- what is noted --------------------------------------------------------------------------------


def test_signing_in_and_out(log: SqlAuditLog, people: PeopleService, open_as: Callable[..., TestClient]) -> None:
    people.add("Ada", PASSWORD, "admin")
    client = open_as("ada")
    client.post("/sign-out", json={})
    client.post("/sign-out", json={})   # nobody is signed in any more
    assert noted(log)[1:] == [("sign-in", "Ada", ""), ("sign-out", "Ada", "")]
    assert log.acts(AuditFilter(kind="sign-in"))[0].act.details == {"address": "testclient"}


def test_wrong_passwords_and_the_wait_which_is_noted_once(log: SqlAuditLog, people: PeopleService) -> None:
    people.add("Ada", PASSWORD, "admin")
    for _ in range(5):
        with pytest.raises(SignInFailed):
            people.sign_in("ADA", "marker-wrong", "10.0.0.1")
    for _ in range(9):
        with pytest.raises(TooManyTries):
            people.sign_in("ada", "marker-wrong", "10.0.0.1")
    assert noted(log, kind="sign-in.all") == [("sign-in.failed", "", "Ada")] * 5 + [("sign-in.throttled", "", "Ada")]
    assert log.acts(limit=1)[0].act.details == {"address": "10.0.0.1", "seconds": 1, "counted": "name and address"}


@pytest.mark.parametrize("address", ["10.0.0.1", "2001:db8:1:2::{:x}"])
def test_a_stranger_with_many_names_does_not_fill_the_log(log: SqlAuditLog, address: str) -> None:
    """What is let in at once, and one note of the wait: not one for each name or each address of a network."""
    clock = Clock()
    people = PeopleService(SqlPeopleStore(log.engine), clock, passwords=Passwords(LIGHT))
    people.add("Ada", PASSWORD, "admin")
    for number in range(300):
        with pytest.raises(SignInFailed):
            people.sign_in(f"somebody {number}", "wrong horse", address.format(number))
    kinds = Counter(kind for kind, _, _ in noted(log, kind="sign-in.all"))
    assert kinds == {"sign-in.failed": 100, "sign-in.throttled": 1}
    assert log.acts(limit=1)[0].act.about == "" and log.acts(limit=1)[0].act.details["counted"] == "address"
    for number in range(60):   # goes on for five minutes, ten times as often as it is let in
        for again in range(10):
            with suppress(SignInFailed):
                people.sign_in(f"another {number} {again}", "wrong horse", address.format(number))
        clock.move(seconds=5)
    kinds = Counter(kind for kind, _, _ in noted(log, kind="sign-in.all"))
    assert kinds == {"sign-in.failed": 100 + 60 - 1, "sign-in.throttled": 1}   # the first five had begun full


def test_what_was_typed_in_place_of_a_name_is_not_kept(log: SqlAuditLog, people: PeopleService) -> None:
    """It may be a password."""
    people.add("Ada", PASSWORD, "admin")
    with pytest.raises(SignInFailed):
        people.sign_in(PASSWORD, "Ada", "10.0.0.1")
    assert noted(log)[1:] == [("sign-in.failed", "", "")]


def test_accounts_and_invitations_with_who_did_it(
    log: SqlAuditLog, people: PeopleService, open_as: Callable[..., TestClient],
) -> None:
    people.add("Ada", PASSWORD, "admin")
    ada = open_as("Ada")
    begun = len(noted(log))
    for path, sent in (
        ("add", {"name": "Bob", "password": PASSWORD, "role": "annotator"}),
        ("role", {"name": "bob", "role": "analyst"}),
        ("password", {"name": "Bob", "password": "another horse"}), ("active", {"name": "Bob", "active": False}),
        ("active", {"name": "Bob", "active": True}),
    ):
        assert ada.post(f"/people/{path}", json=sent).status_code == 200
    link = ada.post("/people/invite", json={"role": "researcher", "uses": 2}).json()
    handle = link["invitations"][0]["invitation"]
    open_as().post(f"/{link['path']}", data={"name": "Eve", "password": PASSWORD, "again": PASSWORD})
    ada.post("/people/withdraw", json={"invitation": handle})
    ada.post("/people/role", json={"name": "Ada", "role": "analyst"})   # refused: the only admin
    ada.post("/people/add", json={"name": "bob", "password": PASSWORD, "role": "admin"})   # refused: taken
    assert noted(log)[begun:] == [
        ("account.made", "Ada", "Bob"), ("account.role", "Ada", "Bob"), ("account.password", "Ada", "Bob"),
        ("account.deactivated", "Ada", "Bob"), ("account.activated", "Ada", "Bob"), ("invitation.made", "Ada", handle),
        ("invitation.used", "Eve", handle), ("sign-in", "Eve", ""), ("invitation.withdrawn", "Ada", handle)]
    assert log.acts(AuditFilter(kind="account.role"))[0].act.details == {"from": "annotator", "to": "analyst"}


def test_a_hash_with_older_parameters_is_nobodys_doing(log: SqlAuditLog) -> None:
    PeopleService(SqlPeopleStore(log.engine), passwords=Passwords(LIGHT)).add("Ada", PASSWORD, "admin")
    PeopleService(SqlPeopleStore(log.engine)).sign_in("Ada", PASSWORD)
    assert noted(log) == [("account.made", "local", "Ada"), ("sign-in", "Ada", "")]


def test_studies_with_who_did_it(
    log: SqlAuditLog, store: SqlStudyStore, people: PeopleService, open_as: Callable[..., TestClient], tmp_path: Path,
) -> None:
    people.add("Ada", PASSWORD, "admin")
    ada = open_as("Ada")
    study = make_study(store, tmp_path, name="First")
    judge = StudyService(store, {"validity": Validity()})
    item = judge.join("First", "Bob").item
    assert item is not None
    judge.save("First", "Bob", item.item_id, valid(note=SECRET_NOTE), "token-001")
    begun = len(noted(log))
    for path, sent in (("close", {"study": "First"}), ("open", {"study": "First"}),
                       ("release", {"study": "First", "annotator": "bob"})):
        assert ada.post(f"/studies/{path}", json=sent).status_code == 200
    assert ada.get("/studies/export", params={"study": "First", "form": "csv"}).status_code == 200
    assert ada.get("/studies/export", params={"study": "First", "form": "none"}).status_code == 400
    store.change_settings(study.study_id, {"broad_at": 3}, by="Ada")
    decision = Decision(new_id(), study.study_id, item.item_id, "Ada", 0, "token-002", valid(), SECRET_NOTE,
                        datetime.now(UTC))
    store.decide(decision)
    store.decide(decision)   # the call again
    store.rename(study.study_id, "Second", by="Ada")
    store.remove(study.study_id, by="Ada")
    about = "First"
    assert noted(log)[begun:] == [
        ("study.closed", "Ada", about), ("study.opened", "Ada", about), ("study.released", "Ada", about),
        ("study.exported", "Ada", about), ("study.settings", "Ada", about), ("item.decided", "Ada", about),
        ("study.renamed", "Ada", "Second"), ("study.removed", "Ada", "Second")]
    by_kind = {one.act.kind: one.act for one in log.acts()}
    assert by_kind["study.settings"].details == {"changed": ["broad_at"]}
    assert by_kind["study.released"].details["person"] == "Bob"
    assert by_kind["study.renamed"].details == {"from": "First"}
    assert {act.study_id for kind, act in by_kind.items() if kind.startswith("study.")} == {study.study_id}
    assert not any(one in _all_text(log) for one in ("marker-note", "token-00", PASSWORD))


def test_scores(log: SqlAuditLog, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_preference_study(store, tmp_path)
    item = store.items(study.study_id)[0]
    store.save_scores(study.study_id, MetricScores("Recall", "", {(item.item_id, 1): 0.5}), "Ada",
                      datetime.now(UTC))
    store.drop_scores(study.study_id, "RECALL", by="Bea")
    assert noted(log)[1:] == [("scores.added", "Ada", study.name), ("scores.removed", "Bea", study.name)]
    assert log.acts()[0].act.details == {"scores": "Recall"}


def test_nothing_in_cirque_changes_or_removes_what_is_in_the_log() -> None:
    """The only statements on its table are an insert and selects."""
    root = Path(storage_log.__file__).parents[2]
    users = [path for folder in ("storage", "annotation", "web", "cli", "cir_core")
             for path in (root / folder).rglob("*.py") if "tables.audit_log" in path.read_text("utf-8")]
    # The other one counts its rows, for a restore.
    assert sorted(users) == [
        root / "storage" / "accounts" / "audit_log.py", root / "storage" / "backups" / "integrity.py"]
    assert not re.search(r"\b(update|delete|drop)\(", users[0].read_text("utf-8"))


# --- reading --------------------------------------------------------------------------------------


@pytest.fixture
def kept(log: SqlAuditLog) -> SqlAuditLog:
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    acts = [("sign-in", "Ada", ""), ("sign-in.failed", "", "Bob"), ("account.role", "ADA", "Bob"),
            ("study.made", "Cy", "=Study"), ("study.removed", "Bob", "Éa")]
    with writing(log.engine) as connection:
        for hours, (kind, by, about) in enumerate(acts):
            storage_log.log_event(connection, AuditEvent(kind, by, about))   # type: ignore[arg-type]
            newest = connection.execute(tables.audit_log.select().order_by(
                tables.audit_log.c.number.desc()).limit(1)).one()
            connection.execute(tables.audit_log.update().where(tables.audit_log.c.number == newest.number).values(
                at=noon + timedelta(hours=6 * hours)))
    return log


@pytest.mark.parametrize(("asked", "kinds"), [
    ({}, ["study.removed", "study.made", "account.role", "sign-in.failed", "sign-in"]),
    ({"person": "ada"}, ["account.role", "sign-in"]), ({"person": " BOB "}, ["study.removed", "account.role",
                                                                           "sign-in.failed"]),
    ({"person": "E\u0301A"}, ["study.removed"]), ({"person": "nobody"}, []), ({"person": "%"}, []),
    ({"person": "\x00"}, []),
    ({"kind": "sign-in.all"}, ["sign-in.failed", "sign-in"]), ({"kind": "study.all"}, ["study.removed", "study.made"]),
    ({"kind": "account.role"}, ["account.role"]), ({"kind": "sign-in"}, ["sign-in"]),
    ({"kind": " sign-in.failed "}, ["sign-in.failed"]),
    ({"since": "2026-05-02"}, ["study.removed", "study.made", "account.role"]),
    ({"until": "2026-05-01"}, ["sign-in.failed", "sign-in"]),
    ({"since": "2026-05-01T18:00", "until": "2026-05-02T00:00+00:00"}, ["sign-in.failed"]),
    ({"since": "2026-05-01T20:00+02:00", "kind": "sign-in.all"}, ["sign-in.failed"]),
    ({"since": "2026-05-01", "until": "2026-05-01"}, ["sign-in.failed", "sign-in"]),
])
def test_by_person_kind_and_time(kept: SqlAuditLog, asked: dict[str, str], kinds: list[str]) -> None:
    assert [one.act.kind for one in kept.acts(read_filter(**asked))] == kinds


@pytest.mark.parametrize("asked", [
    {"kind": "stud"}, {"kind": "study."}, {"kind": "study"}, {"kind": "%"}, {"since": "yesterday"},
    {"until": "2026-13-01"}, {"until": "9999-12-31"}, {"since": "2026-05-01T25:00"},
])
def test_what_cannot_be_asked_is_a_sentence(asked: dict[str, str]) -> None:
    with pytest.raises(LogError, match=r"Choose one of|Write a day"):
        read_filter(**asked)


@pytest.mark.parametrize(("since", "until"), [
    ("2026-05-02", "2026-05-01"), ("2026-05-01T14:30", "2026-05-01T14:30"),
    ("2026-05-01T16:00+02:00", "2026-05-01T13:59"), ("2026-05-01T00:00", "2026-04-30"),   # the end of that day
])
def test_an_end_before_the_beginning_is_a_sentence(since: str, until: str) -> None:
    with pytest.raises(LogError) as refused:
        read_filter(since=since, until=until)
    assert since in str(refused.value) and until in str(refused.value) and "Swap the two" in str(refused.value)


def test_groups_and_kinds_can_be_told_apart() -> None:
    assert not set(AUDIT_GROUPS) & set(AUDIT_ACTIONS)
    assert AUDIT_GROUPS["sign-in.all"] == ("sign-in", "sign-in.failed", "sign-in.throttled")
    several = {kind for kind in AUDIT_ACTIONS for other in AUDIT_ACTIONS
               if kind != other and kind.split(".")[0] == other.split(".")[0]}
    assert {kind for kinds in AUDIT_GROUPS.values() for kind in kinds} == several
    words = (Path(__file__).parents[2] / "assets" / "js" / "admin" / "log-words.js").read_text("utf-8")
    assert [one for one in (*AUDIT_GROUPS, *AUDIT_ACTIONS) if f'"{one}":' not in words] == []


def test_a_page_at_a_time_and_all_of_them(log: SqlAuditLog) -> None:
    with writing(log.engine) as connection:
        row = {"at": datetime.now(UTC), "kind": "sign-in", "actor_key": "ada", "actor": "Ada", "about_key": "",
               "about": "", "details": {}}
        connection.execute(insert(tables.audit_log), [row] * 2345)
    first = log.acts(limit=100)
    second = log.acts(before=first[-1].number, limit=100)
    assert [one.number for one in (*first, *second)] == sorted((one.number for one in (*first, *second)), reverse=True)
    assert len({one.number for one in (*first, *second)}) == 200
    assert len({one.number for one in every_act(log, AuditFilter())}) == 2345


HOSTILE = ('=HYPERLINK("http://evil.example")', "+1", "-1", "@SUM(A1)", "\t1", "＝1", "<script>alert(1)</script>")


def test_no_cell_of_the_table_is_a_formula() -> None:
    acts = [LoggedEvent(number, datetime(2026, 5, 1, tzinfo=UTC), AuditEvent("study.made", text, text, None,
                                                                             {"x": text}))
            for number, text in enumerate(HOSTILE, 1)]
    rows = list(csv.reader(io.StringIO(log_file(acts, "csv").decode("utf-8-sig"))))
    assert rows[0] == ["number", "at", "kind", "by", "about", "study_id", "details"]
    for text, row in zip(HOSTILE, rows[1:], strict=True):
        assert row[3] == row[4] == (f"'{text}" if not text.startswith("<") else text)
        assert not any(cell.startswith(tuple("=+-@\t\r＝")) for cell in row)
        assert json.loads(row[6]) == {"x": text}
    lines = [json.loads(line) for line in log_file(acts, "jsonl").decode().splitlines()]
    assert [(one["number"], one["by"]) for one in lines] == list(enumerate(HOSTILE, 1))


def test_admins_read_it_and_nobody_else(
    log: SqlAuditLog, people: PeopleService, open_as: Callable[..., TestClient],
) -> None:
    for name, role in (("Ada", "admin"), ("Rex", "researcher"), ("Ann", "analyst"), ("Bob", "annotator")):
        people.add(name, PASSWORD, role)   # type: ignore[arg-type]
    for name in ("Rex", "Ann", "Bob"):
        for path in ("/log", "/log/acts", "/log/file"):
            assert open_as(name).get(path).status_code == 403
    assert open_as().get("/log/acts").status_code == 401
    ada = open_as("Ada")
    answer = ada.get("/log/acts", params={"kind": "account.all", "person": "bob"}).json()
    assert [(one["kind"], one["about"], one["by"]) for one in answer["acts"]] == [("account.made", "Bob", "local")]
    assert answer["more"] is False
    assert (answer["groups"], answer["kinds"]) == (list(AUDIT_GROUPS), list(AUDIT_ACTIONS))
    assert ada.get("/log/acts", params={"kind": "x"}).status_code == 400
    assert ada.get("/log/acts", params={"before": "-1"}).status_code == 400
    told = ada.get("/log/file", params={"form": "jsonl", "kind": "account.all"})
    assert [json.loads(line)["about"] for line in told.text.splitlines()] == ["Bob", "Ann", "Rex", "Ada"]
    assert told.headers["content-disposition"].startswith("attachment;")
    assert noted(log)[-1] == ("log.exported", "Ada", "")
    assert ada.get("/log/file", params={"form": "exe"}).status_code == 400


# --- the command ----------------------------------------------------------------------------------


def test_the_command_shows_and_writes_it(home: Path) -> None:
    ask = CliRunner().invoke
    assert "No matching event" in ask(command, ["log"]).output
    assert ask(command, ["user", "add", "Ada", "--role", "admin", "--password-stdin"], input=PASSWORD).exit_code == 0
    assert ask(command, ["user", "add", "Bob", "--role", "analyst", "--password-stdin"], input=PASSWORD).exit_code == 0
    shown = ask(command, ["log", "--person", "bob", "--last", "5"]).output
    assert "account.made" in shown and "Bob" in shown and "Ada" not in shown
    for ending in ("csv", "jsonl"):
        assert ask(command, ["log", "--kind", "account.all", "--out", str(home / f"log.{ending}")]).exit_code == 0
    assert len((home / "log.jsonl").read_text().splitlines()) == 2
    assert (home / "log.csv").read_bytes().startswith(b"\xef\xbb\xbfnumber,at,kind")
    assert "log.exported" in ask(command, ["log"]).output
    assert "ends in .csv or .jsonl" in str(ask(command, ["log", "--out", str(home / "log.txt")]).exception)
    assert PASSWORD not in ask(command, ["log", "-n", "1000"]).output


def _all_text(log: SqlAuditLog) -> str:
    return log_file(every_act(log, AuditFilter()), "jsonl").decode()
