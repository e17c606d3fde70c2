"""Operations on a whole study: open or close, release a person's work, rename, remove."""

from __future__ import annotations

from pathlib import Path

from annotation.records import LOCAL, Released, Study, name_key
from annotation.studies.creation import check_name, clear_pictures, kept_name
from annotation.studies.image_snapshots import mark_for_removal
from annotation.studies.imports import is_imported
from annotation.studies.store import StudyStore
from cir_core.errors import StudyError


def set_accepting(store: StudyStore, study: Study, accepting: bool, *, by: str = LOCAL) -> Study:
    """Open or close a study; returns the updated study. Raises ``StudyError`` when opening one without images, such as
    an imported one."""
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


def rename_study(store: StudyStore, study: Study, name: str) -> Study:
    """Rename a study; returns the updated study. Raises ``StudyError`` for an invalid or taken name."""
    clean = kept_name(name)
    if name_key(clean) != name_key(study.name):   # its own name may change in case: "first" to "First"
        clean = check_name(store, name)
    return store.rename(study.study_id, clean)


def remove_study(store: StudyStore, home: Path, study: Study) -> None:
    """Delete a study with all its judgements and images. This cannot be undone. If this is interrupted, or the folder
    is not writable, the next creation or removal of a study deletes the images."""
    mark_for_removal(home, study.study_id)
    store.remove(study.study_id)
    clear_pictures(store, home)
