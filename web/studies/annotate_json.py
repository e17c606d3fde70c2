"""Study JSON for annotators: public fields (``shown``) only. Of preference studies the sets A and B in the order shown
to this person: neither the stored order nor that of the images to preload tells which is which."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import takewhile
from typing import Any

from annotation.adjudication.needs import discussed_by_judges
from annotation.adjudication.service import Said
from annotation.kinds.preference.answers import SIDES, shown_sets
from annotation.kinds.table import KINDS
from annotation.records import Assignment, Draft, Item, Saved, Study, SurveyPosition, Workspace
from annotation.studies.overview import WorkProgress, progress_of
from annotation.studies.service import MyStudy
from web.studies.images import Images, addresses, picture
from web.ui.languages import language_of

Json = dict[str, Any]


def mine(studies: Sequence[MyStudy]) -> Json:
    return {"studies": [
        {"name": each.study.name, "kind": each.study.kind, "accepting": each.study.accepting, "joined": each.joined,
         "done": each.done, "total": each.total}
        for each in studies
    ]}


def workspace(found: Workspace, *, whole: bool = False) -> Json:
    """A person's item with image URLs, answer, draft, progress, and images to preload. Before joining,
    ``progress["total"]`` is an estimate. ``whole``: the next items themselves, too, as far as nothing comes before
    them: a page without a network goes on with them."""
    about = {"study": study(found.study), "joined": found.joined, "progress": progress(progress_of(found)),
             **({"training": list(found.training)} if found.training else {})}
    if KINDS[found.study.kind].has_survey:
        return {**about, **_of_survey(found, whole=whole)}
    ahead: list[Json] = [{"images": _addresses(each, found.images)} for each in found.ahead]
    if whole:
        for entry, each, of in _unaided(zip(ahead, found.ahead, found.upcoming, strict=True)):
            entry |= {"item": item(each, of.position, found.images), "draft": _begun(of.draft)}
    return {**about, "item": None if found.item is None else item(found.item, found.position, found.images),
            **_answered(found), "ahead": ahead}


def _unaided(ahead: Iterable[Any]) -> Iterator[Any]:
    """Up to the first item of training, which needs the server for what is said of an answer."""
    return takewhile(lambda one: one[2].dealt != "training", ahead)


def _answered(found: Workspace) -> Json:
    """The person's answer and draft, as they gave them."""
    judgement, kind = found.judgement, KINDS[found.study.kind].answers
    return {
        "answer": None if judgement is None else kind.denormalize(judgement.answer, extra=found.extra),
        "revision": 0 if judgement is None else judgement.revision,
        "seconds": 0 if judgement is None else judgement.seconds,
        "draft": _begun(found.draft),
    }


def _begun(draft: Draft | None) -> Json | None:
    return None if draft is None else {"answer": draft.answer, "seconds": draft.seconds}


def _of_survey(found: Workspace, *, whole: bool) -> Json:
    """There is no item before a pending gate. Raises ``StudyError`` for imported questions, which cannot be shown."""
    survey = found.survey
    fields: Json = {"gate": None, "item": None, "answer": None, "revision": 0, "seconds": 0, "draft": None,
                    "handed_on": 0, "ahead": []}
    if not found.joined:
        return fields
    assert survey is not None, "the service says where somebody stands"
    fields |= {"gate": survey.gate, "handed_on": survey.handed_on}
    if survey.gate is None:
        fields["ahead"] = [{"images": _ahead(each, found)} for each in found.ahead]
        if whole:
            for entry, each, of, at in _unaided(zip(fields["ahead"], found.ahead, found.upcoming, survey.ahead,
                                                    strict=False)):
                entry |= {"item": _question(found, each, at, of.position, of.extra), "draft": _begun(of.draft)}
        if found.item is not None:
            fields |= {"item": _question(found, found.item, survey, found.position, found.extra), **_answered(found)}
    elif survey.gate["kind"] == "check" and found.item is not None:
        fields["ahead"] = [{"images": _ahead(each, found)} for each in (found.item, *found.ahead)]
    return fields


def _question(
    found: Workspace, item: Item, survey: SurveyPosition, position: int | None, extra: Mapping[str, Any],
) -> Json:
    """``position`` and ``extra`` are of the item's assignment."""
    study_id, sets = found.study.study_id, zip(SIDES, shown_sets(item, extra), strict=True)
    return {
        "id": item.item_id, "position": position, "number": survey.number, "of": survey.of,
        "form": survey.form, "forms": survey.forms, "locked": survey.locked, "text": item.shown["text"],
        "reference": picture(study_id, item.shown["reference"], found.images),
        "sets": {side: [picture(study_id, token, found.images) for token in tokens] for side, tokens in sets},
        "ask_reason": bool(extra.get("reason")),
    }


def case(found: Study, shown: Item, images: Images, extra: Mapping[str, Any]) -> Json:
    """An item as its judges see it, for whom it is shown with ``extra``."""
    if not KINDS[found.kind].has_survey:
        return item(shown, None, images)
    only = SurveyPosition(None, 1, 1, 1, 1, False, 0)
    return _question(Workspace(found, 0, 1, 0, 0, shown, 0, None, None, (), images, ()), shown, only, None, extra)


def _ahead(item: Item, found: Workspace) -> list[str]:
    """Images to preload: the reference large, the sets small. By token, as stored order would reveal the sets."""
    tokens = sorted(token for tokens in item.shown["sets"] for token in tokens)
    wanted = [(item.shown["reference"], "l"), *((token, "s") for token in tokens)]
    return addresses(found.study.study_id, wanted, found.images)


def study(found: Study) -> Json:
    kind = KINDS[found.kind]
    return {"id": found.study_id, "name": found.name, "kind": found.kind, "one": kind.one, "many": kind.many,
            "language": language_of(found), "protocol": found.protocol, "accepting": found.accepting,
            **({"discussed": True} if discussed_by_judges(found, kind.answers) else {})}


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
            "unsure": bool(found.judgement.answer.get("unsure")),
            **({"feedback": asdict(found.feedback)} if found.feedback else {})}


def overview(found: Sequence[Assignment], begun: Collection[str], discussed: Collection[str]) -> Json:
    """All items of a person. ``begun``: items with unsaved changes. ``discussed``: with a discussion that is open to
    the person."""
    return {"places": [{"item": a.item_id, "position": a.position, "state": a.state, "draft": a.item_id in begun,
                        **({"discussed": True} if a.item_id in discussed else {})} for a in found]}


def messages(found: Iterable[Said]) -> list[Json]:
    """A discussion: letters instead of names."""
    return [{"label": it.label, "text": it.text, "at": it.at.isoformat()} for it in found]


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
