"""What the calls of studies are made over."""

from __future__ import annotations

import pytest

from cir_core.gallery.gallery import Gallery
from tests.fakes.colours import colour_gallery
from tests.fakes.databases import study_store as study_store


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Gallery:
    return colour_gallery(tmp_path_factory.mktemp("colours"))
