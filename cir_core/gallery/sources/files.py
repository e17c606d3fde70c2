"""The files that archives and tables lie in: of a folder here; those of an object store are in ``objects.py``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from cir_core.gallery.sources.source import tag_of


@dataclass(frozen=True)
class FileState:
    """``path`` is relative to the location; ``tag`` changes whenever the file does."""

    path: str
    size: int
    tag: int


class Files(Protocol):
    """Errors are ``OSError``, or ``SourceAway`` where nothing of the location can be reached; of what :meth:`open`
    gives, within :meth:`explained` alone."""

    @property
    def location(self) -> str: ...
    @property
    def is_far(self) -> bool: ...
    def listed(self) -> Sequence[FileState]:
        """By path."""

    def open(self, path: str) -> BinaryIO:
        """For reading; it can be sought in."""

    def explained(self) -> AbstractContextManager[None]: ...

    def read(self, path: str, start: int, length: int) -> bytes:
        """Fewer bytes where the file ends before."""


class LocalFiles:
    """``paths`` relative to the folder ``location``; or the file ``location`` itself, by its name."""

    is_far = False

    def __init__(self, location: Path, paths: Sequence[str] = ()) -> None:
        self._location, self._paths = location.absolute(), paths

    @property
    def location(self) -> str:
        return str(self._location)

    def listed(self) -> Sequence[FileState]:
        found = []
        for path in sorted(self._paths) or [self._location.name]:
            state = self.local(path).stat()
            found.append(FileState(path, state.st_size, tag_of(path, state.st_size, state.st_mtime_ns)))
        return found

    def local(self, path: str) -> Path:
        return self._location / path if self._location.is_dir() else self._location

    def open(self, path: str) -> BinaryIO:
        return self.local(path).open("rb")

    def explained(self) -> AbstractContextManager[None]:
        return nullcontext()

    def read(self, path: str, start: int, length: int) -> bytes:
        with self.open(path) as file:
            file.seek(start)
            return file.read(length)
