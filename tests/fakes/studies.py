"""Small real studies: items, pictures on disk, a plan. No audit and no gallery are needed."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import Any

from PIL import Image

from annotation.kinds.preference.survey.flow import SECRET
from annotation.kinds.preference.survey.plan import SurveyLayout, plan_survey, survey_places
from annotation.kinds.preference.survey.texts import SETTINGS
from annotation.records import Item, ItemOrder, Study, StudyImage, StudyPlan
from annotation.studies.assignment import plan_places
from annotation.studies.store import StudyStore
from cir_core.types.records import new_id

CODE_SECRET = "0123456789abcdef" * 4
TEXTS = ("is red and has long sleeves", "shows the same dog from behind", "with a shorter skirt", "at night, in rain")


def make_study(
    store: StudyStore, home: Path, *, name: str = "Sample", items: int = 6, seats: int = 2, overlap: int = 1,
    agreement_items: int = 0, panel: int = 12, pictures: int = 24, seed: int = 7, accepting: bool = True,
    lease_hours: float = 168.0, missing_panel: int = 0, texts: tuple[str, ...] = TEXTS,
    strata: tuple[str, ...] = ("shortcut_free", "shortcut_image_only"), hidden: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None, edge: int = 96, source: Mapping[str, Any] | None = None,
    order: ItemOrder = "random",
) -> Study:
    """A validity study in ``store``, with ``pictures`` pictures of ``edge`` pixels in ``home/studies/ID``.

    The first ``agreement_items`` items are the block that everybody gets. The first
    ``missing_panel`` pictures of each panel are not at hand. ``hidden`` goes into every item's
    hidden part, over what is there by itself.
    """
    study = Study(
        new_id(), name, "validity", "circus/1",
        StudyPlan(seats, overlap, agreement_items, seed, lease_hours, order), accepting,
        {"unsure_after": 120, "broad_at": 10} | dict(settings or {}), dict(source or {"from": "tests"}), "local",
        datetime.now(UTC),
    )
    images = draw_pictures(home / "studies" / study.study_id, pictures, edge)
    made = [_item(study, number, images, panel, missing_panel, texts, strata, hidden or {}) for number in range(items)]
    gone = {token for item in made for token in item.shown["panel"]} - {image.token for image in images}
    absent = [StudyImage(token, f"absent-{token}", 0, 0) for token in sorted(gone)]
    store.create(study, made, [*images, *absent], plan_places(made, study.plan))
    return study


def make_preference_study(
    store: StudyStore, home: Path, *, name: str = "Shops", questions: int = 12,
    methods: Sequence[str] = ("text", "slerp", "soft"), per_person: int = 6, forms: int = 2, shared_every: int = 0,
    shared_by: int = 2, reason_every: int = 0, pictures: int = 24, seed: int = 7, accepting: bool = True,
    lease_hours: float = 3.0, texts: tuple[str, ...] = TEXTS, hidden: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None, edge: int = 96, size: int = 5,
) -> Study:
    """A preference study in ``store``; its people are as many as ``questions`` and ``per_person`` need.

    Pairs of ``methods`` go round. Of a question ``n``, the target is the first of stored set 2. Every picture has a
    token of its own in every place. Unless ``settings`` say otherwise there are sums after every 5 answers
    and no consent; guidelines are always first. ``hidden`` goes into every item's hidden part.
    """
    layout = SurveyLayout(per_person, forms, shared_every, shared_by, reason_every, seed)
    study = Study(
        new_id(), name, "preference", "hs-fashioniq/1",
        StudyPlan(plan_survey(questions, layout).people, 1, 0, seed, lease_hours), accepting,
        {**SETTINGS, "lease_hours": lease_hours, **layout.settings(questions), SECRET: CODE_SECRET,
         **(settings or {})}, {"from": "tests"}, "local",
        datetime.now(UTC),
    )
    folder = home / "studies" / study.study_id
    drawn = draw_pictures(folder, pictures, edge)
    images: list[StudyImage] = []

    def token(picture: int, *place: object) -> str:
        """The picture under a name for this place alone."""
        image = drawn[picture % pictures]
        again = StudyImage(_token(folder.name, "/".join(map(str, place))), image.image_id, image.width, image.height)
        for which in "sl":
            os.link(folder / f"{image.token}-{which}.webp", folder / f"{again.token}-{which}.webp")
        images.append(again)
        return again.token

    pairs = list(combinations(sorted(methods), 2))
    items = []
    for number in range(questions):
        pair = pairs[number % len(pairs)]
        stored = pair if number // len(pairs) % 2 == 0 else pair[::-1]
        found = [[3 * number + 1 + which * (size - 1) + k for k in range(size)] for which in (0, 1)]   # one in both
        sets = [[token(one, number, which, k) for k, one in enumerate(found[which])] for which in (0, 1)]
        ids = [[drawn[one % pictures].image_id for one in found[which]] for which in (0, 1)]
        items.append(Item(
            new_id(), study.study_id, number, f"shops::{number}", "|".join(pair), False,
            {"text": texts[number % len(texts)], "reference": token(3 * number, number, "reference"), "sets": sets},
            {"query_id": f"q{number}", "dataset": "sample", "category": "shirt",
             "reference_id": drawn[3 * number % pictures].image_id, "target_id": ids[1][0], "target_ids": [ids[1][0]],
             "methods": list(stored), "set_ids": ids, "seed": seed} | dict(hidden or {}),
        ))
    for image in drawn:
        for which in "sl":
            (folder / f"{image.token}-{which}.webp").unlink()
    store.create(study, items, images, survey_places(items, layout))
    return study


def rated(one: int = 4, other: int = 2, preferred: str | None = "A", **changes: Any) -> dict[str, Any]:
    """A complete answer to a question, as a browser sends it: the ratings of A and of B, the better one."""
    return {"ratings": {"A": one, "B": other}, "preferred": preferred, "irrelevant": {"either": False},
            "reason": "", "confirmed": False} | changes


def solved(gate: Mapping[str, Any]) -> dict[str, Any]:
    """What a person sends to pass a gate: its kind and, of a check, which one and the right answer."""
    if gate["kind"] != "check":
        return {"kind": gate["kind"], **({"answer": True} if gate["kind"] == "consent" else {})}
    numbers = map(int, re.findall(r"\d+", gate.get("question") or gate["instruction"]))
    return {"kind": "check", "number": gate["number"], "attempt": gate["attempt"], "answer": sum(numbers)}


def draw_pictures(folder: Path, count: int, edge: int = 96) -> list[StudyImage]:
    """Plain coloured pictures, small and large, under tokens that tell nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    images = []
    for number in range(count):
        token = _token(folder.name, f"picture {number}")
        for size in "sl":
            (folder / f"{token}-{size}.webp").write_bytes(_drawn(number, edge))
        images.append(StudyImage(token, f"picture-{number:04}", edge * 3 // 4, edge))
    return images


@cache
def _drawn(number: int, edge: int) -> bytes:
    file = BytesIO()
    colour = number * 53 % 256, number * 97 % 256, number * 29 % 256
    Image.new("RGB", (edge * 3 // 4, edge), colour).save(file, "WEBP", quality=60)
    return file.getvalue()


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
