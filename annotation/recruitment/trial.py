"""A test run as a participant: a copy of one seat's items, its own link, and nothing left of it afterwards."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from annotation.records import LOCAL, TEST_OF, PlannedAssignment, Study
from annotation.recruitment.service import Door, RecruitmentService
from annotation.studies.creation import is_imported, remove_study
from annotation.studies.image_snapshots import studies_folder
from annotation.studies.store import StudyStore
from cir_core.errors import StorageError, StudyError, UnknownStudy
from cir_core.types.records import new_id

_TOKEN = re.compile(r"\b[0-9a-f]{24}\b")
_NAME = 60   # characters of the study's name


def is_test(study: Study) -> bool:
    return TEST_OF in study.source


def begin_test(
    store: StudyStore, recruitment: RecruitmentService, home: Path, study: Study, *, by: str = LOCAL,
) -> Door:
    """A new test run, in place of the one before. Its quotas are empty: whoever tries it has a place. Raises
    ``StudyError`` for a study in which there is nothing to judge."""
    if is_imported(study) or is_test(study):
        raise StudyError(f"{study.name} has nothing to judge in it, so there is nothing to try.")
    end_test(store, home, study)
    settings = recruitment.of_study(study).settings
    loads = Counter(one.seat for one in store.assignments(study.study_id))
    if not loads:
        raise StudyError(f"{study.name} has no items.")
    seat = max(loads, key=lambda number: (loads[number], -number))
    copy = replace(study, study_id=new_id(), name=_name_of(study), plan=replace(study.plan, seats=1), accepting=True,
                   source={TEST_OF: study.study_id}, created_by=by)
    ids = {one.item_id: new_id() for one in store.assignments(study.study_id) if one.seat == seat}
    items = [replace(item, item_id=ids[item.item_id], study_id=copy.study_id)
             for item in store.items(study.study_id) if item.item_id in ids]
    places = [PlannedAssignment(ids[one.item_id], 1, one.position, one.extra)
              for one in store.assignments(study.study_id) if one.seat == seat]
    tokens = {token for item in items for token in _TOKEN.findall(json.dumps(item.shown))}
    folder = studies_folder(home)
    try:
        _link(folder / study.study_id, folder / copy.study_id, tokens)
        store.create(copy, items, [image for token, image in store.images(study.study_id).items() if token in tokens],
                     places)
    except BaseException:
        shutil.rmtree(folder / copy.study_id, ignore_errors=True)
        raise
    return recruitment.save(copy, settings.model_copy(update={"open": True, "people": 1, "quotas": (),
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


def _link(source: Path, target: Path, tokens: set[str]) -> None:
    try:
        target.mkdir(parents=True)
        for token in tokens:
            for size in ("s", "l"):
                file = source / f"{token}-{size}.webp"
                if not file.is_file():   # an image that is not there
                    continue
                try:
                    os.link(file, target / file.name)
                except OSError:   # a file system without hard links
                    shutil.copyfile(file, target / file.name)
    except OSError as error:
        raise StorageError(f"The images of a test run cannot be written to {target}: {error.strerror}.") from error
