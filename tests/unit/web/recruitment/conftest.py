"""Participants of a study over the ASGI app's own guard, and somebody who runs it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from annotation.accounts.service import PeopleService
from annotation.kinds.table import KINDS
from annotation.recruitment.service import RecruitmentService, given_by
from annotation.studies.service import StudyService
from storage.accounts.store import SqlPeopleStore
from storage.studies.recruitment import SqlRecruitmentStore
from storage.studies.store import SqlStudyStore
from storage.studies.webhooks import SqlWebhookStore
from tests.fakes.databases import study_store as study_store
from web.accounts.sign_in import me_routes, sign_in_routes
from web.http.meter import Meter
from web.http.visitor import StudyMembers
from web.middleware.auth import AuthMiddleware
from web.recruitment.manage import recruitment_routes
from web.recruitment.participants import participant_routes
from web.studies.annotate import study_routes
from web.studies.manage import studies_routes
from web.studies.quality import quality_routes


@pytest.fixture
def store(study_store: SqlStudyStore) -> SqlStudyStore:
    return study_store


@pytest.fixture
def services(store: SqlStudyStore, tmp_path: Path) -> Any:
    answers = {name: kind.answers for name, kind in KINDS.items()}
    recruitment = SqlRecruitmentStore(store.engine)
    studies = StudyService(store, answers, is_given=given_by(recruitment))
    people = PeopleService(SqlPeopleStore(store.engine))
    people.add("Ada", "long enough", "admin")
    return SimpleNamespace(
        studies=studies, study_store=store, people=people, study_members=StudyMembers(store), meter=Meter(),
        recruitment=RecruitmentService(recruitment, store, studies, answers), webhooks=SqlWebhookStore(store.engine),
        settings=SimpleNamespace(home=tmp_path, accel_redirect="", webhook_receivers=("127.0.0.1:*",)))


@pytest.fixture
def browser(services: Any) -> Callable[[], TestClient]:
    """A new browser, with cookies of its own, that follows redirects."""
    app = FastAPI()
    for routes in (participant_routes(services), recruitment_routes(services), study_routes(services),
                   studies_routes(services), quality_routes(services), sign_in_routes(services), me_routes()):
        app.include_router(routes)
    app.add_middleware(AuthMiddleware, people=services.people)
    return lambda: TestClient(app, base_url="http://localhost")


@pytest.fixture
def ada(browser: Callable[[], TestClient]) -> TestClient:
    """Signed in as an admin."""
    client = browser()
    client.post("/sign-in", json={"name": "Ada", "password": "long enough"})
    return client
