"""What the calls of studies are made over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from annotation.kinds.table import KINDS
from annotation.records import Role
from annotation.studies.service import StudyService
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import study_store as study_store
from tests.fakes.loops import run
from tests.fakes.signed_in import SignedIn
from web.http.meter import Meter
from web.http.visitor import StudyMembers
from web.studies.adjudicate import adjudicate_routes
from web.studies.annotate import study_routes
from web.studies.api import study_calls, wire_study_calls
from web.studies.manage import studies_routes
from web.studies.new_study import new_study_routes
from web.studies.quality import quality_routes


@pytest.fixture
def services(store: SqlStudyStore, tmp_path: Path) -> Any:
    # Time stands still: a slow machine looks up no name a second time.
    return SimpleNamespace(
        studies=StudyService(store, {name: kind.answers for name, kind in KINDS.items()}, timer=lambda: 0.0),
        study_store=store,
        study_members=StudyMembers(store), settings=SimpleNamespace(home=tmp_path, accel_redirect=""), meter=Meter())


@pytest.fixture
def visit(services: Any) -> Callable[..., TestClient]:
    """A client of all calls for a person of a role; without a role nobody is signed in."""
    def open_as(role: Role | None, name: str = "Olga") -> TestClient:
        app = FastAPI()
        for routes in (study_routes, studies_routes, quality_routes, adjudicate_routes):
            app.include_router(routes(services))
        app.add_middleware(SignedIn, role=role or "annotator")
        return TestClient(app, headers={"x-test-name": name.encode()} if role else {})

    return open_as


@pytest.fixture
def new_study_as(services: Any) -> Callable[..., TestClient]:
    """A client of *New study*."""
    def open_as(role: Role = "admin", name: str = "Olga") -> TestClient:
        app = FastAPI()
        app.include_router(new_study_routes(services))
        app.add_middleware(SignedIn, role=role)
        return TestClient(app, headers={"x-test-name": name})

    return open_as


@pytest.fixture
def calls(services: Any) -> Iterator[TestClient]:
    """A client of the named calls, over the protocol that Gradio's clients speak."""
    async def build() -> FastAPI:   # where no loop runs, Gradio makes its own and never closes them
        with gr.Blocks() as demo:
            wire_study_calls(study_calls(services))
        app = FastAPI()
        app.add_middleware(SignedIn)
        return gr.mount_gradio_app(app, demo, path="/", ssr_mode=False, show_error=True)

    with TestClient(run(build())) as client:
        yield client
