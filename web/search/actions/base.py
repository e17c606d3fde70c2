"""What a person can do on the search screen: each action makes the next :class:`UiState`.

No gradio here. Values in ``data`` come from a browser and are checked like any input.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from cir_core.errors import CirqueError, LanguageModelRefused, SearchError, Stopped, UnknownSession
from cir_core.language.acts import Act
from cir_core.search.searcher import clean_text
from cir_core.sessions.acts import Outcome, meant, outcome
from cir_core.sessions.service import SearchService
from cir_core.types.composition import Adjustment, Marks
from cir_core.types.records import SearchSession, Turn
from web.http.long_actions import LiveWatch
from web.http.public_errors import public_message
from web.search.actions.adjust import ADJUSTING, begin_reword, kept, marks_of, undo
from web.search.actions.columns import COLUMN_ACTIONS, COLUMN_LONG, open_columns
from web.search.actions.parts import WALL, Action, Begin, fresh, leave, propose, session_of, shown, starting
from web.search.actions.references import REFERENCES, as_shown
from web.search.actions.sessions import BRANCHES, LISTED, known_sessions
from web.search.actions.settings import ARRANGING, apply_settings, prefer, set_fold
from web.search.actions.target import choose_target, deal_target, found_it, give_up, set_live
from web.search.inputs import Data, text_of
from web.search.view import DEFAULT_K, Taken, UiState
from web.services import Services

# --- arriving ----------------------------------------------------------------------


def arrive(services: Services, view: UiState, address: Data, tab: Data) -> UiState:
    """The first view of a tab: what its ``address`` names (:attr:`UiState.address`), or a proposal to start from.
    ``tab``: the ``sessions`` that its browser knows, ``who`` votes in it, and what it showed before it was loaded again
    (``left``), with the search that it waited for, if any (``search``, ``run``)."""
    left = tab.get("left")
    view = replace(view, mine=known_sessions(tab), annotator=text_of(tab, "who")[:64], loaded=True)
    view = _arrived(services.search, view, address)
    if isinstance(left, dict):
        view = _went_on(services, view, address, left)
    try:
        return _laid_out(services, view, address)
    except CirqueError as error:
        return replace(view, notice=public_message(error))


def _arrived(service: SearchService, view: UiState, address: Data) -> UiState:
    if session_id := text_of(address, "session"):
        try:
            view = open_session(service, view, {"session": session_id})
        except UnknownSession:
            view = replace(view, notice="There is no session at this address. A new one was started; "
                                        "your own sessions are under “Sessions”.")
        except CirqueError as error:
            view = replace(view, notice=public_message(error))
        else:
            try:
                return _at_turn(service, view, address)
            except UnknownSession:
                return replace(view, notice="The turn at this address is not part of this session any more. "
                                            "This is the newest one.")
    # A first page is there at once, also while the server loads what it searches with.
    return propose(service, replace(view, early=service.opening(view.gallery)))


def _at_turn(service: SearchService, view: UiState, address: Data) -> UiState:
    turn_id, branch_id = text_of(address, "turn"), text_of(address, "branch")
    if view.session_id and turn_id:
        return open_turn(service, view, {"turn": turn_id, "branch": branch_id})
    first = next(iter(_line(session_of(service, view), branch_id)), None) if view.session_id else None
    return _started_over(service, replace(view, branch_id=branch_id), first) if first else view


def _started_over(service: SearchService, view: UiState, first: Turn) -> UiState:
    """``view`` before ``first``, the branch's first turn."""
    wall = view.wall or tuple(service.random_images(view.gallery, WALL))
    return replace(leave(view, first), turn_id=None, branch_id=view.branch_id, adjustment=Adjustment(), undo=(),
                   reference_id=first.reference_id, further=first.further, wall=wall)


def _laid_out(services: Services, view: UiState, address: Data) -> UiState:
    """``view`` as ``address`` says: a map or a list, folded or not, branches or methods side by side."""
    at = text_of(address, "fold")
    view = replace(view, layout="map" if text_of(address, "layout") == "map" else "list", fold=False)
    with suppress(CirqueError):     # of somebody's own making
        view = set_fold(services.search, view, {"on": True, "at": at}) if at else view
    if comparison_id := text_of(address, "comparison"):
        return open_columns(services, view, comparison_id)
    left, _, right = text_of(address, "branches").partition(",")
    if left and right:
        return compare(services.search, view, {"left": left, "right": right})
    return view


def go(services: Services, view: UiState, data: Data) -> UiState:
    """Back or forward in the browser's history: to its ``address``. Before the first search it had none, but a
    reference (``shown_reference``)."""
    address, seen, service = data.get("address"), view, services.search
    address = address if isinstance(address, dict) else {}
    session_id = text_of(address, "session")
    if session_id and session_id != view.session_id:
        view = open_session(service, view, {"session": session_id})
    elif not session_id:
        view = fresh(view)
        if (gallery := text_of(data, "shown_gallery")) and gallery != view.gallery:
            view = replace(view, gallery=gallery, wall=())
        view = view if view.wall else propose(service, view)
    elif not text_of(address, "turn"):   # before the first turn of a target's session, or started over
        view = replace(view, turn_id=None, compare=None, comparison_id=None, adjustment=Adjustment(), undo=(),
                       wall=view.wall or tuple(service.random_images(view.gallery, WALL)))
    view = _at_turn(service, view, address)
    view = _laid_out(services, view if view.turn_id else as_shown(service, view, data), address)
    if seen.adjustment and view.turn_id != seen.turn_id:
        return replace(view, notice="Your changes to the previous turn were discarded.")
    return view


def _went_on(services: Services, view: UiState, address: Data, left: Data) -> UiState:
    if (view.session_id or "") != text_of(left, "session") or (
            (turn_id := text_of(address, "turn")) and turn_id != text_of(left, "shown_turn")):
        return view     # the tab was sent elsewhere
    service, request, run = services.search, left.get("search"), text_of(left, "run")
    try:
        if services.runs.find(run) is not None:
            return replace(_as_left(service, view, left), running=run)
        text = clean_text(text_of(request, "text"), required=False) if isinstance(request, dict) else ""
        session = session_of(service, view) if view.session_id else None
        if text and session is not None and session.latest is not None and (
                session.latest.modification_text == text and len(session.turns) > _turns_before(left)):
            # It was over before the connection was lost.
            return open_turn(service, view, {"turn": session.latest.turn_id})
        before = _as_left(service, view, left)
    except CirqueError:     # what it showed is gone
        return view
    return replace(before, interrupted={**request, "text": text} if text and isinstance(request, dict) else None)


def _turns_before(left: Data) -> int:
    """How many turns the session had when the page asked for one more."""
    request = left.get("search")
    turns = request.get("turns") if isinstance(request, dict) else None
    return turns if isinstance(turns, int) else 0


def resume(services: Services, view: UiState, address: Data, data: Data) -> UiState:
    """The view of a page that was open when the server restarted, from what the page shows (``data``)."""
    shown = {name: value for name, value in data.items() if name.startswith("shown_")}
    left = {**shown, "session": text_of(address, "session")}
    return arrive(services, view, address, {"left": left, "who": text_of(data, "who")})


def followed(view: UiState, found: UiState) -> UiState:
    """What a long action led to, ``found`` by the page that began it, in the page that has waited for it since."""
    mine = found.remember(found.session_id) if found.session_id else found.mine
    return replace(found, beat=view.beat, drawn=view.drawn, mine=mine, running="")


def _as_left(service: SearchService, view: UiState, data: Data) -> UiState:
    if view.session_id and (turn_id := text_of(data, "shown_turn")):
        view = open_turn(service, view, {"turn": turn_id})
    return as_shown(service, view, data)


def open_session(service: SearchService, view: UiState, data: Data) -> UiState:
    session = service.session(text_of(data, "session"))
    usual = service.usual(session.gallery)  # a gallery that is gone is said now, not at the next click
    latest = session.latest
    view = replace(
        fresh(view), gallery=session.gallery, method=session.method, session_id=session.session_id,
        method_chosen=not usual.is_for(session.method), target_live=session.target_live,
        mine=view.remember(session.session_id),
    )
    if latest is None:
        return replace(propose(service, view), method=session.method)
    return replace(view, turn_id=latest.turn_id, branch_id=latest.branch_id, reference_id=latest.reference_id,
                   further=latest.further, k=max(len(latest.hits), 10) if latest.hits else DEFAULT_K)


def new_session(service: SearchService, view: UiState, data: Data) -> UiState:
    return propose(service, replace(fresh(view), method_chosen=view.method_chosen and view.preferred is None))


# --- searching ---------------------------------------------------------------------


def begin_search(services: Services, view: UiState, data: Data) -> tuple[LiveWatch, Callable[[], UiState]]:
    """Check the request; the search itself is left to the job."""
    seen = view
    text = clean_text(text_of(data, "text"), required=view.method.base != "image-only")
    session = session_of(services.search, view) if view.session_id else None
    if data.get("words") is not True and (act := meant(text, session, view.turn_id)) is not None:
        return begin_act(services, view, text, act, data)
    view = _before(services.search, view) if data.get("instead") is True else starting(services.search, view, data)
    if view.reference_id is None:
        raise SearchError("Choose a reference image first: upload one or pick one from the gallery.")
    marks = marks_of(data, view.reference_id, *view.further) if view.turn_id else Marks()
    reflection = view.method.reflection
    columns = data.get("columns")
    shown_in = columns if isinstance(columns, int) and 0 < columns < 100 else 0
    watch = LiveWatch(text, planned=reflection.rounds if reflection else 0,
                      looks_at=reflection.images if reflection else 0)
    watch.stored_in(view.session_id or "")
    rules, as_typed = data.get("rules") is True, data.get("words") is True

    def job() -> UiState:
        try:
            return search(services.search, view, text, marks, watch, shown_in, rules, as_typed)
        except LanguageModelRefused as error:
            return replace(seen, problem=public_message(error), refused=dict(data))

    return watch, job


def begin_by_rules(services: Services, view: UiState, data: Data) -> tuple[LiveWatch, Callable[[], UiState]]:
    """The search that the language model refused, or the shown turn, once more with the built-in rules."""
    if view.refused is not None:
        again = view.refused
    elif (turn := session_of(services.search, view).turn(view.turn_id or "")) is not None:
        again = {"text": turn.modification_text, "instead": True}
    else:
        raise SearchError("There is no search to repeat. Describe what should be different, and search.")
    return begin_search(services, replace(view, refused=None), {**again, "rules": True})


def begin_again(services: Services, view: UiState, data: Data) -> tuple[LiveWatch, Callable[[], UiState]]:
    """The search during which the connection was lost."""
    if view.interrupted is None:
        raise SearchError("There is no search to repeat. Describe what should be different, and search.")
    return begin_search(services, replace(view, interrupted=None), view.interrupted)


def _before(service: SearchService, view: UiState) -> UiState:
    """The view from which the shown turn was searched, so that the next turn begins a branch of its own."""
    turn = session_of(service, view).turn(view.turn_id or "")
    if turn is None:
        raise UnknownSession("That turn is not part of this session. Reload the page.")
    return replace(view, turn_id=turn.parent_id, reference_id=turn.reference_id, further=turn.further,
                   adjustment=Adjustment(), undo=())


def search(
    service: SearchService, view: UiState, text: str, marks: Marks, watch: LiveWatch, columns: int = 0,
    rules: bool = False, as_typed: bool = False,
) -> UiState:
    before, session = view, view.session_id or service.start(view.gallery, method=view.method, owner=view.person)
    if not isinstance(session, str):
        view = replace(view, session_id=session.session_id, mine=view.remember(session.session_id))
        watch.stored_in(session.session_id)
    # What the person saw is what the next turn goes on from, so it becomes a turn first.
    view, place = kept(service, view)
    try:
        turn = service.run_turn(
            session, text, reference_id=view.reference_id, further=view.further, cuts=view.cuts[::-1],
            parent_id=view.turn_id, marks=marks, k=view.k, columns=columns, rules=rules, watch=watch,
            as_typed=as_typed,
        ).turn
    except Stopped:
        return replace(view if place else before, notice="Stopped before the query was ready.")
    except CirqueError as error:
        if not place:
            raise
        # Its marks and its place in the session are those of the turn before: they are not sent again.
        refused = {"text": text} if isinstance(error, LanguageModelRefused) else None
        # Not raised: a second try must not keep the changes twice.
        return replace(view, problem=public_message(error), refused=refused)
    if place:
        view = replace(view, notice=f"Your changes became {place} first; this search continues from it.")
    # Which the words may have chosen.
    return replace(shown(view, turn), reference_id=turn.reference_id, further=turn.further)


# --- texts that are acts -----------------------------------------------------------


def begin_act(
    services: Services, view: UiState, text: str, act: Act, data: Data,
) -> tuple[LiveWatch, Callable[[], UiState]]:
    """``text`` is no request: what it asks for is done, and said. Nothing is searched but the shown request, once more,
    where other results are wanted."""
    service = services.search
    session = session_of(service, view) if view.session_id else None
    before = starting(service, view, data)   # the words would be searched from the selected result
    taken = Taken(text, "", view.turn_id, view.branch_id, before.reference_id, before.further)
    watch = LiveWatch(text)
    if act.kind == "undo" and view.undo:
        undone = replace(undo(service, view, {}), taken=replace(taken, said="undo: takes back your last change here"))
        return watch, lambda: undone
    done = outcome(act, session, view.turn_id)
    taken = replace(taken, said=done.said)
    if done.kind != "again" or done.turn is None:
        shown_now = replace(_carried_out(service, view, done), taken=taken)
        return watch, lambda: shown_now
    again, seen = done.turn, data.get("seen")

    def job() -> UiState:
        turn = service.search_again(
            again.session_id, again.turn_id, seen=seen if isinstance(seen, int) and seen > 0 else None, k=view.k,
            watch=watch).turn
        return replace(leave(view, turn), reference_id=turn.reference_id, further=turn.further, taken=taken)

    return watch, job


def _carried_out(service: SearchService, view: UiState, done: Outcome) -> UiState:
    if done.turn is None:
        return view
    if done.kind == "turn":
        return open_turn(service, view, {"turn": done.turn.turn_id})
    return _started_over(service, view, done.turn)


def begin_words(services: Services, view: UiState, data: Data) -> tuple[LiveWatch, Callable[[], UiState]]:
    """What was taken for an act, or read in the light of earlier turns, searched as it was typed."""
    if (taken := view.taken) is not None:
        view = replace(_shown_before(view, taken), taken=None)
        return begin_search(services, view, {"text": taken.text, "words": True})
    if (turn := session_of(services.search, view).turn(view.turn_id or "")) is None:
        raise SearchError("There is no search to repeat. Describe what should be different, and search.")
    # The turn's own reference may be one that the words have chosen.
    view = replace(view, turn_id=turn.parent_id, reference_id=turn.reference_id, further=turn.further,
                   adjustment=Adjustment(), undo=())
    return begin_search(services, view, {"text": turn.modification_text, "words": True})


def _shown_before(view: UiState, taken: Taken) -> UiState:
    return replace(view, turn_id=taken.turn_id, branch_id=taken.branch_id, reference_id=taken.reference_id,
                   further=taken.further, adjustment=Adjustment(), undo=(), compare=None, comparison_id=None)


# --- turns and branches ------------------------------------------------------------


def open_turn(service: SearchService, view: UiState, data: Data) -> UiState:
    session = session_of(service, view)
    turn = session.turn(text_of(data, "turn"))
    if turn is None:
        raise UnknownSession("That turn is not part of this session. Reload the page.")
    branch_id = text_of(data, "branch") or view.branch_id
    on_branch = {t.turn_id for t in _line(session, branch_id)}
    return replace(leave(view, turn), reference_id=turn.reference_id, further=turn.further,
                   branch_id=branch_id if turn.turn_id in on_branch else turn.branch_id)


def back(service: SearchService, view: UiState, data: Data) -> UiState:
    session = session_of(service, view)
    turn = session.turn(view.turn_id or "")
    if turn is None or turn.parent_id is None:
        return replace(view, notice="This is the first turn.")
    return open_turn(service, view, {"turn": turn.parent_id})


def open_branch(service: SearchService, view: UiState, data: Data) -> UiState:
    session = session_of(service, view)
    tip = session.tip_of(text_of(data, "branch"))
    if tip is None:
        raise UnknownSession("That branch is not part of this session. Reload the page.")
    return replace(leave(view, tip), reference_id=tip.reference_id, further=tip.further)


def name_branch(service: SearchService, view: UiState, data: Data) -> UiState:
    session_id = session_of(service, view).session_id
    service.name_branch(session_id, text_of(data, "branch"), text_of(data, "name")[:80], view.person)
    return view


def compare(service: SearchService, view: UiState, data: Data) -> UiState:
    """Two branches side by side: those named, or the current one and the newest other."""
    session = session_of(service, view)
    ids = [branch.branch_id for branch in session.branches]
    if len(ids) < 2:
        raise SearchError("There is only one branch so far. Go back to an earlier turn and search from there.")
    current = view.branch_id if view.branch_id in ids else ids[0]
    other = next(item for item in reversed(ids) if item != current)
    left, right = sorted((current, other), key=ids.index)
    left, right = text_of(data, "left") or left, text_of(data, "right") or right
    if left not in ids or right not in ids:
        raise UnknownSession("That branch is not part of this session. Reload the page.")
    return replace(view, compare=(left, right))


def close_compare(service: SearchService, view: UiState, data: Data) -> UiState:
    return replace(view, compare=None)


def _line(session: SearchSession, branch_id: str | None) -> tuple[Turn, ...]:
    tip = session.tip_of(branch_id) if branch_id else None
    return session.path_to(tip.turn_id) if tip else ()


LONG: dict[str, Begin] = {"search": begin_search, "again": begin_again, "by_rules": begin_by_rules,
                          "words": begin_words, "reword": begin_reword, **COLUMN_LONG}
"""Actions that run in a thread and are watched meanwhile."""

FOLLOW = "follow"
"""The action of a page that waits for one of :data:`LONG` again, which it began before it was loaded anew."""

ACTIONS: dict[str, Action] = {
    **REFERENCES, "new": new_session,
    "open_session": open_session, "turn": open_turn, "back": back, "branch": open_branch,
    "name_branch": name_branch, "compare": compare, "close_compare": close_compare,
    "deal": deal_target, "target": choose_target, "found": found_it, "give_up": give_up, "live": set_live,
    **BRANCHES, **LISTED, **ADJUSTING, **ARRANGING,
}

WITH_SERVICES: dict[str, Callable[[Services, UiState, Data], UiState]] = {
    "settings": apply_settings, "prefer": prefer, "go": go, **COLUMN_ACTIONS}
"""Actions that need more than searching."""


def perform(services: Services, view: UiState, name: str, data: Data) -> UiState:
    """The view after the action ``name``. Raises ``CirqueError``."""
    if name != "sessions":
        view = replace(view, refused=None, interrupted=None, taken=None, deleted=None)
    view = replace(view, problem="", notice="", mine=known_sessions(data) if "sessions" in data else view.mine)
    if name == "sessions":  # the screen draws the list
        return view
    if name in WITH_SERVICES:
        return WITH_SERVICES[name](services, view, data)
    if name not in ACTIONS:
        raise SearchError("The page is out of date. Reload it.")
    return ACTIONS[name](services.search, view, data)


def begin(services: Services, view: UiState, name: str, data: Data) -> tuple[LiveWatch, Callable[[], UiState]]:
    """A long action: who watches it, and the job that makes the next view. Raises ``CirqueError``."""
    refused = view.refused if name == "by_rules" else None
    interrupted = view.interrupted if name == "again" else None
    taken = view.taken if name == "words" else None
    view = replace(view, problem="", notice="", refused=refused, interrupted=interrupted, taken=taken,
                   deleted=None)
    return LONG[name](services, view, data)


