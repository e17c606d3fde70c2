"""What is constructed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from cir_core.gallery.gallery import Gallery, open_gallery
from tests.fakes.colours import NAME, colour_gallery


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("colours")
    colour_gallery(folder)
    return folder / "home"


@pytest.fixture(scope="module")
def gallery(home: Path) -> Gallery:
    return open_gallery(NAME, home=home)
