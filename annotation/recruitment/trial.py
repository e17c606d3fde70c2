"""A test run as a participant: a copy of one seat's items, its own link, and nothing left of it afterwards."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from annotation.records import LOCAL, TEST_OF, Study
from annotation.recruitment.service import Door, RecruitmentService
from annotation.studies.copying import copy_study
from annotation.studies.creation import is_imported, remove_study
from annotation.studies.store import StudyStore
from cir_core.errors import StudyError, UnknownStudy
from cir_core.types.records import new_id

_NAME = 60   # characters of the study's name


def is_test(study: Study) -> bool:
    return TEST_OF in study.source


def begin_test(
    store: StudyStore, recruitment: RecruitmentService, home: Path, study: Study, *, by: str = LOCAL,
) -> Door:
    """A new test run, which replaces an earlier one. It has no quotas, so there is always a place. Raises
    ``StudyError`` for a study in which there is nothing to judge."""
    if is_imported(study) or is_test(study):
        raise StudyError(f"{study.name} has nothing to judge in it, so it cannot be tried.")
    end_test(store, home, study)
    settings = recruitment.of_study(study).settings
    loads = Counter(one.seat for one in store.assignments(study.study_id))
    if not loads:
        raise StudyError(f"{study.name} has no items.")
    copy = replace(study, study_id=new_id(), name=_name_of(study), plan=replace(study.plan, seats=1), accepting=True,
                   source={TEST_OF: study.study_id}, created_by=by)
    copy_study(store, home, study, copy, {max(loads, key=lambda number: (loads[number], -number))})
    return recruitment.save(copy, settings.model_copy(update={"open": True, "people": 1, "quotas": (), "webhook": "",
                                                              "title": settings.title or study.name}), by=by)


def end_test(store: StudyStore, home: Path, study: Study) -> bool:
    """Delete the test run of a study, or ``study`` itself if it is one; False if there is none."""
    try:
        test = study if is_test(study) else store.study(_name_of(study))
    except UnknownStudy:
        return False
    if not is_test(test):
        return False
    with suppress(UnknownStudy):   # another page has just done it
        remove_study(store, home, test)
    return True


def _name_of(study: Study) -> str:
    return f"{study.name[:_NAME]} · test {study.study_id[:8]}"
