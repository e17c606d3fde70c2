"""Actions of find-a-target mode."""

from __future__ import annotations

from dataclasses import replace

from cir_core.errors import CirqueError, SearchError
from cir_core.sessions.service import SearchService
from cir_core.sessions.target import CLOSE, Nearness, duplicates, nearness
from cir_core.support.texts import quoted
from cir_core.types.records import SearchSession
from web.search.actions.parts import fresh, session_of
from web.search.inputs import Data, text_of
from web.search.presenters.results import COMPARED
from web.search.view import UiState


def deal_target(service: SearchService, view: UiState, data: Data) -> UiState:
    challenge = service.deal(view.gallery)
    return _aim(service, view, challenge.target_id, challenge.reference_id)


def choose_target(service: SearchService, view: UiState, data: Data) -> UiState:
    target_id = text_of(data, "image")
    others = [i for i in service.random_images(view.gallery, 2) if i != target_id]
    if not others:
        raise SearchError(f"Gallery {quoted(view.gallery)} needs at least two images for a target.")
    return _aim(service, view, target_id, others[0])


def _aim(service: SearchService, view: UiState, target_id: str, reference_id: str) -> UiState:
    session = service.start(view.gallery, method=view.method, target_id=target_id, target_live=view.target_live,
                            owner=view.person)
    return replace(
        fresh(view), session_id=session.session_id, reference_id=reference_id, further=(),
        mine=view.remember(session.session_id)
    )


def found_it(service: SearchService, view: UiState, data: Data) -> UiState:
    session, image_id = session_of(service, view), text_of(data, "image")
    if session.target_id is None:
        raise SearchError("This session has no target. Start one with “Find a target”.")
    if image_id != session.target_id:
        near = nearness(service.gallery(session.gallery), session.target_id, image_id)
        return replace(view, notice=f"{_how_near(near)} Keep looking.")
    turn = session.turn(view.turn_id or "")
    service.reveal_target(session.session_id)
    rank = turn.target_rank if turn else None
    said = f"You found the target{f', at rank {rank:,}' if rank else ''}."
    if rank and rank > COMPARED:
        said += f" The scores count the first {COMPARED} results only, as CIRCLED does, so this turn counts 0."
    return replace(view, notice=said + _alike(service, session), found=session.session_id)


def give_up(service: SearchService, view: UiState, data: Data) -> UiState:
    session = service.reveal_target(session_of(service, view).session_id)
    return replace(view, notice=_alike(service, session).strip())


def _how_near(near: Nearness | None) -> str:
    if near is None or not near.close:
        return "This is not the target."
    if near.duplicate:
        return f"A near-duplicate of the target (similarity {near.similarity:.2f}), but not the target itself."
    return f"Close: one of the {CLOSE} images that are most similar to the target, but not the target itself."


def _alike(service: SearchService, session: SearchSession) -> str:
    try:
        count = duplicates(service.gallery(session.gallery), session.target_id or "")
    except CirqueError:   # the gallery is gone, and the target is shown all the same
        return ""
    if not count:
        return ""
    return (" Another image of the gallery is a near-duplicate of the target; it does not count." if count == 1
            else f" {count:,} other images of the gallery are near-duplicates of the target; they do not count.")


def set_live(service: SearchService, view: UiState, data: Data) -> UiState:
    live = data.get("on") is True
    if view.session_id is not None:
        service.set_target_live(view.session_id, live)
    return replace(view, target_live=live)
