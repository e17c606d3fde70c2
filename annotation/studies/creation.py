"""Shared steps of creating a study of any kind: its name, its outcome, and cleaning up after a failure."""

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
    """``counts`` of what was made and left out: items, pictures, dropped (queries), missing (pictures of
    panels), panel (images in each) and places; of an import items, people, assignments and judgements."""

    study: Study
    counts: Mapping[str, int]
    notes: tuple[str, ...] = ()


def check_name(store: StudyStore, name: str) -> str:
    """``name`` as it is kept. Raises ``StudyError`` where a study cannot be called that, or another one is."""
    clean = kept_name(name)
    try:
        there = store.study(clean)
    except UnknownStudy:
        return clean
    raise StudyError(f"There is a study {quoted(there.name)} already. Choose another name.")


def kept_name(name: str) -> str:
    """Raises ``StudyError`` where no study can be called that."""
    clean = composed(name.strip(), LONGEST_NAME)
    if not clean or len(clean) > LONGEST_NAME or not clean.isprintable():
        raise StudyError(f"A study cannot be called {quoted(name)}. Give it a name of 1 to {LONGEST_NAME} "
                         "characters on one line.")
    return clean


@contextmanager
def cleared(store: StudyStore, home: Path) -> Iterator[None]:
    """Without pictures of studies that are not stored: before, of creations that were killed, and of this one
    if it fails."""
    clear_pictures(store, home)
    try:
        yield
    except BaseException:
        with suppress(StorageError):   # a database that is away cannot be asked; the next creation will
            clear_pictures(store, home)
        raise


def clear_pictures(store: StudyStore, home: Path) -> None:
    """Remove pictures of studies that are not stored: never were, or are no more."""
    clear_leftovers(home, lambda study_id: _is_study(store, study_id))


def _is_study(store: StudyStore, study_id: str) -> bool:
    try:
        return store.study(study_id).study_id == study_id
    except UnknownStudy:
        return False
