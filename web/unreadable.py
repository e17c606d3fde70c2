"""Calls whose content cannot be read at all, in the form in which cirque refuses."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.requests import Request
from starlette.responses import Response

from web.json_calls import reply

_NAMED, _LONGEST = 3, 200      # places, and characters of them


def say_what_cannot_be_read(app: FastAPI) -> None:
    """For ``app`` and what is mounted in it.

    FastAPI's own answer quotes what was sent. That fails with numbers that JSON does not have (NaN) and with halves of
    characters, so that a mistake of whoever calls would be an error of the server.
    """
    for one in (app, *(inner for route in app.routes if isinstance(inner := getattr(route, "app", None), FastAPI))):
        one.add_exception_handler(RequestValidationError, _refused)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    where = [".".join(map(str, one["loc"])) for one in list(error.errors())[:_NAMED]]
    named = ", ".join(where).encode("ascii", "replace").decode()[:_LONGEST]
    problem = f"This call cannot be read ({named or 'its body'}). Check it against docs/api.md, or reload the page."
    return reply({"problem": problem, "kind": "other"}, 422)
