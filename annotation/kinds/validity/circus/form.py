"""Format of an annotator file: ``{study_name, seed, …, username, assignments: [{assignment_id, …,
annotation: {validated, flags, other}, annotation_updated_at}]}``.

Flags are independent booleans: several may be true, or none with ``validated`` false; ``validated`` is null
without a verdict (Trap T-24). It has no sub-reasons, marked alternatives and "unsure".
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from annotation.studies.creation import CIRCUS_USERS

FLAGS = ("INVALID_TEXT_QUERY", "INVALID_IMAGE_QUERY", "INVALID_TARGET_IMAGE", "QUERY_TOO_BROAD")
"""Flags of the format, in file order: fixed by the release, independent of later rubrics."""
BY_SEVERITY = ("INVALID_TARGET_IMAGE", "INVALID_IMAGE_QUERY", "INVALID_TEXT_QUERY", "QUERY_TOO_BROAD")
PROTOCOL = "circus/1"
"""Rubric of the released annotations, with these flags. Later versions may have others."""
SOURCE = CIRCUS_USERS
"""``Study.source["form"]`` of an imported study."""
KEPT = "circus"
"""Key of the fields that cirque does not interpret: in ``Judgement.extra``, and in ``Item.hidden`` for assignments
without an answer."""
SOURCE_FIELDS = ("source_file_key", "source_filename", "source_path", "selection_mode")


def answer_of(annotation: Mapping[str, Any]) -> dict[str, Any]:
    """The canonical answer. An absent or null flag is not set, an absent or null note is empty."""
    return {
        "validated": annotation.get("validated"), "flags": [flag for flag in BY_SEVERITY if annotation.get(flag)],
        "reasons": [], "note": annotation.get("other") or "", "alternatives": [], "unsure": False,
        "panel_opened": False,
    }


def annotation_of(answer: Mapping[str, Any] | None) -> dict[str, Any]:
    """Inverse of :func:`answer_of`; null fields without an answer."""
    answer = answer or {}
    flags = answer.get("flags", ())
    return {"validated": answer.get("validated"), **{flag: flag in flags for flag in FLAGS},
            "other": answer.get("note", "")}


def changed(annotation: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """``annotation`` of the file, updated where ``answer`` differs: an absent flag that is not set stays absent."""
    now, before = annotation_of(answer), annotation_of(answer_of(annotation))
    return {**annotation, **{name: value for name, value in now.items() if value != before[name]}}


def time_of(text: object) -> datetime | None:
    """Parse an ISO 8601 time, UTC without a zone; None if malformed."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
