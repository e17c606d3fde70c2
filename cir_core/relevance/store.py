"""Candidate features of a gallery on disk: half precision, memory-mapped, made once and resumable."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from cir_core.errors import CirqueError, ImageUnreadable
from cir_core.gallery.gallery import Gallery
from cir_core.gallery.paths import disk_errors_explained, locked
from cir_core.relevance.model import RelevanceModel, Tokens
from cir_core.support.files import write_atomically

_FOLDER = "relevance"
_BATCH = 64
Progress = Callable[[int, int], None]   # images done, in all


class CandidateFeatures(Protocol):
    """Token features of a gallery's images by row. Thread-safe."""

    def rows(self, rows: Sequence[int]) -> Tokens:
        """``[n, tokens, dim]`` float16; a row that has no features (unreadable image) is zero."""


@dataclass(frozen=True)
class StoredFeatures:
    """Features of all images of one generation of a gallery."""

    tokens: Tokens              # [images, tokens, dim], memory-mapped
    missing: frozenset[int]     # rows whose image could not be read

    def rows(self, rows: Sequence[int]) -> Tokens:
        return self.tokens[np.asarray(rows, np.int64)]


@dataclass(frozen=True)
class IndexOutcome:
    images: int
    encoded: int                              # in this run
    reused: int                               # from an earlier generation or an interrupted run
    skipped: tuple[tuple[str, str], ...]      # (image id, reason)
    path: Path


def features_path(gallery: Gallery, revision: str) -> Path:
    return gallery.folder / _FOLDER / f"{revision}-{gallery.generation}.f16"


def open_features(gallery: Gallery, model: RelevanceModel) -> StoredFeatures | None:
    """The stored features of this generation made with this model, or ``None``."""
    path = features_path(gallery, model.identity.revision)
    shape = (len(gallery), model.tokens, model.dim)
    try:
        listing = json.loads(path.with_suffix(".json").read_bytes())
        if path.stat().st_size != int(np.prod(shape)) * 2:
            return None
        tokens = np.memmap(path, dtype="<f2", mode="c", shape=shape)   # torch warns of read-only arrays
        return StoredFeatures(tokens, frozenset(listing["missing"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def index_features(gallery: Gallery, model: RelevanceModel, *, progress: Progress | None = None) -> IndexOutcome:
    """Make the features of ``gallery``, or what is missing of them. Safe to kill: run it again, it resumes.

    Features of the same image bytes, of an earlier generation, are reused. Raises ``GalleryError`` (disk full, another
    run at work).
    """
    path = features_path(gallery, model.identity.revision)
    with disk_errors_explained(gallery.folder, "gallery", "candidate features"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.parent):
            return _index(gallery, model, path, progress)


def _index(gallery: Gallery, model: RelevanceModel, path: Path, progress: Progress | None) -> IndexOutcome:
    size, shape = len(gallery), (len(gallery), model.tokens, model.dim)
    known = open_features(gallery, model)
    if known is not None and not known.missing:
        return IndexOutcome(size, 0, size, (), path)
    partial, journal = path.with_suffix(".partial"), path.with_suffix(".done")
    done = _done(journal, size)
    resumed = len(done)
    if not done or not partial.is_file():
        done, resumed = {}, 0
        journal.unlink(missing_ok=True)
        out = np.memmap(partial, dtype="<f2", mode="w+", shape=shape)
    else:
        out = np.memmap(partial, dtype="<f2", mode="r+", shape=shape)
    reused = _reuse(gallery, model, out, done)
    skipped: list[tuple[str, str]] = []
    wanted = [row for row in range(size) if row not in done]
    encoded = 0
    with journal.open("a", encoding="ascii") as log:
        for start in range(0, len(wanted), _BATCH):
            if progress:
                progress(size - len(wanted) + start, size)
            rows, images = [], []
            for row in wanted[start : start + _BATCH]:
                try:
                    images.append(gallery.load_for_encoder(gallery.ids[row]))
                    rows.append(row)
                except (ImageUnreadable, OSError) as error:
                    skipped.append((gallery.ids[row], str(error)))
            if rows:
                out[rows] = model.encode_candidates(images)
                out.flush()   # before the line that says so
                log.write("".join(f"{row}\n" for row in rows))
                log.flush()
                os.fsync(log.fileno())
                encoded += len(rows)
    if progress:
        progress(size, size)
    missing = sorted(gallery.row_of(image_id) for image_id, _ in skipped)
    write_atomically(path.with_suffix(".hashes"), "".join(image.sha256 for image in gallery.images).encode())
    os.replace(partial, path)
    write_atomically(path.with_suffix(".json"), json.dumps({"missing": missing}).encode())
    journal.unlink(missing_ok=True)
    _drop_older(path)
    return IndexOutcome(size, encoded, resumed + reused, tuple(skipped), path)


def _done(journal: Path, size: int) -> dict[int, None]:
    try:
        lines = journal.read_text("ascii").splitlines(keepends=True)
    except (OSError, UnicodeDecodeError):
        return {}
    found = (int(line) for line in lines if line.endswith("\n") and line.strip().isdigit())
    return {row: None for row in found if row < size}


def _reuse(gallery: Gallery, model: RelevanceModel, out: np.memmap, done: dict[int, None]) -> int:  # type: ignore[type-arg]
    """Copies rows of the same bytes from earlier generations of the same model; how many."""
    copied = 0
    for hashes in sorted(features_path(gallery, model.identity.revision).parent.glob(f"{model.identity.revision}-*.hashes")):
        text = hashes.read_text("ascii")
        old, count = hashes.with_suffix(".f16"), len(text) // 64
        if not old.is_file() or old.stat().st_size != count * model.tokens * model.dim * 2:
            continue
        tokens = np.memmap(old, dtype="<f2", mode="r", shape=(count, model.tokens, model.dim))
        rows = {text[64 * i : 64 * i + 64]: i for i in range(count)}
        for row in range(len(gallery)):
            found = rows.get(gallery.image(row).sha256)
            if row not in done and found is not None and tokens[found].any():
                out[row] = tokens[found]
                done[row] = None
                copied += 1
    return copied


def _drop_older(path: Path) -> None:
    """Removes this model's features of earlier generations. Open memory maps of them stay readable."""
    revision = path.name.partition("-")[0]
    for other in path.parent.glob(f"{revision}-*"):
        if other.stem != path.stem:
            other.unlink(missing_ok=True)


class FeaturesOnDemand:
    """Features of the images that are scored, made when they are first needed and kept in memory (at most ``keep``)."""

    def __init__(self, gallery: Gallery, model: RelevanceModel, keep: int = 20_000) -> None:
        import threading

        self._gallery, self._model, self._keep = gallery, model, keep
        self._known: dict[int, Tokens] = {}
        self._lock = threading.Lock()

    def rows(self, rows: Sequence[int]) -> Tokens:
        with self._lock:
            unknown = [row for row in dict.fromkeys(rows) if row not in self._known]
        for start in range(0, len(unknown), _BATCH):
            self._make(unknown[start : start + _BATCH])
        out = np.zeros((len(rows), self._model.tokens, self._model.dim), np.float16)
        with self._lock:
            for place, row in enumerate(rows):
                found = self._known.get(row)
                if found is not None:
                    out[place] = found
            while len(self._known) > self._keep:
                del self._known[next(iter(self._known))]
        return out

    def _make(self, rows: Sequence[int]) -> None:
        readable, images = [], []
        for row in rows:
            try:
                images.append(self._gallery.load_for_encoder(self._gallery.ids[row]))
                readable.append(row)
            except (CirqueError, OSError):
                continue
        if images:
            tokens = self._model.encode_candidates(images)
            with self._lock:
                self._known.update(zip(readable, tokens, strict=True))
