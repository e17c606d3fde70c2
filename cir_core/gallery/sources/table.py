"""Images in tables: Parquet files and data sets on disk of Hugging Face, with the bytes or the addresses of images."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import pyarrow as pa
from cachetools import LRUCache

from cir_core.errors import GalleryError, ImageUnreadable
from cir_core.gallery.journal import Record
from cir_core.gallery.paths import Layout
from cir_core.gallery.scan import Entry, Scan, spelled_id, unique_ids
from cir_core.gallery.sources.addresses import Addresses
from cir_core.gallery.sources.columns import Columns, choose
from cir_core.gallery.sources.files import Files, FileState
from cir_core.gallery.sources.rows import Rows
from cir_core.gallery.sources.source import Reading, tag_of, too_large
from cir_core.gallery.sources.texts import caption_of, repeated
from cir_core.support.texts import quoted

_OPEN = 8   # files at a time


class TableSource:
    """``opened`` gives the rows of a file. ``asked``: the columns that the user names, or those of a gallery.

    Without ``asked.fetch`` nothing is fetched: scanning a table of addresses is refused with the way to allow it."""

    def __init__(self, files: Files, opened: Callable[[str], Rows], asked: Layout, addresses: Addresses) -> None:
        self._files, self._opened, self._asked, self._addresses = files, opened, asked, addresses
        self.location = files.location
        self._open: LRUCache[str, Rows] = LRUCache(_OPEN)
        self._lock = threading.Lock()

    @property
    def layout(self) -> Layout:
        return self._scanned[1] if "_scanned" in self.__dict__ else self._asked

    @property
    def is_far(self) -> bool:
        return self._files.is_far or self._asked.fetch

    def scan(self) -> Scan:
        return self._scanned[0]

    @cached_property
    def _scanned(self) -> tuple[Scan, Layout]:
        entries: list[Entry] = []
        names: list[str] = []
        skipped: list[tuple[str, str]] = []
        chosen: Columns | None = None
        for state in self._files.listed():
            try:
                with self._files.explained():
                    rows = self._opened(state.path)
                    if chosen is None:
                        chosen = self._chosen(rows.schema, state.path)
                    if rows.problem:
                        skipped.append((state.path, rows.problem))
                    for entry, name in _entries(rows, state, chosen):
                        entries.append(entry)
                        names.append(name)
                    rows.close()
            except (pa.ArrowException, OSError, KeyError) as error:
                skipped.append((state.path, f"cannot be read from here on ({_first_line(error)})."))
        layout = self._asked if chosen is None else Layout(
            self._asked.kind, chosen.image, chosen.id, chosen.caption, chosen.is_address)
        paths = [spelled_id(entry.path) for entry in entries]
        ids = unique_ids(names, paths)
        notes = repeated(names, ids, "key", "its file and row")
        return Scan(tuple(Entry(one, entry.path, entry.caption, entry.at, 0, entry.tag)
                          for entry, one in zip(entries, ids, strict=True)), tuple(skipped), notes=notes), layout

    def _chosen(self, schema: pa.Schema, path: str) -> Columns:
        asked = self._asked
        found = choose(schema, path, asked.column, asked.id_column, asked.caption_column)
        if found.is_address and not asked.fetch:
            raise GalleryError(f"The column {quoted(found.image)} of {path} contains addresses of images. Nothing is "
                               "fetched from the internet unless you ask for it: add --fetch, or name a column of "
                               "images with --column.")
        return found

    def is_same(self, entry: Entry, record: Record) -> bool:
        return record.mtime_ns == entry.tag

    def read(self, entry: Entry, most: int) -> Reading:
        path = entry.path.rpartition("#")[0]
        try:
            with self._files.explained():
                value = self._rows(path).cell(self.layout.column, entry.at)
        except (pa.ArrowException, KeyError, IndexError, ValueError) as error:
            raise ImageUnreadable(f"cannot be read from its table ({_first_line(error)}).") from error
        content = self._content(value, most)
        if len(content) > most:
            raise ImageUnreadable(too_large(len(content)))
        return Reading(content, len(content), entry.tag)

    def _content(self, value: Any, most: int) -> bytes:
        if isinstance(value, dict):
            if value.get("bytes") is None and value.get("path"):
                raise ImageUnreadable("has no bytes in its table, only the path of a file. Save the data set with its "
                                      "images in it (save_to_disk does).")
            value = value.get("bytes")
        if isinstance(value, bytes):
            return value
        if isinstance(value, str) and value.strip():
            return self._addresses.fetched(value.strip(), most)
        raise ImageUnreadable(f"is empty in the column {quoted(self.layout.column)}.")

    def _rows(self, path: str) -> Rows:
        with self._lock:
            if path not in self._open:
                self._open[path] = self._opened(path)
            return self._open[path]


def _entries(rows: Rows, state: FileState, columns: Columns) -> Iterator[tuple[Entry, str]]:
    """Entries, and the names of their images."""
    named = [name for name in (columns.id, columns.caption, columns.image if columns.is_address else "") if name]
    if not named:
        for row in range(rows.count):
            yield _entry(state, row, None, ""), f"{_stem(state.path)}/{row}"
        return
    row = 0
    for batch in rows.texts(list(dict.fromkeys(named))):
        ids, captions, addresses = (
            batch.column(name).to_pylist() if name in named else [None] * batch.num_rows
            for name in (columns.id, columns.caption, columns.image))
        for key, caption, address in zip(ids, captions, addresses, strict=True):
            if columns.labels and isinstance(caption, int):
                caption = columns.labels[caption] if 0 <= caption < len(columns.labels) else None
            name = spelled_id(" ".join(str(key).split())) if key is not None and str(key).strip() else ""
            # An address alone tells what is fetched: another version of the table changes nothing.
            tag = tag_of(columns.image, address) if isinstance(address, str) else 0
            yield _entry(state, row, caption_of(caption), columns.image, tag), name or f"{_stem(state.path)}/{row}"
            row += 1


def _entry(state: FileState, row: int, caption: str | None, column: str, tag: int = 0) -> Entry:
    return Entry("", f"{state.path}#{row}", caption, row, 0, tag or tag_of(state.tag, row, column))


def _stem(path: str) -> str:
    return path.rpartition(".")[0] or path


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
