"""Where the images of a gallery lie: one seam for folders, archives, tables and object stores.

A source lists its images once (:meth:`ImageSource.scan`) and reads them one by one, in any order and from several
threads. Nothing is unpacked: an image's place is an offset in an archive or a row of a table, and is kept in the
gallery, so that an original is read without looking for it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol

from cir_core.errors import GalleryError
from cir_core.gallery.journal import Record
from cir_core.gallery.paths import Layout
from cir_core.gallery.scan import Entry, Scan


class SourceAway(GalleryError):
    """The source as a whole cannot be reached, or refuses: an index run stops, and goes on when it is run again."""


@dataclass(frozen=True)
class Reading:
    """The bytes of one image, with the size and tag of its record."""

    content: bytes
    size: int
    tag: int


class ImageSource(Protocol):
    @property
    def location(self) -> str:
        """As it is stored in the gallery: an absolute path, or an address without credentials."""

    @property
    def layout(self) -> Layout | None:
        """None for a folder of image files."""

    @property
    def is_far(self) -> bool:
        """Whether images come over a network, so that those that were shown are kept for a while."""

    def scan(self) -> Scan:
        """All images. Raises ``GalleryError``."""

    def is_same(self, entry: Entry, record: Record) -> bool:
        """Whether the image is what it was when it got its ``record``; if so, it is not read again."""

    def read(self, entry: Entry, most: int) -> Reading:
        """Raises ``ImageUnreadable``, whose text goes on after the image's name ("is missing."), also for more than
        ``most`` bytes; ``OSError``; ``SourceAway``."""


def tag_of(*parts: object) -> int:
    """A number of 63 bits for what an image's bytes depend on; never 0."""
    digest = hashlib.blake2b("\0".join(map(str, parts)).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) >> 1 | 1


NOT_BY_NAME = "does not have the name of an image file."


def too_large(size: int) -> str:
    return f"is {size / 1e6:.0f} MB, too large for one image."
