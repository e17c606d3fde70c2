"""Object stores (s3://bucket/prefix and whatever else fsspec knows): each object an image, or the files of archives and
tables.

Credentials come from where the store's own tools look for them, and are neither stored nor shown.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, BinaryIO, cast

from cir_core.errors import CirqueError, GalleryError, ImageUnreadable
from cir_core.gallery.journal import Record
from cir_core.gallery.paths import Layout
from cir_core.gallery.scan import Entry, Scan, spelled_id, unique_ids, without_ending
from cir_core.gallery.sources.files import FileState
from cir_core.gallery.sources.source import NOT_BY_NAME, Reading, SourceAway, tag_of, too_large
from cir_core.images.folders import IMAGE_SUFFIXES

_STORE = re.compile(r"([a-z][a-z0-9+.-]*)://(.*)\Z", re.DOTALL)
_BLOCK = 2**22      # bytes read ahead of archives and tables
_STATE = ("ETag", "etag", "md5Hash", "content_md5", "LastModified", "last_modified", "updated", "mtime", "created")
_SECONDS = {"connect_timeout": 10, "read_timeout": 60}
_NAMED = {
    "s3": "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE (for another store than Amazon's, "
          "AWS_ENDPOINT_URL too; for a public bucket FSSPEC_S3='{\"anon\": true}'), also for cirque serve.",
    "gs": "Set GOOGLE_APPLICATION_CREDENTIALS, also for cirque serve.",
}


def is_store(source: str) -> bool:
    """Whether ``source`` is an address rather than a path."""
    return _STORE.match(source) is not None


class ObjectFiles:
    """What lies under ``location``, or what of it has one of the ``endings``. Raises ``GalleryError`` for an address
    that cannot be used."""

    is_far = True
    endings: tuple[str, ...] = ("",)

    def __init__(self, location: str) -> None:
        found = _STORE.match(location)
        protocol, rest = found.groups() if found else ("", "")
        host, colon, port = rest.partition("/")[0].partition(":")
        # A password may have a slash in it: "s3://key:12/34@bucket".
        if "@" in host + port or "?" in rest or (colon and ("@" in rest or not port.isdecimal())):
            raise GalleryError(f"Leave credentials and options out of the address of the store. "
                               f"{_NAMED.get(protocol, 'Set them where its own tools look for them.')}")
        if protocol in ("http", "https", "file"):
            raise GalleryError("A source is a folder, a file, or a store such as s3://bucket/prefix. Web addresses of "
                               "images go into a Parquet file (docs/how-to/galleries.md).")
        self.location, self._protocol = location.rstrip("/"), protocol
        if not rest.strip("/"):
            raise GalleryError(f"{location} does not name a bucket. Give {protocol}://BUCKET/PREFIX.")

    @cached_property
    def _store(self) -> Any:
        try:
            from fsspec.core import url_to_fs

            options: dict[str, Any] = {"use_listings_cache": False}
            if self._protocol in ("s3", "s3a"):
                options["config_kwargs"] = _SECONDS
            store, _ = url_to_fs(self.location, **options)
        except ImportError:
            raise GalleryError(f"Addresses that begin with {self._protocol}:// need a package that is not installed: "
                               "for s3, cirque's extra objects (docs/start/install.md); for others, the one that "
                               "fsspec names for them, such as gcsfs.") from None
        except ValueError as error:
            raise GalleryError(f"{self.location} is not the address of a store that fsspec knows ({error}).") from None
        return store

    @cached_property
    def _root(self) -> str:
        return cast(str, self._store._strip_protocol(self.location)).rstrip("/")

    def listed(self) -> Sequence[FileState]:
        return [one for one in self._all if one.path.lower().endswith(self.endings)]

    @cached_property
    def _all(self) -> Sequence[FileState]:
        try:
            with self.explained():
                found = self._store.find(self._root, detail=True)
        except FileNotFoundError:
            raise GalleryError(f"{self.location} is empty. Check the bucket and the prefix.") from None
        states = []
        for path, info in found.items():
            if info.get("type") == "file" and not path.endswith("/"):
                relative = path.removeprefix(self._root).lstrip("/") or path.rpartition("/")[2]
                size = int(info.get("size") or 0)
                state = next((str(info[key]) for key in _STATE if info.get(key)), "")
                states.append(FileState(relative, size, tag_of(relative, size, state)))
        return sorted(states, key=lambda state: state.path)

    @cached_property
    def _is_one(self) -> bool:
        """Whether the location is one object."""
        with self.explained():
            return bool(self._store.isfile(self._root))

    def _whole(self, path: str) -> str:
        return self._root if self._is_one else f"{self._root}/{path}"

    def open(self, path: str) -> BinaryIO:
        with self.explained():
            return cast(BinaryIO, self._store.open(self._whole(path), "rb", block_size=_BLOCK))

    def read(self, path: str, start: int, length: int) -> bytes:
        with self.explained():
            return cast(bytes, self._store.cat_file(self._whole(path), start=start, end=start + length))

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """What concerns all of the store becomes ``SourceAway``, without what the store says: it may repeat a key."""
        try:
            yield
        except (FileNotFoundError, CirqueError):
            raise
        except Exception as error:   # each store has its own
            if _is_of_a_file(error):
                raise
            name, named = type(error).__name__, _NAMED.get(self._protocol, "")
            if isinstance(error, PermissionError) or "Credential" in name or "Token" in name:
                raise SourceAway(f"{self.location} cannot be read: the store does not know who asks, or does not allow "
                                 f"it. {named}".strip()) from None
            raise SourceAway(f"{self.location} cannot be reached at the moment ({name}). Check the address and the "
                             "connection, then run the same command again: encoded images are kept.") from None


class ObjectSource:
    """Each object of a store with the name of an image."""

    layout = Layout("objects")
    is_far = True

    def __init__(self, files: ObjectFiles) -> None:
        self._files, self.location = files, files.location

    def scan(self) -> Scan:
        return self._scan

    @cached_property
    def _scan(self) -> Scan:
        listed = self._files.listed()
        images = [one for one in listed if is_image(one.path)]
        others = tuple((one.path, NOT_BY_NAME) for one in listed if not is_image(one.path))
        paths = [spelled_id(one.path) for one in images]
        ids = unique_ids([without_ending(path) for path in paths], paths)
        return Scan(tuple(Entry(one, of.path, None, 0, of.size, of.tag) for one, of in zip(ids, images, strict=True)),
                    others)

    def is_same(self, entry: Entry, record: Record) -> bool:
        return (record.mtime_ns, record.size) == (entry.tag, entry.size)

    def read(self, entry: Entry, most: int) -> Reading:
        if entry.size > most:
            raise ImageUnreadable(too_large(entry.size))
        content = self._files.read(entry.path, 0, entry.size + 1)
        if len(content) != entry.size:
            raise ImageUnreadable("changed since it was listed. Index again.")
        return Reading(content, entry.size, entry.tag)


def _is_of_a_file(error: Exception) -> bool:
    """Damage that a reader of tables found, which raises the plainest of errors, or one of its own."""
    return (type(error) is OSError and error.errno is None) or type(error).__module__.startswith("pyarrow")


def is_image(path: str) -> bool:
    return f".{path.rpartition('.')[2].lower()}" in IMAGE_SUFFIXES
