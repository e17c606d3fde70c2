"""What a person can do on the search screen: each action makes the next :class:`View`.

No gradio here. Values in ``data`` come from a browser and are checked like any input.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args, get_type_hints

from cir_core.errors import CirqueError, SearchError, UnknownSession
from cir_core.search import clean_text
from cir_core.service import SearchService
from cir_core.types import MethodSettings, SearchSession
from web.view import DEFAULT_K, View

WALL = 24
MAX_K = 200
Data = Mapping[str, Any]
Action = Callable[[SearchService, View, Data], View]

_HINTS = get_type_hints(MethodSettings)
BASES: tuple[str, ...] = get_args(_HINTS["base"])
EXCLUDES: tuple[str, ...] = get_args(_HINTS["exclude"])


def text_of(data: Data, key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


# --- arriving ----------------------------------------------------------------------


def arrive(service: SearchService, view: View, session_id: str, mine: Sequence[object]) -> View:
    """The first view of a tab: the session in the address, or a proposal to start from."""
    known = tuple(item for item in mine if isinstance(item, str) and 0 < len(item) <= 64)
    view = replace(view, mine=known[:200], loaded=True)
    if session_id:
        try:
            return open_session(service, view, {"session": session_id})
        except UnknownSession:
            view = replace(view, notice="There is no session at this address (any more). Here is a fresh start; "
                                        "your own sessions are under “Sessions”.")
        except CirqueError as error:
            view = replace(view, notice=str(error))
    return _propose(service, view)


def _propose(service: SearchService, view: View) -> View:
    wall = tuple(service.random_images(view.gallery, WALL + 1))
    if not wall:
        return replace(view, wall=(), reference_id=None)
    return replace(view, wall=wall[1:] or wall, reference_id=wall[0])


def open_session(service: SearchService, view: View, data: Data) -> View:
    session = service.session(text_of(data, "session"))
    service.searcher(session.gallery)  # a gallery that is gone is said now, not at the next click
    latest = session.latest
    view = replace(
        fresh(view), gallery=session.gallery, method=session.method, session_id=session.session_id,
        target_live=session.target_live, mine=view.remember(session.session_id),
    )
    if latest is None:
        return replace(_propose(service, view))
    return replace(view, turn_id=latest.turn_id, branch_id=latest.branch_id, reference_id=latest.reference_id,
                   k=max(len(latest.hits), 10) if latest.hits else DEFAULT_K)


def fresh(view: View) -> View:
    """The same person, gallery and method, nothing searched yet."""
    return replace(view, session_id=None, turn_id=None, branch_id=None, compare=None, problem="", notice="")


def new_session(service: SearchService, view: View, data: Data) -> View:
    return _propose(service, fresh(view))


# --- searching ---------------------------------------------------------------------


def search(service: SearchService, view: View, data: Data) -> View:
    text = clean_text(text_of(data, "text"), required=view.method.base != "image-only")
    if view.reference_id is None:
        raise SearchError("Choose a reference image first: upload one or pick one from the gallery.")
    session_id = view.session_id
    if session_id is None:
        session_id = service.start(view.gallery, method=view.method).session_id
        view = replace(view, session_id=session_id, mine=view.remember(session_id))
    turn = service.run_turn(
        session_id, text, reference_id=view.reference_id, parent_id=view.turn_id, k=view.k
    )
    return replace(view, turn_id=turn.turn_id, branch_id=turn.branch_id, compare=None)


def set_reference(service: SearchService, view: View, data: Data) -> View:
    image_id = text_of(data, "image")
    service.image_path(view.gallery, image_id)
    return replace(view, reference_id=image_id, compare=None)


def surprise(service: SearchService, view: View, data: Data) -> View:
    found = service.random_images(view.gallery, 2)
    others = [image_id for image_id in found if image_id != view.reference_id] or found
    if not others:
        raise SearchError(f"Gallery {view.gallery!r} is empty. Index some images first.")
    return replace(view, reference_id=others[0])


# --- turns and branches ------------------------------------------------------------


def open_turn(service: SearchService, view: View, data: Data) -> View:
    session = _session(service, view)
    turn = session.turn(text_of(data, "turn"))
    if turn is None:
        raise UnknownSession("That turn is not part of this session. Reload the page.")
    branch_id = text_of(data, "branch") or view.branch_id
    on_branch = {t.turn_id for t in _line(session, branch_id)}
    return replace(view, turn_id=turn.turn_id, reference_id=turn.reference_id, compare=None,
                   branch_id=branch_id if turn.turn_id in on_branch else turn.branch_id)


def back(service: SearchService, view: View, data: Data) -> View:
    session = _session(service, view)
    turn = session.turn(view.turn_id or "")
    if turn is None or turn.parent_id is None:
        return replace(view, notice="This is the first turn; there is nothing before it.")
    return open_turn(service, view, {"turn": turn.parent_id})


def open_branch(service: SearchService, view: View, data: Data) -> View:
    session = _session(service, view)
    tip = session.tip_of(text_of(data, "branch"))
    if tip is None:
        raise UnknownSession("That branch is not part of this session. Reload the page.")
    return replace(view, turn_id=tip.turn_id, branch_id=tip.branch_id, reference_id=tip.reference_id, compare=None)


def name_branch(service: SearchService, view: View, data: Data) -> View:
    service.name_branch(_session(service, view).session_id, text_of(data, "branch"), text_of(data, "name")[:80])
    return view


def compare(service: SearchService, view: View, data: Data) -> View:
    """Two branches side by side: those named, or the current one and the newest other."""
    session = _session(service, view)
    ids = [branch.branch_id for branch in session.branches]
    if len(ids) < 2:
        raise SearchError("There is one branch so far. Go back to an earlier turn and search from there.")
    current = view.branch_id if view.branch_id in ids else ids[0]
    other = next(item for item in reversed(ids) if item != current)
    left, right = sorted((current, other), key=ids.index)
    left, right = text_of(data, "left") or left, text_of(data, "right") or right
    if left not in ids or right not in ids:
        raise UnknownSession("That branch is not part of this session. Reload the page.")
    return replace(view, compare=(left, right))


def close_compare(service: SearchService, view: View, data: Data) -> View:
    return replace(view, compare=None)


# --- find a target -----------------------------------------------------------------


def deal_target(service: SearchService, view: View, data: Data) -> View:
    challenge = service.deal(view.gallery)
    return _aim(service, view, challenge.target_id, challenge.reference_id)


def choose_target(service: SearchService, view: View, data: Data) -> View:
    target_id = text_of(data, "image")
    others = [i for i in service.random_images(view.gallery, 2) if i != target_id]
    if not others:
        raise SearchError(f"Gallery {view.gallery!r} needs at least two images for a target.")
    return _aim(service, view, target_id, others[0])


def _aim(service: SearchService, view: View, target_id: str, reference_id: str) -> View:
    session = service.start(view.gallery, method=view.method, target_id=target_id, target_live=view.target_live)
    return replace(
        fresh(view), session_id=session.session_id, reference_id=reference_id, mine=view.remember(session.session_id)
    )


def found_it(service: SearchService, view: View, data: Data) -> View:
    session = _session(service, view)
    if session.target_id is None:
        raise SearchError("This session has no target. Start one with “Find a target”.")
    if text_of(data, "image") != session.target_id:
        return replace(view, notice="Close, but that is a different picture. Keep looking.")
    service.reveal_target(session.session_id)
    return replace(view, notice="That is it. Below the target you see how you got there.")


def give_up(service: SearchService, view: View, data: Data) -> View:
    service.reveal_target(_session(service, view).session_id)
    return view


def set_live(service: SearchService, view: View, data: Data) -> View:
    live = data.get("on") is True
    if view.session_id is not None:
        service.set_target_live(view.session_id, live)
    return replace(view, target_live=live)


# --- settings ----------------------------------------------------------------------


def apply_settings(service: SearchService, view: View, data: Data) -> View:
    """A session keeps its method, so a change of it begins a new one and says so."""
    method = MethodSettings(
        base=_one_of(BASES, text_of(data, "base")),  # type: ignore[arg-type]
        alpha=_weight(data, "alpha"), beta=_weight(data, "beta"), gamma=_weight(data, "gamma"),
        feedback_depth=view.method.feedback_depth,
        exclude=_one_of(EXCLUDES, text_of(data, "exclude")),  # type: ignore[arg-type]
    )
    gallery = text_of(data, "gallery") or view.gallery
    k = min(MAX_K, max(1, int(_number(data, "k"))))
    changed = replace(view, gallery=gallery, method=method, k=k)
    if gallery != view.gallery:
        service.searcher(gallery)
        return replace(_propose(service, fresh(changed)), notice=f"Searching “{gallery}” now.")
    if method == view.method or view.session_id is None:
        return changed
    return replace(
        fresh(changed), wall=view.wall or tuple(service.random_images(gallery, WALL)),
        notice="A session keeps its method, so the next search starts a new one. "
               "The one before is under “Sessions”.",
    )


def _one_of(allowed: Sequence[str], value: str) -> str:
    if value not in allowed:
        raise SearchError(f"{value!r} is not one of {', '.join(allowed)}.")
    return value


def _number(data: Data, key: str) -> float:
    try:
        value = float(data.get(key, "nan"))
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise SearchError(f"{key} must be a number.")
    return value


def _weight(data: Data, key: str) -> float:
    value = _number(data, key)
    if not 0 <= value <= 2:
        raise SearchError(f"{key} is {value:g}; it goes from 0 to 2.")
    return value


def _session(service: SearchService, view: View) -> SearchSession:
    if view.session_id is None:
        raise SearchError("There is no session yet. Choose a reference, say what should differ, and search.")
    return service.session(view.session_id)


def _line(session: SearchSession, branch_id: str | None) -> tuple[Any, ...]:
    tip = session.tip_of(branch_id) if branch_id else None
    return session.path_to(tip.turn_id) if tip else ()


ACTIONS: dict[str, Action] = {
    "search": search, "reference": set_reference, "surprise": surprise, "new": new_session,
    "open_session": open_session, "turn": open_turn, "back": back, "branch": open_branch,
    "name_branch": name_branch, "compare": compare, "close_compare": close_compare,
    "deal": deal_target, "target": choose_target, "found": found_it, "give_up": give_up, "live": set_live,
    "settings": apply_settings,
}


def perform(service: SearchService, view: View, name: str, data: Data) -> View:
    """The view after the action ``name``. Raises ``CirqueError``."""
    action = ACTIONS.get(name)
    if action is None:
        raise SearchError("The page is out of date. Reload it.")
    if not view.loaded:
        raise SearchError("The server was restarted. Reload the page: your session is stored and opens again.")
    return action(service, replace(view, problem="", notice=""), data)


