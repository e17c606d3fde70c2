"""Image snapshots of a study, in the two sizes of its pages, under opaque names.

A study must show the same images even if the original files change, and an annotator's browser must not
learn image ids. So images are copied when a study is created.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from annotation.records import StudyImage
from cir_core.errors import ImageUnreadable, StorageError, nothing_saved
from cir_core.gallery.paths import try_lock
from cir_core.images.load import process_image, reason_of, within
from cir_core.support.files import why_not_written

SMALL_EDGE, LARGE_EDGE = 288, 1280
THREADS = 4
NOT_FOUND = "is unavailable"
_TOKEN = 24       # hex digits
_TRIES = 10
_QUALITY = 85     # annotators look closely; files are a fifth larger than at 80, as for thumbnails
Progress = Callable[[int, int], None]
Picture = Path | Callable[[], Path | bytes]
"""An image file, or what reads an image when it is its turn."""
FindPicture = Callable[[str], Picture | None]


@dataclass(frozen=True)
class Frozen:
    """Snapshots by image id. ``refused``: reasons why an image could not be copied: "is empty (0 bytes)"."""

    images: Mapping[str, StudyImage]
    refused: Mapping[str, str]


def studies_folder(home: Path) -> Path:
    """Folder of all snapshots: ``STUDY_ID/TOKEN-s.webp`` and ``TOKEN-l.webp``."""
    return home / "studies"


@contextmanager
def freezing(home: Path, study_id: str) -> Iterator[Freezer]:
    """Context of a :class:`Freezer` for a new study. Snapshots are moved to the study's folder by
    :meth:`Freezer.finish`, and deleted if the block fails before. If it fails later, the study may have been stored:
    the snapshots stay until :func:`clear_leftovers`. Raises ``StorageError`` if the home folder is not writable."""
    folder = studies_folder(home)
    part, lock = folder / f".{study_id}.part", folder / f".{study_id}.lock"
    with ExitStack() as stack:
        with _explained(folder):
            folder.mkdir(parents=True, exist_ok=True)
            _hold(lock, stack)
            part.mkdir()
        in_doubt = False
        try:
            yield Freezer(part)
        except BaseException:
            in_doubt = (folder / study_id).exists()
            raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
            stack.close()
            if not in_doubt:
                lock.unlink(missing_ok=True)


def mark_for_removal(home: Path, study_id: str) -> None:
    """Mark a study whose snapshots :func:`clear_leftovers` deletes once it is no longer stored."""
    folder = studies_folder(home)
    if (folder / study_id).exists():
        with _explained(folder):
            (folder / f".{study_id}.lock").touch()


def clear_leftovers(home: Path, is_study: Callable[[str], bool]) -> int:
    """Delete snapshots of interrupted creations and of removed studies; returns of how many studies. ``is_study``:
    whether a study id is stored. A creation in progress in another process holds its lock, and is skipped."""
    folder, cleared = studies_folder(home), 0
    for lock in sorted(folder.glob(".*.lock")):
        study_id = lock.name.removeprefix(".").removesuffix(".lock")
        with _explained(folder), ExitStack() as stack:
            try:
                file = stack.enter_context(lock.open("r+", encoding="ascii"))
            except FileNotFoundError:   # its creation has just finished
                continue
            if not try_lock(file):
                continue
            shutil.rmtree(folder / f".{study_id}.part", ignore_errors=True)
            # Checked under the lock, which a creation releases only after its study is stored.
            if not is_study(study_id):
                shutil.rmtree(folder / study_id, ignore_errors=True)
                cleared += 1
            stack.pop_all().close()   # Windows cannot delete open files
            lock.unlink(missing_ok=True)
    return cleared


def _hold(lock: Path, stack: ExitStack) -> None:
    for _ in range(_TRIES):   # a file system without locks never grants one
        file = stack.enter_context(lock.open("a+", encoding="ascii"))
        if try_lock(file) and lock.exists():   # it may have been deleted before it was locked
            return


@dataclass
class Freezer:
    """Copies the images of one study to ``folder``. Tokens are HMACs of image ids under a key that is
    not stored: an image has one token per study, which cannot be derived from its id."""

    folder: Path
    images: dict[str, StudyImage] = field(default_factory=dict)
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def token(self, image_id: str) -> str:
        return hmac.new(self._key, image_id.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:_TOKEN]

    def freeze(
        self, image_ids: Collection[str], find: FindPicture, *, max_megapixels: float, progress: Progress | None = None,
    ) -> Frozen:
        """Copy those of ``image_ids`` that are not copied yet. Raises ``StorageError`` on a full disk."""
        wanted = [image_id for image_id in dict.fromkeys(image_ids) if image_id not in self.images]
        refused: dict[str, str] = {}
        pool = ThreadPoolExecutor(THREADS, thread_name_prefix="freeze")
        waiting: dict[Future[StudyImage], str] = {}
        try:
            for number, image_id in enumerate(wanted, 1):
                picture = find(image_id)   # in one thread: folders are listed lazily
                if picture is None:
                    refused[image_id] = NOT_FOUND
                else:
                    waiting[pool.submit(self._one, image_id, picture, max_megapixels)] = image_id
                # Few jobs are queued at a time: Ctrl-C must not wait for thousands.
                while len(waiting) >= 2 * THREADS or (waiting and number == len(wanted)):
                    self._collect(waiting, refused)
                    if progress:
                        progress(number - len(waiting), len(wanted))
        finally:
            pool.shutdown(cancel_futures=True)
        there = {image_id: self.images[image_id] for image_id in image_ids if image_id in self.images}
        return Frozen(there, refused)

    def under_another_name(self, image_id: str, place: str) -> StudyImage:
        """Second token of a snapshot, unique to ``place``, so that URLs reveal neither repeated images nor their
        set. A hard link where possible. It stays when :meth:`keep_only` deletes the snapshot itself. Raises
        ``StorageError``."""
        frozen = self.images[image_id]
        again = replace(frozen, token=self.token(f"{place}\0{image_id}"))
        with _explained(self.folder.parent):
            for there, here in zip(_paths(self.folder, frozen.token), _paths(self.folder, again.token), strict=True):
                try:
                    os.link(there, here)
                except OSError:   # a file system without links, or at its limit of links per file
                    shutil.copyfile(there, here)
        return again

    def keep_only(self, image_ids: Collection[str]) -> None:
        """Delete snapshots that no item shows."""
        for image_id in set(self.images) - set(image_ids):
            image = self.images.pop(image_id)
            for path in _paths(self.folder, image.token):
                path.unlink(missing_ok=True)

    def finish(self) -> None:
        """Rename the folder to its final name, after a sync. Raises ``StorageError``."""
        study_id = self.folder.name.removeprefix(".").removesuffix(".part")
        with _explained(self.folder.parent):
            if hasattr(os, "sync"):
                os.sync()   # once: an fsync per file would take most of the time
            self.folder.rename(self.folder.with_name(study_id))

    def _collect(self, waiting: dict[Future[StudyImage], str], refused: dict[str, str]) -> None:
        for done in wait(waiting, return_when=FIRST_COMPLETED).done:
            image_id = waiting.pop(done)
            try:
                self.images[image_id] = done.result()
            except ImageUnreadable as error:
                refused[image_id] = reason_of(error, image_id).rstrip(".")

    def _one(self, image_id: str, picture: Picture, max_megapixels: float) -> StudyImage:
        image = process_image(
            picture() if callable(picture) else picture,
            lambda image: within(image, LARGE_EDGE, gap=2.0), name=image_id, max_megapixels=max_megapixels,
            draft_edge=2 * LARGE_EDGE, patience=None)
        token = self.token(image_id)
        small, large = _paths(self.folder, token)
        with _explained(self.folder.parent):
            image.save(large, "WEBP", quality=_QUALITY, method=2)
            within(image, SMALL_EDGE, gap=2.0).save(small, "WEBP", quality=_QUALITY, method=2)
        return StudyImage(token, image_id, image.width, image.height)


def _paths(folder: Path, token: str) -> Sequence[Path]:
    return folder / f"{token}-s.webp", folder / f"{token}-l.webp"


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(f"The images of the study cannot be saved in {folder}: {error.strerror or error}. Free "
                           "some space or make the folder writable, and try again.",
                           nothing_saved(why_not_written(error))) from error

