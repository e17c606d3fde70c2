"""Shared parts of the kinds of study: answering in any order, and the checks of an answer's fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from annotation.records import OpenAssignments, Reassignment
from annotation.studies import assignment
from annotation.studies.input_limits import DRAFT_NOTE_LIMIT, NOTE_LIMIT, checked_text
from cir_core.errors import IncompleteJudgement
from cir_core.support.texts import printable, shortened, tidy

NOTHING: Mapping[str, Any] = MappingProxyType({})


class PlainKind:
    """Base of a :class:`annotation.studies.kinds.StudyKind` whose items come in any order and look the same to
    everybody: an answer is stored as it was given."""

    flow = None
    sticky_fields: Sequence[str] = ()

    def denormalize(self, answer: Mapping[str, Any], *, extra: Mapping[str, Any] = NOTHING) -> Mapping[str, Any]:
        return answer

    def reassign(self, work: OpenAssignments) -> Sequence[Reassignment]:
        """A fair share of all open work: :func:`annotation.studies.assignment.reassign`."""
        return assignment.reassign(work)


def object_of(value: object, fields: Sequence[str], what: str) -> Mapping[str, Any]:
    """``value`` as an object without other ``fields``. Raises ``IncompleteJudgement``."""
    if not isinstance(value, Mapping):
        raise IncompleteJudgement(f"{what} is an object with {', '.join(fields)}.")
    if unknown := [name for name in value if name not in fields]:
        raise IncompleteJudgement(f"{what} has no field “{printable(shortened(str(unknown[0]), 40))}”. Its fields are "
                                  f"{', '.join(fields)}.")
    return value


def object_in(value: object, name: str) -> Mapping[str, Any]:
    """The field ``name`` of an unfinished answer; empty where it is no object."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else NOTHING


def text_of(value: object, name: str) -> str:
    """``value``, None for empty, without spaces around it. Raises ``IncompleteJudgement`` for what is no text, cannot
    be stored, or is too long."""
    if value is not None and not isinstance(value, str):
        raise IncompleteJudgement(f"“{name}” must be a text.")
    text = tidy(checked_text(value or "", name))
    if len(text) > NOTE_LIMIT:
        raise IncompleteJudgement(f"The {name} has {len(text):,} characters; the limit is {NOTE_LIMIT:,}. Nothing was "
                                  "saved yet: shorten it and save again.")
    return text


def draft_text(answer: object, name: str) -> str:
    """The field ``name`` of an unfinished answer, limited in size. Raises ``IncompleteJudgement`` for what cannot be
    stored."""
    text = answer.get(name) if isinstance(answer, Mapping) else None
    return printable(checked_text(text, name)[:DRAFT_NOTE_LIMIT]) if isinstance(text, str) else ""


def is_rating(value: object) -> bool:
    """A whole number from 1 to 5."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 5
