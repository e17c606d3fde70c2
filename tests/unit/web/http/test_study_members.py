"""Pictures of a study are for its members alone, and nobody else learns that they are there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import event

from annotation.kinds.validity.answers import Validity
from annotation.records import Role, Study
from annotation.studies.service import StudyService
from cir_core.types.records import new_id
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import engine_of
from tests.fakes.signed_in import SignedIn
from tests.fakes.studies import make_study, valid
from web.http.meter import Meter
from web.http.visitor import HOLDS_SECONDS, StudyMembers
from web.studies.annotate import study_routes
from web.studies.manage import studies_routes


@dataclass
class Process:
    """One of several servers over one database and home folder."""

    store: SqlStudyStore
    home: Path
    now: float = 0.0
    statements: int = 0
    pages: dict[Role, TestClient] = field(default_factory=dict)

    def __post_init__(self) -> None:
        members = StudyMembers(self.store, clock=lambda: self.now)
        self.settings = SimpleNamespace(home=self.home, accel_redirect="")
        for role in ("annotator", "analyst", "researcher", "admin"):
            app = FastAPI()
            services: Any = SimpleNamespace(
                studies=StudyService(self.store, {"validity": Validity()}), study_store=self.store,
                study_members=members, settings=self.settings, meter=Meter())
            app.include_router(study_routes(services))
            app.include_router(studies_routes(services))
            app.add_middleware(SignedIn, role=role)
            self.pages[role] = TestClient(app)
        event.listen(self.store.engine, "before_cursor_execute", self._count)

    def _count(self, *_: object) -> None:
        self.statements += 1

    def get(self, address: str, who: str, role: Role = "annotator") -> Any:
        return self.pages[role].get(f"/{address}", headers={"x-test-name": who} if who else {})

    def join(self, who: str, study: str = "Sample") -> Any:
        answer = self.pages["annotator"].post("/study/join", json={"study": study}, headers={"x-test-name": who})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def release(self, who: str, study: str = "Sample") -> Any:
        answer = self.pages["admin"].post("/studies/release", json={"study": study, "annotator": who},
                                          headers={"x-test-name": "Ruth"})
        assert answer.status_code == 200, answer.text
        return answer.json()["released"]


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[tuple[Process, Process]]:
    engines = [engine_of(tmp_path), engine_of(tmp_path)]
    yield tuple(Process(SqlStudyStore(engine), tmp_path) for engine in engines)   # type: ignore[misc]
    for engine in engines:
        engine.dispose()


def a_picture(study: Study) -> str:
    return f"study/image/{study.study_id}/{a_token(study)}-s.webp"


def a_token(study: Study) -> str:
    return TOKENS[study.study_id]


TOKENS: dict[str, str] = {}


def study_in(process: Process, **options: Any) -> Study:
    study = make_study(process.store, process.home, **options)
    TOKENS[study.study_id] = process.store.items(study.study_id)[0].shown["reference"]
    return study


def test_members_see_the_pictures_and_nobody_else(processes):
    here, _ = processes
    study, other = study_in(here), study_in(here, name="Another")
    here.join("Ada")
    here.join("Bea", "Another")
    picture = a_picture(study)
    seen = here.get(picture, "Ada")
    assert seen.status_code == 200 and seen.headers["content-type"] == "image/webp"
    assert seen.headers["cache-control"] == "private, max-age=31536000, immutable" and seen.headers["vary"] == "Cookie"
    assert here.get(picture, "ADA").status_code == 200, "names of people are one without regard to case"
    for role in ("analyst", "researcher", "admin"):
        assert here.get(picture, "Ruth", role).status_code == 200, role
    # A member of another study, somebody who may join and has not, nobody: also once the picture is in memory.
    missing = here.get(f"study/image/{new_id()}/{'0' * 24}-s.webp", "Bea")
    for who in ("Bea", "Cleo"):
        answer = here.get(picture, who)
        assert (answer.status_code, answer.content, answer.headers.get("cache-control")) == (
            404, missing.content, "no-store"), "as a picture that is not there"
        assert answer.headers.keys() == missing.headers.keys()
    assert here.get(picture, "").status_code in (401, 403)
    assert here.get(a_picture(other), "Bea").status_code == 200 and here.get(a_picture(other), "Ada").status_code == 404


def test_a_picture_that_is_not_there_takes_as_much_asking_as_one_of_others(processes):
    here, _ = processes
    study = study_in(here)
    here.join("Ada")
    costs = []
    for address in (a_picture(study), f"study/image/{study.study_id}/{'0' * 24}-l.webp",
                    f"study/image/{new_id()}/{a_token(study)}-s.webp"):
        before = here.statements
        assert here.get(address, "Bea").status_code == 404
        costs.append(here.statements - before)
    assert len(set(costs)) == 1


def test_a_known_member_costs_no_statement(processes):
    here, _ = processes
    study = study_in(here)
    here.join("Ada")
    assert here.get(a_picture(study), "Ada").status_code == 200
    before = here.statements
    for item in here.store.items(study.study_id)[:1]:
        before = here.statements
        for token in item.shown["panel"]:
            assert here.get(f"study/image/{study.study_id}/{token}-s.webp", "Ada").status_code == 200
    assert here.statements == before
    here.now += HOLDS_SECONDS
    assert here.get(a_picture(study), "Ada").status_code == 200
    assert here.statements > before, "asked again"


def test_who_lost_their_seat_is_a_member_no_longer(processes):
    here, _ = processes
    study = study_in(here)
    here.join("Ada")
    assert here.get(a_picture(study), "Ada").status_code == 200
    assert here.release("Ada") == 3, "six items for two people"
    assert here.get(a_picture(study), "Ada").status_code == 404, "at once"
    here.join("Ada")
    assert here.get(a_picture(study), "Ada").status_code == 200, "and back at once"


def test_who_has_answered_keeps_what_they_can_look_back_at(processes):
    here, _ = processes
    study = study_in(here)
    workspace = here.join("Ada")
    here.pages["annotator"].post("/study/save", headers={"x-test-name": "Ada"}, json={
        "study": "Sample", "item": workspace["item"]["id"], "answer": valid(), "token": "token-0001"})
    here.release("Ada")
    assert here.get(workspace["item"]["reference"]["small"], "Ada").status_code == 200
    assert here.store.is_member(study.study_id, "Ada")


def test_several_processes_agree(processes):
    here, there = processes
    study = study_in(here)
    assert there.get(a_picture(study), "Ada").status_code == 404
    here.join("Ada")
    assert there.get(a_picture(study), "Ada").status_code == 200, "a seat counts at once, wherever it was taken"
    here.release("Ada")
    there.now += HOLDS_SECONDS - 1
    assert there.get(a_picture(study), "Ada").status_code == 200
    there.now += 1
    assert there.get(a_picture(study), "Ada").status_code == 404, "and the loss of one after half a minute"


def test_a_study_that_was_removed_has_no_members(processes):
    here, there = processes
    study = study_in(here)
    here.join("Ada")
    assert there.get(a_picture(study), "Ada").status_code == 200
    here.store.remove(study.study_id)
    there.now += HOLDS_SECONDS
    assert there.get(a_picture(study), "Ada").status_code == 404


def test_nginx_is_told_of_pictures_for_members_alone(processes):
    here, _ = processes
    study = study_in(here)
    here.join("Ada")
    here.settings.accel_redirect = "/cirque-home/"
    told = here.get(a_picture(study), "Ada")
    assert told.headers["x-accel-redirect"] == f"/cirque-home/{a_picture(study).replace('study/image', 'studies')}"
    assert told.content == b"" and "immutable" in told.headers["cache-control"]
    here.settings.accel_redirect = ""
    assert here.get(a_picture(study), "Ada").content       # the answer for nginx is not kept
    refused = here.get(a_picture(study), "Zoe")
    assert refused.status_code == 404 and "x-accel-redirect" not in refused.headers


def test_a_seat_that_is_lost_while_the_store_is_asked_is_not_remembered():
    members: StudyMembers

    class Slow:
        def is_member(self, study_id: str, annotator: str) -> bool:
            members.forget()      # released meanwhile
            return True

    visitor: Any = SimpleNamespace(name="Ada", may=frozenset({"annotate"}))
    members = StudyMembers(Slow(), clock=lambda: 0.0)   # type: ignore[arg-type]
    assert members.look(visitor, "s1") and not members.knows(visitor, "s1")


def test_a_seat_without_items_makes_no_member(processes):
    here, _ = processes
    study = study_in(here, items=2, seats=1)
    here.join("Ada")
    for number, item in enumerate(here.store.items(study.study_id)):
        here.pages["annotator"].post("/study/save", headers={"x-test-name": "Ada"}, json={
            "study": "Sample", "item": item.item_id, "answer": valid(), "token": f"token-{number:04}"})
    here.store.join(study.study_id, "Bea", datetime.now(UTC), lambda work: [])
    assert here.get(a_picture(study), "Bea").status_code == 404
