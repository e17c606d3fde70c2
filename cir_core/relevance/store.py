"""Candidate features of a gallery on disk: half precision, memory-mapped, made once and resumable.

    <home>/galleries/<name>/relevance/
        <revision>-<gen>.f16        [images, tokens, dim] float16, little endian
        <revision>-<gen>.json       rows without features; written last
        <revision>-<gen>.sums       checksums of the rows
        <revision>-<gen>.hashes     the images' content hashes, by which a later generation finds its rows
        <revision>-<gen>.partial    the features of an unfinished run
        <revision>-<gen>.done       its rows that are finished, each with its checksum

Rows are verified when they are read for the first time: all of them may take tens of gigabytes.
"""

from __future__ import annotations

import logging
import math
import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image

from cir_core.bulk.places import Here, Job, Place
from cir_core.errors import GalleryError, ImageUnreadable
from cir_core.gallery.gallery import Gallery, GalleryOpener
from cir_core.gallery.paths import disk_errors_explained, locked
from cir_core.relevance.making import Images, Made, MakeFeatures
from cir_core.support.checksums import RowSums, signed, sum_of, unsigned
from cir_core.support.files import flush_to_disk, reserve, sync_folder, write_atomically, write_durably
from cir_core.support.texts import counted

if TYPE_CHECKING:   # torch takes seconds to import, and a check of files does not need it
    from cir_core.relevance.model import RelevanceModel, Tokens

_FOLDER = "relevance"
_BATCH = 64
Progress = Callable[[int, int], None]   # images done, in all
_DAMAGE = (OSError, ValueError, KeyError, TypeError, RecursionError)
_log = logging.getLogger("cirque.relevance")


class CandidateFeatures(Protocol):
    """Token features of a gallery's images by row. Thread-safe."""

    def rows(self, rows: Sequence[int]) -> Tokens:
        """``[n, tokens, dim]`` float16; a row that has no features (unreadable image) is zero."""


class StoredFeatures:
    """Features of all images of one generation of a gallery. Thread-safe.

    ``missing``: rows whose image could not be read. A row that turns out to be damaged has no features from then on,
    as if its image could not be read, and is one of ``damaged``; the log says so once."""

    def __init__(self, tokens: Tokens, missing: Iterable[int], sums: RowSums | None, gallery: str = "") -> None:
        """``tokens`` ``[images, tokens, dim]``, memory-mapped; ``sums``: None for features of earlier versions, of
        which rows that are not finite are damaged."""
        self._tokens, self._sums, self._gallery = tokens, sums, gallery
        self.missing = frozenset(missing)
        self._sound = np.zeros(len(tokens), dtype=np.bool_)
        self._sound[list(self.missing)] = True
        self._lock = threading.Lock()
        self.damaged: frozenset[int] = frozenset()

    def rows(self, rows: Sequence[int]) -> Tokens:
        wanted = np.asarray(rows, np.int64)
        self._verify(wanted[~self._sound[wanted]])
        found: Tokens = self._tokens[wanted]
        if self.damaged:
            found[np.isin(wanted, list(self.damaged))] = 0
        return found

    def damaged_among(self, rows: Sequence[int]) -> frozenset[int]:
        wanted = np.asarray(rows, np.int64)
        self._verify(wanted[~self._sound[wanted]])
        return self.damaged & frozenset(rows)

    @property
    def tokens(self) -> Tokens:
        """``[images, tokens, dim]``, verified; those of ``missing`` and ``damaged`` rows mean nothing."""
        self.verify()
        return self._tokens

    def verify(self) -> frozenset[int]:
        """Reads all rows that were not read yet; those that are damaged."""
        new = np.flatnonzero(~self._sound)
        for start in range(0, len(new), _BATCH):
            self._verify(new[start:start + _BATCH])
        return self.damaged

    def _verify(self, rows: npt.NDArray[np.int64]) -> None:
        if not len(rows):
            return
        content = self._tokens[rows]
        if self._sums is None:
            bad = rows[~np.isfinite(content).all(axis=(1, 2))]
        else:
            bad = rows[self._sums.differ(rows, content)]
        with self._lock:
            first = len(bad) > 0 and not self.damaged
            self.damaged |= frozenset(bad.tolist())
            self._sound[rows] = True
        if first:
            _log.warning("Candidate features of gallery %s are damaged, those of row %d first. They are made anew "
                         "whenever they are needed; to store them again, and no others: cirque relevance index %s",
                         self._gallery, bad[0], self._gallery)


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
        missing, sums = _missing(path, len(gallery)), _sums(path, len(gallery))
        tokens = _mapped(path, shape)
        return None if tokens is None else StoredFeatures(tokens, missing, sums, gallery.name)
    except _DAMAGE:
        return None


def index_features(
    gallery: Gallery, model: RelevanceModel, *, progress: Progress | None = None, place: Place | None = None,
    load: Callable[[], RelevanceModel] | None = None,
) -> IndexOutcome:
    """Make the features of ``gallery``, or what is missing of them. Safe to kill: run it again, it resumes. Another
    ``place`` than this process loads ``model`` there, with ``load``.

    Features of the same image bytes, of an earlier generation, are reused. Raises ``GalleryError`` (disk full, another
    run at work).
    """
    path = features_path(gallery, model.identity.revision)
    with disk_errors_explained(gallery.folder, "candidate features", "those made so far"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.parent, gallery.name):
            return _index(gallery, model, path, progress, place or Here(), load or (lambda: model))


def _index(
    gallery: Gallery, model: RelevanceModel, path: Path, progress: Progress | None, place: Place,
    load: Callable[[], RelevanceModel],
) -> IndexOutcome:
    size, shape = len(gallery), (len(gallery), model.tokens, model.dim)
    known = open_features(gallery, model)
    if known is not None:
        _restore_hashes(gallery, path)
    if known is not None and not known.verify():
        still = [failed for row in sorted(known.missing) for failed in _read(gallery, [row])[1]]
        if len(still) == len(known.missing):   # all there, or what is missing is as unreadable as before
            return IndexOutcome(size, 0, size - len(still), tuple(still), path)
    del known
    partial, journal = path.with_suffix(".partial"), path.with_suffix(".done")
    out = _mapped(partial, shape, "r+")
    done: set[int] = set()
    if out is None:   # none, or not of this size: a file that was cut off
        partial.unlink(missing_ok=True)
        reserve(partial, math.prod(shape) * 2)
        out = np.memmap(partial, dtype="<f2", mode="r+", shape=shape)
    else:
        checksums = _journalled(journal, size)
        done = {row for row in checksums if out[row].any() and _is(out[row], checksums[row])}
    opener = (lambda: gallery) if place.is_here else GalleryOpener.of(gallery)
    work = MakeFeatures(load, model.identity.revision, opener)
    job = Job(f"relevance-{gallery.name}-{path.stem}", path.parent / "shards")
    with closing(place.found(work, job)) as left:
        for made in left:
            out[list(made.rows)] = made.tokens
            done.update(made.rows)
    resumed = len(done)
    reused = _reuse(gallery, path, out, done)
    out.flush()
    write_atomically(journal, _lines(out, done))   # without a last line that was cut off, which the next would continue
    skipped: list[tuple[int, str]] = []
    wanted = [row for row in range(size) if row not in done]
    over, encoded = size - len(wanted), 0
    with journal.open("ab") as log, closing(place.run(work, _parts(wanted), job)) as results:
        if progress:
            progress(over, size)
        for made in results:
            if not place.is_here:
                _check_failed(gallery, made)
            skipped += made.failed
            if made.rows:
                out[list(made.rows)] = made.tokens
                out.flush()   # before the lines that say so
                log.write(_lines(out, made.rows))
                flush_to_disk(log)
                encoded += len(made.rows)
            over += len(made.rows) + len(made.failed)
            if progress:
                progress(over, size)
    out.flush()
    sums = RowSums.of(out)
    del out
    _publish(gallery, path, [row for row, _ in skipped], sums)
    return IndexOutcome(size, encoded, resumed + reused,
                        tuple((gallery.ids[row], reason) for row, reason in sorted(skipped)), path)


def _check_failed(gallery: Gallery, made: Made) -> None:
    """Raises ``GalleryError`` if another machine could not read an image that this one reads."""
    for row, reason in made.failed:
        if _read(gallery, [row])[0]:
            raise GalleryError(f"A machine of the cluster cannot read {gallery.ids[row]} ({reason}), and this one can. "
                               "All machines must see the images under the same path: mount their folder there.")


def _parts(wanted: Iterable[int]) -> Iterator[Images]:
    """Batches of rows that lie together in the gallery: the same ones wherever a run was interrupted."""
    for _, rows in groupby(wanted, key=lambda row: row // _BATCH):
        yield Images(tuple(rows))


def check_features(gallery: str, folder: Path) -> list[str]:
    """What is damaged of the candidate features of ``gallery``, in the gallery's ``folder``, and what to do. Reads all
    of them, without their model."""
    problems = []
    for path in sorted((folder / _FOLDER).glob("*.f16")):
        problem = _problem_of(path)
        if problem:
            problems.append(f"{path} is damaged ({problem}). To make again what is damaged: cirque relevance index "
                            f"{gallery}")
    return problems


def _problem_of(path: Path) -> str:
    try:
        unsigned(path.with_suffix(".json").read_bytes(), must=False)["missing"]
        _hashes(path)
        sums = _sums(path)
        if sums is not None:
            damaged = len(sums.damaged(path))
            return f"{counted(damaged, 'row')} of {len(sums):,}" if damaged else ""
        with path.open("rb") as file:
            while content := file.read(2**22):
                if not np.isfinite(np.frombuffer(content[:len(content) // 2 * 2], "<f2")).all():
                    return "numbers that no model gives"
    except _DAMAGE as error:
        return str(error)
    return ""


def _read(gallery: Gallery, rows: Iterable[int]) -> tuple[dict[int, Image.Image], list[tuple[str, str]]]:
    """Images by row, and (image id, reason) of those that cannot be read."""
    read, failed = {}, []
    for row in rows:
        try:
            read[row] = gallery.load_for_encoder(gallery.ids[row])
        except (ImageUnreadable, OSError) as error:
            failed.append((gallery.ids[row], str(error)))
    return read, failed


def _publish(gallery: Gallery, path: Path, missing: Collection[int], sums: RowSums) -> None:
    """The listing comes last: features without it are incomplete to :func:`open_features`."""
    listing = path.with_suffix(".json")
    listing.unlink(missing_ok=True)
    hashes = _write_hashes(gallery, path)
    write_durably(path.with_suffix(".sums"), signed(sums.as_json()))
    os.replace(path.with_suffix(".partial"), path)
    sync_folder(path.parent)
    write_durably(listing, signed({"missing": sorted(missing), "hashes": sum_of(hashes)}))
    path.with_suffix(".done").unlink(missing_ok=True)
    _drop_older(path)


def _write_hashes(gallery: Gallery, path: Path) -> bytes:
    hashes = "".join(image.sha256 for image in gallery.images).encode()
    write_atomically(path.with_suffix(".hashes"), hashes)
    return hashes


def _restore_hashes(gallery: Gallery, path: Path) -> None:
    try:
        _hashes(path)
    except _DAMAGE:
        _write_hashes(gallery, path)   # the gallery knows them


def _hashes(path: Path) -> str:
    """The images' hashes of the features at ``path``. Raises what :data:`_DAMAGE` holds."""
    content = path.with_suffix(".hashes").read_bytes()
    try:
        checksum = unsigned(path.with_suffix(".json").read_bytes(), must=False)["hashes"]
    except _DAMAGE:
        return content.decode("ascii")   # of an earlier version, or what vouches for them is damaged itself
    if sum_of(content) != checksum:
        raise ValueError("the images' hashes do not match their checksum")
    return content.decode("ascii")


def _mapped(path: Path, shape: tuple[int, int, int], mode: Literal["c", "r+"] = "c") -> np.memmap[Any, Any] | None:
    """``None`` if the file is missing or of another size; numpy would extend one that is too short. Finished files are
    mapped copy-on-write (``c``): PyTorch takes no memory that is read-only."""
    if not path.is_file() or path.stat().st_size != math.prod(shape) * 2:
        return None
    return np.memmap(path, dtype="<f2", mode=mode, shape=shape)


def _missing(path: Path, size: int) -> list[int]:
    """Rows without features. Raises what :data:`_DAMAGE` holds."""
    missing: list[int] = unsigned(path.with_suffix(".json").read_bytes(), must=False)["missing"]
    if not all(type(row) is int and 0 <= row < size for row in missing):
        raise ValueError("rows that are not there")
    return missing


def _sums(path: Path, size: int | None = None) -> RowSums | None:
    """Checksums of all rows; None of earlier versions. Raises what :data:`_DAMAGE` holds."""
    try:
        content = path.with_suffix(".sums").read_bytes()
    except FileNotFoundError:
        return None
    sums = RowSums.from_json(unsigned(content))
    if size is not None and len(sums) != size:
        raise ValueError("checksums of another number of rows")
    return sums


def _lines(out: Tokens, rows: Iterable[int]) -> bytes:
    return "".join(f"{row} {_sum(out[row])}\n" for row in rows).encode()


def _sum(row: Tokens) -> str:
    return sum_of(row.tobytes())


def _is(row: Tokens, checksum: str) -> bool:
    """Whether ``row`` has this checksum, which is "" of earlier versions."""
    return bool(np.isfinite(row).all()) if not checksum else _sum(row) == checksum


def _journalled(journal: Path, size: int) -> dict[int, str]:
    """Finished rows and their checksums."""
    try:
        lines = journal.read_text("ascii").splitlines(keepends=True)
    except (OSError, UnicodeDecodeError):
        return {}
    found = {}
    for line in lines:
        row, _, checksum = line.strip().partition(" ")
        if line.endswith("\n") and row.isdigit() and int(row) < size:
            found[int(row)] = checksum
    return found


def _reuse(gallery: Gallery, path: Path, out: np.memmap[Any, Any], done: set[int]) -> int:
    """Copies rows of the same bytes from finished files of the same model, and adds them to ``done``; how many."""
    copied = 0
    for hashes in sorted(path.parent.glob(f"{_revision_of(path)}-*.hashes")):
        try:
            text = _hashes(hashes.with_suffix(".f16"))
        except _DAMAGE:
            continue
        count = len(text) // 64
        tokens = _mapped(hashes.with_suffix(".f16"), (count, *out.shape[1:]))
        if tokens is None:
            continue
        try:
            stored = StoredFeatures(tokens, (), _sums(hashes, count), gallery.name)
        except _DAMAGE:
            continue    # which rows are sound is not known
        rows = {text[64 * i : 64 * i + 64]: i for i in range(count)}
        for row in range(len(gallery)):
            found = rows.get(gallery.image(row).sha256)
            if row in done or found is None:
                continue
            if tokens[found].any() and found not in stored.damaged_among([found]):
                out[row] = tokens[found]
                done.add(row)
                copied += 1
    return copied


def _drop_older(path: Path) -> None:
    """Removes this model's features of earlier generations. Open memory maps of them stay readable."""
    for other in path.parent.glob(f"{_revision_of(path)}-*"):
        if other.stem != path.stem:
            with suppress(PermissionError):   # Windows, while it is open; the next run removes it
                other.unlink(missing_ok=True)


def _revision_of(path: Path) -> str:
    return path.name.partition("-")[0]


class FeaturesOnDemand:
    """Features of the images that are scored, made when they are first needed and kept in memory (at most ``keep``)."""

    def __init__(self, gallery: Gallery, model: RelevanceModel, keep: int = 20_000) -> None:
        self._gallery, self._model, self._keep = gallery, model, keep
        self._known: dict[int, Tokens] = {}
        self._lock = threading.Lock()

    def rows(self, rows: Sequence[int]) -> Tokens:
        """As :class:`CandidateFeatures`. An unreadable image is tried again at each call. Raises ``DecodingBusy``."""
        with self._lock:
            found = {row: self._known[row] for row in rows if row in self._known}
        unknown = [row for row in dict.fromkeys(rows) if row not in found]
        for start in range(0, len(unknown), _BATCH):
            read, _ = _read(self._gallery, unknown[start : start + _BATCH])
            # Copies: a row of the batch would keep all of it in memory.
            made = map(np.copy, self._model.encode_candidates(list(read.values())))
            found.update(zip(read, made, strict=True))
        with self._lock:
            self._known.update(found)
            while len(self._known) > self._keep:
                del self._known[next(iter(self._known))]
        out = np.zeros((len(rows), self._model.tokens, self._model.dim), np.float16)
        for place, row in enumerate(rows):
            if row in found:
                out[place] = found[row]
        return out
