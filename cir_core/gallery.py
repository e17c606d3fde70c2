"""A gallery as the rest of cirque sees it: images in order, each with one vector."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import sys
import threading
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from PIL import Image

from cir_core import journal
from cir_core.encoders.base import Encoder
from cir_core.errors import EncoderMismatch, GalleryError, ImageUnreadable, UnknownImage
from cir_core.gallery_files import (
    Header, features_path, gallery_folder, images_path, locked, read_header, thumbnail_path,
)
from cir_core.images import THUMBNAIL_EDGE, open_image, save_thumbnail
from cir_core.types import EncoderIdentity


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
    """One published generation of a gallery. Immutable: a new index run makes a new one,
    and this view stays valid meanwhile. Safe to use from several threads."""

    def __init__(self, name: str, folder: Path, header: Header, columns: dict[str, Any]) -> None:
        self.name = name
        self.root = Path(header.source)
        self.encoder = header.encoder
        self.split = header.split
        self.digest = header.digest         # 16 hex of ids and file hashes, in order
        self.generation = header.generation  # changes with every published index run
        self._max_megapixels = header.max_megapixels
        self._folder = folder
        self.ids: tuple[str, ...] = tuple(columns["id"])
        # Paths repeat the ids up to their endings, so only those that do not are kept whole.
        self._paths: list[str] = columns["path"]
        self._captions: list[str | None] | None = columns["caption"]
        self._hashes: str = columns["sha256"]  # 64 characters for each image
        self._sizes = np.array([columns["width"], columns["height"]], dtype=np.int32).T
        self.features: np.memmap[Any, np.dtype[np.float32]] = np.memmap(
            features_path(folder, header.generation), dtype="<f4", mode="r",
            shape=(header.size, header.encoder.dim),
        )

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
            raise UnknownImage(
                f"No image {image_id!r} in gallery {self.name!r} ({len(self)} images). Check the id, or run "
                f"'cirque index {self.root} --name {self.name}' if its file is new."
            ) from None

    def path_of(self, image_id: str) -> Path:
        """The original file; it may have been moved since. Raises ``UnknownImage``."""
        return self.root / self._paths[self.row_of(image_id)]

    def caption_of(self, image_id: str) -> str | None:
        return self.image(self.row_of(image_id)).caption

    def load_image(self, image_id: str) -> Image.Image:
        """The original, decoded (see :mod:`cir_core.images`). Raises ``ImageUnreadable``."""
        return open_image(self.path_of(image_id), max_megapixels=self._max_megapixels)

    def thumbnail_of(self, image_id: str) -> Path:
        """A WebP of at most 320 pixels, made now if it is missing. Its name tells nothing.

        Raises ``UnknownImage``; ``ImageUnreadable`` if it is missing and so is the original.
        """
        path = thumbnail_path(self._folder, self.image(self.row_of(image_id)).sha256)
        if not path.is_file() or path.stat().st_size == 0:  # a power cut may leave empty files
            original = self.path_of(image_id)
            save_thumbnail(
                open_image(original, max_megapixels=self._max_megapixels, draft_edge=2 * THUMBNAIL_EDGE), path
            )
        return path

    def check_encoder(self, encoder: Encoder) -> None:
        """Raises ``EncoderMismatch`` unless the encoder's vectors compare with these."""
        ours, theirs = self.encoder, encoder.identity
        if (ours.revision, ours.dim) != (theirs.revision, theirs.dim):
            raise EncoderMismatch(
                f"Gallery {self.name!r} was indexed with {_described(ours)}, but the encoder is "
                f"{_described(theirs)}. Search with the first, or index again: "
                f"cirque index {self.root} --name {self.name} --encoder {theirs.spec}"
            )

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {image_id: row for row, image_id in enumerate(self.ids)}


class _Images(Sequence[GalleryImage]):
    """Records made when asked for: a list of 100,000 of them would be most of the memory."""

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
