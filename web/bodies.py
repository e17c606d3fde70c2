"""What a request brings: small JSON objects and small forms."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request

from cir_core.errors import CirqueError

_MOST_BYTES = 64 * 1024


class Unreadable(CirqueError):
    """A request that is not what is taken here."""


async def json_object(request: Request) -> dict[str, Any]:
    """The object in a JSON body. Raises ``Unreadable``.

    Only what calls itself JSON is read: forms of other sites cannot say so.
    """
    if not is_json(request):
        raise Unreadable("Send JSON, with Content-Type: application/json.")
    try:
        value = json.loads(await _body(request))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Unreadable("The body is no JSON object.")
    return value


async def form(request: Request) -> dict[str, str]:
    """The fields of an HTML form; the last one counts where a name comes twice. Raises ``Unreadable``."""
    try:
        return dict(parse_qsl((await _body(request)).decode(), keep_blank_values=True, max_num_fields=20))
    except ValueError as error:
        raise Unreadable("This is no form that can be read. Open the page again.") from error


def is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


async def _body(request: Request) -> bytes:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _MOST_BYTES:
            raise Unreadable(f"More than {_MOST_BYTES // 1024} kB came. Send less.")
    return body
