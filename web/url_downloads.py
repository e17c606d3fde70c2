"""Bounded downloads of images that a named call gives by URL.

Gradio fetches them, and reads each whole into memory, however long it is. It sends its requests over the transport that
is put in here, which fetches from public addresses alone, as its own does, and stops after as many bytes as an upload
may have, and after a minute: httpx bounds each wait for a byte, and no number of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import TypeVar
from urllib.request import getproxies, proxy_bypass

import httpx
import safehttpx
from gradio import processing_utils

_SECONDS = 60.0   # that a request may take, with all of its answer
_T = TypeVar("_T")


def bound_downloads(max_upload_mb: int, seconds: float = _SECONDS) -> None:
    """For all apps of this process."""
    transport = PublicTransport(max_upload_mb * 2**20, seconds)
    processing_utils.async_transport = transport   # type: ignore[assignment]


class PublicTransport(httpx.AsyncBaseTransport):
    """Sends each request to a public address of its host, or through the proxy of the environment.

    Raises ``ValueError`` for a host without one, ``httpx.ReadError`` for an answer that is compressed, longer than
    ``most_bytes``, or not complete ``seconds`` after the request.
    """

    def __init__(self, most_bytes: int, seconds: float = _SECONDS) -> None:
        self._most, self._seconds = most_bytes, seconds

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        deadline = _Deadline(self._seconds)
        host = request.url.host
        proxy = None if proxy_bypass(host) else getproxies().get(request.url.scheme) or getproxies().get("all")
        carrier = (httpx.AsyncHTTPTransport(proxy=proxy) if proxy else
                   safehttpx.AsyncSecureTransport(await deadline.of(safehttpx.async_validate_url(host))))
        try:
            request.headers["Accept-Encoding"] = "identity"
            response = await deadline.of(carrier.handle_async_request(request))
            assert isinstance(response.stream, httpx.AsyncByteStream)
            response.stream = _Bounded(response.stream, self._most, deadline, carrier)
            if response.headers.get("content-encoding", "identity").strip().lower() not in ("identity", ""):
                await response.stream.aclose()
                raise httpx.ReadError("The image came compressed.")
        except BaseException:
            await carrier.aclose()
            raise
        return response


class _Deadline:
    """``seconds`` from now on, for everything that is awaited through it. Raises ``httpx.ReadError`` after them."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._at = seconds, asyncio.get_running_loop().time() + seconds

    async def of(self, work: Awaitable[_T]) -> _T:
        try:
            async with asyncio.timeout_at(self._at) as limit:
                return await work
        except TimeoutError:
            if not limit.expired():
                raise
            raise httpx.ReadError(f"The image did not arrive within {self._seconds:g} seconds.") from None


class _Bounded(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, most_bytes: int, deadline: _Deadline,
                 carrier: httpx.AsyncBaseTransport) -> None:
        self._inner, self._most, self._deadline, self._carrier = inner, most_bytes, deadline, carrier

    async def __aiter__(self) -> AsyncIterator[bytes]:
        came, pieces = 0, aiter(self._inner)
        while (piece := await self._deadline.of(anext(pieces, None))) is not None:
            came += len(piece)
            if came > self._most:
                raise httpx.ReadError(f"The image is larger than {self._most // 2**20} MB.")
            yield piece

    async def aclose(self) -> None:
        try:
            await self._inner.aclose()
        finally:
            await self._carrier.aclose()
