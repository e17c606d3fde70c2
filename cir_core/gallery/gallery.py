"""A published gallery: images in order, each with one vector."""

from __future__ import annotations

import json
import logging
import shutil
import socket
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, lru_cache, partial
from pathlib import Path, PurePosixPath
from typing import Any, Literal, overload

import numpy as np
from cachetools import LRUCache
from PIL import Image

from cir_core.encoders.base import Encoder
from cir_core.errors import EncoderMismatch, GalleryError, UnknownImage
from cir_core.gallery import journal
from cir_core.gallery.integrity import (
    damage_in_words,
    damaged_rows,
    digest_without,
    little_is_left,
    mapped_rows,
    read_columns,
    unreadable,
    without,
)
from cir_core.gallery.originals import Originals
from cir_core.gallery.paths import (
    HEADER,
    Header,
    features_path,
    gallery_folder,
    images_path,
    locked,
    read_header,
    sums_path,
    thumbnail_path,
)
from cir_core.gallery.scan import Entry
from cir_core.gallery.sources.opening import source_of
from cir_core.gallery.sources.source import ImageSource
from cir_core.images.load import THUMBNAIL_EDGE, for_encoder, open_image, process_image, save_thumbnail
from cir_core.support.checksums import NO_ROWS, Rows
from cir_core.support.texts import quoted
from cir_core.types.records import EncoderIdentity, Matrix

_log = logging.getLogger("cirque.galleries")


@dataclass(frozen=True, slots=True)
class GalleryImage:
    image_id: str
    path: str               # relative to the gallery's root, with forward slashes
    caption: str | None
    width: int
    height: int
    sha256: str             # of the file's bytes when it was indexed


@dataclass(frozen=True)
class GalleryInfo:
    """One row of "my galleries". ``partial``: the first index run has not finished yet."""

    name: str
    size: int                       # images that can be searched, or were encoded so far
    encoder: EncoderIdentity
    source: str
    updated_at: datetime
    status: Literal["complete", "partial"]


class Gallery:
    """One published generation of a gallery. Immutable: a new index run creates a new one,
    while this view stays valid. Thread-safe.

    Images whose vectors are damaged are not in it: ``damage`` says which, and is "" if all are. Size, ids, ``digest``
    and ``generation`` are those of what is left, so nothing that was made of the whole gallery is taken for it."""

    def __init__(self, name: str, folder: Path, header: Header, columns: dict[str, Any], *,
                 damaged: Rows = NO_ROWS) -> None:
        self.damage, self.lost = "", len(damaged)
        features = mapped_rows(folder, header, damaged)
        if len(damaged):
            self.damage = damage_in_words(header, damaged, name)
            digest = digest_without(header, (columns["id"][row] for row in damaged))
            header = replace(header, size=len(features), digest=digest, generation=f"{header.generation}-{digest}")
            columns = without(columns, damaged)
        self.name = name
        self.root = Path(header.source)     # of a folder; ``source`` is right for all
        self._header = header
        self.encoder = header.encoder
        self.split = header.split
        self.digest = header.digest         # 16 hex of ids, file hashes and captions, in order
        self.generation = header.generation  # changes with every published index run
        self.max_megapixels = header.max_megapixels  # larger images are not read
        self.folder = folder                # cirque's own files for it; the images are elsewhere
        self.ids: tuple[str, ...] = tuple(columns["id"])
        self._paths: list[str] = columns["path"]
        self._captions: list[str | None] | None = columns["caption"]
        self._hashes: str = columns["sha256"]  # 64 characters for each image
        self._sizes = np.array([columns["width"], columns["height"]], dtype=np.int32).T
        # Of other sources than a folder: where images lie in their files, bytes, tags.
        self._places = None if header.layout is None else np.array(
            [columns.get("at") or [0] * len(self.ids), columns["size"], columns["mtime_ns"]], dtype=np.int64)
        self.features: Matrix = features    # [n, dim], mapped from the file

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, image_id: object) -> bool:
        return image_id in self._rows

    @property
    def images(self) -> Sequence[GalleryImage]:
        return _Images(self)

    def image(self, row: int) -> GalleryImage:
        width, height = self._sizes[row]
        return GalleryImage(
            self.ids[row], self._paths[row], self._captions[row] if self._captions else None,
            int(width), int(height), self._hashes[64 * row:64 * row + 64],
        )

    def row_of(self, image_id: str) -> int:
        """The image's row in ``features`` and ``images``. Raises ``UnknownImage``."""
        try:
            return self._rows[image_id]
        except KeyError:
            raise UnknownImage(f"No image {quoted(image_id)} in gallery {quoted(self.name)} ({len(self)} images). "
                               "Check the id; if its file is new, index the gallery again.") from None

    @cached_property
    def source(self) -> ImageSource:
        """Where the originals are."""
        return source_of(self._header)

    def path_of(self, image_id: str) -> Path:
        """The original file in a folder, which may have been moved since. Raises ``UnknownImage``."""
        return self.root / self._paths[self.row_of(image_id)]

    def original_of(self, image_id: str) -> Path | bytes:
        """The original: its file if the images are files of a folder, which may have been moved since, else its bytes.

        Raises ``UnknownImage``; where they are not files of a folder, ``ImageUnreadable`` if the original is gone, out
        of reach or another one than was indexed, ``GalleryError`` if the source is out of reach, ``TryLater``."""
        row = self.row_of(image_id)
        if self._places is None:
            return self.root / self._paths[row]
        return self._originals.get(self.entry(row), self.image(row).sha256)

    def to_read(self, image_id: str) -> Path | Callable[[], Path | bytes] | None:
        """The original's file, None if it is gone; where images are no files of a folder, what reads the original when
        it is called. Raises ``UnknownImage``."""
        if self._places is not None:
            return partial(self.original_of, image_id)
        path = self.path_of(image_id)
        return path if path.is_file() else None

    def entry(self, row: int) -> Entry:
        """The image as a scan of the source has it."""
        at, size, tag = (0, 0, 0) if self._places is None else map(int, self._places[:, row])
        caption = self._captions[row] if self._captions else None
        return Entry(self.ids[row], self._paths[row], caption, at, size, tag)

    def caption_of(self, image_id: str) -> str | None:
        return self.image(self.row_of(image_id)).caption

    def load_image(self, image_id: str) -> Image.Image:
        """The original, decoded (see :mod:`cir_core.images.load`). Raises as :meth:`original_of`."""
        return open_image(self.original_of(image_id), max_megapixels=self.max_megapixels, name=self._name(image_id))

    def load_for_encoder(self, image_id: str) -> Image.Image:
        """:meth:`load_image`, 1024 pixels at most. Raises as it does, and ``DecodingBusy``."""
        return process_image(self.original_of(image_id), for_encoder, max_megapixels=self.max_megapixels,
                             name=self._name(image_id))

    def thumbnail_of(self, image_id: str) -> Path:
        """A WebP of at most 320 pixels, with an opaque name. Large images, and all that are no files of a folder, got
        theirs when they were indexed; missing ones are created now, from the original.

        Raises ``UnknownImage``; ``ImageUnreadable`` if both it and the original are missing;
        ``GalleryError`` if it cannot be written.
        """
        path = thumbnail_path(self.folder, self.image(self.row_of(image_id)).sha256)
        if not path.is_file() or path.stat().st_size == 0:  # a power cut may leave empty files
            original = self.original_of(image_id)
            try:
                process_image(original, lambda image: save_thumbnail(image, path), draft_edge=2 * THUMBNAIL_EDGE,
                              max_megapixels=self.max_megapixels, name=self._name(image_id))
            except OSError as error:
                raise GalleryError(f"A thumbnail cannot be written to {self.folder}: {error.strerror or error}. Free "
                                   "some space or make the folder writable.") from error
        return path

    def check_encoder(self, encoder: Encoder) -> None:
        """Raises ``EncoderMismatch`` unless the encoder's vectors are comparable with these."""
        ours, theirs = self.encoder, encoder.identity
        if (ours.revision, ours.dim) != (theirs.revision, theirs.dim):
            raise EncoderMismatch(f"Gallery {quoted(self.name)} was indexed with {_described(ours)}, but the encoder "
                                  f"is {_described(theirs)}. Search with the first, or index again: cirque index "
                                  f"{self.source.location} --name {self.name} --encoder {theirs.spec}")

    def _name(self, image_id: str) -> str:
        return PurePosixPath(self._paths[self.row_of(image_id)]).name

    @cached_property
    def _originals(self) -> Originals:
        return Originals(self.source, self.folder, self.max_megapixels)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {image_id: row for row, image_id in enumerate(self.ids)}


class _Images(Sequence[GalleryImage]):
    """Records created on access: a list of 100,000 of them would take most of the memory."""

    def __init__(self, gallery: Gallery) -> None:
        self._gallery = gallery

    def __len__(self) -> int:
        return len(self._gallery)

    @overload
    def __getitem__(self, row: int) -> GalleryImage: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[GalleryImage]: ...
    def __getitem__(self, row: int | slice) -> GalleryImage | Sequence[GalleryImage]:
        if isinstance(row, slice):
            return [self._gallery.image(i) for i in range(len(self))[row]]
        return self._gallery.image(range(len(self))[row])

    def __iter__(self) -> Iterator[GalleryImage]:
        return (self._gallery.image(row) for row in range(len(self)))


_guard = threading.Lock()   # of these three
_open: weakref.WeakValueDictionary[tuple[Any, ...], Gallery] = weakref.WeakValueDictionary()
_refused: LRUCache[tuple[Any, ...], str] = LRUCache(16)    # reading a large one again and again takes long
_opening: weakref.WeakValueDictionary[Path, threading.Lock] = weakref.WeakValueDictionary()     # by the folder


def open_gallery(name: str, *, home: Path) -> Gallery:
    """The published generation of gallery ``name``; cheap while another reference to it exists. Raises ``GalleryError``
    if there is none (the message lists the galleries) or it is damaged."""
    folder = gallery_folder(name, home)
    with _guard:
        opening = _opening.setdefault(folder, threading.Lock())
    with opening:
        for last_try in (False, True):
            try:
                header = read_header(folder)
                if header is None:
                    raise GalleryError(_missing(name, folder, home))
                # Files that were written to are verified again; others are as they were when they were opened.
                key = (folder, header, _state_of(folder, header.generation))
                with _guard:
                    known, refusal = _open.get(key), _refused.get(key, "")
                if known is not None:
                    return known
                if refusal:
                    raise GalleryError(refusal)
                content, sums, problem = read_columns(folder, header)
                columns = json.loads(content)
                damaged = damaged_rows(folder, header, sums)
                if refusal := little_is_left(header, damaged, name):
                    with _guard:
                        _refused[key] = refusal
                    raise GalleryError(refusal)
                gallery = Gallery(name, folder, header, columns, damaged=damaged)
            except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
                if last_try:
                    raise GalleryError(unreadable(name, error)) from error
                continue  # a new generation was published between the two reads
            if gallery.damage or problem:
                _log.warning("%s", gallery.damage or f"{problem}. To write it again: cirque galleries repair {name}")
            with _guard:
                _open[key] = gallery
            return gallery
    raise AssertionError("unreachable")


def _state_of(folder: Path, generation: str) -> tuple[tuple[int, int, int], ...]:
    """Changes when the files of a generation are written to. Raises ``OSError`` if images or vectors are missing."""
    states = []
    for path in (features_path(folder, generation), images_path(folder, generation), sums_path(folder, generation)):
        try:
            found = path.stat()
            states.append((found.st_ino, found.st_size, found.st_mtime_ns))
        except FileNotFoundError:
            if path == sums_path(folder, generation):
                continue
            raise
    return tuple(states)


def list_galleries(home: Path) -> list[GalleryInfo]:
    """Every gallery under ``home``, by name, without those whose header is damaged (:func:`unreadable_galleries`)."""
    infos = []
    for folder in _folders(home):
        try:
            header = read_header(folder)
        except GalleryError:
            continue
        if header is not None:
            infos.append(GalleryInfo(
                folder.name, header.size, header.encoder, header.source,
                datetime.fromisoformat(header.updated_at), "complete",
            ))
        elif (run := journal.read_run(folder)) is not None:
            path = journal.journal_path(folder)
            started = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            infos.append(GalleryInfo(
                folder.name, len(journal.read_records(folder)), run.encoder, run.source, started, "partial",
            ))
    return infos


def gallery_names(home: Path) -> list[str]:
    """Of all that are published, damaged ones too."""
    return [folder.name for folder in _folders(home) if (folder / HEADER).is_file()]


def unreadable_galleries(home: Path) -> list[str]:
    """Why galleries cannot even be listed, and what to do."""
    problems = []
    for folder in _folders(home):
        try:
            read_header(folder)
        except GalleryError as error:
            problems.append(str(error))
    return problems


def _folders(home: Path) -> list[Path]:
    return sorted((home / "galleries").glob("[!.]*/"))


def remove_gallery(name: str, *, home: Path) -> None:
    """Delete the index of ``name``; the source images are not touched. Raises ``GalleryError`` if there is none, or
    while it is being indexed."""
    folder = gallery_folder(name, home)
    if not folder.is_dir():
        raise GalleryError(_missing(name, folder, home))
    with locked(folder):
        (folder / "gallery.json").unlink(missing_ok=True)  # first, so that a partly deleted one cannot be opened
        shutil.rmtree(folder)


def _missing(name: str, folder: Path, home: Path) -> str:
    if journal.read_run(folder) is not None:
        return (f"Gallery {quoted(name)} is not finished: its first index run was interrupted. Run the same 'cirque "
                "index' again; it continues where it stopped.")
    names = [info.name for info in list_galleries(home) if info.status == "complete"]
    there = f"There are: {', '.join(names)}." if names else "There is none yet."
    return f"No gallery {quoted(name)}. {there} To make it: cirque index DIR --name {name}"


def _described(identity: EncoderIdentity) -> str:
    return f"{identity.spec} (revision {identity.revision}, {identity.dim} dimensions)"


@dataclass(frozen=True)
class GalleryOpener:
    """Opens one generation of a gallery once a process: this one, or another one that it is sent to, which shares the
    home folder."""

    name: str
    home: Path
    generation: str

    @classmethod
    def of(cls, gallery: Gallery) -> GalleryOpener:
        return cls(gallery.name, gallery.folder.parents[1], gallery.generation)

    def __call__(self) -> Gallery:
        return _opened(self)


@lru_cache(maxsize=1)
def _opened(opener: GalleryOpener) -> Gallery:
    gallery = open_gallery(opener.name, home=opener.home)
    if gallery.generation != opener.generation:
        raise GalleryError(f"Gallery {quoted(opener.name)} is another one on {socket.gethostname()}, or was indexed "
                           "again meanwhile. All machines of the cluster must see the home folder under the same path.")
    return gallery
