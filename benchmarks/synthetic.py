"""Galleries of random unit vectors in the real format, written block by block."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from cir_core.encoders.base import Encoder
from cir_core.gallery.paths import Header, features_path, gallery_folder, images_path, write_header
from cir_core.types.records import Matrix

_BLOCK = 50_000


def publish_vectors(
    home: Path, name: str, size: int, encoder: Encoder, seed: int = 0, *, around: Matrix | None = None,
    noise: float = 1.0,
) -> None:
    """Gallery ``name`` with ``size`` vectors ``around`` ``[n, dim]``, or around 100 centres of which each has the
    length of the noise; there are no image files."""
    folder = gallery_folder(name, home)
    if (folder / "gallery.json").exists():
        return
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    random = rng.standard_normal((100, encoder.dim)).astype(np.float32)
    centres = random if around is None else around
    generation = "bench"
    features = np.memmap(
        features_path(folder, generation), dtype="<f4", mode="w+", shape=(size, encoder.dim)
    )
    for start in range(0, size, _BLOCK):
        count = min(_BLOCK, size - start)
        rows = centres[rng.integers(len(centres), size=count)] + noise * rng.standard_normal(
            (count, encoder.dim), dtype=np.float32
        )
        features[start:start + count] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    features.flush()
    ids = [f"v{row:07d}" for row in range(size)]
    images_path(folder, generation).write_text(json.dumps({
        "id": ids, "path": ids, "caption": None, "sha256": "".join(f"{row:064x}" for row in range(size)),
        "size": [0] * size, "mtime_ns": [0] * size, "width": [1] * size, "height": [1] * size,
    }))
    write_header(folder, Header(
        generation=generation, size=size, encoder=encoder.identity, source=str(folder), split="bench",
        digest=f"{size:016x}", max_megapixels=64.0, updated_at=datetime.now(UTC).isoformat(),
    ))
