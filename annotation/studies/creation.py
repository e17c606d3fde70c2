"""Shared steps of creating a study: name check, result, and cleanup after a failure. Studies imported with their
answers from released files. Operations on a whole study: open or close, release a person's work, rename, remove."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from annotation.records import LOCAL, Released, Study, name_key
from annotation.studies.image_snapshots import clear_leftovers, mark_for_removal, studies_folder
from annotation.studies.store import StudyStore
from cir_core.errors import StorageError, StudyError, UnknownStudy
from cir_core.support.texts import composed, quoted

LONGEST_NAME = 80
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Created:
    """A created study, with ``counts`` of items, pictures, dropped (queries), missing (images of panels), panel (images
    in each) and places (assignments); of an import: items, people, assignments and judgements."""

    study: Study
    counts: Mapping[str, int]
    notes: tuple[str, ...] = ()


def check_name(store: StudyStore, name: str) -> str:
    """The normalised ``name``. Raises ``StudyError`` for an invalid or taken name."""
    clean = kept_name(name)
    try:
        there = store.study(clean)
    except UnknownStudy:
        return clean
    raise StudyError(f"The study name {quoted(there.name)} is already taken. Choose another name.")


def kept_name(name: str) -> str:
    """The normalised name. Raises ``StudyError`` for an invalid one."""
    clean = composed(name.strip(), LONGEST_NAME)
    if not clean or len(clean) > LONGEST_NAME or not clean.isprintable():
        raise StudyError(f"{quoted(name)} is not a valid study name. Give it a name of 1 to {LONGEST_NAME} "
                         "characters on one line.")
    return clean


@contextmanager
def cleared(store: StudyStore, home: Path) -> Iterator[None]:
    """Delete image snapshots of studies that are not stored: of earlier interrupted creations, and of this one if it
    fails."""
    clear_pictures(store, home)
    try:
        yield
    except BaseException:
        with suppress(StorageError):   # database unavailable; left to the next creation
            clear_pictures(store, home)
        raise


def clear_pictures(store: StudyStore, home: Path) -> None:
    """Delete image snapshots of studies that are not (or no longer) stored."""
    clear_leftovers(home, lambda study_id: _is_study(store, study_id))


def _is_study(store: StudyStore, study_id: str) -> bool:
    try:
        return store.study(study_id).study_id == study_id
    except UnknownStudy:
        return False


CIRCUS_USERS = "circus-users"
HP_ANSWERS = "hp-fashioniq-answers"   # a study that asks its questions again has another kind of source


def is_imported(study: Study) -> bool:
    """Whether the study was annotated elsewhere, and cannot be annotated here."""
    return study.source.get("form") in (CIRCUS_USERS, HP_ANSWERS)


def set_accepting(store: StudyStore, study: Study, accepting: bool, *, by: str = LOCAL) -> Study:
    """Open or close a study; returns the updated study. Raises ``StudyError`` when opening one without images, such as
    an imported one."""
    if accepting and is_archived(study):
        study = set_archived(store, study, False, by=by)
    if accepting and not any(image.width for image in store.images(study.study_id).values()):
        raise StudyError(f"{study.name} was imported from files without images: there is nothing to judge in "
                         "it. Its results and exports are available.")
    return store.set_accepting(study.study_id, accepting, by=by)


def release(store: StudyStore, study: Study, annotator: str, *, by: str = LOCAL) -> Released:
    """Release a person's open work to others at once. Raises ``StudyError`` for a person without a seat, and for an
    imported study."""
    if is_imported(study):
        raise StudyError(f"{study.name} was imported, so there is no open work to release.")
    return store.release(study.study_id, annotator, by=by)


def rename_study(store: StudyStore, study: Study, name: str, *, by: str = LOCAL) -> Study:
    """Rename a study; returns the updated study. Raises ``StudyError`` for an invalid or taken name."""
    clean = kept_name(name)
    if name_key(clean) != name_key(study.name):   # its own name may change in case: "first" to "First"
        clean = check_name(store, name)
    return store.rename(study.study_id, clean, by=by)


ARCHIVED = "archived"


def is_archived(study: Study) -> bool:
    return study.settings.get(ARCHIVED) is True


def set_archived(store: StudyStore, study: Study, archived: bool, *, by: str = LOCAL) -> Study:
    """Put a study away, closed and out of the lists, or bring it back, closed; returns the updated study."""
    if archived and study.accepting:
        study = store.set_accepting(study.study_id, False, by=by)
    return store.change_settings(study.study_id, {ARCHIVED: True if archived else None}, by=by)


def remove_study(store: StudyStore, home: Path, study: Study, *, by: str = LOCAL) -> None:
    """Delete a study with all its judgements and images. This cannot be undone. If this is interrupted, or the folder
    is not writable, the next creation or removal of a study deletes the images."""
    mark_for_removal(home, study.study_id)
    store.remove(study.study_id, by=by)
    clear_pictures(store, home)


def remove_with_backup(
    store: StudyStore, home: Path, study: Study, name: str, back_up: Callable[[], Path], *, by: str = LOCAL,
) -> Path:
    """Remove a study, closed meanwhile, after a backup of the database; its images are kept beside the backup. Returns
    the backup's path. Raises ``StudyError`` if ``name``, which is asked for once more, is another."""
    if name != study.name:
        raise StudyError(f"The name does not match: {study.name} was not deleted.")
    with _closed(store, study, by):
        kept = back_up()
        images, folder = kept.with_name(f"{kept.stem}-images") / study.study_id, studies_folder(home) / study.study_id
        try:
            if folder.is_dir():
                shutil.copytree(folder, images)
        except OSError as error:
            raise StorageError(f"The images of {study.name} cannot be kept in {images}: {error.strerror or error}. "
                               "Nothing was removed.") from error
        remove_study(store, home, study, by=by)
    return kept


@contextmanager
def _closed(store: StudyStore, study: Study, by: str) -> Iterator[None]:
    """``study`` takes no answers: none is acknowledged that the backup does not have. After a failure it is as it
    was."""
    if study.accepting:
        store.set_accepting(study.study_id, False, by=by)
    try:
        yield
    except BaseException:
        if study.accepting:
            with suppress(StorageError, UnknownStudy):
                store.set_accepting(study.study_id, True, by=by)
        raise
