"""Participant ids in links of recruiting sites. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from cir_core.errors import StudyError
from cir_core.support.texts import quoted

MOST_ID = 100
_ID = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._@:=~-]{{0,{MOST_ID - 1}}}")
PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_OTHERS: Mapping[str, tuple[str, ...]] = {
    "PROLIFIC_PID": ("STUDY_ID", "SESSION_ID"),                         # Prolific
    "workerId": ("assignmentId", "hitId", "turkSubmitTo"),              # MTurk, and CloudResearch's toolkit for it
    "participantId": ("assignmentId", "projectId"),                     # CloudResearch Connect
}
"""The parameter with the id, and the others of the same site."""
ID_PARAMETERS = tuple(_OTHERS)
_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"


class NoId(StudyError):
    """The link has no participant id that can be used."""


@dataclass(frozen=True)
class Arrival:
    """Who comes by a link. ``site``: the site's other parameters."""

    participant_id: str
    site: Mapping[str, str] = field(default_factory=dict)


def arrival(query: Iterable[tuple[str, str]], own: str = "") -> Arrival | None:
    """The participant of a link's query; None if no parameter has an id. ``own``: a parameter that counts before those
    of the known sites. Names of parameters ignore case. Raises ``NoId`` for an id that cannot be used."""
    given: dict[str, list[str]] = {}
    for parameter, value in query:
        given.setdefault(parameter.casefold(), []).append(value)
    if _PREVIEW in given.get("assignmentid", ()):
        raise NoId("This is the preview of a task. Accept it on the site that you came from, then open the link again.")
    name = next((one for one in (own, *ID_PARAMETERS) if one and one.casefold() in given), None)
    if name is None:
        return None
    values = set(given[name.casefold()])
    if len(values) > 1:
        raise NoId(f"The link has {len(values)} different ids. Open it again from the site that you came from, without "
                   "changing it.")
    kept = {}
    for other in _OTHERS.get(name, ()):
        found = given.get(other.casefold(), [""])[0]
        if found and len(found) <= 4 * MOST_ID and found.isprintable():
            kept[other] = found
    return Arrival(checked_id(values.pop()), kept)


def checked_id(text: str) -> str:
    """An id without spaces around it. Raises ``NoId`` with what to do."""
    tidy = text.strip(" ")
    if not tidy:
        raise NoId("The link has no participant id. Open it again from the site that you came from, or type the "
                   "id that you have there.")
    if "{" in tidy or "$" in tidy or "%" in tidy:
        raise NoId(f"The link has {quoted(tidy, 60)} where your participant id should be: the site did not fill it in. "
                   "Type the id that you have there, and tell the people who run the study.")
    if len(tidy) > MOST_ID:
        raise NoId(f"The participant id has {len(tidy):,} characters; the limit is {MOST_ID}. Type the id that you "
                   "have on the site that you came from.")
    if not _ID.fullmatch(tidy):
        raise NoId("A participant id is made of letters, digits and . _ @ : = ~ - without spaces. Type yours as it "
                   "appears on the site that you came from.")
    return tidy
