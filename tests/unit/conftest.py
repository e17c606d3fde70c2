"""What several rooms of unit tests share."""

from __future__ import annotations

import pytest

from cir_core.gallery.gallery import Gallery
from tests.fakes.colours import colour_gallery


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Gallery:
    """64 images by colour, to be read alone."""
    return colour_gallery(tmp_path_factory.mktemp("colours"))
