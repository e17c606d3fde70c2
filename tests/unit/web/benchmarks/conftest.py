"""A home of its own for each test, with what its file has ``made``."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.fakes.databases import settings_of
from tests.fakes.encoder import FakeEncoder
from web.services import Services, open_services


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "home"))


@pytest.fixture
def services(home: Path, monkeypatch: pytest.MonkeyPatch) -> Services:
    monkeypatch.setattr("cir_core.encoders.load_encoder", lambda spec, **_: FakeEncoder())
    return open_services(settings_of(home))
