"""Galleries of clustered vectors without image files, for indexes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from benchmarks.synthetic import publish_vectors
from cir_core.gallery.gallery import Gallery, open_gallery
from cir_core.gallery.paths import gallery_folder, images_path, read_header, write_header
from tests.fakes.encoder import FakeEncoder

NAME, DIM = "vectors", 32


def vector_gallery(home: Path, size: int = 2000, seed: int = 0) -> Gallery:
    """Forty clusters; the same again for the same ``seed``."""
    centres = np.random.default_rng(99).standard_normal((40, DIM)).astype(np.float32)
    publish_vectors(home, NAME, size, FakeEncoder(DIM), seed, around=centres, noise=0.5)
    return open_gallery(NAME, home=home)


def index_anew(home: Path, *, vectors: bool) -> Gallery:
    """What ``cirque index`` publishes after images, or captions alone, changed: a generation of another name, with
    other ``vectors`` or the same."""
    folder = gallery_folder(NAME, home)
    header = read_header(folder)
    new = {**vars(header), "generation": f"{header.generation}x"}
    features = np.fromfile(folder / f"features-{header.generation}.f32", "<f4").reshape(header.size, DIM)
    (features[::-1] if vectors else features).tofile(folder / f"features-{new['generation']}.f32")
    columns = json.loads(images_path(folder, header.generation).read_text())
    columns["caption"] = [f"number {row}" for row in range(header.size)]
    images_path(folder, new["generation"]).write_text(json.dumps(columns))
    write_header(folder, type(header)(**new))
    return open_gallery(NAME, home=home)
