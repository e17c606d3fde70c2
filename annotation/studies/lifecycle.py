"""Operations on a whole study: open or close it, release a person's work, rename it, remove it."""

from __future__ import annotations

from pathlib import Path

from annotation.records import LOCAL, Released, Study, name_key
from annotation.studies.creation import check_name, clear_pictures, kept_name
from annotation.studies.image_snapshots import leave_to_clear
from annotation.studies.imports import is_imported
from annotation.studies.store import StudyStore
from cir_core.errors import StudyError


def set_accepting(store: StudyStore, study: Study, accepting: bool, *, by: str = LOCAL) -> Study:
    """The study as it is now. Raises ``StudyError`` for opening one that has no picture, as imported ones have none."""
    if accepting and not any(image.width for image in store.images(study.study_id).values()):
        raise StudyError(f"{study.name} was imported from files that hold no pictures: there is nothing to judge in "
                         "it. Its results and exports are there all the same.")
    return store.set_accepting(study.study_id, accepting, by=by)


def release(store: StudyStore, study: Study, annotator: str, *, by: str = LOCAL) -> Released:
    """Make a person's open work free for others at once. Raises ``StudyError`` for somebody without a seat, and for
    an imported study, whose seats say who has answered."""
    if is_imported(study):
        raise StudyError(f"{study.name} was imported: its people judge elsewhere, and there is no work to hand on.")
    return store.release(study.study_id, annotator, by=by)


def rename_study(store: StudyStore, study: Study, name: str) -> Study:
    """The study as it is now. Raises ``StudyError`` for a name that cannot be or that another study has."""
    clean = kept_name(name)
    if name_key(clean) != name_key(study.name):   # its own may be written otherwise: "first" as "First"
        clean = check_name(store, name)
    return store.rename(study.study_id, clean)


def remove_study(store: StudyStore, home: Path, study: Study) -> None:
    """Remove a study with everything people judged in it, and its pictures. There is no way back.

    If this is killed in between, or the folder cannot be written just then, the next study that is made or removed
    clears the pictures away.
    """
    leave_to_clear(home, study.study_id)
    store.remove(study.study_id)
    clear_pictures(store, home)
