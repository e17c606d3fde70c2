"""A small real study: items, pictures on disk, a plan. No audit and no gallery are needed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from PIL import Image

from annotation.assignment import plan_places
from annotation.records import Item, Study, StudyImage, StudyPlan
from annotation.store import StudyStore
from cir_core.ids import new_id

TEXTS = ("is red and has long sleeves", "shows the same dog from behind", "with a shorter skirt", "at night, in rain")


def make_study(
    store: StudyStore, home: Path, *, name: str = "Sample", items: int = 6, seats: int = 2, overlap: int = 1,
    agreement_items: int = 0, panel: int = 12, pictures: int = 24, seed: int = 7, accepting: bool = True,
    lease_hours: float = 168.0, missing_panel: int = 0, texts: tuple[str, ...] = TEXTS,
    strata: tuple[str, ...] = ("shortcut_free", "shortcut_image_only"), hidden: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None, edge: int = 96,
) -> Study:
    """A validity study in ``store``, with ``pictures`` pictures of ``edge`` pixels in ``home/studies/ID``.

    The first ``agreement_items`` items are the block that everybody gets. The first
    ``missing_panel`` pictures of each panel are not at hand. ``hidden`` goes into every item's
    hidden part, over what is there by itself.
    """
    study = Study(
        new_id(), name, "validity", "circus/1",
        StudyPlan(seats, overlap, agreement_items, seed, lease_hours), accepting,
        {"unsure_after": 120, "broad_at": 10} | dict(settings or {}), {"from": "tests"}, "local", datetime.now(UTC),
    )
    images = draw_pictures(home / "studies" / study.study_id, pictures, edge)
    made = [_item(study, number, images, panel, missing_panel, texts, strata, hidden or {}) for number in range(items)]
    gone = {token for item in made for token in item.shown["panel"]} - {image.token for image in images}
    absent = [StudyImage(token, f"absent-{token}", 0, 0) for token in sorted(gone)]
    store.create(study, made, [*images, *absent], plan_places(made, study.plan))
    return study


def draw_pictures(folder: Path, count: int, edge: int = 96) -> list[StudyImage]:
    """Plain coloured pictures, small and large, under tokens that tell nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    images = []
    for number in range(count):
        token = _token(folder.name, f"picture {number}")
        picture = Image.new("RGB", (edge * 3 // 4, edge), (number * 53 % 256, number * 97 % 256, number * 29 % 256))
        for size in "sl":
            picture.save(folder / f"{token}-{size}.webp", quality=60)
        images.append(StudyImage(token, f"picture-{number:04}", *picture.size))
    return images


def valid(**changes: Any) -> dict[str, Any]:
    """A complete answer: nothing is wrong with the item."""
    return {"validated": True, "flags": [], "reasons": [], "note": "", "alternatives": [], "unsure": False,
            "panel_opened": False} | changes


def flagged(*flags: str, reasons: tuple[str, ...] = (), **changes: Any) -> dict[str, Any]:
    """An answer with ``flags`` (their codes, most severe first) and ``reasons`` such as "1b"."""
    return valid(validated=False, flags=list(flags), reasons=sorted(reasons), **changes)


def _item(
    study: Study, number: int, images: list[StudyImage], panel: int, missing: int, texts: tuple[str, ...],
    strata: tuple[str, ...], hidden: Mapping[str, Any],
) -> Item:
    reference, target = (images[(2 * number + k) % len(images)] for k in (0, 1))
    retrieved = [images[(2 * number + 2 + k) % len(images)] for k in range(min(panel - missing, len(images) - 2))]
    stratum = strata[number % len(strata)]
    tokens = [_token(study.study_id, f"absent {number} {k}") for k in range(missing)]
    tokens += sorted(image.token for image in retrieved)
    return Item(
        new_id(), study.study_id, number, f"sample::{number}", stratum, number < study.plan.agreement_items,
        {"text": texts[number % len(texts)], "reference": reference.token, "target": target.token, "panel": tokens},
        {"dataset": "sample", "query_idx": number, "query_id": f"q{number}", "hidden_category": stratum,
         "reference_id": reference.image_id, "target_id": target.image_id, "target_ids": [target.image_id],
         "panel": [image.image_id for image in retrieved], "trace": {}} | dict(hidden),
    )


def _token(study_id: str, name: str) -> str:
    return hashlib.sha256(f"{study_id}/{name}".encode()).hexdigest()[:24]
