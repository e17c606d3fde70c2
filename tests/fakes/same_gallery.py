"""Whether two galleries are the same, byte for byte but for names and times of their generations."""

from __future__ import annotations

import json
from pathlib import Path


def contents(folder: Path) -> dict[str, object]:
    """All files of a gallery's folder but the lock."""
    generation = json.loads((folder / "gallery.json").read_text("utf-8"))["generation"]
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix().replace(generation, "GENERATION")
        if path.is_file() and path.name != "lock":
            found[name] = path.read_bytes()
    header = json.loads(found["gallery.json"])
    found["gallery.json"] = {key: value for key, value in header.items() if key not in ("generation", "updated_at")}
    # The checksum of the header, and that of the checksums, follow from these two.
    sums = json.loads(found["sums-GENERATION.json"])
    found["sums-GENERATION.json"] = {key: value for key, value in sums.items() if key not in ("header", "crc")}
    return found
