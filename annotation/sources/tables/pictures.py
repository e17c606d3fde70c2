"""Pictures that a table names: in a folder, or in a ZIP, which is not unpacked. Or in a gallery.

Names are compared as people write them: with either slash, whatever their case, with or without an ending, and from
another machine's folder.
"""

from __future__ import annotations

import stat
import unicodedata
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath

from annotation.sources.pictures import Pictures, relative_paths
from annotation.sources.queries import FindPicture, Picture
from cir_core.datasets.files.image_files import EXTENSIONS
from cir_core.errors import DatasetError, GalleryError, ImageUnreadable
from cir_core.gallery.gallery import Gallery
from cir_core.images.folders import walk
from cir_core.support.texts import counted, shortened

MOST_ENTRIES = 500_000
MOST_PICTURE = 200 * 2**20     # bytes of one, unpacked
_MISSING = "is not there"
_OTHERS = (*EXTENSIONS, ".jfif", ".heic", ".heif", ".avif")


class PictureFiles:
    """Finds pictures by the names of a table. ``name``: where they are, for messages."""

    def __init__(self, name: str, find: FindPicture, why_not: Callable[[str], str] | None = None) -> None:
        self.name, self._find = name, find
        self._why_not = why_not or (lambda picture: "" if find(picture) is not None else _MISSING)

    def __call__(self, picture: str) -> Picture | None:
        return self._find(picture)

    def __contains__(self, picture: object) -> bool:
        return isinstance(picture, str) and self._find(picture) is not None

    def to_read(self, picture: str) -> Picture | None:
        return self._find(picture)

    def why_not(self, picture: str) -> str:
        """Why there is no such picture, as in "NAME is not there"; "" if there is."""
        return self._why_not(picture)


def open_pictures(path: Path, shown: str = "") -> PictureFiles:
    """A folder's pictures, a ZIP's, or those of a folder of both. ``shown``: its name in messages.

    Raises ``DatasetError`` for what cannot be read, a ZIP with too many entries or with a password, and where there is
    no picture at all."""
    shown = shown or path.name or str(path)
    if path.is_dir():
        found: dict[str, Picture] = {}
        try:
            names = walk(path).files
        except GalleryError as error:
            raise DatasetError(str(error)) from error
        for name in names:
            file = path / name
            if name.lower().endswith(".zip"):
                found |= _of_archive(file, PurePosixPath(name).name)
            elif _is_picture(name):
                found[name] = file
    elif path.is_file():
        found = _of_archive(path, shown)
    else:
        raise DatasetError(f"{path} is missing. Give the folder or the ZIP with the pictures.")
    if not found:
        raise DatasetError(f"{shown} has no pictures ({', '.join(_OTHERS)}). Check that it is the right folder or ZIP.")
    names_in = _Names(found)
    return PictureFiles(shown, lambda name: found[at] if (at := names_in.find(name)) else None, names_in.why_not)


def of_gallery(gallery: Gallery) -> PictureFiles:
    """The pictures of a gallery, by id or path."""
    return PictureFiles(f"the gallery {gallery.name}", Pictures(relative_paths, gallery=gallery))


def _of_archive(path: Path, shown: str) -> dict[str, Picture]:
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise DatasetError(f"{shown} is not a complete ZIP file. Pack or upload it again; unpack other archives "
                           "first.") from error
    entries = archive.infolist()
    if len(entries) > MOST_ENTRIES:
        raise DatasetError(f"{shown} has {len(entries):,} files, and may have {MOST_ENTRIES:,}. Divide it.")
    found: dict[str, Picture] = {}
    for entry in entries:
        name = _named(entry)
        if entry.is_dir() or not _is_picture(name) or stat.S_ISLNK(entry.external_attr >> 16):
            continue
        if entry.flag_bits & 1:
            raise DatasetError(f"{shown} is protected by a password. Pack it without one.")
        found[name] = partial(_unpacked, archive, entry, name)
    return found


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> bytes:
    """Raises ``ImageUnreadable`` for an entry that is damaged, or larger than a picture can be."""
    try:
        with archive.open(entry) as file:
            content = file.read(MOST_PICTURE + 1)   # what the archive says of its size may be wrong
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, ValueError, RuntimeError) as error:
        raise ImageUnreadable(f"{name} is damaged in the ZIP.") from error
    except Exception as error:   # zlib, lzma and bz2 have errors of their own
        raise ImageUnreadable(f"{name} cannot be unpacked.") from error
    if len(content) > MOST_PICTURE:
        raise ImageUnreadable(f"{name} has more than {MOST_PICTURE // 2**20:,} MB.")
    return content


def _named(entry: zipfile.ZipInfo) -> str:
    """The entry's name. Many programs write UTF-8 without saying so."""
    name = entry.filename
    if not entry.flag_bits & 0x800:
        with suppress(UnicodeEncodeError, UnicodeDecodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/")


def _is_picture(name: str) -> bool:
    parts = PurePosixPath(name).parts
    # macOS packs a file "._name" beside each, and a folder of them.
    return name.lower().endswith(_OTHERS) and "__MACOSX" not in parts and not parts[-1].startswith(".")


def _spelt(name: str) -> str:
    return unicodedata.normalize("NFC", name.replace("\\", "/")).casefold()


def _stem(name: str) -> str:
    return next((name[:-len(ending)] for ending in _OTHERS if name.endswith(ending)), name)


class _Names:
    """The names that there are, by how they end."""

    def __init__(self, names: Iterable[str]) -> None:
        self._exact = dict.fromkeys(names)
        self._by_last: dict[str, list[tuple[str, ...]]] = defaultdict(list)   # by the stem of their last part
        self._whole: dict[tuple[str, ...], str] = {}
        for name in self._exact:
            parts = PurePosixPath(_spelt(name)).parts
            self._whole.setdefault(parts, name)
            self._by_last[_stem(parts[-1])].append(parts)

    def find(self, name: str) -> str | None:
        if name in self._exact:
            return name
        best = self._best(name)
        return self._whole[best[0]] if len(best) == 1 else None

    def why_not(self, name: str) -> str:
        if self.find(name):
            return ""
        if len(best := self._best(name)) > 1:
            there = ", ".join(shortened(self._whole[one], 80) for one in best[:3])
            return f"could be {counted(len(best), 'file')}: {there}. Write the folder before its name"
        if "://" in name:
            return "is an address: save the picture, and name its file"
        return _MISSING

    def _best(self, name: str) -> list[tuple[str, ...]]:
        """The files of this name, with the same ending if any has it, that lie in the most similar folders."""
        wanted = tuple(part for part in PurePosixPath(_spelt(name)).parts if part not in ("/", ".", ".."))
        if not wanted:
            return []
        there = self._by_last.get(_stem(wanted[-1]), [])
        same = [parts for parts in there if parts[-1] == wanted[-1]] or there
        shared = [_shared(parts, wanted) for parts in same]
        return [parts for parts, count in zip(same, shared, strict=True) if count == max(shared)]


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """Number of folders that two paths share, counted from the file."""
    count = 0
    for left, right in zip(reversed(one[:-1]), reversed(other[:-1]), strict=False):
        if left != right:
            break
        count += 1
    return count
