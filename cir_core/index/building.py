"""Build an approximate index of a published gallery, measure it, and put it in use in one step.

The work lies in ``index-work`` in the gallery's folder. A run that was killed is continued by the next one for the same
vectors and kind. When the index has been built and has reached the recall, the folder is renamed and ``index.json``
replaced; until then the gallery keeps the index that it has.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from cir_core.errors import GalleryError, IndexUnavailable
from cir_core.gallery.gallery import Gallery, open_gallery
from cir_core.gallery.paths import disk_errors_explained, gallery_folder, locked
from cir_core.index.engines import EXACT, IndexMaker, Made, Progress, Variant, engine_of, maker_of
from cir_core.index.flat import FlatIndex
from cir_core.index.measuring import measure, sample_queries
from cir_core.index.stored import FILE, RECALL, StoredIndex, digest_of, read_index, write_index
from cir_core.support.files import sync_folder, write_durably
from cir_core.support.texts import quoted
from cir_core.types.records import Matrix, new_id

_WORK, _FOLDERS = "index-work", "index-*/"
_RUN, _MADE = "run.json", "made.json"


@dataclass(frozen=True)
class _Run:
    """What the work in progress is of."""

    kind: str
    vectors: str


def check_kind(kind: str) -> None:
    """Raises ``GalleryError`` for a kind that there is not, or that needs what is not installed."""
    if kind != EXACT:
        engine, variant = engine_of(kind)
        maker_of(engine).variant(variant, 1_000_000, 512)


def build_index(
    name: str, *, home: Path, kind: str, recall: float = RECALL,
    texts: Callable[[Gallery], Matrix | None] = lambda gallery: None, progress: Progress = lambda done, total: None,
) -> StoredIndex | None:
    """Give gallery ``name`` an index of ``kind``; None for "exact". One of the same kind and of the same vectors that
    reaches ``recall`` is kept. ``texts`` gives vectors ``[n, dim]`` of texts to measure with.

    Raises ``GalleryError`` (kind, another run, damage, a recall below ``recall``: the gallery then keeps the index that
    it has) and ``IndexUnavailable``.
    """
    if not 0 <= recall <= 1:
        raise GalleryError(f"The recall is {recall:g}; choose one between 0 and 1, for example {RECALL:g}.")
    check_kind(kind)
    folder = gallery_folder(name, home)
    open_gallery(name, home=home)   # one that is not there gets no folder
    with disk_errors_explained(folder, "index", "vectors indexed so far"), locked(folder):
        gallery = open_gallery(name, home=home)
        before = _before(folder)
        if kind == EXACT:
            return _publish(folder, None)
        if gallery.damage:
            raise GalleryError(f"{gallery.damage} Then build the index.")
        engine, wanted = engine_of(kind)
        variant = maker_of(engine).variant(wanted, *gallery.features.shape)
        stored = _kept(gallery, before, f"{engine}:{variant.name}", recall)
        if stored is None:
            stored = _built(gallery, engine, variant, recall, texts, progress)
        return _publish(folder, replace(stored, asked=kind))


def rebuild_kind(name: str, home: Path) -> tuple[str, float] | None:
    """The kind and recall that gallery ``name`` was last given, to build its index again after its images changed; None
    if it has none or search is exact."""
    stored = _before(gallery_folder(name, home))
    return (stored.asked, stored.recall) if stored else None


def discard_index(name: str, *, home: Path) -> list[str]:
    """Delete what a gallery's indexes keep outside its folder, before the gallery is removed. Returns why something
    could not be deleted."""
    problems = []
    for index in gallery_folder(name, home).glob(_FOLDERS):
        try:
            if (maker := _maker_for(index)) is not None:
                maker.discard(index, in_use=True)
        except (IndexUnavailable, GalleryError) as error:
            problems.append(f"Not deleted: what the index of gallery {quoted(name)} has on its server. {error}")
    return problems


def _before(folder: Path) -> StoredIndex | None:
    try:
        return read_index(folder)
    except GalleryError:   # damaged: as if there were none
        return None


def _kept(gallery: Gallery, before: StoredIndex | None, kind: str, recall: float) -> StoredIndex | None:
    """The existing index if it is of this kind and these vectors, although other fields of the gallery changed."""
    if before is None or before.kind != kind or min(before.figures.worst) < recall:
        return None
    index = gallery.folder / before.folder
    if before.vectors != digest_of(gallery.features) or not index.is_dir():
        return None
    maker = maker_of(engine_of(kind)[0])
    if not maker.is_there(index, before.data):
        return None
    try:
        maker.open(index, before.data, gallery.features.shape[1])
    except GalleryError:   # damaged: the error of a search names this command
        return None
    return replace(before, generation=gallery.generation, recall=recall)


def _built(
    gallery: Gallery, engine: str, variant: Variant, recall: float, texts: Callable[[Gallery], Matrix | None],
    progress: Progress,
) -> StoredIndex:
    started = time.perf_counter()
    maker, work = maker_of(engine), gallery.folder / _WORK
    run = _Run(f"{engine}:{variant.name}", digest_of(gallery.features))
    made = _continued(work, run)
    if made is None or not maker.is_there(work, made.data):
        made = maker.build(gallery, variant.name, work, progress)
        write_durably(work / _MADE, json.dumps(asdict(made)).encode())
    seconds = time.perf_counter() - started
    try:
        opened = maker.open(work, made.data, gallery.features.shape[1])
    except GalleryError:   # damaged: the next run begins again
        _delete(work)
        raise
    exact = FlatIndex(gallery.features, gallery.ids)
    settings, figures = measure(opened, exact, gallery.features, sample_queries(gallery.features, texts(gallery)),
                                variant.ladder, recall)
    del opened   # a refused one is deleted, which one in use is not
    if min(figures.worst) < recall:
        reached = ", ".join(f"{kind} {first:.3f} and {page:.3f}" for kind, (first, page) in figures.recall.items())
        _delete(work)
        raise GalleryError(
            f"The index {run.kind} of gallery {quoted(gallery.name)} is not used: it found too few of the best images, "
            f"recall@10 and @60 by kind of query: {reached}; {recall:g} is required. Search continues as before. "
            "Choose another kind, or allow less with --recall.")
    return StoredIndex(run.kind, _WORK, gallery.generation, run.vectors, made.data, made.description, made.digest,
                       settings, replace(figures, size=made.size, seconds=seconds),
                       datetime.now(UTC).isoformat(timespec="seconds"), run.kind, recall)


def _continued(work: Path, run: _Run) -> Made | None:
    """Make ``work`` the folder of ``run``: as an earlier run of the same left it, or empty. The index in it if that was
    finished and only has to be measured."""
    with suppress(OSError, ValueError, TypeError):
        if _Run(**json.loads((work / _RUN).read_bytes())) == run:
            with suppress(FileNotFoundError):
                return Made(**json.loads((work / _MADE).read_bytes()))
            return None
    if work.exists() and not _delete(work):
        work.rename(work.with_name(f"index-{new_id(8)}"))   # the end of a later build tries again
    work.mkdir()
    write_durably(work / _RUN, json.dumps(asdict(run)).encode())
    return None


def _publish(folder: Path, stored: StoredIndex | None) -> StoredIndex | None:
    """Switch to ``stored``; then delete whatever belongs to other indexes."""
    if stored is None:
        (folder / FILE).unlink(missing_ok=True)
        sync_folder(folder)
    else:
        if stored.folder == _WORK:
            stored = replace(stored, folder=f"index-{new_id(8)}")
            maker_of(engine_of(stored.kind)[0]).put_in_use(stored.data)
            (folder / _WORK).rename(folder / stored.folder)
        write_index(folder, stored)
    for other in folder.glob(_FOLDERS):
        if stored is None or other.name != stored.folder:
            _delete(other)
    return stored


def _delete(index: Path) -> bool:
    """The folder of an index and what belongs to it elsewhere. False: it stays until the end of the next build, since
    it is searched, or its server is away."""
    try:
        maker = _maker_for(index)
        if maker is not None and not maker.discard(index):
            return False
    except (IndexUnavailable, GalleryError):   # its engine may no longer be installed
        return False
    shutil.rmtree(index, ignore_errors=True)   # Windows keeps what is open
    return True


def _maker_for(index: Path) -> IndexMaker | None:
    """Of the engine that an index's folder is of; None if there is nothing in it."""
    try:
        return maker_of(engine_of(json.loads((index / _RUN).read_bytes())["kind"])[0])
    except (OSError, ValueError, KeyError, TypeError, GalleryError):
        return None
