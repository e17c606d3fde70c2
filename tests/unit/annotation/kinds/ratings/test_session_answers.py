"""Answers about sessions: the same five questions as a language model's."""

from __future__ import annotations

import pytest

from annotation.kinds.ratings.answers import complete_answer, draft_answer
from annotation.kinds.ratings.questions import QUESTIONS
from cir_core.construct.judging.scores import DIMENSIONS
from cir_core.errors import IncompleteJudgement
from cir_core.language.tasks import JudgeAnswer

GOOD = dict(zip(DIMENSIONS, (4, 3, 5, 5, 4), strict=True))


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
