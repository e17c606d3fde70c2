"""Records of a tiny session study, made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from annotation.analysis.records import StudyAnswers
from annotation.kinds.table import KINDS
from annotation.records import (
    Assignment,
    Item,
    Judgement,
    MetricScores,
    PlannedAssignment,
    Seat,
    Study,
    StudyImage,
    StudyPlan,
)
from annotation.studies.store import StudyStore
from cir_core.construct.judging.scores import DIMENSIONS
from tests.fakes.preferences import START

QUESTIONS = DIMENSIONS


def a_session_study() -> Study:
    return Study("r1", "Stories", "sessions", "circled/1", StudyPlan(2, 2, 0, 7, 3.0), True, {}, {}, "local", START)


def a_session(number: int, source: str = "built", turns: int = 2, *, subset: str = "dress",
              block: bool = False) -> Item:
    return Item(
        f"n{number}", "r1", number, f"{source}::{subset}::{number}", f"{source}|{subset}", block,
        {"turns": [{"image": f"t{number}-{turn}", "text": "is red"} for turn in range(turns)],
         "target": f"t{number}-t"},
        {"source": source, "subset": subset, "session": str(number),
         "content": f"c{source}{number}", "turns": turns, "target": ["x"]})


def a_rating(number: int, annotator: str, scores: int | Sequence[int]) -> Judgement:
    """``scores``: one for all five questions, or five."""
    five = [scores] * 5 if isinstance(scores, int) else list(scores)
    answer = {"ratings": dict(zip(QUESTIONS, five, strict=True)), "reason": ""}
    return Judgement(f"j-{number}-{annotator}", "r1", f"n{number}", annotator, 1, f"k-{number}-{annotator}",
                     "circled/1", answer, 20.0, START + timedelta(minutes=number))


def session_answers(items: Sequence[Item], given: Mapping[str, Mapping[int, Any]]) -> StudyAnswers:
    """``given``: scores by person and number of the item."""
    seats = [Seat("r1", number, name, START, START) for number, name in enumerate(given, 1)]
    judgements = [a_rating(number, name, scores) for name, of in given.items() for number, scores in of.items()]
    places = [Assignment(item.item_id, seat.number, item.number, "done", seat.annotator, {})
              for seat in seats for item in items]
    return StudyAnswers(a_session_study(), tuple(items), tuple(seats), tuple(places), tuple(judgements),
                        groups=KINDS["sessions"].groups)


def a_model(scores: Mapping[int, int | Sequence[int]], name: str = "gpt-x") -> MetricScores:
    return MetricScores(name, f"Scores by {name}.", {
        (f"n{number}", place): float(score) for number, given in scores.items()
        for place, score in enumerate([given] * 5 if isinstance(given, int) else given, 1)})


def keep_sessions(store: StudyStore, items: Sequence[Item], given: Mapping[str, Mapping[int, Any]]) -> Study:
    """Store a session study with its answers, and pictures that are not at hand."""
    answers = session_answers(items, given)
    tokens = {token for item in items
              for token in (item.shown["target"], *(turn["image"] for turn in item.shown["turns"]))}
    images = [StudyImage(token, token, 0, 0) for token in sorted(tokens)]
    places = [PlannedAssignment(one.item_id, one.seat, one.position) for one in answers.assignments]
    store.create(answers.study, items, images, places, seats=answers.seats, judgements=answers.judgements)
    return answers.study


def judged_file(items: Sequence[Item], scores: Mapping[int, int], model: str = "gpt-x") -> dict[str, Any]:
    """The content of a judged.json."""
    return {"card": {"language_model": model, "shown": "images"}, "sessions": [
        {"source": item.hidden["source"], "subset": item.hidden["subset"], "session_id": item.hidden["session"],
         "turns": item.hidden["turns"], "content": item.hidden["content"],
         **dict.fromkeys(QUESTIONS, scores[item.number]), "reason": "so"}
        for item in items if item.number in scores]}
