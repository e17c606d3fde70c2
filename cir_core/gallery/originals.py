"""Originals of a gallery that are no files of a folder: read when they are needed, and checked.

What lies at an image's place now may be another image: only the bytes that were indexed are given out. Originals that
come over a network are kept in the gallery's folder for a while, up to half a gigabyte; few are fetched at a time, and
one that could not be had is not asked for again at once.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePosixPath

from cachetools import TTLCache

from cir_core.errors import CirqueError, ImageUnreadable, TryLater
from cir_core.gallery.decoding import most_bytes
from cir_core.gallery.scan import Entry
from cir_core.gallery.sources.source import ImageSource
from cir_core.support.files import write_atomically

FOLDER = "originals"
_MOST = 512 * 2**20         # bytes kept
_AT_ONCE, _WAIT = 4, 2.0    # fetches of the process; seconds, in which who waits holds a thread of all requests
_FORGOTTEN = 60.0           # seconds

_turns = threading.BoundedSemaphore(_AT_ONCE)


class Originals:
    def __init__(self, source: ImageSource, folder: Path, max_megapixels: float, *, most_kept: int = _MOST) -> None:
        self._source, self._folder, self._most_kept = source, folder / FOLDER, most_kept
        self._most = most_bytes(max_megapixels)
        self._failed: TTLCache[str, Callable[[], CirqueError]] = TTLCache(1024, _FORGOTTEN)
        self._guard = threading.Lock()

    def get(self, entry: Entry, sha256: str) -> bytes:
        """Raises ``ImageUnreadable``, ``SourceAway``, ``TryLater``."""
        if not self._source.is_far:
            return self._read(entry, sha256)
        kept = self._folder / sha256[:32]
        with contextlib.suppress(OSError):
            content = kept.read_bytes()
            if hashlib.sha256(content).hexdigest() == sha256:
                kept.touch()
                return content
        with self._guard:
            if (failed := self._failed.get(sha256)) is not None:
                raise failed()
        if not _turns.acquire(timeout=_WAIT):
            raise TryLater("Many pictures are being fetched at the moment. Try again in a moment.")
        try:
            content = self._read(entry, sha256)
        except CirqueError as error:
            with self._guard:
                # Not the error itself: its traceback holds what was fetched.
                self._failed[sha256] = partial(type(error), str(error))
            raise
        finally:
            _turns.release()
        self._keep(kept, content)
        return content

    def _read(self, entry: Entry, sha256: str) -> bytes:
        name = PurePosixPath(entry.path).name
        try:
            content = self._source.read(entry, self._most).content
        except ImageUnreadable as error:
            raise ImageUnreadable(f"{name} {error}") from error
        except FileNotFoundError as error:
            file = Path(error.filename).name if isinstance(error.filename, str) else ""
            raise ImageUnreadable(f"{name} cannot be read: {file} is missing." if file else f"{name} is missing."
                                  ) from None
        except OSError as error:
            raise ImageUnreadable(f"{name} cannot be read: {error.strerror or error}.") from error
        if hashlib.sha256(content).hexdigest() != sha256:
            raise ImageUnreadable(f"{name} has changed since the gallery was indexed. Index it again.")
        return content

    def _keep(self, path: Path, content: bytes) -> None:
        """A full disk, or a folder that cannot be written, keeps nothing."""
        with contextlib.suppress(OSError):
            write_atomically(path, content, synced=False)
            found = sorted((state.st_mtime_ns, state.st_size, one) for one in self._folder.iterdir()
                           if (state := one.stat()))
            room = self._most_kept
            for _, size, one in reversed(found):
                room -= size
                if room < 0 and one != path:
                    one.unlink(missing_ok=True)
