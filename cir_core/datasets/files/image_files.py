"""Locate a benchmark's images under a root folder.

Releases of one benchmark differ in folders and extensions. An image is searched at the paths its benchmark names, then
there with another extension, then anywhere under the root by its name, but where thumbnails and the like are kept
(:func:`cir_core.images.folders.walk`). Folders are listed once, files are not opened.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from cir_core.datasets.records import ImagePaths
from cir_core.errors import DatasetError, GalleryError
from cir_core.images.folders import by_folder, walk

EXTENSIONS = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff")


class ImageFolder:
    """Image finder over one root folder. Raises ``DatasetError`` if ``root`` is not a folder."""

    def __init__(self, root: Path, image_paths: ImagePaths) -> None:
        if not root.is_dir():
            state = "is not a folder" if root.exists() else "is missing"
            raise DatasetError(f"The folder of images {root} {state}. Give the folder that the images lie under.")
        self.root = root
        self._image_paths = image_paths
        self._folders: dict[str, dict[str, str]] = {}

    def find(self, image_id: str) -> str | None:
        """The image's path relative to the root, with slashes; None if there is no such file."""
        candidates = [path for path in self._image_paths(image_id) if _inside(path)]
        for path in candidates:
            folder, stem = _parts(path)
            name = self._listed(folder).get(stem)
            if name is not None:
                return f"{folder}/{name}" if folder else name
        return self._anywhere(candidates)

    def missing(self, image_ids: Iterable[str]) -> list[str]:
        """Images without a file, in the order given."""
        return [image_id for image_id in image_ids if self.find(image_id) is None]

    def _listed(self, folder: str) -> dict[str, str]:
        """Image names in ``folder`` by stem."""
        if folder not in self._folders:
            try:
                with os.scandir(self.root / folder) as entries:
                    self._folders[folder] = _by_stem(entry.name for entry in entries)
            except OSError:  # missing or not readable: treated as empty
                self._folders[folder] = {}
        return self._folders[folder]

    def _anywhere(self, candidates: list[str]) -> str | None:
        """The file with a candidate's name whose folders are most similar to the candidate's; ties go to
        the first by name."""
        best: tuple[int, str] | None = None
        for candidate in candidates:
            wanted, stem = _parts(candidate)
            for folder, name in self._tree.get(stem, ()):
                rank = (-_alike(wanted, folder), f"{folder}/{name}" if folder else name)
                if best is None or rank < best:
                    best = rank
        return None if best is None else best[1]

    @cached_property
    def _tree(self) -> dict[str, list[tuple[str, str]]]:
        try:
            walked = walk(self.root)
        except GalleryError as error:
            raise DatasetError(str(error)) from error
        tree: dict[str, list[tuple[str, str]]] = {}
        for folder, names in by_folder(walked.files):
            for stem, name in _by_stem(names).items():
                tree.setdefault(stem, []).append((folder, name))
        return tree


def _by_stem(names: Iterable[str]) -> dict[str, str]:
    """Image names by stem; of several with one stem the first extension of :data:`EXTENSIONS`."""
    found: dict[str, tuple[int, str]] = {}
    for name in names:
        stem, _, extension = name.rpartition(".")
        if (ending := f".{extension.lower()}") in EXTENSIONS:
            rank = (EXTENSIONS.index(ending), name)
            if stem not in found or rank < found[stem]:
                found[stem] = rank
    return {stem: name for stem, (_, name) in found.items()}


def _inside(path: str) -> bool:
    """Whether ``path`` stays below the root; releases name no others."""
    return not path.startswith("/") and ".." not in path.split("/")


def _parts(path: str) -> tuple[str, str]:
    """Folder and stem: the paths are too many for ``Path`` objects."""
    folder, _, name = path.removeprefix("./").rpartition("/")
    return folder, name.rpartition(".")[0] or name


def _alike(wanted: str, found: str) -> int:
    """Number of folders two paths share, counted from the file."""
    shared = 0
    for one, other in zip(reversed(wanted.split("/")), reversed(found.split("/")), strict=False):
        if one != other:
            break
        shared += 1
    return shared
