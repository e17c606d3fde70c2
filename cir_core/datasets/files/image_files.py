"""Locate a benchmark's images under a root folder. Cut the images of a benchmark out of larger ones, as GeneCIS
does.

Releases of one benchmark differ in folders and extensions. An image is searched at the paths its benchmark names, then
there with another extension, then anywhere under the root by its name, but where thumbnails and the like are kept
(:func:`cir_core.images.folders.walk`). Folders are listed once, files are not opened.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from PIL import Image

from cir_core.datasets.records import ImagePaths
from cir_core.errors import DatasetError, GalleryError, ImageUnreadable
from cir_core.images.folders import by_folder, walk
from cir_core.images.load import process_image

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


MARGIN = 0.7   # of the box's width and height: GeneCIS's evaluation

Box = tuple[float, float, float, float]
"""Left, top, width and height, in pixels."""


def padded_crop(image: Image.Image, box: Box) -> Image.Image:
    """``box`` with a margin, within the image, in the middle of a black square.

    The margin of GeneCIS's code goes to the left and above; what an edge cuts off there is added on the other side.
    """
    left, top, width, height = box
    left, top = max(0.0, left - MARGIN * width), max(0.0, top - MARGIN * height)
    right, bottom = min(image.width, left + (1 + MARGIN) * width), min(image.height, top + (1 + MARGIN) * height)
    part = image.crop((round(left), round(top), round(right), round(bottom)))
    edge = max(part.size)
    square = Image.new("RGB", (edge, edge))
    square.paste(part, ((edge - part.width) // 2, (edge - part.height) // 2))
    return square


def write_crop(path: Path, source: Path, box: Box, *, max_megapixels: float) -> None:
    """Write :func:`padded_crop` of the image file ``source`` as PNG, unless ``path`` is there. Raises ``DatasetError``
    for a source that cannot be read, and for a box outside it."""
    if path.exists():
        return

    def cut(image: Image.Image) -> Image.Image:
        if box[0] >= image.width or box[1] >= image.height:
            raise DatasetError(f"{source}: the box {box} lies outside its {image.width} × {image.height} pixels. Check "
                               "that the images are those of the data set's release.")
        return padded_crop(image, box)

    try:
        part = process_image(source, cut, max_megapixels=max_megapixels, patience=None)
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_suffix(".part")   # a run that is killed leaves no half image under the name
        part.save(half, "PNG")
        half.replace(path)
    except ImageUnreadable as error:
        raise DatasetError(f"{error} Replace the file, or download it again.") from error
    except OSError as error:
        raise DatasetError(f"{path} cannot be written: {error.strerror or error}. Free some disk space.") from error
