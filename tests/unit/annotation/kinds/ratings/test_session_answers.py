"""Answers about sessions: the same five questions as a language model's."""

from __future__ import annotations

import pytest

from annotation.kinds.ratings import answers, questions
from annotation.kinds.ratings.answers import draft_answer
from annotation.kinds.ratings.questions import load_questions
from cir_core.construct.judging.scores import DIMENSIONS
from cir_core.errors import IncompleteJudgement, StudyError
from cir_core.language.tasks import JudgeAnswer

GOOD = dict(zip(DIMENSIONS, (4, 3, 5, 5, 4), strict=True))
QUESTIONS = load_questions("circled/1").questions


def complete_answer(given):
    return answers.complete_answer(given, QUESTIONS)


def test_people_answer_what_the_language_model_answers():
    assert [one.key for one in QUESTIONS] == list(DIMENSIONS)
    assert set(JudgeAnswer.model_fields) - {"reason", "notes"} == set(DIMENSIONS)
    assert all(one.title and one.text.endswith("?") and one.low != one.high for one in QUESTIONS)


def test_a_whole_answer():
    found = complete_answer({"reason": "Too long \n", "ratings": dict(reversed(GOOD.items()))})
    assert found == {"ratings": GOOD, "reason": "Too long"} and list(found["ratings"]) == list(DIMENSIONS)
    assert complete_answer({"ratings": GOOD})["reason"] == ""
    assert complete_answer(complete_answer({"ratings": GOOD, "reason": "x"})) == {"ratings": GOOD, "reason": "x"}


@pytest.mark.parametrize(("given", "says"), [
    (None, "is an object with ratings, reason"), ({"ratings": [1]}, "“ratings” is an object with naturalness"),
    ({"ratings": GOOD, "verdict": 1}, "no field “verdict”"), ({"ratings": GOOD | {"x" * 99: 1}}, "no field “xxx"),
    ({"ratings": {**GOOD, "progress": None}}, "“Progress” has no answer yet"),
    ({"ratings": {"naturalness": 1}}, "“Coherence” has no answer yet"),
    *(({"ratings": {**GOOD, "redundancy": bad}}, "“Low redundancy” must be a whole number")
      for bad in (0, 6, True, 3.0, "3", [3])),
    ({"ratings": GOOD, "reason": 7}, "“reason” must be a text"), ({"ratings": GOOD, "reason": "a\0b"}, "NUL"),
    ({"ratings": GOOD, "reason": "x" * 20_001}, "the limit is 20,000"),
])
def test_what_is_missing_or_wrong_is_said(given, says):
    with pytest.raises(IncompleteJudgement, match=says):
        complete_answer(given)


def test_a_draft_keeps_what_is_usable():
    nothing = dict.fromkeys(DIMENSIONS)
    assert draft_answer(None) == draft_answer({"ratings": 3, "reason": 4}) == {"ratings": nothing, "reason": ""}
    assert draft_answer({"ratings": {"progress": 2, "overall": 9, "x": 1}, "reason": "so", "y": 1}) == {
        "ratings": {**nothing, "progress": 2}, "reason": "so"}
    assert draft_answer(complete_answer({"ratings": GOOD})) == {"ratings": GOOD, "reason": ""}


def test_versions_of_the_questions_coexist(tmp_path, monkeypatch):
    first = (questions._FOLDER / "circled-1.toml").read_text("utf-8")
    (tmp_path / "circled-1.toml").write_text(first, "utf-8")
    for version, old, new in ((2, "like a machine", "stiff"), (3, '"progress"', '"speed"')):
        (tmp_path / f"circled-{version}.toml").write_text(
            first.replace("circled/1", f"circled/{version}").replace(old, new), "utf-8")
    monkeypatch.setattr(questions, "_FOLDER", tmp_path)
    load = questions.load_questions.__wrapped__
    assert questions.newest_questions() == "circled/3"
    assert [load(f"circled/{version}").questions[0].low for version in (1, 2)] == ["like a machine", "stiff"]
    with pytest.raises(StudyError, match="naturalness, coherence, progress"):
        load("circled/3")
