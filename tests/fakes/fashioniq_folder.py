"""A data set in FashionIQ's format with two dresses' queries over four pictures."""

import json
from pathlib import Path

from PIL import Image

COLOURS = {"B01": "red", "B02": "green", "B03": "blue", "B04": "white"}
QUERIES = [
    {"candidate": "B01", "target": "B02", "captions": ["is green", "is not red"]},
    {"candidate": "B03", "target": "B04", "captions": ["is white", ""]},
]


def write_fashioniq(root: Path, queries=QUERIES, split=tuple(COLOURS)) -> Path:
    for folder in ("captions", "image_splits"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "captions/cap.dress.val.json").write_text(json.dumps(queries))
    (root / "image_splits/split.dress.val.json").write_text(json.dumps(list(split)))
    return root


def draw_images(folder: Path, *ids: str, ending: str = ".jpg") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for image_id in ids:
        Image.new("RGB", (30, 40), COLOURS[image_id]).save(folder / f"{image_id}{ending}")
    return folder
