"""Thumbs on results: the page's route, what is drawn of them, and whose they are."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from annotation.accounts.roles import may
from cir_core.errors import SearchError, UnknownImage, UnknownSession
from tests.fakes.colours import NAME
from web.http.visitor import LOCAL_VISITOR, Visitor
from web.search.actions.base import arrive, begin, perform
from web.search.screen import Screen
from web.search.thumbs import judge_of, thumb_routes
from web.search.view import UiState

ANN = Visitor("Ann", "researcher", may("researcher"), open=False)


def searched(services: Any, text: str = "red", view: UiState | None = None) -> UiState:
    view = view or UiState(gallery=NAME, reference_id="r0g3b0", judge="me",
                           method=services.methods["text-only"].settings)
    _, job = begin(services, view, "search", {"text": text})
    return job()


@pytest.fixture
def view(services: Any) -> UiState:
    return searched(services)


@pytest.fixture
def screen(services: Any) -> Screen:
    services.runs = services.judges = None
    return Screen(services)


def drawn(screen: Screen, view: UiState) -> Any:
    """What the page is told of thumbs: None where nobody is asked."""
    state = screen.draw(view)[1]["state"]
    found = re.search(r'data-thumbs="([^"]*)"', state)
    return found and json.loads(found[1].replace("&#34;", '"'))


def top(services: Any, view: UiState, count: int = 3) -> list[str]:
    turn = services.search.session(view.session_id).turn(view.turn_id)
    return [hit.image_id for hit in turn.hits[:count]]


def asks(services: Any, visitor: Visitor = LOCAL_VISITOR) -> TestClient:
    app = FastAPI()
    app.include_router(thumb_routes(services))

    @app.middleware("http")
    async def signed_in(request: Any, go_on: Any) -> Any:
        request.state.visitor = visitor
        return await go_on(request)

    return TestClient(app)


def sent(view: UiState, image: str, thumb: object = "up", who: object = "me") -> dict[str, object]:
    return {"session": view.session_id, "turn": view.turn_id, "image": image, "thumb": thumb, "who": who}


def test_a_thumb_is_stored_shown_again_and_taken_back(services: Any, view: UiState, screen: Screen) -> None:
    page, (one, two, three) = asks(services), top(services, view)
    for image, thumb in ((one, "up"), (two, "down"), (three, "up"), (three, "")):
        answer = page.post("/thumbs", json=sent(view, image, thumb))
        assert answer.status_code == 200 and answer.json()["thumb"] == thumb
    assert drawn(screen, view) == {one: ["up", 0, 0], two: ["down", 0, 0]}
    # Loaded again, in the same browser and in another one, which sees them as somebody else's.
    again = arrive(services, UiState(gallery=NAME, judge="me"), {"session": view.session_id}, {})
    assert drawn(screen, again) == {one: ["up", 0, 0], two: ["down", 0, 0]}
    assert drawn(screen, UiState(**vars(again) | {"judge": "another"})) == {one: ["", 1, 0], two: ["", 0, 1]}
    # The next turn has its own; the one before has them still.
    after = searched(services, "green", view)
    assert drawn(screen, after) == {}
    assert drawn(screen, perform(services, after, "back", {})) == {one: ["up", 0, 0], two: ["down", 0, 0]}


def test_a_changed_mind_replaces(services: Any, view: UiState, screen: Screen) -> None:
    page, [image] = asks(services), top(services, view, 1)
    for thumb, who in (("up", "me"), ("up", "you"), ("down", "me")):
        page.post("/thumbs", json=sent(view, image, thumb, who)).raise_for_status()
    assert drawn(screen, view) == {image: ["down", 1, 0]}
    assert len(services.search.session(view.session_id).thumbs) == 2


def test_results_are_not_sent_again_for_a_thumb(services: Any, view: UiState, screen: Screen) -> None:
    view, _ = screen.draw(view)
    services.search.judge(view.session_id, view.turn_id, *top(services, view, 1), "me", True)
    assert set(screen.draw(view)[1]) == {"state"}


def test_an_image_further_down_than_what_is_stored_can_be_judged(services: Any, view: UiState) -> None:
    session = services.search.session(view.session_id)
    shown = {hit.image_id for hit in session.turns[0].hits}
    further = [one for one in services.search.gallery(NAME).ids if one not in shown]   # the reference, excluded
    services.search.judge(session.session_id, session.turns[0].turn_id, further[0], "me", False)
    assert services.search.session(view.session_id).thumbs[0].image_id == further[0]


@pytest.mark.parametrize(("change", "said"), [
    ({"thumb": "sideways"}, "Give up, down"), ({"thumb": True}, "Give up, down"), ({"thumb": ["up"]}, "Give up, down"),
    ({"image": "no such image"}, "No image"), ({"image": ""}, "of an image"), ({"image": {}}, "of an image"),
    ({"turn": "elsewhere"}, "not part of this session"), ({"session": "elsewhere"}, "No search session"),
    ({"who": "a\0b"}, "cannot be stored"),
])
def test_what_is_refused_stores_nothing(services: Any, view: UiState, change: dict[str, object], said: str) -> None:
    [image] = top(services, view, 1)
    answer = asks(services).post("/thumbs", json=sent(view, image) | change)
    assert 400 <= answer.status_code < 500 and said in answer.json()["problem"]
    assert services.search.session(view.session_id).thumbs == ()


def test_a_field_too_few_or_too_many_is_refused(services: Any, view: UiState) -> None:
    whole = sent(view, *top(services, view, 1))
    for wrong in ({name: value for name, value in whole.items() if name != "thumb"}, whole | {"up": True}):
        assert asks(services).post("/thumbs", json=wrong).status_code == 400
    assert services.search.session(view.session_id).thumbs == ()


def test_with_accounts_a_thumb_is_the_account_s(services: Any, view: UiState) -> None:
    asks(services, ANN).post("/thumbs", json=sent(view, *top(services, view, 1), who="Bo")).raise_for_status()
    assert [thumb.person for thumb in services.search.session(view.session_id).thumbs] == ["Ann"]


@pytest.mark.parametrize(("visitor", "who", "judge"), [
    (LOCAL_VISITOR, "0123", "0123"), (LOCAL_VISITOR, "", "local"), (LOCAL_VISITOR, None, "local"),
    (LOCAL_VISITOR, {"a": 1}, "local"), (LOCAL_VISITOR, "x" * 100, "x" * 64), (ANN, "0123", "Ann"), (ANN, None, "Ann"),
    (Visitor("visitor-1", "researcher", frozenset({"search"}), open=False, demo=True), "0123", ""),
])
def test_whose_thumbs_they_are(visitor: Visitor, who: object, judge: str) -> None:
    assert judge_of(visitor, who) == judge


def test_nobody_is_asked_in_a_public_demo(services: Any, view: UiState, screen: Screen) -> None:
    assert drawn(screen, UiState(**vars(view) | {"judge": "", "demo": True})) is None
    with pytest.raises(SearchError, match="Reload"):
        services.search.judge(view.session_id, view.turn_id, *top(services, view, 1), "", True)


def test_the_service_refuses_what_is_not_there(services: Any, view: UiState) -> None:
    [image] = top(services, view, 1)
    for session, turn, shown, error in (
            ("x", view.turn_id, image, UnknownSession), (view.session_id, "x", image, UnknownSession),
            (view.session_id, view.turn_id, "x", UnknownImage)):
        with pytest.raises(error):
            services.search.judge(session, turn, shown, "me", True)
    services.search.judge(view.session_id, view.turn_id, "x", "me", None)    # nothing to take back
