"""Import and export of studies in HP-FashionIQ's format (:mod:`cir_core.datasets.readers.hp_fashioniq`).

The format has questions and answers only: not the order of the sets on screen, the systems behind them, times,
irrelevance flags (Trap T-19), or ties.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from annotation.kinds.preference.survey.texts import SETTINGS
from annotation.records import (
    Assignment,
    Item,
    Judgement,
    PlannedAssignment,
    Seat,
    Study,
    StudyImage,
    StudyPlan,
    name_key,
)
from annotation.sources.queries import refuse
from annotation.studies.creation import HP_ANSWERS, Created, check_name
from annotation.studies.store import StudyParts, StudyStore
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers.hp_fashioniq import SHOWN, Question, ShownSet, read_questions, released_form
from cir_core.errors import DatasetError, StudyError
from cir_core.support.texts import quoted
from cir_core.types.records import new_id

FORM = HP_ANSWERS
"""``Study.source["form"]`` of an imported study."""
KEPT = "hp"
"""In ``Item.hidden`` of an imported study: ``{"question_set", "number", "released_text"}``."""
PROTOCOL = "hs-fashioniq/1"
"""Survey version of the released answers, independent of the newest version."""
_DATASET = "fashioniq"
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def import_hp_study(store: StudyStore, name: str, path: Path, *, created_by: str) -> Created:
    """Import a released file as a closed study; its images are not needed. Raises ``StudyError`` for a taken name,
    ``DatasetError`` with a list of the file's faults."""
    name = check_name(store, name)
    faults = ValidationIssues(collect=True)
    questions = read_questions(path, faults)
    _check(questions, path, faults)
    refuse(faults, str(path))
    parts = hp_study_of(questions, name, file=path.name, created_by=created_by, at=datetime.now(UTC))
    store.create(parts.study, parts.items, parts.images, parts.places, seats=parts.seats, judgements=parts.judgements)
    categories = Counter(question.category for question in questions)
    counts = {
        "people": len(parts.seats), "question_sets": len({(one.user, one.question_set) for one in questions}),
        "items": len(parts.items), "judgements": len(parts.judgements),
        "rated_sets": sum(len(one.sets) for one in questions),
        **{f"items, {category}": count for category, count in sorted(categories.items())},
    }
    return Created(parts.study, counts, tuple(_notes(questions)))


def hp_study_of(questions: Sequence[Question], name: str, *, file: str, created_by: str, at: datetime) -> StudyParts:
    """The study of a file: an item per question, a seat per person, answers without times. There are no images: tokens
    are hashes of image, question and position."""
    study_id = new_id()
    people = list(dict.fromkeys(question.user for question in questions))
    settings = {**SETTINGS, "check": "none", "reason_every": 0, "shared_every": 0}
    study = Study(
        study_id, name, "preference", PROTOCOL, StudyPlan(len(people), 1, 0, 0), False, settings,
        {"form": FORM, "file": file, "people": len(people), "questions": len(questions)}, created_by, at)
    seat_of = {user: number for number, user in enumerate(people, 1)}
    forms: dict[str, dict[str, int]] = {user: {} for user in people}
    positions: Counter[str] = Counter()
    items, images, places, judgements = [], [], [], []
    for number, question in enumerate(questions):
        item, pictures = _item(study_id, number, question)
        form = forms[question.user].setdefault(question.question_set, len(forms[question.user]) + 1)
        items.append(item)
        images += pictures
        places.append(PlannedAssignment(item.item_id, seat_of[question.user], positions[question.user],
                            {"first": None, "form": form, "reason": False}))
        judgements.append(_judgement(study_id, item.item_id, question, at))
        positions[question.user] += 1
    seats = [Seat(study_id, number, user, at, None) for user, number in seat_of.items()]
    return StudyParts(study, items, images, places, seats, judgements)


@dataclass(frozen=True)
class HpForm:
    """A file in the format. ``left_out``: number of answers that do not fit the format, by reason."""

    content: bytes = field(repr=False)
    questions: int
    left_out: Mapping[str, int]

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(f"Answers left out because {why}: {count:,}." for why, count in self.left_out.items())


def hp_form(items: Iterable[Item], assignments: Iterable[Assignment], judgements: Iterable[Judgement]) -> HpForm:
    """Current judgements of a preference study in the released format, by seat, form and position.

    An imported study reproduces its file, as far as :func:`released_form` does. Runs of spaces, which the format
    lacks, are collapsed. Raises ``StudyError`` if nothing is left to write, ``DatasetError`` for a text or an image
    id that does not fit the format.
    """
    by_id = {item.item_id: item for item in items}
    given = {(name_key(one.annotator), one.item_id): one for one in judgements}
    left_out: Counter[str] = Counter()
    numbers: Counter[tuple[str, str]] = Counter()
    questions = []
    for place in sorted(assignments, key=lambda one: (one.seat, one.extra.get("form", 1), one.position)):
        judgement = given.get((name_key(place.annotator or ""), place.item_id))
        if judgement is None:
            continue
        item = by_id[place.item_id]
        if why := _unfit(item, judgement):
            left_out[why] += 1
        else:
            kept = item.hidden.get(KEPT, {})
            name = str(kept.get("question_set") or f"question_set_{place.extra.get('form', 1)}")
            questions.append(_question(item, judgement, name, numbers[judgement.annotator, name]))
            numbers[judgement.annotator, name] += 1
    if not questions:
        raise StudyError("No answer fits HP-FashionIQ's format. Export the study as csv.")
    return HpForm(released_form(questions), len(questions), left_out)


def _unfit(item: Item, judgement: Judgement) -> str:
    """Why this answer does not fit the format; "" if it does."""
    if judgement.answer["preferred"] == 0:
        return "the format has no ties"
    if not item.hidden["target_id"]:
        return "the format needs a target"
    if any(len(ids) != SHOWN for ids in item.hidden["set_ids"]):
        return f"the format has sets of {SHOWN} images only"
    return ""


def _question(item: Item, judgement: Judgement, name: str, number: int) -> Question:
    hidden, answer = item.hidden, judgement.answer
    kept = hidden.get(KEPT, {})
    released = str(kept.get("released_text", ""))
    question = Question(
        judgement.annotator, name, number, hidden["reference_id"], hidden["target_id"],
        str(hidden.get("category") or hidden["dataset"]).replace("/", "-"),
        item.shown["text"] if released else re.sub(" {2,}", " ", item.shown["text"]),
        (ShownSet(tuple(hidden["set_ids"][0]), answer["ratings"][0]),
         ShownSet(tuple(hidden["set_ids"][1]), answer["ratings"][1])),
        1 if answer["preferred"] == 1 else 2, released)
    for image_id in question.image_ids:
        if not image_id or "/" in image_id:
            raise DatasetError(f"Question {question.question_id}: HP-FashionIQ's format cannot contain the image id "
                               f"{quoted(image_id)}, because ids are file names. Export the study as csv or "
                               "preferences.")
    return question


def _item(study_id: str, number: int, question: Question) -> tuple[Item, list[StudyImage]]:
    images: list[StudyImage] = []

    def token(image_id: str, *place: object) -> str:
        content = json.dumps([study_id, number, *place])
        images.append(StudyImage(hashlib.sha256(content.encode()).hexdigest()[:24], image_id, 0, 0))
        return images[-1].token

    shown = {
        "text": question.text, "reference": token(question.reference_id, "reference"),
        "sets": [[token(image_id, which, place) for place, image_id in enumerate(one.image_ids)]
                 for which, one in enumerate(question.sets)],
    }
    hidden: dict[str, Any] = {
        "dataset": _DATASET, "query_id": question.question_id, "category": question.category,
        "reference_id": question.reference_id, "target_id": question.target_id, "target_ids": [question.target_id],
        "methods": [None, None], "set_ids": [list(one.image_ids) for one in question.sets], "seed": None,
        KEPT: {"question_set": question.question_set, "number": question.number,
               "released_text": question.released_text},
    }
    return Item(new_id(), study_id, number, question.question_id, question.category, False, shown, hidden), images


def _judgement(study_id: str, item_id: str, question: Question, at: datetime) -> Judgement:
    answer = {
        "ratings": [one.score for one in question.sets], "preferred": question.preferred,
        "irrelevant": {"either": None}, "reason": "", "first": None, "contradiction_confirmed": False,
    }
    token = hashlib.sha256(json.dumps([question.question_id, answer]).encode()).hexdigest()[:32]
    return Judgement(new_id(), study_id, item_id, question.user, 1, token, PROTOCOL, answer, 0.0, at,
                     {"imported": FORM})


def _check(questions: Sequence[Question], path: Path, faults: ValidationIssues) -> None:
    """Check what the format allows and a study does not."""
    people: dict[str, str] = {}
    keys: set[str] = set()
    for question in questions:
        first = people.setdefault(name_key(question.user), question.user)
        if not question.user.strip():
            faults.add(path, "a person", "the name is empty", "Give each person a name")
        if first != question.user:
            faults.add(path, question.user, f"it differs from the name {quoted(first)} only in case",
                       "Give each person another name")
        if question.question_id in keys:
            faults.add(path, question.question_id, "another question has the same name", "Rename its question set")
        keys.add(question.question_id)
        texts = (question.user, question.question_set, question.released_text, *question.image_ids)
        if any(_UNSTORABLE.search(text) for text in texts):
            faults.add(path, repr(question.question_id), "it has characters that cannot be stored", "Remove them")
    if not questions and not faults.count:
        faults.add(path, "", "there is no question in it", "Check that it is HP-FashionIQ's hpfiq.json")


def _notes(questions: Iterable[Question]) -> Iterable[str]:
    yield ("The file does not record which set was shown first, the systems behind the sets, times, or irrelevance "
           "flags.")
    same = sum(set(one.sets[0].image_ids) == set(one.sets[1].image_ids) for one in questions)
    if same:
        yield f"Questions with two sets of the same images: {same:,}."
