"""Bounded downloads of images that a named call gives by URL.

Gradio fetches them, and reads each whole into memory, however long it is. It sends its requests over the transport that
is put in here, which fetches from public addresses alone, as its own does, and stops after as many bytes as an upload
may have.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.request import getproxies, proxy_bypass

import httpx
import safehttpx
from gradio import processing_utils


def bound_downloads(max_upload_mb: int) -> None:
    """For all apps of this process."""
    processing_utils.async_transport = PublicTransport(max_upload_mb * 2**20)   # type: ignore[assignment]


class PublicTransport(httpx.AsyncBaseTransport):
    """Sends each request to a public address of its host, or through the proxy of the environment.

    Raises ``ValueError`` for a host without one, ``httpx.ReadError`` for an answer that is compressed or longer than
    ``most_bytes``.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        host = request.url.host
        proxy = None if proxy_bypass(host) else getproxies().get(request.url.scheme) or getproxies().get("all")
        carrier = (httpx.AsyncHTTPTransport(proxy=proxy) if proxy else
                   safehttpx.AsyncSecureTransport(await safehttpx.async_validate_url(host)))
        request.headers["Accept-Encoding"] = "identity"
        response = await carrier.handle_async_request(request)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("identity", ""):
            await response.stream.aclose()
            raise httpx.ReadError("The image came compressed.")
        response.stream = _Bounded(response.stream, self._most, carrier)
        return response


class _Bounded(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, most_bytes: int, carrier: httpx.AsyncBaseTransport) -> None:
        self._inner, self._most, self._carrier = inner, most_bytes, carrier

    async def __aiter__(self) -> AsyncIterator[bytes]:
        came = 0
        async for piece in self._inner:
            came += len(piece)
            if came > self._most:
                raise httpx.ReadError(f"The image is larger than {self._most // 2**20} MB.")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()
        await self._carrier.aclose()
