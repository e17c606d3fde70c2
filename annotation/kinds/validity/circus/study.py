"""Convert annotator files to a closed study, with items keyed by assignment id and a seat per file."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from annotation.kinds.validity.circus.form import KEPT, PROTOCOL, SOURCE, SOURCE_FIELDS, answer_of, time_of
from annotation.kinds.validity.circus.reading import ImportedStudy, UserAssignment, UserFile
from annotation.records import Item, Judgement, PlannedAssignment, Seat, Study, StudyImage, StudyPlan, name_key
from annotation.studies.store import StudyParts
from cir_core.types.records import new_id


def study_of(
    imported: ImportedStudy, name: str, *, settings: Mapping[str, Any], created_by: str, at: datetime
) -> StudyParts:
    """The study of annotator files. These have neither texts nor images, so items show an empty text and no images.

    Items that everybody has (of at least two people) are the agreement set. Tokens of judgements are hashes
    of their content. A judgement's time is ``annotation_updated_at``, else the file's ``generated_at``,
    else ``at``; its seconds are 0 (not measured).
    """
    study_id = new_id()
    holders: Counter[str] = Counter(one.assignment_id for file in imported.files for one in file.assignments)
    block = {key for key, count in holders.items() if 1 < count == len(imported.files)}
    shared = Counter(count for key, count in holders.items() if key not in block)
    seeds = {json.dumps(file.head.get("seed")) for file in imported.files}
    seed = imported.files[0].head.get("seed")
    plan = StudyPlan(
        seats=len(imported.files), overlap=shared.most_common(1)[0][0] if shared else 1, agreement_items=len(block),
        seed=seed if len(seeds) == 1 and isinstance(seed, int) and not isinstance(seed, bool) else 0)
    source = {"form": SOURCE, "files": [
        {"name": file.name, "username": file.username, "head": dict(file.head)} for file in imported.files]}
    study = Study(study_id, name, "validity", PROTOCOL, plan, False, dict(settings), source, created_by, at)

    items, images = _items(imported, study_id, block)
    ids = {item.key: item.item_id for item in items}
    places, seats, judgements = [], [], []
    for number, file in enumerate(imported.files, 1):
        # Without a presentation order, and for ties, the file's order decides.
        ordered = sorted(enumerate(file.assignments), key=lambda one: (_order(one[1], one[0]), one[0]))
        places += [PlannedAssignment(ids[one.assignment_id], number, position) for position, (_, one) in
                                                                                              enumerate(ordered)]
        given = [_judgement(study_id, ids[one.assignment_id], file, index, one, at)
                 for index, one in enumerate(file.assignments) if one.annotation is not None]
        judgements += given
        times = [judgement.created_at for judgement in given]
        seats.append(Seat(study_id, number, file.username, min(times, default=at), max(times, default=None)))
    return StudyParts(study, items, images, places, seats, judgements)


def _items(imported: ImportedStudy, study_id: str, block: set[str]) -> tuple[list[Item], list[StudyImage]]:
    first: dict[str, UserAssignment] = {}
    categories: dict[str, str] = {}   # may be missing in some files
    unanswered: dict[str, dict[str, Any]] = {}
    for file in imported.files:
        for index, one in enumerate(file.assignments):
            first.setdefault(one.assignment_id, one)
            if one.hidden_category:
                categories.setdefault(one.assignment_id, one.hidden_category)
            if one.annotation is None:
                raw = {"index": index, "assignment": dict(one.raw)}
                unanswered.setdefault(one.assignment_id, {})[name_key(file.username)] = raw
    items, images = [], []
    for number, (key, one) in enumerate(first.items()):
        item_id, category = new_id(), categories.get(key, "unknown")
        reference, target = (_token(f"{study_id}/{key}/{what}") for what in ("reference", "target"))
        images += [StudyImage(reference, "", 0, 0), StudyImage(target, "", 0, 0)]
        hidden: dict[str, Any] = {
            "dataset": one.dataset, "query_idx": one.query_idx, "query_id": None, "hidden_category": category,
            "reference_id": "", "target_id": "", "target_ids": [], "panel": [],
            "trace": {name: one.raw[name] for name in SOURCE_FIELDS if name in one.raw},
            **({KEPT: unanswered[key]} if key in unanswered else {}),
        }
        shown = {"text": "", "reference": reference, "target": target, "panel": []}
        items.append(Item(item_id, study_id, number, key, f"{one.dataset}::{category}", key in block, shown, hidden))
    return items, images


def _judgement(study_id: str, item_id: str, file: UserFile, index: int, one: UserAssignment, at: datetime) -> Judgement:
    assert one.annotation is not None
    created_at = time_of(one.raw.get("annotation_updated_at")) or time_of(file.head.get("generated_at")) or at
    content = json.dumps([file.username, one.raw], sort_keys=True, ensure_ascii=True)
    return Judgement(
        new_id(), study_id, item_id, file.username, 1, hashlib.sha256(content.encode()).hexdigest()[:32], PROTOCOL,
        answer_of(one.annotation), 0.0, created_at, {KEPT: {"index": index, "assignment": dict(one.raw)}})


def _order(one: UserAssignment, index: int) -> int:
    return index + 1 if one.order is None else one.order


def _token(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:24]
