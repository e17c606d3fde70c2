"""Turns with people's thumbs on their first results, for figures over many sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from cir_core.language.readers.classes import RequestClass, request_class
from cir_core.methods.declared import Method, name_of
from cir_core.methods.steps import ranked_with
from cir_core.search.usual import UNREAD
from cir_core.types.records import SearchSession, Turn

FIRST = 5        # results of a turn that count
CUSTOM = "Custom"


@dataclass(frozen=True)
class JudgedTurn:
    """``shown``: how many of the turn's first :data:`FIRST` results there are; ``judged``: of them, those with a thumb
    of anybody. ``up`` and ``down`` count thumbs on them, one for each person; ``beyond`` those on later results."""

    session_id: str
    number: int
    request: RequestClass
    method: str          # its title
    shown: int
    judged: int
    up: int
    down: int
    beyond: int = 0


def judged_turns(
    session: SearchSession, methods: Mapping[str, Method], since: datetime | None = None,
) -> Iterator[JudgedTurn]:
    """Every turn of ``session`` from ``since`` on, judged or not. A method that is none of ``methods`` is custom."""
    for turn in session.turns:
        if since is not None and turn.created_at < since:
            continue
        first = {hit.image_id for hit in turn.hits[:FIRST]}
        thumbs = session.thumbs_of(turn.turn_id)
        counted = [thumb for thumb in thumbs if thumb.image_id in first]
        up = sum(thumb.up for thumb in counted)
        yield JudgedTurn(
            session.session_id, turn.number, _request(session, turn), _method(session, turn, methods), len(first),
            len({thumb.image_id for thumb in counted}), up, len(counted) - up, len(thumbs) - len(counted))


def _request(session: SearchSession, turn: Turn) -> RequestClass:
    made = turn.composition
    asked = [(one.name, one.label) for one in made.part("aspects") or ()
             if one.turn == turn.number and not one.marked] if made else []
    # A turn without either was not taken apart, or somebody has removed all that was asked.
    stored = asked if asked or (made and made.part("unclear") is not None) else None
    return request_class((made.read_as if made else "") or turn.modification_text, stored, session.protocol.domain)


def _method(session: SearchSession, turn: Turn, methods: Mapping[str, Method]) -> str:
    instead = next((note for note in turn.notes if note.startswith(UNREAD)), None)
    if instead is not None:     # another method stood in for it
        title = instead.removeprefix(UNREAD).partition(",")[0]
        return title if title in {method.title for method in methods.values()} else CUSTOM
    used = ranked_with(session.method, turn.composition) if turn.composition else session.method
    name = name_of(used, methods)
    return methods[name].title if name else CUSTOM
