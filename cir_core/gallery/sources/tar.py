"""WebDataset: images in tar archives, with their captions beside them.

Archives are read, never unpacked: of each image its offset is kept, at which it is read later. A sample is what has one
key, the name up to its first dot: ``0001.jpg`` with ``0001.txt`` or ``0001.json``.
"""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from cir_core.errors import ImageUnreadable
from cir_core.gallery.journal import Record
from cir_core.gallery.paths import Layout
from cir_core.gallery.scan import Entry, Scan, spelled_id, unique_ids
from cir_core.gallery.sources.files import Files, FileState
from cir_core.gallery.sources.source import NOT_BY_NAME, Reading, tag_of, too_large
from cir_core.gallery.sources.texts import caption_of, repeated
from cir_core.images.folders import IMAGE_SUFFIXES
from cir_core.support.files import write_atomically
from cir_core.support.texts import counted

SUFFIX = ".tar"
_ARCHIVE = re.compile(rf"{re.escape(SUFFIX)}(?=/)", re.IGNORECASE)
_TEXTS = ("txt", "caption", "json")
_CAPTIONS = ("caption", "text", "label", "class")     # keys of a JSON file, in this order
_MOST_TEXT = 2**16      # bytes of a file with a caption
_SIDE_FILES = {"cls", "txt", "text", "caption", "json", "jsonl", "npy", "npz", "pth", "pyd", "ten", "id", "index"}


@dataclass(frozen=True)
class _Listing:
    """Images by name; (path, reason); texts by key."""

    images: list[Entry] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    captions: dict[str, str] = field(default_factory=dict)


class TarSource:
    """``kept``: a folder for the listings of archives in a store."""

    layout = Layout("tar")

    def __init__(self, files: Files, kept: Path | None = None) -> None:
        self._files, self._kept = files, kept
        self.location, self.is_far = files.location, files.is_far

    def scan(self) -> Scan:
        return self._scan

    @cached_property
    def _scan(self) -> Scan:
        entries: list[Entry] = []
        names: list[str] = []
        skipped: list[tuple[str, str]] = []
        archives = self._files.listed()
        for state in archives:
            listing = self._listing(state)
            skipped += listing.skipped
            for entry in listing.images:
                key = _key(entry.image_id)
                names.append(spelled_id(key))
                entries.append(_with(entry, caption=listing.captions.get(key)))
        ids = unique_ids(names, [spelled_id(entry.path) for entry in entries])
        current = {_listing_name(state) for state in archives}
        for old in self._kept.glob("*.json") if self._kept else ():
            if old.name not in current:
                old.unlink(missing_ok=True)
        notes = repeated(names, ids, "key", "its archive and name")
        return Scan(tuple(_with(entry, image_id=one) for entry, one in zip(entries, ids, strict=True)),
                    tuple(skipped), notes=notes)

    def _listing(self, archive: FileState) -> _Listing:
        """Of an archive in a store that did not change, as it was listed before: to list it reads all of it."""
        kept = self._kept / _listing_name(archive) if self._kept and self.is_far else None
        if kept and (known := _read_listing(kept)):
            return known
        with self._files.explained(), self._files.open(archive.path) as file:
            listing = _list(file, archive)
        if kept:
            write_atomically(kept, json.dumps(asdict(listing)).encode())
        return listing

    def is_same(self, entry: Entry, record: Record) -> bool:
        return (record.mtime_ns, record.size) == (entry.tag, entry.size)

    def read(self, entry: Entry, most: int) -> Reading:
        if entry.size > most:
            raise ImageUnreadable(too_large(entry.size))
        archive, content = self._found(entry)
        if len(content) != entry.size:
            raise ImageUnreadable(f"is cut off: {archive} ends before it.")
        return Reading(content, entry.size, entry.tag)

    def _found(self, entry: Entry) -> tuple[str, bytes]:
        """The archive and what it has there. Folders, too, around an archive or in it, may be named like one."""
        missing: OSError | None = None
        for ending in _ARCHIVE.finditer(entry.path):
            archive = entry.path[:ending.end()]
            try:
                return archive, self._files.read(archive, entry.at, entry.size)
            except (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError) as error:
                if missing is None or isinstance(missing, IsADirectoryError):
                    missing = error
        raise missing or ImageUnreadable("is in no archive.")


def _list(file: BinaryIO, archive: FileState) -> _Listing:
    found, count, repeats, last = _Listing(), 0, dict[str, int](), -1
    try:
        with tarfile.open(fileobj=file, mode="r:", errorlevel=1) as tar:
            while (member := tar.next()) is not None:
                tar.members.clear()     # type: ignore[attr-defined,unused-ignore] # else it keeps all
                if member.size < 0 or member.offset_data <= last:
                    raise tarfile.ReadError("bad size")      # it would lead back, and be listed for ever
                count, last = count + 1, member.offset_data
                name = member.name.removeprefix("./")
                path = f"{archive.path}/{name}"
                if member.isdir():
                    continue
                if why := _unusable(member, name):
                    found.skipped.append((path, why))
                    continue
                ending = name.rpartition(".")[2].lower()
                if f".{ending}" in IMAGE_SUFFIXES:
                    repeats[path] = repeats.get(path, 0) + 1
                    if repeats[path] > 1:
                        path = f"{path}~{repeats[path]}"
                    found.images.append(Entry(name, path, None, member.offset_data, member.size,
                                              tag_of(archive.tag, member.offset_data, member.size)))
                elif ending in _TEXTS and member.size <= _MOST_TEXT:
                    file.seek(member.offset_data)
                    if (text := _caption(file.read(member.size), ending)) and (
                            ending != "json" or _key(name) not in found.captions):
                        found.captions[_key(name)] = text
                elif ending not in _SIDE_FILES and not name.rpartition("/")[2].startswith("."):
                    found.skipped.append((path, NOT_BY_NAME))
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        whole = f"after {counted(count, 'entry', 'entries')}" if count else "at its beginning"
        found.skipped.append((archive.path, f"is damaged or cut off {whole} ({error}); what comes before is used."))
    return found


def _listing_name(archive: FileState) -> str:
    return f"{archive.tag:016x}.json"


def _read_listing(path: Path) -> _Listing | None:
    try:
        content = json.loads(path.read_bytes())
        return _Listing([Entry(**one) for one in content["images"]], [(at, why) for at, why in content["skipped"]],
                        content["captions"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _unusable(member: tarfile.TarInfo, name: str) -> str:
    if member.issym() or member.islnk():
        return "is a link, which is not followed in an archive."
    if not member.isreg() or member.sparse is not None:
        return "is not an ordinary file."
    if name.startswith("/") or ".." in name.split("/"):
        return "has a name that leads out of its archive, and is not used."
    return ""


def _key(name: str) -> str:
    folder, slash, file = name.rpartition("/")
    return f"{folder}{slash}{file.partition('.')[0] or file}"


def _caption(content: bytes, ending: str) -> str | None:
    text = content.decode("utf-8", "replace")
    if ending != "json":
        return caption_of(text)
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, Mapping):
        return None
    return next((found for key in _CAPTIONS if (found := caption_of(fields.get(key)))), None)


def _with(entry: Entry, *, image_id: str = "", caption: str | None = None) -> Entry:
    return Entry(image_id or entry.image_id, entry.path, caption or entry.caption, entry.at, entry.size, entry.tag)
