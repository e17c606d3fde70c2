"""Install the sample gallery: render and index it once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from cir_core.encoders import bundled_encoder_dir
from cir_core.encoders.base import Encoder
from cir_core.errors import GalleryError
from cir_core.gallery.gallery import Gallery, open_gallery
from cir_core.gallery.indexing import index_folder
from cir_core.gallery.progress import IndexProgress
from cir_core.garments.lexicon import CATEGORY
from cir_core.sample.atelier.build import AtelierPaths, build_atelier, is_complete
from cir_core.sample.atelier.captions import PER_CATEGORY

NAME = "atelier"
SPLIT = "test"  # held out from the bundled encoder's training


def sample_folder(home: Path) -> Path:
    """Folder of the rendered images and their FashionIQ-style files."""
    return home / "samples" / NAME


def sample_queries() -> int:
    """How many queries the sample has, whether or not it is drawn."""
    return len(CATEGORY.keys) * PER_CATEGORY[SPLIT]


def is_ready(home: Path) -> bool:
    """Whether the sample gallery exists and was indexed with the current bundled encoder.

    Loads no model: the stamp written by :func:`ensure_sample` identifies the weights by hash.
    """
    try:
        gallery = open_gallery(NAME, home=home)
        return is_complete(sample_folder(home)) and _stamp(home).read_text("utf-8") == _stamp_text(gallery)
    except (GalleryError, OSError):
        return False


def is_outdated(home: Path) -> bool:
    """Whether the sample gallery was drawn by a version that draws other garments."""
    folder = sample_folder(home)
    return AtelierPaths(folder).marker.exists() and not is_complete(folder)


def ensure_sample(
    home: Path, encoder: Encoder, *,
    drawing: Callable[[int, int], None] | None = None,
    indexing: Callable[[IndexProgress], None] | None = None,
) -> Gallery:
    """The sample gallery, rendered and indexed with ``encoder`` if necessary.

    With the bundled encoder it is called "atelier"; any other encoder gets a separate gallery
    beside it. Resumes after an interruption. The first run spawns rendering processes, so a
    script that calls this needs the ``if __name__ == "__main__"`` guard.
    """
    bundled = encoder.identity.spec == NAME
    name = NAME if bundled else f"{NAME}-{encoder.identity.revision}"
    paths, drawn_now = ensure_drawn(home, progress=drawing)
    gallery = None if drawn_now else _indexed(name, home, encoder)
    if gallery is None:
        index_folder(
            paths.folder, name=name, encoder=encoder, home=home, manifest=paths.manifest,
            split=SPLIT, progress=indexing,
        )
        gallery = open_gallery(name, home=home)
    if bundled:
        _stamp(home).write_text(_stamp_text(gallery), "utf-8")
    return gallery


def ensure_drawn(
    home: Path, *, progress: Callable[[int, int], None] | None = None
) -> tuple[AtelierPaths, bool]:
    """The rendered images and their files, and whether anything had to be rendered."""
    folder = sample_folder(home)
    if is_complete(folder):
        return AtelierPaths(folder), False
    return build_atelier(folder, splits=(SPLIT,), workers="auto", progress=progress), True


def _indexed(name: str, home: Path, encoder: Encoder) -> Gallery | None:
    try:
        gallery = open_gallery(name, home=home)
        gallery.check_encoder(encoder)
        return None if gallery.damage else gallery
    except GalleryError:  # missing, incomplete, damaged, or made with another encoder
        return None


def _stamp(home: Path) -> Path:
    return sample_folder(home) / ".indexed"


def _stamp_text(gallery: Gallery) -> str:
    weights = hashlib.sha256()
    for file in sorted(bundled_encoder_dir().iterdir()):
        if file.suffix != ".md":
            weights.update(file.read_bytes())
    return f"{gallery.generation} {weights.hexdigest()}"
