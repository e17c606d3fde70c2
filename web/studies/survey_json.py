"""Preference-study JSON for participants: sets A and B in the order shown to this person.

Reveals neither the stored order nor ``Item.hidden``. Images to preload are ordered independently.
"""

from __future__ import annotations

from typing import Any

from annotation.kinds.preference.answers import SIDES, as_shown, shown_sets
from annotation.records import Item, Workspace
from web.studies.image_urls import addresses, picture

Json = dict[str, Any]


def parts(found: Workspace) -> Json:
    """Workspace fields specific to preference studies.

    There is no item before a pending gate. Raises ``StudyError`` for imported questions, which cannot be shown.
    """
    survey = found.survey
    fields: Json = {"gate": None, "item": None, "answer": None, "revision": 0, "seconds": 0, "draft": None,
                    "handed_on": 0, "ahead": []}
    if not found.joined:
        return fields
    assert survey is not None, "the service says where somebody stands"
    fields |= {"gate": survey.gate, "handed_on": survey.handed_on}
    if survey.gate is None:
        fields["ahead"] = [{"images": _ahead(each, found)} for each in found.ahead]
        if found.item is not None:
            fields |= _question(found, found.item)
    elif survey.gate["kind"] == "check" and found.item is not None:
        fields["ahead"] = [{"images": _ahead(each, found)} for each in (found.item, *found.ahead)]
    return fields


def _question(found: Workspace, item: Item) -> Json:
    survey, study_id, judgement, draft = found.survey, found.study.study_id, found.judgement, found.draft
    assert survey is not None, "see parts"
    sets = zip(SIDES, shown_sets(item, found.extra), strict=True)
    return {
        "item": {
            "id": item.item_id, "position": found.position, "number": survey.number, "of": survey.of,
            "form": survey.form, "forms": survey.forms, "locked": survey.locked, "text": item.shown["text"],
            "reference": picture(study_id, item.shown["reference"], found.images),
            "sets": {side: [picture(study_id, token, found.images) for token in tokens] for side, tokens in sets},
            "ask_reason": bool(found.extra.get("reason")),
        },
        "answer": None if judgement is None else as_shown(judgement.answer, found.extra),
        "revision": 0 if judgement is None else judgement.revision,
        "seconds": 0 if judgement is None else judgement.seconds,
        "draft": None if draft is None else {"answer": draft.answer, "seconds": draft.seconds},
    }


def _ahead(item: Item, found: Workspace) -> list[str]:
    """Images to preload: the reference large, the sets small. By token, as stored order would reveal the sets."""
    tokens = sorted(token for tokens in item.shown["sets"] for token in tokens)
    wanted = [(item.shown["reference"], "l"), *((token, "s") for token in tokens)]
    return addresses(found.study.study_id, wanted, found.images)
