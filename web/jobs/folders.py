"""Folders that may be indexed from the page Jobs: those below the folder of a setting, and no others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from cir_core.encoders.remembered import usual_encoder
from cir_core.encoders.specs import BUNDLED
from cir_core.errors import GalleryError
from cir_core.gallery.gallery import gallery_names
from cir_core.gallery.paths import gallery_folder
from cir_core.settings import Settings
from cir_core.support.texts import quoted

_MOST = 300         # folders that are offered
_DEPTH = 3


class IndexFolders:
    """``root`` is None where nothing may be indexed from the screen."""

    def __init__(self, settings: Settings) -> None:
        self._home = settings.home
        self._own = settings.home.expanduser().resolve()
        self.root = settings.index_folder.expanduser().resolve() if settings.index_folder else None

    def choices(self) -> dict[str, Any]:
        """For the form. Raises ``GalleryError`` where nothing may be indexed, or the folder is gone."""
        root = self._root()
        found = (one for one in _below(root, _DEPTH) if not self._is_own(one))
        return {"folders": [one.relative_to(root).as_posix() for one in islice(found, _MOST)],
                "encoders": self._encoders(), "usual": usual_encoder(self._home),
                "galleries": gallery_names(self._home)}

    def command(self, folder: str, name: str, encoder: str) -> tuple[str, ...]:
        """What follows "cirque". Raises ``GalleryError`` for a folder elsewhere, a name that cannot be, or an encoder
        that is not on this machine."""
        root = self._root()
        path = (root / folder.replace("\0", "")).resolve()    # a link may lead elsewhere
        if not path.is_relative_to(root) or not path.is_dir():
            raise GalleryError(f"There is no folder {quoted(folder)} that may be indexed from here. Choose one from "
                               "the list.")
        if self._is_own(path):
            raise GalleryError(f"{quoted(folder)} contains cirque's own files or lies among them. Choose a folder "
                               "beside CIRQUE_HOME.")
        gallery_folder(name, self._home)
        if encoder not in self._encoders():
            raise GalleryError(f"The encoder {quoted(encoder)} is not on this machine. Choose one from the list.")
        return "index", str(path), "--name", name, "--encoder", encoder

    def _is_own(self, path: Path) -> bool:
        """Whether it is in the home folder, with pictures of studies and uploads of others, or around it."""
        return path.is_relative_to(self._own) or self._own.is_relative_to(path)

    def _root(self) -> Path:
        if self.root is None or not self.root.is_dir():
            raise GalleryError("No folder may be indexed from here: CIRQUE_INDEX_FOLDER names none that is there.")
        return self.root

    def _encoders(self) -> list[str]:
        from cir_core.encoders.found import found_encoders  # brings PyTorch, which a start does without

        return list(dict.fromkeys([BUNDLED, *(one.spec for one in found_encoders(self._home) if one.spec),
                                   usual_encoder(self._home)]))


def _below(folder: Path, depth: int) -> Iterator[Path]:
    """Folders, without hidden ones and links."""
    yield folder
    if not depth:
        return
    try:
        with os.scandir(folder) as entries:
            inside = sorted(one.name for one in entries
                            if one.is_dir(follow_symlinks=False) and not one.name.startswith("."))
    except OSError:
        return
    for name in inside:
        yield from _below(folder / name, depth - 1)
