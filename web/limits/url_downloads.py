"""Downloads of images given by URL, limited in number, time and bytes, and counted as uploads.

cirque fetches them itself. Gradio's own downloads use the environment's proxy without checking the host, read each
image whole into memory, and start before permissions and quotas are checked, so they are turned off.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import secrets
from collections import Counter
from collections.abc import AsyncIterator, MutableSet
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import gradio as gr
import httpx
from gradio import processing_utils
from gradio.utils import get_upload_folder
from starlette.concurrency import run_in_threadpool

from cir_core.errors import StorageError
from cir_core.images.upload_quota import UploadQuota
from cir_core.support.downloads import (
    TAKEN,
    ImageRefused,
    Validate,
    download,
    is_public,
    public_address,
    too_large,
)
from web.limits.gradio_limits import TooManyRequests

__all__ = ["FetchLimits", "ImageFetcher", "ImageRefused", "check_upload", "is_public", "is_remote", "is_upload",
           "public_address", "turn_off_gradios_downloads"]


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
            raise ImageRefused(TAKEN)
        await run_in_threadpool(self._quota.check, person)
        try:
            if address[:5].lower() == "data:":
                return await self._save(address, person)
            async with self._turn(person):
                return await download(address, partial(self._write, person=person), most=self._most,
                                      seconds=self._limits.seconds, validate=self._validate)
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
                        raise too_large(self._most)
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


_ENDINGS = {"image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif", "image/avif": "avif", "image/bmp": "bmp",
            "image/tiff": "tiff"}


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
        raise ImageRefused(TAKEN)


def turn_off_gradios_downloads() -> None:
    """Make Gradio's own downloads fail before any request, for all apps of this process."""
    processing_utils.async_transport = _NoDownloads()   # type: ignore[assignment]


class _NoDownloads(httpx.AsyncBaseTransport):
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        raise gr.Error("An image by URL can be given only to calls that take images.", print_exception=False)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
        path.parent.rmdir()
