"""Work of somebody who has left goes to others."""

from __future__ import annotations

from annotation.records import LOCAL, Released, Study
from annotation.studies.imports import is_imported
from annotation.studies.store import StudyStore
from cir_core.errors import StudyError


def release(store: StudyStore, study: Study, annotator: str, *, by: str = LOCAL) -> Released:
    """Make a person's open work free for others at once. Raises ``StudyError`` for somebody without a seat, and for
    an imported study, whose seats say who has answered."""
    if is_imported(study):
        raise StudyError(f"{study.name} was imported: its people judge elsewhere, and there is no work to hand on.")
    return store.release(study.study_id, annotator, by=by)
