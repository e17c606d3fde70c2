"""The form of an annotator file: ``{study_name, seed, …, username, assignments: [{assignment_id, …,
annotation: {validated, flags, other}, annotation_updated_at}]}``.

Flags are independent booleans: several may be true, or none with ``validated`` false; ``validated`` is null
where there is no verdict (Trap T-24). Sub-reasons, marked alternatives and "unsure" have no place in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from annotation.studies.imports import CIRCUS_USERS

FLAGS = ("INVALID_TEXT_QUERY", "INVALID_IMAGE_QUERY", "INVALID_TARGET_IMAGE", "QUERY_TOO_BROAD")
"""All that the form has, in the order of the files: the release fixes them, whatever a later rubric asks."""
BY_SEVERITY = ("INVALID_TARGET_IMAGE", "INVALID_IMAGE_QUERY", "INVALID_TEXT_QUERY", "QUERY_TOO_BROAD")
PROTOCOL = "circus/1"
"""The rubric of the released annotations, whose flags these are. Later versions may have others."""
SOURCE = CIRCUS_USERS
"""``Study.source["form"]`` of an imported study."""
KEPT = "circus"
"""Where what cirque does not read is kept: in ``Judgement.extra``, and in ``Item.hidden`` for assignments
that nobody answered."""
SOURCE_FIELDS = ("source_file_key", "source_filename", "source_path", "selection_mode")


def answer_of(annotation: Mapping[str, Any]) -> dict[str, Any]:
    """cirque's canonical answer. An absent or null flag is not set, an absent or null note is empty."""
    return {
        "validated": annotation.get("validated"), "flags": [flag for flag in BY_SEVERITY if annotation.get(flag)],
        "reasons": [], "note": annotation.get("other") or "", "alternatives": [], "unsure": False,
        "panel_opened": False,
    }


def annotation_of(answer: Mapping[str, Any] | None) -> dict[str, Any]:
    """The other way round; without an answer nothing is claimed."""
    answer = answer or {}
    flags = answer.get("flags", ())
    return {"validated": answer.get("validated"), **{flag: flag in flags for flag in FLAGS},
            "other": answer.get("note", "")}


def changed(annotation: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """``annotation`` as the file had it, with what ``answer`` says otherwise: an absent flag that is not
    set stays absent."""
    now, before = annotation_of(answer), annotation_of(answer_of(annotation))
    return {**annotation, **{name: value for name, value in now.items() if value != before[name]}}


def time_of(text: object) -> datetime | None:
    """A moment of ISO 8601, UTC where it names no zone; None where it is none."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
