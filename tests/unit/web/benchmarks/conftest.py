"""A home of its own for each test, with what its file has ``made``."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from annotation.records import Role
from tests.fakes.databases import settings_of
from tests.fakes.encoder import FakeEncoder
from tests.fakes.signed_in import SignedIn
from web.benchmarks.jobs import ConstructionJobs
from web.benchmarks.routes import benchmark_routes
from web.benchmarks.shelf import FOLDER, BenchmarkShelf
from web.http.background import BackgroundPool
from web.services import Services, open_services


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "home"))


@pytest.fixture
def services(home: Path, monkeypatch: pytest.MonkeyPatch) -> Services:
    monkeypatch.setattr("cir_core.encoders.load_encoder", lambda spec, **_: FakeEncoder())
    return open_services(settings_of(home))


@pytest.fixture
def jobs(services: Services, home: Path) -> Iterator[ConstructionJobs]:
    pool = BackgroundPool(1, "test-construct")
    jobs = ConstructionJobs(services, home / FOLDER, pool)
    yield jobs
    jobs.shutdown()
    pool.shutdown()


@pytest.fixture
def open_as(services: Services, jobs: ConstructionJobs, home: Path) -> Callable[[Role], TestClient]:
    def client(role: Role) -> TestClient:
        app = FastAPI()
        app.include_router(benchmark_routes(services, BenchmarkShelf(home / FOLDER), jobs))
        app.add_middleware(SignedIn, role=role)
        return TestClient(app, headers={"x-test-name": "Rosa"}, raise_server_exceptions=True)

    return client


@pytest.fixture
def rosa(open_as: Callable[[Role], TestClient]) -> TestClient:
    return open_as("researcher")
