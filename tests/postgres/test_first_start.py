"""A new installation whose database is on a server: nothing is in the home folder yet, nor is there one."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from cir_core.errors import StorageError
from storage.engine.database import open_database
from tests.fakes.databases import database_of, settings_of
from web.middleware.shutdown import ShutdownState
from web.ops.health import health_routes
from web.services import open_services


def test_the_home_folder_is_made_and_it_is_ready(tmp_path: Path) -> None:
    settings = settings_of(tmp_path / "srv" / "home", min_free_mb=0)
    services = open_services(settings)
    app = FastAPI()
    app.include_router(health_routes(settings, services.database, ShutdownState(), services.meter))
    answer = TestClient(app).get("/readyz")
    assert answer.status_code == 200, answer.text
    assert stat.S_IMODE(settings.home.stat().st_mode) == 0o700
    services.database._engine.dispose()


def test_a_home_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"home folder .*file/home cannot be created.*CIRQUE_HOME"):
        open_services(settings_of(tmp_path / "file" / "home"))


def test_a_database_that_is_not_there_and_one_who_may_not_are_said(tmp_path: Path) -> None:
    url = database_of(tmp_path)
    name = url.split("/")[3].split("?")[0]
    with pytest.raises(StorageError, match=rf'does not exist on its server.*FATAL:  database "{name}x" does not exist'):
        open_database(url.replace(name, f"{name}x"))
    with pytest.raises(StorageError, match=r"does not let cirque sign in.*OperationalError: .*role .nobody. does not"):
        open_database(url.replace("//cirque@", "//nobody@"))
