"""Image files of queries by id, from a folder, a gallery, or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath

from cir_core.datasets.files.image_files import ImageFolder
from cir_core.datasets.records import ImagePaths
from cir_core.gallery.gallery import Gallery


class Pictures:
    """Callable ``FindPicture``. A given folder takes precedence over a gallery.

    Args:
        paths: the source's path of an image, relative to the image root.

    Raises ``DatasetError`` if ``folder`` is not a folder.
    """

    def __init__(self, paths: ImagePaths, *, folder: Path | None = None, gallery: Gallery | None = None) -> None:
        self._folder = ImageFolder(folder, paths) if folder else None
        self._paths, self._gallery = paths, gallery

    def __call__(self, image_id: str) -> Path | None:
        if self._folder and (found := self._folder.find(image_id)):
            return self._folder.root / found
        if self._gallery is None:
            return None
        there = image_id if image_id in self._gallery else self._by_path(image_id)
        path = self._gallery.path_of(there) if there else None
        return path if path and path.is_file() else None

    def _by_path(self, image_id: str) -> str | None:
        """Match by the end of the path, for sources that name images by path (CIRCUS)."""
        for path in self._paths(image_id):
            parts = PurePosixPath(path.replace("\\", "/")).parts
            for start in range(len(parts)):
                if found := self._gallery_paths.get("/".join(parts[start:])):
                    return found
        return None

    @cached_property
    def _gallery_paths(self) -> Mapping[str, str]:
        return {image.path: image.image_id for image in self._gallery.images} if self._gallery else {}


def relative_paths(path: str) -> Sequence[str]:
    """Candidate paths below a root: the whole path, and for another machine's absolute path all its suffixes, longest
    first."""
    plain = path.replace("\\", "/").removeprefix("./")
    parts = [part for part in plain.split("/") if part not in ("", "..")]
    if not plain.startswith("/") and plain[1:2] != ":":
        return tuple(dict.fromkeys(("/".join(parts), "/".join(parts).removeprefix("mbeir_images/"))))
    return tuple("/".join(parts[start:]) for start in range(len(parts)))
