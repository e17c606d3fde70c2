"""Validation limits of input from browsers and scripts."""

from __future__ import annotations

import json
import math
import re
from typing import TypeGuard

from annotation.records import EventKind
from cir_core.errors import IncompleteJudgement, StudyError, UnknownItem, UnknownStudy
from cir_core.support.texts import can_be_stored

ANSWER_LIMIT = 256 * 1024    # characters of JSON; notes have their own limit
NOTE_LIMIT = 20_000          # characters of a note
DRAFT_NOTE_LIMIT = 5 * NOTE_LIMIT   # a note that is too long to be saved can still be a draft, to be shortened
SECONDS_LIMIT = 86_400.0     # a day; longer times only mean that a page was left open

_TOKEN = re.compile(r"[A-Za-z0-9_-]{8,64}")


def checked_token(token: object) -> str:
    """Idempotency token of one press of Save. Raises ``StudyError``."""
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise StudyError("A token is 8 to 64 letters, digits, hyphens and underscores: new for every judgement, and "
                         "the same again when a call is repeated.")
    return token


def checked_seconds(seconds: object) -> float:
    """Seconds, clipped to 0 … one day; 0 (not measured) for anything but a finite number."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not math.isfinite(seconds):
        return 0.0
    return min(max(float(seconds), 0.0), SECONDS_LIMIT)


def checked_item(item_id: object) -> str:
    """Raises ``UnknownItem`` for an invalid item id."""
    if not _is_name(item_id, 64):
        raise UnknownItem("No such item. Reload the page.")
    return item_id


def checked_study(name: object) -> str:
    """Raises ``UnknownStudy`` for an invalid study name or id."""
    if not _is_name(name, 200):
        raise UnknownStudy("Name the study, as in the list of studies.")
    return name


def checked_answer(answer: object) -> object:
    """An answer of at most 256k characters of JSON. Raises ``IncompleteJudgement``."""
    try:
        size = len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))
    except (TypeError, ValueError, RecursionError):
        raise IncompleteJudgement("This answer is not plain JSON.") from None
    if size > ANSWER_LIMIT:
        raise IncompleteJudgement(f"This answer is too long: {size:,} characters, and the limit is "
                                  f"{ANSWER_LIMIT:,}. Shorten the note; what you wrote stays on the page until then.")
    return answer


def checked_text(text: str, what: str) -> str:
    """User text, unchanged. Raises ``IncompleteJudgement`` for a NUL, which not every database can store; removing it
    silently would change the text. ``what``: for the message, as in "note"."""
    if (at := text.find("\0")) < 0:
        return text
    before = "".join(character if character.isprintable() else " " for character in text[max(0, at - 20):at]).strip()
    where = f"behind “{before}”" if before else f"at its character {at + 1:,}"
    raise IncompleteJudgement(f"The {what} contains an invisible character that cannot be stored (NUL), {where}. "
                              "Type that part again, then save; what you wrote stays on the page until then.")


def checked_revision(revision: object) -> int | None:
    """The revision that a page has shown; 0 for an item without an answer, None if not given. Raises ``StudyError``."""
    if revision is None:
        return None
    if isinstance(revision, bool) or not isinstance(revision, int) or not 0 <= revision < 2**31:
        raise StudyError("A revision is a whole number from 0. Reload the page.")
    return revision


def checked_ahead(ahead: object, most: int) -> int:
    """How many of the next items a page asks for. Raises ``StudyError``."""
    if isinstance(ahead, bool) or not isinstance(ahead, int) or not 0 <= ahead <= most:
        raise StudyError(f"“ahead” is a whole number from 0 to {most}.")
    return ahead


def checked_gate(kind: object) -> EventKind:
    """Kind of a survey step: ``guidelines``, ``consent`` or ``check``. The end is recorded automatically.
    Raises ``StudyError``."""
    if kind in ("guidelines", "consent", "check"):
        return kind
    raise StudyError("“kind” must be “guidelines”, “consent” or “check”. Reload the page.")


def _is_name(text: object, longest: int) -> TypeGuard[str]:
    return isinstance(text, str) and 0 < len(text) <= longest and can_be_stored(text)
