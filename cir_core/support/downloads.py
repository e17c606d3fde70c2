"""Downloads of images given by URL: from hosts of the internet alone, bounded in time and bytes.

Somebody else wrote the address: it must not make this machine ask one in its own network.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote

import httpx
import safehttpx

from cir_core.errors import CirqueError

Validate = Callable[[str], Awaitable[str]]
_Result = TypeVar("_Result")

TAKEN = "an image is an http or https URL, a data: URL, or the path that an upload to this server answered."
_MOST_REDIRECTS = 3
# What neither ipaddress of every Python we run on nor safehttpx counts as special: protocol assignments, AS112, AMT and
# 6to4 relays, 6to4, documentation, site-local.
_SPECIAL = tuple(map(ip_network, (
    "192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24", "2001::/23", "2002::/16",
    "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "64:ff9b:1::/48", "100:0:0:1::/64", "fec0::/10")))
_UNKNOWN = "is not known"       # or the network is away
_NOT_IN_A_NAME = re.compile(r"[^\w. -]")


class ImageRefused(CirqueError):
    """An image that cannot be fetched, or is not delivered as expected. ``again``: another try may succeed."""

    def __init__(self, reason: str, *, again: bool = False) -> None:
        super().__init__(f"Invalid value: {reason}")
        self.reason, self.again = reason, again


async def download(
    address: str, receive: Callable[[str, AsyncIterator[bytes]], Awaitable[_Result]], *, most: int, seconds: float,
    validate: Validate,
) -> _Result:
    """What ``receive`` makes of a file's name and content, which it reads to its end.

    ``most``: bytes that the server may announce; ``seconds`` for all, redirects included; ``validate`` returns a public
    address of a host, or raises ``ValueError``. Raises ``ImageRefused``.
    """
    try:
        async with asyncio.timeout(seconds) as limit:
            return await _follow(address, receive, most, validate)
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError, OverflowError) as error:
        if limit.expired():
            raise ImageRefused(f"the image did not arrive within {seconds:g} seconds.", again=True) from None
        raise ImageRefused("the image could not be fetched from its URL. Check the URL, or upload the image.",
                           again=isinstance(error, httpx.TransportError | OSError)) from None


async def _follow(
    address: str, receive: Callable[[str, AsyncIterator[bytes]], Awaitable[_Result]], most: int, validate: Validate,
) -> _Result:
    url = httpx.URL(address)
    for _ in range(1 + _MOST_REDIRECTS):
        async with _answer(url, validate) as response:
            if not response.has_redirect_location:
                _check(response, most)
                return await receive(_name(unquote(url.path)), response.aiter_raw())
            url = url.join(response.headers["Location"])
    raise ImageRefused(f"the image's URL redirects more than {_MOST_REDIRECTS} times.")


@contextlib.asynccontextmanager
async def _answer(url: httpx.URL, validate: Validate) -> AsyncIterator[httpx.Response]:
    if url.scheme not in ("http", "https") or not url.host or not 0 < (url.port or 80) < 2**16:
        raise ImageRefused(TAKEN)
    try:
        public = await validate(url.host)
    except ValueError as error:
        raise ImageRefused("the host of the image's URL is not known, or has no public address.",
                           again=str(error).endswith(_UNKNOWN)) from None
    async with (
        # By that address and no other, whatever names and proxies the environment knows.
        httpx.AsyncClient(transport=safehttpx.AsyncSecureTransport(public), trust_env=False) as client,
        client.stream("GET", url, headers={"Accept-Encoding": "identity"}, follow_redirects=False) as response,
    ):
        yield response


def _check(response: httpx.Response, most: int) -> None:
    status = response.status_code
    if status != 200:
        raise ImageRefused(f"the server of the image's URL answered with status {status}.",
                           again=status in (408, 425, 429) or status >= 500)
    if response.headers.get("content-encoding", "identity").strip().lower() not in ("identity", ""):
        raise ImageRefused("the image was sent with a content encoding, which is not supported.")
    length = response.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and int(length[:20]) > most:
        raise too_large(most)


def too_large(most: int) -> ImageRefused:
    return ImageRefused(f"the image is larger than {most // 2**20} MB.")


async def public_address(host: str) -> str:
    """The first public address of ``host``. Raises ``ValueError`` if it has none.

    Unlike ``safehttpx.async_validate_url``, makes no second look-up that would send internal host names to a public
    service through the environment's proxy.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise ValueError(f"{host} {_UNKNOWN}") from None
    for *_, (address, *_) in found:
        if is_public(str(address)):
            return str(address)
    raise ValueError(f"{host} has no public address")


def is_public(address: str) -> bool:
    """Whether ``address`` is of a host on the internet, and of no network with a special purpose (IANA's registries of
    IPv4 and IPv6): packets for those may end on this machine, or in its own network."""
    return safehttpx.is_public_ip(address) and ip_address(address).is_global and not any(
        ip_address(address) in network for network in _SPECIAL)


def _name(path: str) -> str:
    return _NOT_IN_A_NAME.sub("", Path(path).name)[-60:].lstrip(". ") or "image"   # no more than 240 bytes
