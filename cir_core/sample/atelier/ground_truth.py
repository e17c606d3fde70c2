"""Ground-truth attributes of the sample gallery, for evaluation only.

Retrieval code must not import this module; the gallery's manifest and caption
files, which retrieval does read, contain none of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from cir_core.sample.atelier.catalogue import Garment
from cir_core.support.files import write_atomically


def attributes_path(folder: Path, split: str) -> Path:
    """File of the ground truth of ``split``."""
    return folder / "ground_truth" / f"attributes.{split}.jsonl"


def read_attributes(folder: Path, split: str) -> dict[str, dict[str, str]]:
    """The true attributes of each item of ``split``, for evaluation only."""
    found: dict[str, dict[str, str]] = {}
    with attributes_path(folder, split).open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                record = json.loads(line)
                found[record["id"]] = record["attributes"]
    return found


def write_attributes(folder: Path, split: str, garments: Iterable[Garment]) -> Path:
    """Write the ground truth of ``split``."""
    path = attributes_path(folder, split)
    lines = (json.dumps({"id": garment.item_id, "attributes": dict(garment.attributes)})
             for garment in garments)
    write_atomically(path, ("\n".join(lines) + "\n").encode())
    return path
