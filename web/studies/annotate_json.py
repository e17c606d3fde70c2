"""Study JSON for annotators: public fields (``shown``) only."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from annotation.kinds.table import KINDS
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
    parts = survey_json.parts if KINDS[found.study.kind].has_survey else _parts
    return {"study": study(found.study), "joined": found.joined, "progress": progress(progress_of(found)),
            **parts(found)}


def _parts(found: Workspace) -> Json:
    return {
        "item": None if found.item is None else item(found.item, found.position, found.images),
        "answer": None if found.judgement is None else found.judgement.answer,
        "revision": 0 if found.judgement is None else found.judgement.revision,
        "seconds": 0 if found.judgement is None else found.judgement.seconds,
        "draft": None if found.draft is None else {"answer": found.draft.answer, "seconds": found.draft.seconds},
        "ahead": [{"images": _addresses(each, found.images)} for each in found.ahead],
    }


def study(found: Study) -> Json:
    kind = KINDS[found.kind]
    return {"id": found.study_id, "name": found.name, "kind": found.kind, "one": kind.one, "many": kind.many,
            "protocol": found.protocol, "accepting": found.accepting}


def progress(found: WorkProgress) -> Json:
    pace, left = found.median_seconds, found.seconds_left
    return {"done": found.done, "total": found.total, "unsure": found.unsure,
            "median_seconds": None if pace is None else round(pace, 1),
            "seconds_left": None if left is None else round(left)}


def item(found: Item, position: int | None, images: Images) -> Json:
    """An item as people may see it: what is shown of it, with images in place of their tokens."""
    def seen(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: each if name == "text" else seen(each) for name, each in value.items()}
        if isinstance(value, list):
            return [seen(each) for each in value]
        return picture(found.study_id, value, images)

    return {"id": found.item_id, "position": position, **seen(found.shown)}


def saved(found: Saved) -> Json:
    return {"revision": found.judgement.revision, "repeated": found.repeated, "overtook": found.overtook,
            "unsure": bool(found.judgement.answer.get("unsure"))}


def overview(found: Sequence[Assignment], begun: Collection[str]) -> Json:
    """All items of a person. ``begun``: items with unsaved changes."""
    return {"places": [{"item": a.item_id, "position": a.position, "state": a.state, "draft": a.item_id in begun}
                       for a in found]}


def _addresses(found: Item, images: Images) -> list[str]:
    """URLs to preload: images by themselves large, those of a list, a panel or candidates, small."""
    def wanted(value: Any, size: str) -> Iterator[tuple[str, str]]:
        if isinstance(value, Mapping):
            for name, each in value.items():
                yield from () if name == "text" else wanted(each, "l")
        elif isinstance(value, list):
            for each in value:
                yield from wanted(each, "s")
        else:
            yield value, size

    return addresses(found.study_id, wanted(found.shown, "l"), images)
