"""Index the images of a source as a gallery. Safe to kill, quick to repeat."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path

from cir_core.bulk.places import Here, Job, Place
from cir_core.encoders.base import Encoder
from cir_core.errors import EncoderMismatch, GalleryError
from cir_core.gallery.decoding import Reusable, Skipped, default_threads
from cir_core.gallery.encoding import BATCHES, Encoded, EncodeFiles, File, FilesOfRun, KnownHashes
from cir_core.gallery.integrity import remedy_for_all
from cir_core.gallery.journal import IndexRun, Journal, Record
from cir_core.gallery.paths import disk_errors_explained, gallery_folder, locked, thumbnail_path
from cir_core.gallery.progress import IndexMeter, IndexProgress
from cir_core.gallery.publishing import IndexedFile, Published, load_published, publish, published_entries
from cir_core.gallery.scan import Entry, Scan
from cir_core.gallery.sources.folder import FolderSource
from cir_core.gallery.sources.opening import source_at, source_of
from cir_core.gallery.sources.source import ImageSource
from cir_core.support.files import write_atomically
from cir_core.support.texts import counted, quoted

__all__ = ["IndexProgress", "IndexReport", "index_folder", "index_source", "repair_gallery"]


@dataclass(frozen=True)
class IndexReport:
    """Summary of a run. Counts of files compare with the generation published before it."""

    name: str
    n: int                                  # images in the gallery now
    added: int
    changed: int                            # different bytes under the same path
    removed: int
    unchanged: int
    encoded: int                            # images encoded in this run
    resumed: int                            # images encoded by an interrupted run
    skipped: tuple[tuple[str, str], ...]    # (path, why it is not in the gallery)
    notes: tuple[str, ...]                  # remarks for the user
    seconds: float
    left_out: tuple[tuple[str, str], ...] = ()  # (path, reason): not looked at; the path of a folder ends with a slash


def index_folder(
    source: Path, *, name: str, encoder: Encoder, home: Path, max_megapixels: float = 64.0,
    batch_size: int = 32, decode_threads: int | None = None,
    progress: Callable[[IndexProgress], None] | None = None,
    manifest: Path | None = None, root: Path | None = None, split: str = "all",
    exclude: Sequence[str] = (), include: Sequence[str] = (),
    place: Place | None = None, load: Callable[[], Encoder] | None = None,
) -> IndexReport:
    """Create gallery ``name`` from the images under ``source``, or update it.

    With a ``manifest`` (see :mod:`cir_core.gallery.scan`) its images are indexed, relative to ``root`` (default
    ``source``), instead of everything in the folder. ``exclude`` and ``include`` are patterns of what to leave out of
    the folder and what to take back (see :func:`cir_core.images.folders.walk`). Vectors of unchanged files are reused.
    The existing gallery stays searchable until the new one is complete. After a crash or an error of the encoder, run
    it again: it resumes. Another ``place`` than this process loads ``encoder`` there, with ``load``.

    Raises ``GalleryError`` (name, folder, manifest, pattern, another active run, no image at all,
    disk full); errors of the encoder and of ``place`` are passed on.
    """
    return index_source(
        FolderSource(root or source, manifest=manifest, exclude=exclude, include=include), name=name, encoder=encoder,
        home=home, max_megapixels=max_megapixels, batch_size=batch_size, decode_threads=decode_threads,
        progress=progress, split=split, place=place, load=load)


def index_source(
    source: ImageSource, *, name: str, encoder: Encoder, home: Path, max_megapixels: float = 64.0,
    batch_size: int = 32, decode_threads: int | None = None,
    progress: Callable[[IndexProgress], None] | None = None, split: str = "all", entries: Sequence[Entry] | None = None,
    place: Place | None = None, load: Callable[[], Encoder] | None = None,
) -> IndexReport:
    """:func:`index_folder` for the images of any source, or for those of its ``entries`` alone."""
    if place is not None and not place.is_here:
        if load is None:
            raise ValueError("how is the encoder loaded elsewhere?")
        if source.layout is not None and source.layout.fetch:
            raise GalleryError("A single machine fetches images from addresses, to keep to the rate. Leave out "
                               "--ray, or --fetch.")
    scan = source.scan() if entries is None else Scan(tuple(entries))
    return _index(name, home, encoder, lambda published: _Wanted(scan, source, split, max_megapixels), batch_size,
                  decode_threads, progress, place or Here(), load)


def repair_gallery(
    name: str, *, home: Path, encoder: Encoder, batch_size: int = 32,
    progress: Callable[[IndexProgress], None] | None = None,
) -> IndexReport:
    """Encode the images of gallery ``name`` again whose vectors are damaged, and no others; no other file is read.

    Raises ``GalleryError``, and changes nothing, if there is no such gallery, one of these images cannot be read, or it
    is not known which they are; ``EncoderMismatch`` for another encoder than the gallery's.
    """

    def wanted(published: Published | None) -> _Wanted:
        if published is None:
            raise GalleryError(f"Nothing of the gallery {quoted(name)} can be repaired. "
                               f"{remedy_for_all(name)}")
        header = published.header
        if not published.fits(encoder.identity):
            raise EncoderMismatch(f"Gallery {quoted(name)} was indexed with {header.encoder.spec} (revision "
                                  f"{header.encoder.revision}), and can be repaired only with it.")
        scan = Scan(published_entries(published))
        return _Wanted(scan, source_of(header), header.split, header.max_megapixels, is_repair=True)

    return _index(name, home, encoder, wanted, batch_size, None, progress, Here(), None)


@dataclass(frozen=True)
class _Wanted:
    """``is_repair``: vectors that are not damaged are kept, whatever has become of their files."""

    scan: Scan
    source: ImageSource
    split: str
    max_megapixels: float
    is_repair: bool = False


def _index(
    name: str, home: Path, encoder: Encoder, wanted: Callable[[Published | None], _Wanted], batch_size: int,
    decode_threads: int | None, progress: Callable[[IndexProgress], None] | None, place: Place,
    load: Callable[[], Encoder] | None,
) -> IndexReport:
    started = time.perf_counter()
    folder = gallery_folder(name, home)
    with disk_errors_explained(folder, "gallery", "encoded images"):
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder):
            published = load_published(folder)
            this = wanted(published)
            scan, location = this.scan, this.source.location
            with closing(Journal(folder, IndexRun(encoder.identity, location))) as journal:
                run = _Run(this, folder, encoder, journal, published)
                run.work(place, load, batch_size, decode_threads or default_threads(), progress)
                if this.is_repair and run.skipped:
                    raise GalleryError(_not_repaired(name, run.skipped))
                chosen = [(entry, run.done[entry.path]) for entry in scan.entries if entry.path in run.done]
                if not chosen:
                    journal.discard()
                    raise GalleryError(_nothing(location, run.skipped, scan.left_out))
                publish(
                    folder, chosen, journal.vectors(), published, encoder=encoder.identity,
                    source=this.source, split=this.split, max_megapixels=this.max_megapixels,
                )
                journal.discard()
    return IndexReport(
        name, len(chosen), *_compare(chosen, published), run.encoded, run.resumed, tuple(run.skipped),
        (*scan.notes, *_notes(journal, published, encoder), *_now_left_out(scan, published, location)),
        time.perf_counter() - started,
        scan.left_out,
    )


class _Run:
    """One pass over the files; at the end ``done`` has every file with a vector."""

    def __init__(
        self, wanted: _Wanted, folder: Path, encoder: Encoder, journal: Journal, published: Published | None,
    ) -> None:
        self.scan, self.source, self.folder = wanted.scan, wanted.source, folder
        self.encoder, self.journal = encoder, journal
        self.max_megapixels, self.is_repair = wanted.max_megapixels, wanted.is_repair
        self.done: dict[str, IndexedFile] = {}
        self.skipped: list[tuple[str, str]] = list(wanted.scan.skipped)
        self.encoded = 0
        self.resumed = len(journal.records) - len(journal.damaged)
        self._by_path: dict[str, IndexedFile] = {}
        self._by_hash: dict[str, IndexedFile] = {}
        if published is not None and published.fits(encoder.identity):
            kept = [IndexedFile(record, row, fresh=False) for row, record in enumerate(published.records)
                    if row not in published.damaged]
            self._by_hash = {one.record.sha256: one for one in kept}
            if published.header.source == wanted.source.location:
                self._by_path = {one.record.path: one for one in kept}
        for row, record in enumerate(journal.records):
            if row not in journal.damaged:
                self._by_path[record.path] = IndexedFile(record, row, fresh=True)

    def work(
        self, place: Place, load: Callable[[], Encoder] | None, batch_size: int, threads: int,
        progress: Callable[[IndexProgress], None] | None,
    ) -> None:
        source = self.source
        opened = (lambda: source) if place.is_here else partial(source_at, source.location, source.layout)
        loaded = (lambda: self.encoder) if place.is_here or load is None else load
        work = EncodeFiles(loaded, self.encoder.identity, opened, self.folder, self.max_megapixels, batch_size, threads,
                           KnownHashes(self._by_hash))
        job = self._job(batch_size)
        with closing(place.found(work, job)) as left:
            for outcome in left:
                # A process that was killed while it joined a part has done so with some batches of it.
                if isinstance(outcome, Encoded) and not all(self._is_kept(record) for record in outcome.records):
                    self.resumed += len(outcome.records)
                    self._by_path |= self._kept(outcome)
        meter = IndexMeter(len(self.scan.entries) + len(self.skipped), len(self.skipped), progress)
        with closing(place.run(work, self._parts(batch_size * BATCHES, meter), job)) as outcomes:
            for outcome in outcomes:
                if isinstance(outcome, Encoded):
                    self.done |= self._kept(outcome)
                    self.encoded += len(outcome.records)
                    if outcome.records:
                        meter.encoded(len(outcome.records), outcome.records[-1].path)
                elif isinstance(outcome, Skipped):
                    self.skipped.append((outcome.path, outcome.reason))
                    meter.skip(outcome.path)
                else:
                    self._reuse(outcome)
                    meter.reused(outcome.record.path)
        if self.skipped:    # in the order of the files, wherever they were read
            order = {entry.path: number for number, entry in enumerate(self.scan.entries)}
            self.skipped.sort(key=lambda one: order.get(one[0], -1))
        meter.finish()

    def _job(self, batch_size: int) -> Job:
        """With all that vectors and thumbnails depend on besides the files."""
        identity = self.encoder.identity
        depends = (identity.revision, identity.dim, self.source.location, self.source.layout, batch_size,
                   self.max_megapixels)
        digest = sha256(repr(depends).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return Job(f"index-{self.folder.name}-{digest}", self.folder / "work" / "shards")

    def _parts(self, size: int, meter: IndexMeter) -> Iterator[FilesOfRun]:
        """The files to open: those whose size and time differ from their record. An interrupted run has the same parts
        as when it began, without the files that are in the journal."""
        files: list[File] = []
        count = 0
        for entry in self.scan.entries:
            known = self._by_path.get(entry.path)
            if known is not None and (self.is_repair or self.source.is_same(entry, known.record)):
                self.done[entry.path] = known
                meter.reused(entry.path)
                if not known.fresh:
                    continue
            else:
                files.append(File(entry, known.record.sha256 if known is not None else ""))
            count += 1
            if count == size:
                if files:
                    yield FilesOfRun(tuple(files))
                files, count = [], 0
        if files:
            yield FilesOfRun(tuple(files))

    def _reuse(self, outcome: Reusable) -> None:
        """A vector of the same bytes. Only published vectors are shared between paths: whether this run has encountered
        the same bytes before would depend on where it was interrupted."""
        record = outcome.record
        known = self._by_path.get(record.path)
        if known is None or known.record.sha256 != record.sha256:
            known = self._by_hash[record.sha256]
        self.done[record.path] = replace(known, record=replace(record, width=known.record.width,
                                                               height=known.record.height))

    def _is_kept(self, record: Record) -> bool:
        known = self._by_path.get(record.path)
        return known is not None and known.fresh and known.record == record

    def _kept(self, batch: Encoded) -> dict[str, IndexedFile]:
        """Of a batch that now survives a crash, each file by its path."""
        for name, image in batch.thumbnails.items():
            write_atomically(thumbnail_path(self.folder, name), image, synced=False)
        first = len(self.journal.records)
        self.journal.append(batch.records, batch.vectors)
        return {record.path: IndexedFile(record, row, fresh=True)
                for row, record in enumerate(batch.records, start=first)}


def _compare(chosen: Sequence[tuple[Entry, IndexedFile]], published: Published | None) -> tuple[int, int, int, int]:
    """Files added, changed, removed and unchanged since ``published``."""
    before = {record.path: record.sha256 for record in published.records} if published else {}
    now = {entry.path: kept.record.sha256 for entry, kept in chosen}
    added = sum(path not in before for path in now)
    unchanged = sum(before.get(path) == sha256 for path, sha256 in now.items())
    return added, len(now) - added - unchanged, sum(path not in now for path in before), unchanged


def _notes(journal: Journal, published: Published | None, encoder: Encoder) -> list[str]:
    notes = []
    if published is not None and not published.fits(encoder.identity):
        old, new = published.header.encoder, encoder.identity
        notes.append(f"The gallery was made with {old.spec} (revision {old.revision}); every image was encoded again "
                     f"with {new.spec} (revision {new.revision}).")
    elif published is not None and published.damaged:
        again = counted(len(published.damaged), "vector was", "vectors were")
        notes.append(f"{again} damaged and not used; their images were encoded again, as far as they are still there.")
    if journal.started_over:
        notes.append("An interrupted run with another encoder or folder was dropped, not continued.")
    return notes


def _now_left_out(scan: Scan, published: Published | None, location: str) -> list[str]:
    if not scan.left_out or published is None or published.header.source != location:
        return []
    left_out = {path for path, _ in scan.left_out}
    count = sum(any(f"{part}/" in left_out for part in _around(record.path)) or record.path in left_out
                for record in published.records)
    return [f"{count} images were removed from the gallery because they are left out now."] if count else []


def _around(path: str) -> Iterator[str]:
    """The folders that a file lies in."""
    while path := path.rpartition("/")[0]:
        yield path


def _not_repaired(name: str, skipped: Sequence[tuple[str, str]]) -> str:
    path, reason = skipped[0]
    more = f" (and {len(skipped) - 1:,} more)" if len(skipped) > 1 else ""
    return (f"Gallery {quoted(name)} was not repaired, and is as it was: {path} {reason}{more} Put the images back and "
            "repair it again, or leave them out of it with the 'cirque index' command that made it.")


def _nothing(base: str, skipped: Sequence[tuple[str, str]], left_out: Sequence[tuple[str, str]]) -> str:
    if not skipped and left_out:
        reasons = Counter(reason for _, reason in left_out).most_common(3)
        return (f"There are no images in {base} but what is left out: "
                f"{', '.join(f'{count} {reason}' for reason, count in reasons)}. Give the folder that contains them, "
                "or take them back with --include.")
    if not skipped:
        return f"There are no images in {base}. Give the folder that contains them."
    path, reason = skipped[0]
    return f"None of the {len(skipped)} files in {base} can be used; the first: {path} {reason}"
