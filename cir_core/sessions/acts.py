"""What an act (:mod:`cir_core.language.acts`) comes to in a session: a turn that is shown again, the first reference
without words, or a request that is searched once more. Nothing is undone in the store: the tree of turns stays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cir_core.language.acts import Act, read_act
from cir_core.language.readers.dialogue.intended import intended
from cir_core.types.records import SearchSession, Turn

NOTHING_EARLIER = "nothing earlier to go back to"
_START = "shows the first reference, without words"


@dataclass(frozen=True)
class Outcome:
    """``kind``: what is to be shown or done; "nothing" where the act has no object. ``said``: in words, of the kind
    "undo: shows turn 2". ``turn``: the one to show, or to search again; of a start, the first of the branch."""

    kind: Literal["turn", "start", "again", "nothing"]
    said: str
    turn: Turn | None = None


def meant(text: str, session: SearchSession | None, turn_id: str | None) -> Act | None:
    """The act that ``text`` asks for where the turn ``turn_id`` of ``session`` is shown (None: none is); None for a
    request. Never fails."""
    turns = session.path_to(turn_id) if session and turn_id else ()
    return read_act(text) or intended(text, turns)


def outcome(act: Act, session: SearchSession | None, turn_id: str | None) -> Outcome:
    """What ``act`` comes to where the turn ``turn_id`` of ``session`` is shown (None: none is)."""
    path = session.path_to(turn_id) if session and turn_id else ()
    if session is None or not path:
        missing = "nothing was searched yet" if act.kind == "others" else f"there is {NOTHING_EARLIER}"
        return Outcome("nothing", f"{_name(act)}, but {missing}")
    if act.kind == "others":
        return Outcome("again", f"{_name(act)}: the request of turn {path[-1].number} without the images shown",
                       path[-1])
    if act.kind == "start over":
        return Outcome("start", f"{_name(act)}: {_START}", path[0])
    if act.kind == "undo":
        return _undone(act, session, path[-1])
    if not 1 <= act.number <= len(path):
        turns = f"{len(path)} turn{'' if len(path) == 1 else 's'}"
        return Outcome("nothing", f"{_name(act)}, but this branch has {turns} up to here")
    return Outcome("turn", f"{_name(act)}: shows turn {act.number}", path[act.number - 1])


def _undone(act: Act, session: SearchSession, turn: Turn) -> Outcome:
    now: Turn | None = turn
    for _ in range(act.number):
        now = _before(session, now) if now else None
    if now is None:
        return Outcome("start", f"{_name(act)}: {_START}", session.path_to(turn.turn_id)[0])
    return Outcome("turn", f"{_name(act)}: shows turn {now.number}", now)


def _before(session: SearchSession, turn: Turn) -> Turn | None:
    """The turn that was shown before ``turn``: one of the same request whose best image it leaves out, with all that
    this one left out, or its parent."""
    left_out = set(turn.excluded_ids)
    earlier = session.turns[: session.turns.index(turn)]
    same = (one for one in reversed(earlier) if one.parent_id == turn.parent_id and one.hits
            and one.modification_text == turn.modification_text and one.reference_id == turn.reference_id)
    repeated = next((one for one in same if left_out.issuperset((one.hits[0].image_id, *one.excluded_ids))), None)
    return repeated or (session.turn(turn.parent_id) if turn.parent_id else None)


def _name(act: Act) -> str:
    if act.kind == "turn":
        return f"back to turn {act.number}"
    if act.kind == "undo":
        return "undo" if act.number == 1 else f"undo of {act.number} turns"
    return "something else" if act.kind == "others" else act.kind
