"""Fields of a request: its body within limits of size and time, and values of its query parameters.

web.limits.connections closes stalled connections.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import parse_qsl

import orjson
from starlette.requests import ClientDisconnect, Request

from cir_core.errors import CirqueError
from cir_core.support.texts import quoted

MOST_AT_WORK = 2**20       # bytes of a call; up to here the study says what is too long
_MOST_BYTES = 64 * 1024   # of what strangers may send
_BODY_SECONDS = 60.0       # that any body may take,
_BODY_RATE = 10_000        # plus one for so many bytes of the largest body that is allowed


class Unreadable(CirqueError):
    """A request with an unreadable body."""


class TooLarge(Unreadable):
    """A request with a body above the limit."""


async def json_object(request: Request, most_bytes: int = _MOST_BYTES) -> dict[str, Any]:
    """The object in a JSON body. Raises ``Unreadable``, or ``TooLarge``.

    Only bodies declared as JSON are read, which forms on other sites cannot send.
    """
    if not is_json(request):
        raise Unreadable("Send this as JSON, with Content-Type: application/json.")
    try:
        value = orjson.loads(await whole_body(request, most_bytes))
    except orjson.JSONDecodeError:
        raise Unreadable("The body of this call is not valid JSON. Reload the page.") from None
    if not isinstance(value, dict):
        raise Unreadable("This call must be a JSON object. Reload the page.")
    return value


async def form(request: Request) -> dict[str, str]:
    """Fields of an HTML form; the last of repeated names counts. Raises ``Unreadable``."""
    try:
        body = await whole_body(request, _MOST_BYTES)
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=20))
    except ValueError as error:
        raise Unreadable("The form could not be read. Open the page again.") from error


def is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


async def whole_body(request: Request, most_bytes: int) -> bytes:
    """The whole body. Raises ``TooLarge``, or ``Unreadable`` if it is incomplete or too slow."""
    if says_more_than(request, most_bytes):
        raise _too_large(most_bytes)
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_SECONDS + most_bytes / _BODY_RATE):
            async for piece in request.stream():
                body += piece
                if len(body) > most_bytes:
                    raise _too_large(most_bytes)
    except ClientDisconnect:   # nobody hears this; what came is a part of something
        raise Unreadable("The request was incomplete. Send it again.") from None
    except TimeoutError:
        raise Unreadable("The request was sent too slowly. Send it again.") from None
    return bytes(body)


def says_more_than(request: Request, most_bytes: int) -> bool:
    """Whether the declared Content-Length exceeds the limit. Chunked requests declare none."""
    said = request.headers.get("content-length", "")
    return said.isascii() and said.isdigit() and int(said[:20]) > most_bytes


def _too_large(most_bytes: int) -> TooLarge:
    return TooLarge(f"The request is larger than {most_bytes // 1024:,} kB. Send less.")


def whole(query: Mapping[str, str], name: str, usual: int, *, least: int = 0, most: int = 10**15) -> int:
    """A whole number within bounds. Raises ``CirqueError``."""
    text = query.get(name, str(usual)).strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 16 and least <= int(text) <= most):
        raise CirqueError(f"“{name}” must be a whole number from {least:,} to {most:,}, not {quoted(text)}.")
    return int(text)


def real(query: Mapping[str, str], name: str, usual: float, *, least: float, most: float) -> float:
    """A number within bounds. Raises ``CirqueError``."""
    text = query.get(name, str(usual))
    try:
        number = float(text)
    except ValueError:
        number = least - 1
    if not least <= number <= most:     # nan is outside too
        raise CirqueError(f"“{name}” must be a number from {least:g} to {most:g}, not {quoted(text)}.")
    return number


def one_of(query: Mapping[str, str], name: str, choices: Collection[str], usual: str) -> str:
    """One of ``choices``. Raises ``CirqueError``."""
    text = query.get(name, usual)
    if text not in choices:
        raise CirqueError(f"“{name}” must be one of {', '.join(choices)}, not {quoted(text)}.")
    return text
