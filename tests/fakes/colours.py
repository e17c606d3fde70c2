"""A small gallery of plain colours, indexed with the fake encoder."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from cir_core.gallery.gallery import Gallery, open_gallery
from cir_core.gallery.indexing import index_folder
from tests.fakes.encoder import FakeEncoder

NAME = "colours"


def colour_gallery(tmp_path: Path, steps: int = 4, encoder: FakeEncoder | None = None, edge: int = 8) -> Gallery:
    """steps³ images; the name of one is its colour, e.g. ``r3g0b1``."""
    folder = tmp_path / "photos"
    folder.mkdir()
    levels = [round(255 * level / (steps - 1)) for level in range(steps)]
    for i, r in enumerate(levels):
        for j, g in enumerate(levels):
            for k, b in enumerate(levels):
                Image.new("RGB", (edge, edge), (r, g, b)).save(folder / f"r{i}g{j}b{k}.png")
    home = tmp_path / "home"
    index_folder(folder, name=NAME, encoder=encoder or FakeEncoder(), home=home)
    return open_gallery(NAME, home=home)
