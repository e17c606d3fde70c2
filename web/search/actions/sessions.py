"""*My sessions*, and the branches of one: names, and taking them off the screen, which can be undone.

Nothing is deleted from the store. A session of an account is taken off its list there; of one that belongs to nobody
the browser alone knows whether it is on its list."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cir_core.errors import SearchError, UnknownSession
from cir_core.sessions.service import SearchService
from cir_core.types.records import Branch, SearchSession
from web.search.actions.parts import Action, fresh, propose, session_of, shown
from web.search.inputs import Data, text_of
from web.search.view import MINE_KEPT, UiState

PAGE = 10             # sessions shown at first, and for each "more"
_MOST_SHOWN = 1000
_LONGEST_WORDS = 200  # characters


@dataclass(frozen=True)
class Asked:
    """What of a list of sessions is to be shown."""

    words: str = ""
    count: int = PAGE


def asked(data: Data) -> Asked:
    count = data.get("count")
    shown_now = count if isinstance(count, int) and not isinstance(count, bool) else PAGE
    return Asked(text_of(data, "words")[:_LONGEST_WORDS], min(_MOST_SHOWN, max(PAGE, shown_now)))


def known_sessions(data: Data) -> tuple[str, ...]:
    """Ids of the ``sessions`` that the browser knows."""
    given = data.get("sessions")
    return tuple(one for one in given if isinstance(one, str) and 0 < len(one) <= 64)[:MINE_KEPT] if (
        isinstance(given, list)) else ()


def rename_session(service: SearchService, view: UiState, data: Data) -> UiState:
    service.rename(text_of(data, "session"), text_of(data, "name"), view.person)
    return view


def remove_session(service: SearchService, view: UiState, data: Data) -> UiState:
    session = service.session(text_of(data, "session"))
    if session.session_id == view.session_id:
        _nothing_unkept(view)
    if not service.remove(session.session_id, view.person):
        view = replace(view, mine=tuple(one for one in view.mine if one != session.session_id))
    latest = session.latest
    said = session.title or (latest.modification_text if latest else "") or "No turn yet"
    view = replace(view, deleted={"session": session.session_id, "name": said})
    return propose(service, fresh(view)) if view.session_id == session.session_id else view


def restore_session(service: SearchService, view: UiState, data: Data) -> UiState:
    session_id = service.session(text_of(data, "session")).session_id
    if service.remove(session_id, view.person, removed=False):
        return view
    return replace(view, mine=view.remember(session_id))


def delete_branch(service: SearchService, view: UiState, data: Data) -> UiState:
    session = session_of(service, view)
    branch = _branch_of(session, text_of(data, "branch"))
    path = session.path_to(view.turn_id or "")
    if view.adjustment and path and path[-1].branch_id == branch.branch_id:
        _nothing_unkept(view)
    left = service.remove_branch(session.session_id, branch.branch_id, view.person)
    deleted = {"branch": branch.branch_id, "name": branch.name or f"Branch {branch.number}", "turn": view.turn_id or ""}
    view = replace(view, deleted=deleted, compare=None)
    turn = left.turn(view.turn_id or "")
    if turn is not None:
        return replace(view, branch_id=turn.branch_id if view.branch_id == branch.branch_id else view.branch_id)
    # On from where the branch began: to the end of the branch that it left.
    common = next((found for one in reversed(path) if (found := left.turn(one.turn_id))), left.latest)
    tip = left.tip_of(common.branch_id) if common else None
    if tip is None:
        return propose(service, fresh(view))
    return replace(shown(view, tip), reference_id=tip.reference_id, further=tip.further)


def restore_branch(service: SearchService, view: UiState, data: Data) -> UiState:
    """``turn``: what was shown when the branch was deleted."""
    session = service.remove_branch(session_of(service, view).session_id, text_of(data, "branch"), view.person,
                                    removed=False)
    turn = session.turn(text_of(data, "turn")) or session.tip_of(text_of(data, "branch"))
    if turn is None or view.adjustment:
        return view
    return replace(shown(view, turn), reference_id=turn.reference_id, further=turn.further)


def _branch_of(session: SearchSession, branch_id: str) -> Branch:
    found = next((branch for branch in session.branches if branch.branch_id == branch_id), None)
    if found is None:
        raise UnknownSession("That branch is not part of this session. Reload the page.")
    return found


def _nothing_unkept(view: UiState) -> None:
    if view.adjustment:
        raise SearchError("You have unsaved changes to the turn that would be deleted. Keep them as a turn, "
                          "or reset them, first.")


LISTED: dict[str, Action] = {
    "rename_session": rename_session, "remove_session": remove_session, "restore_session": restore_session,
}
"""Actions after which the list of sessions is drawn again."""

BRANCHES: dict[str, Action] = {"delete_branch": delete_branch, "restore_branch": restore_branch}
