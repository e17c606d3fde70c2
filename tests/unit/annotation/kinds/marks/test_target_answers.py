"""Answers to a query's candidates: what is complete, what a draft keeps, what is refused."""

from __future__ import annotations

import pytest

from annotation.kinds.marks.answers import complete_answer, draft_answer
from annotation.kinds.marks.marks import load_marking
from annotation.studies.input_limits import NOTE_LIMIT
from cir_core.errors import IncompleteJudgement, StudyError

TOKENS = ("aa", "bb", "cc")
MARKS = {"cc": "unsure", "aa": "yes", "bb": "no"}


def test_a_complete_answer_is_in_the_order_of_the_images():
    kept = complete_answer({"note": "so \n", "marks": MARKS}, TOKENS)
    assert kept == {"marks": {"aa": "yes", "bb": "no", "cc": "unsure"}, "note": "so"}
    assert list(kept["marks"]) == list(TOKENS)
    assert complete_answer({"marks": MARKS}, TOKENS)["note"] == ""


@pytest.mark.parametrize(("answer", "says"), [
    (None, "is an object with marks, note"),
    ({"marks": MARKS, "mark": 1}, "no field “mark”"),
    ({"note": ""}, "“marks” is an object"),
    ({"marks": {**MARKS, "dd": "no"}}, "“dd” is no image of this query"),
    ({"marks": {"aa": "yes", "bb": None}}, "2 images have no mark yet"),
    ({"marks": {"aa": "yes", "bb": "no"}}, "1 image has no mark yet"),
    ({"marks": {**MARKS, "aa": "maybe"}}, "A mark is one of yes, no, unsure"),
    ({"marks": {**MARKS, "aa": ["yes"]}}, "A mark is one of"),
    ({"marks": MARKS, "note": 3}, "“note” must be a text"),
    ({"marks": MARKS, "note": "x" * (NOTE_LIMIT + 1)}, "20,001 characters"),
    ({"marks": MARKS, "note": "a\0b"}, "NUL"),
])
def test_what_is_incomplete_is_refused(answer, says):
    with pytest.raises(IncompleteJudgement, match=says):
        complete_answer(answer, TOKENS)


def test_a_draft_keeps_what_can_be_stored():
    assert draft_answer({"marks": {"bb": "no", "aa": "perhaps", "dd": "yes"}, "note": "so f"}, TOKENS) == {
        "marks": {"aa": None, "bb": "no", "cc": None}, "note": "so f"}
    for nothing in (None, [], {"marks": 3, "note": 3}):
        assert draft_answer(nothing, TOKENS) == {"marks": dict.fromkeys(TOKENS), "note": ""}
    with pytest.raises(IncompleteJudgement, match="NUL"):
        draft_answer({"note": "\0"}, TOKENS)


def test_marks_of_another_version_are_unknown():
    with pytest.raises(StudyError, match="only 'soft-targets/1'"):
        load_marking("soft-targets/2")
