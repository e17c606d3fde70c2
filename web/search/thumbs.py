"""A person's own judgement of results, "this is what I asked for" or not: the page's route and the call ``/thumb``.

It is no mark: marks steer the next turn, a thumb changes no search. Nobody is asked in a public demo, where nothing of
a visitor is kept, nor in blind comparisons and studies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

import gradio as gr
from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from annotation.records import LOCAL
from cir_core.errors import CirqueError, SearchError
from cir_core.sessions.service import MOST_PERSON
from cir_core.support.texts import quoted
from cir_core.types.records import SearchSession
from web.http.call_answers import ThumbAnswer
from web.http.calls import Call, name_call, threads
from web.http.json_api import checked_fields
from web.http.public_errors import public_message, status_of
from web.http.request_fields import json_object
from web.http.visitor import Visitor, visitor_of
from web.services import Services

Thumbed = Literal["up", "down", ""]
_UP: Mapping[object, bool | None] = {"up": True, "down": False, "": None}
_FRESH = {"Cache-Control": "no-store"}
_FIELDS = ("session", "turn", "image", "thumb", "who")


def judge_of(visitor: Visitor, who: object) -> str:
    """Whose thumbs the visitor's are: the account's, or without sign-in those of the browser that keeps the id ``who``;
    "" in a public demo."""
    if visitor.demo:
        return ""
    if not visitor.open:
        return visitor.name
    return who[:MOST_PERSON] if isinstance(who, str) and who else LOCAL


def thumbs_shown(session: SearchSession | None, turn_id: str | None, person: str) -> dict[str, list[Any]]:
    """Of each judged image of the turn: ``person``'s own thumb, and how many others say up and down."""
    found: dict[str, list[Any]] = {}
    own: dict[str, Thumbed] = {}
    others: Counter[tuple[str, bool]] = Counter()
    for thumb in session.thumbs_of(turn_id or "") if session else ():
        found[thumb.image_id] = []
        if thumb.person == person:
            own[thumb.image_id] = "up" if thumb.up else "down"
        else:
            others[thumb.image_id, thumb.up] += 1
    return {image: [own.get(image, ""), others[image, True], others[image, False]] for image in found}


def thumb_routes(services: Services) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    @routes.post("/thumbs")
    async def thumb(request: Request) -> JSONResponse:
        """``{"session", "turn", "image", "thumb": "up" | "down" | "", "who"}``, which is stored when this answers."""
        try:
            visitor = visitor_of(request)
            asked = checked_fields(await json_object(request), _FIELDS)
            stored = await run_in_threadpool(
                _judge, services, judge_of(visitor, asked["who"]), *(asked[name] for name in _FIELDS[:4]))
        except CirqueError as error:
            return JSONResponse({"problem": public_message(error)}, status_of(error, 400), _FRESH)
        return JSONResponse(stored, headers=_FRESH)

    return routes


def _judge(services: Services, person: str, session: object, turn: object, image: object, thumb: object) -> ThumbAnswer:
    if not (isinstance(session, str) and isinstance(turn, str) and isinstance(image, str) and image):
        raise SearchError("Give the ids of a session, of a turn and of an image.")
    if not isinstance(thumb, str) or thumb not in _UP:
        raise SearchError(f"{quoted(str(thumb))} is not a thumb. Give up, down, or nothing to remove it.")
    services.search.judge(session, turn, image, person, _UP[thumb])
    return {"session_id": session, "turn_id": turn, "image_id": image, "thumb": thumb}


def thumb_call(services: Services) -> Call:
    """``/thumb``."""

    def thumb(visitor: Visitor, session_id: str, turn_id: str, image_id: str, thumb: str = "up") -> ThumbAnswer:
        """Store whether a result is what its turn asked for. It changes no search.

        Args:
            session_id: The session's id.
            turn_id: The turn whose result it is.
            image_id: The image.
            thumb: "up" for what was asked, "down" for what was not; empty takes it back. The last one counts.

        Returns:
            What is stored now.
        """
        return _judge(services, judge_of(visitor, ""), session_id, turn_id, image_id, thumb)

    return Call(thumb, "search", threads(8))


def wire_thumb(call: Call) -> None:
    """Register ``/thumb`` as a named call. Inside a ``gr.Blocks``."""
    names = ("Session id", "Turn id", "Image id")
    name_call(call, [*(gr.Textbox(label=name, visible=False) for name in names),
                     gr.Textbox("up", label="Thumb: up, down or empty", visible=False)],
              queue=False, show_progress="hidden")
