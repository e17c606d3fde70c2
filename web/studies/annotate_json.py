"""Study JSON for annotators: public fields (``shown``) only."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from annotation.records import Assignment, Item, Saved, Study, Workspace
from annotation.studies.progress import WorkProgress, progress_of
from annotation.studies.service import MyStudy
from web.studies import survey_json
from web.studies.image_urls import Images, addresses, picture

Json = dict[str, Any]


def mine(studies: Sequence[MyStudy]) -> Json:
    return {"studies": [
        {"name": each.study.name, "kind": each.study.kind, "accepting": each.study.accepting, "joined": each.joined,
         "done": each.done, "total": each.total}
        for each in studies
    ]}


def workspace(found: Workspace) -> Json:
    """A person's item with image URLs, answer, draft, progress, and images to preload. Before joining,
    ``progress["total"]`` is an estimate."""
    parts = survey_json.parts if found.study.kind == "preference" else _parts
    return {"study": study(found.study), "joined": found.joined, "progress": progress(progress_of(found)),
            **parts(found)}


def _parts(found: Workspace) -> Json:
    study_id, images = found.study.study_id, found.images
    present, addresses_of = _PRESENTED.get(found.study.kind, (item, _addresses))
    return {
        "item": None if found.item is None else present(found.item, found.position, images),
        "answer": None if found.judgement is None else found.judgement.answer,
        "revision": 0 if found.judgement is None else found.judgement.revision,
        "seconds": 0 if found.judgement is None else found.judgement.seconds,
        "draft": None if found.draft is None else {"answer": found.draft.answer, "seconds": found.draft.seconds},
        "ahead": [{"images": addresses_of(study_id, each, images)} for each in found.ahead],
    }


def study(found: Study) -> Json:
    return {"id": found.study_id, "name": found.name, "kind": found.kind, "protocol": found.protocol,
            "accepting": found.accepting}


def progress(found: WorkProgress) -> Json:
    pace, left = found.median_seconds, found.seconds_left
    return {"done": found.done, "total": found.total, "unsure": found.unsure,
            "median_seconds": None if pace is None else round(pace, 1),
            "seconds_left": None if left is None else round(left)}


def item(found: Item, position: int | None, images: Images) -> Json:
    shown, study_id = found.shown, found.study_id
    return {
        "id": found.item_id, "position": position, "text": shown["text"],
        "reference": picture(study_id, shown["reference"], images),
        "target": picture(study_id, shown["target"], images),
        "panel": [picture(study_id, token, images) for token in shown["panel"]],
    }


def session(found: Item, position: int | None, images: Images) -> Json:
    """A session: what was said about which image, turn by turn, and the target."""
    shown, study_id = found.shown, found.study_id
    return {
        "id": found.item_id, "position": position,
        "turns": [{"image": picture(study_id, turn["image"], images), "text": turn["text"]} for turn in shown["turns"]],
        "target": picture(study_id, shown["target"], images),
    }


def target_query(found: Item, position: int | None, images: Images) -> Json:
    """A query and its candidates, in the order of the item."""
    shown, study_id = found.shown, found.study_id
    return {
        "id": found.item_id, "position": position, "text": shown["text"],
        "reference": picture(study_id, shown["reference"], images),
        "candidates": [picture(study_id, token, images) for token in shown["candidates"]],
    }


def saved(found: Saved) -> Json:
    return {"revision": found.judgement.revision, "repeated": found.repeated, "overtook": found.overtook,
            "unsure": bool(found.judgement.answer.get("unsure"))}


def overview(found: Sequence[Assignment], begun: Collection[str]) -> Json:
    """All items of a person. ``begun``: items with unsaved changes."""
    return {"places": [{"item": a.item_id, "position": a.position, "state": a.state, "draft": a.item_id in begun}
                       for a in found]}


def _addresses(study_id: str, found: Item, images: Images) -> list[str]:
    """URLs to preload: reference and target large, the panel small."""
    shown = found.shown
    wanted = [(shown["reference"], "l"), (shown["target"], "l"), *((token, "s") for token in shown["panel"])]
    return addresses(study_id, wanted, images)


def _session_addresses(study_id: str, found: Item, images: Images) -> list[str]:
    shown = found.shown
    return addresses(study_id, [*((turn["image"], "l") for turn in shown["turns"]), (shown["target"], "l")], images)


def _target_addresses(study_id: str, found: Item, images: Images) -> list[str]:
    """The reference large, the candidates small."""
    shown = found.shown
    return addresses(study_id, [(shown["reference"], "l"), *((token, "s") for token in shown["candidates"])], images)


_PRESENTED = {"sessions": (session, _session_addresses), "targets": (target_query, _target_addresses)}
