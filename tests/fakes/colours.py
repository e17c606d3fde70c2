"""A small gallery of plain colours, indexed with the fake encoder."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

import pytest
from PIL import Image

from cir_core.gallery.gallery import Gallery, open_gallery
from cir_core.gallery.indexing import index_folder
from tests.fakes.encoder import FakeEncoder

NAME = "colours"


def colour_gallery(tmp_path: Path, steps: int = 4, encoder: FakeEncoder | None = None, edge: int = 8) -> Gallery:
    """steps³ images; the name of one is its colour, e.g. ``r3g0b1``. Without an encoder of its own a copy."""
    if encoder is None:
        made = _made(steps, edge)
        shutil.copytree(made, tmp_path, dirs_exist_ok=True)
        description = tmp_path / "home" / "galleries" / NAME / "gallery.json"
        description.write_text(description.read_text("utf-8").replace(str(made), str(tmp_path)), "utf-8")
    else:
        _make(tmp_path, steps, encoder, edge)
    return open_gallery(NAME, home=tmp_path / "home")


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Gallery:
    """64 images by colour, to be read alone."""
    return colour_gallery(tmp_path_factory.mktemp("colours"))


@cache
def _made(steps: int, edge: int) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="cirque-colours-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _make(folder, steps, FakeEncoder(), edge)
    return folder


def _make(tmp_path: Path, steps: int, encoder: FakeEncoder, edge: int) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    levels = [round(255 * level / (steps - 1)) for level in range(steps)]
    for i, r in enumerate(levels):
        for j, g in enumerate(levels):
            for k, b in enumerate(levels):
                Image.new("RGB", (edge, edge), (r, g, b)).save(folder / f"r{i}g{j}b{k}.png")
    index_folder(folder, name=NAME, encoder=encoder, home=tmp_path / "home")
