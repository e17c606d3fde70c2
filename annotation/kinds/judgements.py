"""Judgements that were made elsewhere, as closed studies: CIRCUS's annotator files and HP-FashionIQ's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from annotation.kinds.preference.hp_fashioniq import import_hp_study
from annotation.kinds.proposal import Kept
from annotation.kinds.validity.circus import read_circus_users
from annotation.kinds.validity.create import import_circus_study
from annotation.records import LOCAL
from annotation.sources.queries import refuse
from annotation.sources.tables.known import judgements_form
from annotation.studies.creation import Created, check_name
from annotation.studies.store import StudyStore
from cir_core.datasets.files.issues import KEPT, ValidationIssues
from cir_core.errors import DatasetError, StudyError


def import_circus(store: StudyStore, name: str, paths: Sequence[Path], *, created_by: str) -> Created:
    """Annotator files of CIRCUS, one per person. Raises ``StudyError`` for a taken name, ``DatasetError`` with a list
    of the files' faults."""
    check_name(store, name)
    faults = ValidationIssues(collect=True)
    imported = read_circus_users(paths, faults)
    refuse(faults, "the files" if len(paths) > 1 else str(paths[0]), listed=KEPT)
    return import_circus_study(store, name, imported, created_by=created_by)


def import_judgements(store: StudyStore, name: str, paths: Sequence[Path], *, created_by: str) -> Created:
    """A study of these files, whose form is recognised by their fields. Raises ``StudyError`` as
    :func:`import_circus` does, and ``DatasetError`` also for files that contain no judgements."""
    if not paths:
        raise StudyError("There are no files of judgements yet. Choose them first.")
    form = judgements_form(paths[0])
    if form == "CIRCUS":
        return import_circus(store, name, paths, created_by=created_by)
    if form is None:
        raise DatasetError(f"{paths[0].name} contains no judgements in a form that can be imported: annotator files of "
                           "CIRCUS, one per person, or hpfiq.json of HP-FashionIQ. Choose such files.")
    if len(paths) > 1:
        raise DatasetError(f"{paths[0].name} is a file of HP-FashionIQ, which has everybody's answers in one file. "
                           "Remove the others.")
    return import_hp_study(store, name, paths[0], created_by=created_by)


def described(paths: Sequence[Path]) -> Created:
    """What :func:`import_judgements` would store, which is stored nowhere. Raises as it does."""
    return import_judgements(cast(StudyStore, Kept()), "Preview", paths, created_by=LOCAL)
