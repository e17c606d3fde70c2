"""A language model's scores, from judged.json."""

from __future__ import annotations

import json

import pytest

from annotation.kinds.ratings.report.judged_files import read_judged
from cir_core.errors import DatasetError
from tests.fakes.session_ratings import a_session, judged_file

ITEMS = [a_session(n, "kept") for n in range(4)]


def read(content, where="judged.json"):
    return read_judged(json.dumps(content), ITEMS, where=where)


def test_scores_by_item_and_question():
    content = judged_file([*ITEMS, a_session(9, "kept")], {0: 2, 1: 5, 9: 1}, "gpt-5-mini")
    content["sessions"][0]["overall"] = 3
    found = read(content, r"C:\Users\ann\judged.json")
    assert found.name == "gpt-5-mini" and "Users" not in found.description and "saw the images" in found.description
    assert len(found.scores) == 10 and found.scores["n0", 5] == 3 and found.scores["n0", 1] == 2
    assert found.scores["n1", 5] == 5 and found.notes == ("It judged 2 of 4 sessions of the study.",)
    assert read(judged_file(ITEMS, dict.fromkeys(range(4), 1))).notes == ()


@pytest.mark.parametrize(("content", "problem"), [
    ([], "holds no scores of sessions"),
    ({"card": {}, "sessions": [3]}, "session 1: this is not an object"),
    ({"card": {}, "sessions": [{"source": "kept"}]}, "does not say what was judged. An earlier version"),
    ({"card": {}, "sessions": [{"source": "kept", "content": "c", "naturalness": 7}]},
     "naturalness is '7', not a whole"),
    ({"card": {}, "sessions": [{"content": "c", "naturalness": True}]}, "naturalness is 'True'"),
    ({"card": {}, "sessions": []}, "it is of no sessions, and the study of kept [(]dress[)]"),
    (judged_file([a_session(1, "loose")], {1: 3}), "it is of loose [(]dress[)], and the study of kept [(]dress[)]"),
])
def test_what_is_no_such_file_is_refused(content, problem):
    with pytest.raises(DatasetError, match=problem):
        read(content)


def test_no_json_is_refused():
    with pytest.raises(DatasetError, match="is not valid JSON"):
        read_judged("item,set,x\n", ITEMS, where="sets.csv")


def test_a_hostile_name_is_one_short_line():
    found = read(judged_file(ITEMS, {0: 1}, "a\u202e\n" + "x" * 500))
    assert len(found.name) <= 60 and found.name.isprintable()


def test_sessions_are_recognized_by_their_content():
    """Filtered again, the session called 1 is another one; under another source name, it is the same."""
    content = judged_file(ITEMS, {0: 2, 1: 5})
    content["sessions"][1] |= {"content": "another"}
    content["sessions"][0] |= {"source": "renamed", "session_id": "77"}
    assert {item for item, _ in read(content).scores} == {"n0"}
