"""Calls for programs as plain HTTP routes: ``POST /api/NAME`` with the arguments as a JSON object, the answer as JSON,
and their OpenAPI description at ``/api/openapi.json``. They keep no state between requests, so any process of an
installation can answer any of them.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import Response

from cir_core.errors import CirqueError
from cir_core.version import __version__
from web.http.call_answers import Refusal
from web.http.calls import BadArguments, Call, Caller, untitled
from web.http.json_api import Endpoint, refused, reply
from web.http.public_errors import public_message
from web.http.request_fields import MOST_AT_WORK, TooLarge, Unreadable, json_object
from web.http.visitor import visitor_of
from web.limits.url_downloads import ImageRefused

_REFUSALS = {"400": "the request cannot be carried out", "401": "not signed in", "403": "not allowed to this role",
             "413": "more than a megabyte", "422": "an invalid argument or image",
             "429": "too many calls, uploads or downloads; Retry-After says when to try again",
             "503": "the server is stopping, or its storage is unavailable; try again"}


def call_routes(caller: Caller) -> APIRouter:
    routes = APIRouter()
    described = openapi(list(caller.calls.values()))

    async def description(request: Request) -> Response:
        return reply(described)

    routes.add_route("/api/openapi.json", description, ["GET"], include_in_schema=False)
    for call in caller.calls.values():
        routes.add_route(f"/api/{call.name}", _endpoint(caller, call), ["POST"], include_in_schema=False)
    return routes


def _endpoint(caller: Caller, call: Call) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        try:
            visitor = visitor_of(request)
            return reply(await caller.answer(call, visitor, await json_object(request, MOST_AT_WORK)))
        except TooLarge as error:
            return _refused(error, 413)
        except (BadArguments, ImageRefused) as error:
            return _refused(error, 422)
        except Unreadable as error:
            return _refused(error, 400)
        except CirqueError as error:
            return refused(error)

    return endpoint


def _refused(error: CirqueError, status: int) -> Response:
    return reply({"problem": public_message(error), "kind": "other"}, status)


def openapi(calls: list[Call]) -> dict[str, Any]:
    """OpenAPI 3.1 of the plain routes of ``calls``, and of nothing else."""
    parts: list[tuple[tuple[str, str], Any, TypeAdapter[Any]]] = [
        (("Refusal", "answer"), "serialization", TypeAdapter(Refusal))]
    for call in calls:
        parts += [((call.name, "arguments"), "validation", TypeAdapter(call.arguments)),
                  ((call.name, "answer"), "serialization", call.answer)]
    schemas, found = TypeAdapter.json_schemas(parts, ref_template="#/components/schemas/{model}")
    of = {key: untitled(schema) for (key, _), schema in schemas.items()}

    def content(schema: Any) -> dict[str, Any]:
        return {"content": {"application/json": {"schema": schema}}}

    paths = {f"/api/{call.name}": {"post": {
        "operationId": call.name, "summary": call.doc.description.partition(". ")[0].rstrip("."),
        "description": call.doc.description,
        "requestBody": {"required": True, **content(of[call.name, "arguments"])},
        "responses": {"200": {"description": call.doc.returns, **content(of[call.name, "answer"])},
                      **{status: {"description": why, **content(of["Refusal", "answer"])}
                         for status, why in _REFUSALS.items()}},
    }} for call in calls}
    return {"openapi": "3.1.0", "info": {"title": "cirque", "version": __version__}, "paths": paths,
            "components": {"schemas": untitled(found.get("$defs", {}))}}
