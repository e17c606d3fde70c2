"""A folder of image files, or those that a manifest names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from cir_core.errors import GalleryError, ImageUnreadable
from cir_core.gallery.journal import Record
from cir_core.gallery.scan import Entry, Scan, read_manifest, scan_folder
from cir_core.gallery.sources.source import Reading, too_large


class FolderSource:
    """``exclude`` and ``include``: as :func:`cir_core.images.folders.walk` has them. Without any of these, also the
    folder of a gallery that exists. Raises ``GalleryError``."""

    layout = None
    is_far = False

    def __init__(
        self, folder: Path, *, manifest: Path | None = None, exclude: Sequence[str] = (), include: Sequence[str] = (),
    ) -> None:
        if manifest and (exclude or include):
            raise GalleryError("Patterns are for folders: a manifest names its images. Leave out --manifest, or "
                               "--exclude and --include.")
        self.folder, self._manifest = folder.absolute(), manifest
        self._exclude, self._include = exclude, include

    @property
    def location(self) -> str:
        return str(self.folder)

    def scan(self) -> Scan:
        return self._scan

    @cached_property
    def _scan(self) -> Scan:
        if self._manifest:
            return read_manifest(self._manifest, self.folder)
        return scan_folder(self.folder, exclude=self._exclude, include=self._include)

    def is_same(self, entry: Entry, record: Record) -> bool:
        return record.looks_like(self.folder)

    def read(self, entry: Entry, most: int) -> Reading:
        file = self.folder / entry.path
        state = file.stat()
        if state.st_size > most:
            raise ImageUnreadable(too_large(state.st_size))
        content = file.read_bytes()
        if len(content) != state.st_size:
            raise ImageUnreadable("changed while it was read. Index again when it is complete.")
        return Reading(content, state.st_size, state.st_mtime_ns)
