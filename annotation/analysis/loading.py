"""All that a report is made of, out of the store."""

from __future__ import annotations

from annotation.analysis.records import StudyAnswers
from annotation.records import Study
from annotation.studies.store import StudyStore


def load_answers(store: StudyStore, study: Study) -> StudyAnswers:
    """The study with its current judgements. Raises ``UnknownStudy`` and ``StorageError``, as the store does.

    Decisions are read of validity studies alone, answers to checks of preference studies alone: others have none.
    """
    preference = study.kind == "preference"
    return StudyAnswers(
        study, tuple(store.items(study.study_id)), tuple(store.seats(study.study_id)),
        tuple(store.assignments(study.study_id)), tuple(store.judgements(study.study_id)),
        () if preference else tuple(store.decisions(study.study_id)),
        tuple(store.events(study.study_id, kind="check")) if preference else (),
    )
