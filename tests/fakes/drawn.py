"""Garments of the sample, drawn once for all tests and runs: they are kept in ``.make/drawn``, under a digest of the
code that draws, or that draws and indexes, and tests get copies.

    python -m tests.fakes.drawn HOME COUNT    # draw and index
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from cir_core.gallery.paths import gallery_folder, read_header, write_header
from tests.fakes import forked
from tests.fakes.drawings import KEPT, copy_of, digest, sample


def home(folder: Path, images: int, *, at: str = "sample") -> Path:
    """A home with that many garments in ``at``, indexed as the gallery ``atelier``, split "test"."""
    kept = KEPT / digest("cir_core", "requirements.lock") / f"home-{images}"

    def make() -> None:    # elsewhere: an encoder stays in memory
        done = forked.run("-m", __name__, str(kept), str(images), environment=os.environ)
        assert done.returncode == 0, done.stderr

    copy_of(kept, folder, make)
    (folder / at).parent.mkdir(exist_ok=True)
    (folder / "sample").rename(folder / at)
    read_own_images(folder, at)
    return folder


def read_own_images(home: Path, at: str = "sample") -> None:
    """Of a copy: tests that change an image must not change those that are kept for all."""
    gallery = gallery_folder("atelier", home)
    header = read_header(gallery)
    assert header is not None
    write_header(gallery, replace(header, source=str((home / at / "images").resolve())))


def main() -> None:
    from cir_core.encoders import load_encoder
    from cir_core.gallery.indexing import index_folder

    place, count = Path(sys.argv[1]), int(sys.argv[2])
    drawn = sample(place / "sample", limit=count)
    index_folder(drawn.images, name="atelier", encoder=load_encoder("atelier"), home=place, split="test")


if __name__ == "__main__":
    main()
