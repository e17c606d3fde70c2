"""Error responses for malformed requests, in cirque's format."""

from __future__ import annotations

import logging

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from gradio.route_utils import FnIndexInferError
from starlette.requests import Request
from starlette.responses import Response

from web.http.json_api import reply
from web.http.request_ids import request_id

_log = logging.getLogger("cirque.requests")
_NAMED, _LONGEST = 3, 200      # places, and characters of them
_CHECK = "Check it against docs/api.md, or reload the page."
# What Gradio raises while it looks up what was asked for. What cirque's functions raise ends in event_errors.
_NOT_FOUND = (FnIndexInferError, KeyError, TypeError, AttributeError)


def handle_malformed_requests(app: FastAPI) -> None:
    """Install handlers on ``app`` and its mounted apps.

    FastAPI's own response quotes the input, which fails for NaN and lone surrogates and would turn a client's mistake
    into a server error. Gradio does not handle unknown endpoints or fields, or uploads without a file.
    """
    mounted = [inner for route in app.routes if isinstance(inner := getattr(route, "app", None), FastAPI)]
    for one in (app, *mounted):
        one.add_exception_handler(RequestValidationError, _refused)
    for one in mounted:
        for kind in _NOT_FOUND:
            one.add_exception_handler(kind, _unknown)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    where = [".".join(map(str, one["loc"])) for one in list(error.errors())[:_NAMED]]
    named = ", ".join(where).encode("ascii", "replace").decode()[:_LONGEST]
    problem = f"This call cannot be read ({named or 'its body'}). {_CHECK}"
    return reply({"problem": problem, "kind": "other"}, 422)


async def _unknown(request: Request, error: Exception) -> Response:
    if request.method != "POST":   # a page or a list brings nothing that could be wrong
        raise error
    _log.warning("Request %s was refused: Gradio found no call for it (%s).", request_id(), type(error).__name__,
                 exc_info=_log.isEnabledFor(logging.DEBUG))
    problem = f"There is no such call, or it takes other values. {_CHECK}"
    return reply({"problem": problem, "kind": "other", "error": problem}, 404)
