"""Giving a study another name, and removing one with all that belongs to it."""

from __future__ import annotations

from pathlib import Path

from annotation.records import Study, name_key
from annotation.studies.images import leave_to_clear
from annotation.studies.naming import check_name, clear_pictures, kept_name
from annotation.studies.store import StudyStore


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
