"""Copies of a study without its answers: a duplicate, or one in which the way of participants is tried."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from annotation.records import LOCAL, PlannedAssignment, Study
from annotation.studies.creation import check_name, is_imported
from annotation.studies.guidelines import tokens_of
from annotation.studies.image_snapshots import studies_folder
from annotation.studies.store import StudyStore
from cir_core.errors import StorageError, StudyError
from cir_core.types.records import new_id

_TOKEN = re.compile(r"\b[0-9a-f]{24}\b")


def duplicate_study(store: StudyStore, home: Path, study: Study, name: str, *, by: str = LOCAL) -> Study:
    """A closed study of the same items, seats, settings and guidelines, without people and answers. Raises
    ``StudyError`` for an invalid or taken name, and for an imported study."""
    if is_imported(study):
        raise StudyError(f"{study.name} was imported with its answers, so there is nothing to judge in it.")
    copy = replace(study, study_id=new_id(), name=check_name(store, name), accepting=False, created_by=by,
                   created_at=datetime.now(UTC))
    copy_study(store, home, study, copy, {one.number for one in store.seats(study.study_id)
                                          if one.number <= study.plan.seats})
    return copy


def copy_study(store: StudyStore, home: Path, study: Study, copy: Study, seats: Collection[int]) -> None:
    """Store ``copy`` with the items of these ``seats`` of ``study``, which are numbered from 1 in it, and links to the
    pictures. Raises ``StudyError`` for seats without items; ``StorageError``."""
    numbers = {seat: number for number, seat in enumerate(sorted(seats), 1)}
    assigned = [one for one in store.assignments(study.study_id) if one.seat in numbers and one.dealt is None]
    if not assigned:
        raise StudyError(f"{study.name} has no items.")
    ids = {item_id: new_id() for item_id in dict.fromkeys(one.item_id for one in assigned)}
    items = [replace(item, item_id=ids[item.item_id], study_id=copy.study_id)
             for item in store.items(study.study_id) if item.item_id in ids]
    places = [PlannedAssignment(ids[one.item_id], numbers[one.seat], one.position, one.extra) for one in assigned]
    if copy.plan.order == "disputed":   # which items these are is not for the first judges of a copy
        places = _mixed(places, copy.study_id)
    tokens = {token for item in items for token in _TOKEN.findall(json.dumps(item.shown))}
    folder = studies_folder(home)
    try:
        _link(folder / study.study_id, folder / copy.study_id, tokens | tokens_of(study))
        store.create(copy, items, [image for token, image in store.images(study.study_id).items() if token in tokens],
                     places)
    except BaseException:
        shutil.rmtree(folder / copy.study_id, ignore_errors=True)
        raise


def _mixed(places: Sequence[PlannedAssignment], seed: str) -> list[PlannedAssignment]:
    """Each seat's places in a random order."""
    of_seat: dict[int, list[PlannedAssignment]] = {}
    for one in places:
        of_seat.setdefault(one.seat, []).append(one)
    found = []
    for seat, mine in of_seat.items():
        positions = [one.position for one in mine]
        random.Random(f"{seed}/{seat}").shuffle(positions)
        found += [replace(one, position=position) for one, position in zip(mine, positions, strict=True)]
    return found


def _link(source: Path, target: Path, tokens: Collection[str]) -> None:
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
        raise StorageError(f"The images of the copy cannot be written to {target}: {error.strerror}.") from error
