"""HP-FashionIQ: human preferences between retrieved sets (QuRe, ICML 2025; ``hpfiq.json``).

Every question shows two sets of five images for one query; a person scored each from 1 to 5 and chose the better one.
The released file names no system and does not mark queries that people called invalid: all questions asked are read.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from cir_core.datasets.content import Content, Source, mean
from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import read_object
from cir_core.errors import DatasetError
from cir_core.support.files import write_atomically
from cir_core.support.texts import quoted

SHOWN = 5
SCORES = (1, 2, 3, 4, 5)
_MARKS = {"dotmark": ".", "questionmark": "?", "andmark": "&", "starmark": "*"}
_LISTS = ("ref_img_paths", "targ_img_paths", "sentences", "retrieved_set1", "retrieved_set2", "preferred set")
_PATH = re.compile(r"(?:.*/)?image_data/(?P<category>[^/]+)/(?P<image_id>[^/]+)\.\w+")
_KIND = "Check that it is HP-FashionIQ's hpfiq.json"


@dataclass(frozen=True, slots=True)
class ShownSet:
    """Five images as shown, and the person's score, 1 (bad) to 5."""

    image_ids: tuple[str, ...]
    score: int


@dataclass(frozen=True, slots=True)
class Question:
    """One question to one person. ``number`` is its position in the lists of its set, from 0. ``released_text`` is the
    sentence as spelled in the file, so that writing restores it."""

    user: str
    question_set: str
    number: int
    reference_id: str
    target_id: str
    category: str
    text: str
    sets: tuple[ShownSet, ShownSet]
    preferred: Literal[1, 2]
    released_text: str = field(default="", compare=False)

    @property
    def question_id(self) -> str:
        return f"{self.user}/{self.question_set}/{self.number}"

    @property
    def image_ids(self) -> tuple[str, ...]:
        return (self.reference_id, self.target_id, *self.sets[0].image_ids, *self.sets[1].image_ids)


def read_questions(path: Path, faults: ValidationIssues = RAISE) -> tuple[Question, ...]:
    """All questions in file order. Raises ``DatasetError``, or collects into ``faults``."""
    questions: list[Question] = []
    for user, sets in read_object(path, faults).items():
        if not isinstance(sets, dict):
            faults.add(path, user, "it does not contain question sets", _KIND)
            continue
        for name, lists in sets.items():
            questions.extend(_question_set(path, user, name, lists, faults))
    return tuple(questions)


def content(source: Source) -> Content:
    """People, questions, scores by value, preferences; the share of shown sets that contain the target."""
    questions = read_questions(source.path, source.faults)
    paths: dict[str, dict[str, None]] = {}
    for question in questions:
        for image_id, path in image_paths(question):
            paths.setdefault(image_id, {}).setdefault(path)

    def found(image_id: str) -> tuple[str, ...]:
        own = tuple(paths[image_id])
        return (*own, *(path.removeprefix("image_data/") for path in own), f"images/{image_id}.png")

    shown = [(question, one) for question in questions for one in question.sets]
    scores = Counter(one.score for _, one in shown)
    categories = Counter(question.category for question in questions)
    preferred = Counter(question.preferred for question in questions)
    counts = {
        "people": len({question.user for question in questions}),
        "question sets": len({(question.user, question.question_set) for question in questions}),
        "questions": len(questions),
        **{f"questions, {name}": number for name, number in sorted(categories.items())},
        "shown sets": len(shown),
        **{f"sets with score {score}": scores[score] for score in SCORES},
        "score, mean": mean(one.score for _, one in shown),
        "set 1 preferred": preferred[1],
        "set 2 preferred": preferred[2],
        "share of sets with the target": mean(question.target_id in one.image_ids for question, one in shown),
        "questions with equal scores": sum(one.sets[0].score == one.sets[1].score for one in questions),
        "preferences against the scores": sum(
            question.sets[question.preferred - 1].score < question.sets[2 - question.preferred].score
            for question in questions
        ),
        "questions with twice the same images": sum(
            set(one.sets[0].image_ids) == set(one.sets[1].image_ids) for one in questions
        ),
    }
    notes = ("The released format does not say which questions people called invalid: all are counted.",)
    return Content(counts, notes, None, tuple(paths), found)


def write_questions(path: Path, questions: Iterable[Question]) -> None:
    """Write the released format (:func:`released_form`). Raises ``DatasetError``."""
    write_atomically(path, released_form(questions))


def released_form(questions: Iterable[Question]) -> bytes:
    """The released format. Round trip: reading it gives ``questions`` again, and questions read from
    a file give that file byte for byte.

    Questions of a person and a set must be adjacent, numbered from 0. Raises ``DatasetError`` if
    they are not, or for a text that the format cannot hold.
    """
    users: dict[str, dict[str, dict[str, list[Any]]]] = {}
    for (user, name), group in groupby(questions, key=lambda question: (question.user, question.question_set)):
        sets = users.setdefault(user, {})
        if name in sets:
            raise DatasetError(f"Questions of {user}, {name} are not adjacent. Sort them by person and question set.")
        lists: dict[str, list[Any]] = {key: [] for key in _LISTS}
        for number, question in enumerate(group):
            if question.number != number:
                raise DatasetError(f"Question {question.question_id} is at position {number}. Number questions "
                                   "consecutively from 0.")
            for key, value in zip(_LISTS, _released(question), strict=True):
                lists[key].append(value)
        sets[name] = lists
    return json.dumps(users, indent=2).encode()


def decoded_text(released: str) -> str:
    """A readable sentence: marks become punctuation, runs of spaces one space."""
    for mark, sign in _MARKS.items():
        released = released.replace(mark, sign)
    return re.sub(" {2,}", " ", released)


def image_paths(question: Question) -> Iterator[tuple[str, str]]:
    """Each image id of a question with its path below the release's folder ``-``."""
    for image_id in question.image_ids:
        yield image_id, _below_root(question.category, image_id)


def _question_set(path: Path, user: str, name: str, lists: Any, faults: ValidationIssues) -> Iterator[Question]:
    where = f"{user}, {name}"
    if not isinstance(lists, dict):
        faults.add(path, where, "it is not an object of six lists", _KIND)
        return
    wrong = [key for key in _LISTS if not isinstance(lists.get(key), list)]
    if wrong:
        faults.add(path, where, f"it has no list {quoted(wrong[0])}", _KIND)
        return
    lengths = {key: len(lists[key]) for key in _LISTS}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{key} {length}" for key, length in lengths.items())
        faults.add(path, where, f"its lists differ in length ({told})", "Give each list one entry a question")
        return
    for number, row in enumerate(zip(*(lists[key] for key in _LISTS), strict=True)):
        try:
            question = _question(user, name, number, *row)
        except _Wrong as wrong_entry:
            faults.add(path, f"{where}, question {number}", wrong_entry.problem, wrong_entry.remedy)
        else:
            yield question


class _Wrong(Exception):
    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.problem, self.remedy = problem, remedy


def _question(
    user: str, name: str, number: int,
    reference: Any, target: Any, sentence: Any, first: Any, second: Any, preferred: Any,
) -> Question:
    if not isinstance(sentence, str) or not sentence.strip():
        raise _Wrong(f"its sentence is {quoted(sentence)}", "Give the modification text")
    if str(preferred) not in ("1", "2"):
        raise _Wrong(f"its preferred set is {quoted(preferred)}", 'It is "1" or "2"')
    categories: dict[str, None] = {}

    def image(value: Any) -> str:
        match = _PATH.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            raise _Wrong(f"there is no category in the path {quoted(value)}",
                         "Paths end in image_data/<category>/<id>.jpg")
        categories.setdefault(match["category"])
        return match["image_id"]

    question = Question(
        user, name, number, image(reference), image(target), next(iter(categories)), decoded_text(sentence),
        (_shown_set(first, 1, image), _shown_set(second, 2, image)), 1 if str(preferred) == "1" else 2, sentence,
    )
    if len(categories) > 1:
        raise _Wrong(f"it mixes images of {len(categories)} categories ({', '.join(categories)})", "Keep one category")
    return question


def _shown_set(value: Any, number: int, image: Any) -> ShownSet:
    paths = value.get("img_path") if isinstance(value, dict) else None
    if not isinstance(paths, list) or len(paths) != SHOWN:
        held = f"{len(paths)} images" if isinstance(paths, list) else "no img_path"
        raise _Wrong(f"its set {number} has {held}", f"A set has {SHOWN} images")
    score = str(value.get("user_score"))
    if score not in map(str, SCORES):
        raise _Wrong(f"the score of its set {number} is {quoted(value.get('user_score'))}",
                     "Scores are 1, 2, 3, 4 or 5")
    image_ids = tuple(map(image, paths))
    if len(set(image_ids)) < SHOWN:
        raise _Wrong(f"its set {number} shows an image twice", "Keep each image once")
    return ShownSet(image_ids, int(score))


def _released(question: Question) -> tuple[Any, ...]:
    """Entries of one question in the six lists."""
    text = question.released_text
    if decoded_text(text) != question.text:
        text = question.text
        for mark, sign in _MARKS.items():
            text = text.replace(sign, mark)
        if decoded_text(text) != question.text:
            raise DatasetError(f"Question {question.question_id}: the text {quoted(question.text)} cannot be written: "
                               "HP-FashionIQ's format has no runs of spaces and writes signs as words like “dotmark”. "
                               "Change the text.")

    def path(image_id: str) -> str:
        return f"/-/{_below_root(question.category, image_id)}"

    return (
        path(question.reference_id), path(question.target_id), text,
        *({"img_path": [path(image_id) for image_id in one.image_ids], "user_score": str(one.score)}
          for one in question.sets),
        str(question.preferred),
    )


def _below_root(category: str, image_id: str) -> str:
    return f"image_data/{category}/{image_id}.jpg"
