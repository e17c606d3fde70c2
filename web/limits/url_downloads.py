"""Downloads of images given by URL, limited in number, time and bytes, and counted as uploads.

cirque fetches them itself. Gradio's own downloads use the environment's proxy without checking the host, read each
image whole into memory, and start before permissions and quotas are checked, so they are turned off.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import re
import secrets
import socket
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, MutableSet
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from urllib.parse import unquote

import anyio
import gradio as gr
import httpx
import safehttpx
from gradio import processing_utils
from gradio.utils import get_upload_folder
from starlette.concurrency import run_in_threadpool

from cir_core.errors import CirqueError, StorageError
from cir_core.images.upload_quota import UploadQuota
from web.limits.gradio_limits import TooManyRequests

Validate = Callable[[str], Awaitable[str]]

_MOST_REDIRECTS = 3
# What neither ipaddress of every Python we run on nor safehttpx counts as special: protocol assignments, AS112, AMT and
# 6to4 relays, 6to4, documentation, site-local.
_SPECIAL = tuple(map(ip_network, (
    "192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24", "2001::/23", "2002::/16",
    "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "64:ff9b:1::/48", "100:0:0:1::/64", "fec0::/10")))
_NOT_IN_A_NAME = re.compile(r"[^\w. -]")
_TAKEN = "an image is an http or https URL, a data: URL, or the path that an upload to this server answered."


class ImageRefused(CirqueError):
    """An image that cannot be fetched, or is not delivered as expected."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"Invalid value: {reason}")
        self.reason = reason


@dataclass(frozen=True)
class FetchLimits:
    """``seconds`` for a whole download, redirects included; ``wait``: seconds in the queue; ``in_all`` and ``each``:
    concurrent downloads in total and per person."""

    seconds: float = 60.0
    wait: float = 5.0
    in_all: int = 4
    each: int = 2


class ImageFetcher:
    """Fetches images into Gradio's upload folder. For one event loop.

    ``validate`` returns a public address of a host, or raises ``ValueError``. ``kept`` collects paths of fetched files
    for the cleanup of old uploads.
    """

    def __init__(self, max_upload_mb: int, quota: UploadQuota | None = None, limits: FetchLimits = FetchLimits(),
                 validate: Validate | None = None) -> None:
        self._most, self._quota = max_upload_mb * 2**20, quota or UploadQuota.unlimited()
        self._limits, self._validate = limits, validate or public_address
        self._running: Counter[str] = Counter()
        self._changed = asyncio.Condition()
        self.kept: MutableSet[str] = set()

    async def fetch_image(self, address: str, person: str) -> Path:
        """Fetch an http, https or data: URL into a file; ``discard`` removes it.

        Every byte counts as an upload of ``person``. Raises ``ImageRefused``, and ``TryLater``: ``QuotaExceeded``, or
        ``TooManyRequests`` for too many concurrent downloads.
        """
        if not is_remote(address):
            raise ImageRefused(_TAKEN)
        await run_in_threadpool(self._quota.check, person)
        try:
            if address[:5].lower() == "data:":
                return await self._save(address, person)
            async with self._turn(person):
                return await self._download(address, person)
        finally:
            await run_in_threadpool(self._quota.end_bytes, person)

    async def discard(self, image: Path) -> None:
        """Remove a fetched file that is no longer needed."""
        await run_in_threadpool(_remove, image)
        self.kept.discard(str(image))

    @contextlib.asynccontextmanager
    async def _turn(self, person: str) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._limits.wait), self._changed:
                await self._changed.wait_for(lambda: self._has_room(person))
                self._running[person] += 1
        except TimeoutError:
            raise TooManyRequests("Too many images are being fetched by URL at the moment. Try again in a moment, or "
                                  "upload the image.", 10) from None
        try:
            yield
        finally:
            self._running[person] -= 1
            if not self._running[person]:
                del self._running[person]
            async with self._changed:
                self._changed.notify_all()

    def _has_room(self, person: str) -> bool:
        return self._running.total() < self._limits.in_all and self._running[person] < self._limits.each

    async def _download(self, address: str, person: str) -> Path:
        try:
            async with asyncio.timeout(self._limits.seconds) as limit:
                return await self._follow(address, person)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError, OverflowError):
            if limit.expired():
                raise ImageRefused(f"the image did not arrive within {self._limits.seconds:g} seconds.") from None
            raise ImageRefused("the image could not be fetched from its URL. Check the URL, or upload the image."
                               ) from None

    async def _follow(self, address: str, person: str) -> Path:
        url = httpx.URL(address)
        for _ in range(1 + _MOST_REDIRECTS):
            async with self._answer(url) as response:
                if not response.has_redirect_location:
                    return await self._body(url, response, person)
                url = url.join(response.headers["Location"])
        raise ImageRefused(f"the image's URL redirects more than {_MOST_REDIRECTS} times.")

    @contextlib.asynccontextmanager
    async def _answer(self, url: httpx.URL) -> AsyncIterator[httpx.Response]:
        if url.scheme not in ("http", "https") or not url.host or not 0 < (url.port or 80) < 2**16:
            raise ImageRefused(_TAKEN)
        try:
            public = await self._validate(url.host)
        except ValueError:
            raise ImageRefused("the host of the image's URL is not known, or has no public address.") from None
        async with (
            # By that address and no other, whatever names and proxies the environment knows.
            httpx.AsyncClient(transport=safehttpx.AsyncSecureTransport(public), trust_env=False) as client,
            client.stream("GET", url, headers={"Accept-Encoding": "identity"}, follow_redirects=False) as response,
        ):
            yield response

    async def _body(self, url: httpx.URL, response: httpx.Response, person: str) -> Path:
        if response.status_code != 200:
            raise ImageRefused(f"the server of the image's URL answered with status {response.status_code}.")
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("identity", ""):
            raise ImageRefused("the image was sent with a content encoding, which is not supported.")
        length = response.headers.get("content-length", "")
        if length.isascii() and length.isdigit() and int(length[:20]) > self._most:
            raise self._too_large()
        return await self._write(_name(unquote(url.path)), response.aiter_raw(), person)

    async def _save(self, address: str, person: str) -> Path:
        head, comma, encoded = address.partition(",")
        try:
            if not comma or not head.lower().endswith(";base64"):
                raise ValueError
            content = base64.b64decode(encoded)
        except ValueError:
            raise ImageRefused("an image in a data: URL is written as “data:image/png;base64,” followed by its "
                               "bytes in base64.") from None

        async def whole() -> AsyncIterator[bytes]:
            yield content

        kind = head[5:].partition(";")[0].lower()
        return await self._write(f"image.{_ENDINGS.get(kind, 'png')}", whole(), person)

    async def _write(self, name: str, pieces: AsyncIterator[bytes], person: str) -> Path:
        # A folder of its own, as Gradio makes one for each upload.
        path, came = Path(get_upload_folder()) / secrets.token_hex(32) / name, 0
        try:
            await run_in_threadpool(path.parent.mkdir, parents=True)
            async with await anyio.open_file(path, "xb") as file:
                async for piece in pieces:
                    came += len(piece)
                    if came > self._most:
                        raise self._too_large()
                    self._quota.add_bytes(person, len(piece))
                    await file.write(piece)
        except BaseException as error:
            _remove(path)   # at once: when cancelled, nothing can be waited for
            if isinstance(error, OSError):
                raise StorageError(f"The folder of uploads, {path.parent.parent}, cannot be written "
                                   f"({error.strerror or error}). Free its disk, or set GRADIO_TEMP_DIR to another "
                                   "folder.") from error
            raise
        self.kept.add(str(path))
        return path

    def _too_large(self) -> ImageRefused:
        return ImageRefused(f"the image is larger than {self._most // 2**20} MB.")


_ENDINGS = {"image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif", "image/avif": "avif", "image/bmp": "bmp",
            "image/tiff": "tiff"}


async def public_address(host: str) -> str:
    """The first public address of ``host``. Raises ``ValueError`` if it has none.

    Unlike ``safehttpx.async_validate_url``, makes no second look-up that would send internal host names to a public
    service through the environment's proxy.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise ValueError(f"{host} is not known") from None
    for *_, (address, *_) in found:
        if is_public(str(address)):
            return str(address)
    raise ValueError(f"{host} has no public address")


def is_public(address: str) -> bool:
    """Whether ``address`` is of a host on the internet, and of no network with a special purpose (IANA's registries of
    IPv4 and IPv6): packets for those may end on this machine, or in its own network."""
    return safehttpx.is_public_ip(address) and ip_address(address).is_global and not any(
        ip_address(address) in network for network in _SPECIAL)


def is_remote(address: str) -> bool:
    """Whether an image must be fetched or is embedded in its URL."""
    return address[:8].lower().startswith(("http://", "https://", "data:"))


def is_upload(path: str) -> bool:
    """Whether ``path`` is a file in Gradio's upload folder. Reads the disk."""
    try:
        found = Path(path).resolve()
        return found.is_relative_to(Path(get_upload_folder()).resolve()) and found.is_file()
    except (OSError, ValueError, RuntimeError):   # too long, a zero byte, a loop of links
        return False


def check_upload(path: str) -> None:
    """Raises ``ImageRefused`` for paths that are not uploads. Reads the disk."""
    if not is_upload(path):
        raise ImageRefused(_TAKEN)


def turn_off_gradios_downloads() -> None:
    """Make Gradio's own downloads fail before any request, for all apps of this process."""
    processing_utils.async_transport = _NoDownloads()   # type: ignore[assignment]


class _NoDownloads(httpx.AsyncBaseTransport):
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        raise gr.Error("An image by URL can be given only to calls that take images.", print_exception=False)


def _name(path: str) -> str:
    return _NOT_IN_A_NAME.sub("", Path(path).name)[-60:].lstrip(". ") or "image"   # no more than 240 bytes


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
        path.parent.rmdir()
