"""Load the inputs of a report from the store."""

from __future__ import annotations

from annotation.analysis.records import StudyAnswers
from annotation.kinds.table import KINDS
from annotation.records import Study
from annotation.studies.store import StudyStore


def load_answers(store: StudyStore, study: Study) -> StudyAnswers:
    """Load a study with its current judgements. Raises ``UnknownStudy`` and ``StorageError``, as the store does.
    Decisions and answers to checks are read only for a kind that has them."""
    kind = KINDS[study.kind]
    return StudyAnswers(
        study, tuple(store.items(study.study_id)), tuple(store.seats(study.study_id)),
        tuple(store.assignments(study.study_id)), tuple(store.judgements(study.study_id)),
        tuple(store.decisions(study.study_id)) if kind.has_adjudication else (),
        tuple(store.events(study.study_id, kind="check")) if kind.has_survey else (), kind.groups)
