"""What a request brings: small JSON objects and small forms."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import orjson
from starlette.requests import ClientDisconnect, Request

from cir_core.errors import CirqueError

_MOST_BYTES = 64 * 1024   # of what strangers may send


class Unreadable(CirqueError):
    """A request that is not what is taken here."""


class TooLarge(Unreadable):
    """A body of more bytes than are read here."""


async def json_object(request: Request, most_bytes: int = _MOST_BYTES) -> dict[str, Any]:
    """The object in a JSON body. Raises ``Unreadable``, or ``TooLarge``.

    Only what calls itself JSON is read: forms of other sites cannot say so.
    """
    if not is_json(request):
        raise Unreadable("Send this as JSON, with Content-Type: application/json.")
    try:
        value = orjson.loads(await _body(request, most_bytes))
    except orjson.JSONDecodeError:
        raise Unreadable("This call has no JSON that can be read. Reload the page.") from None
    if not isinstance(value, dict):
        raise Unreadable("This call must be a JSON object. Reload the page.")
    return value


async def form(request: Request) -> dict[str, str]:
    """The fields of an HTML form; the last one counts where a name comes twice. Raises ``Unreadable``."""
    try:
        return dict(parse_qsl((await _body(request, _MOST_BYTES)).decode(), keep_blank_values=True, max_num_fields=20))
    except ValueError as error:
        raise Unreadable("This is no form that can be read. Open the page again.") from error


def is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


async def _body(request: Request, most_bytes: int) -> bytes:
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > most_bytes:
                raise TooLarge(f"More than {most_bytes // 1024:,} kB came. Send less.")
    except ClientDisconnect:   # nobody hears this; what came is a part of something
        raise Unreadable("Not all of this call came. Send it again.") from None
    return bytes(body)
