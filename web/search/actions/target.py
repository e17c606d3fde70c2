"""Actions of find-a-target mode."""

from __future__ import annotations

from dataclasses import replace

from cir_core.errors import SearchError
from cir_core.sessions.service import SearchService
from cir_core.support.texts import quoted
from web.search.actions.parts import fresh, session_of
from web.search.inputs import Data, text_of
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
    session = session_of(service, view)
    if session.target_id is None:
        raise SearchError("This session has no target. Start one with “Find a target”.")
    if text_of(data, "image") != session.target_id:
        return replace(view, notice="Close, but that is a different image. Keep looking.")
    service.reveal_target(session.session_id)
    return replace(view, notice="Correct. Your ranks are shown below the target.")


def give_up(service: SearchService, view: UiState, data: Data) -> UiState:
    service.reveal_target(session_of(service, view).session_id)
    return view


def set_live(service: SearchService, view: UiState, data: Data) -> UiState:
    live = data.get("on") is True
    if view.session_id is not None:
        service.set_target_live(view.session_id, live)
    return replace(view, target_live=live)
