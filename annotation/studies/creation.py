"""Shared steps of creating a study: name check, result, and cleanup after a failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from annotation.records import Study
from annotation.studies.image_snapshots import clear_leftovers
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
