"""Whether a study takes answers."""

from __future__ import annotations

from annotation.records import LOCAL, Study
from annotation.studies.store import StudyStore
from cir_core.errors import StudyError


def set_accepting(store: StudyStore, study: Study, accepting: bool, *, by: str = LOCAL) -> Study:
    """The study as it is now. Raises ``StudyError`` for opening one that has no picture, as imported ones have none."""
    if accepting and not any(image.width for image in store.images(study.study_id).values()):
        raise StudyError(f"{study.name} was imported from files that hold no pictures: there is nothing to judge in "
                         "it. Its results and exports are there all the same.")
    return store.set_accepting(study.study_id, accepting, by=by)
