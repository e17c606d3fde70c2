"""The items behind a cell of a matrix: the most disputed first, with what everybody said."""

from dataclasses import replace

import pytest

from annotation.analysis.records import Options, Selection
from annotation.kinds.validity.report.disputes import disputed
from cir_core.errors import StudyError
from tests.fakes.judged import BROAD, TEXT, answer_of, decision_of, study_of
from tests.fakes.verdict_grids import grid

ANSWERS = grid(
    "V V V V",      # 0 nobody differs
    "V V V T",      # 1 three of four
    "T T TB B",     # 2 all invalid; signatures: two of four
    "V T V ?",      # 3 two of three
    "V T B TB",     # 4 all different
    "V - - .",      # 5 one alone
    "V T V T",      # 6 two of four
)


def numbers(**asked):
    return [int(one.key.rpartition("::")[2]) for one in disputed(ANSWERS, **asked)]


def test_most_disputed_first_then_by_number():
    # Shares of what most say: 4: 1/4, 2 and 6: 2/4, 3: 2/3, 1: 3/4
    assert numbers() == [4, 2, 6, 3, 1]
    # Valid or not. 6: 2/4, 3: 2/3, 1: 3/4, 4: three of four say invalid
    assert numbers(key="binary") == [6, 3, 1, 4]
    # Whether broad is set: 2: 2/4, 4: 2/4
    assert numbers(key=BROAD) == [2, 4]


def test_two_people_and_what_all_said():
    # The first and the second differ on 3, 4, 6.
    assert numbers(a=1, b=2) == numbers(a=2, b=1) == [4, 6, 3]
    assert numbers(a=1, b=2, key=BROAD) == []
    # Whether text is set, by the third and the fourth. 4 and 6: 2/4; 1 and 2: 3/4 of everybody
    assert numbers(a=3, b=4, key=TEXT) == [4, 6, 1, 2]
    [first, *_] = disputed(ANSWERS, a=1, b=2)
    assert first.answers == (("Ada", "VALIDATED"), ("Björn", TEXT), ("Çelik", BROAD), ("Dana", f"{TEXT}+{BROAD}"))
    assert (first.item_id, first.key, first.dataset, first.category) == ("i4", "cirr::4", "cirr", "unresolved")
    assert (first.text, first.reference, first.target, first.decided) == ("in red", "r", "t", None)


def test_unsure_answers_are_shown_but_make_no_dispute():
    third = next(one for one in disputed(ANSWERS) if one.item_id == "i3")
    assert third.answers[3] == ("Dana", "UNLABELLED")
    assert 3 not in numbers(a=1, b=4)


def test_the_latest_decision_that_decides():
    items = {item.item_id: item for item in ANSWERS.items}
    answers = replace(ANSWERS, decisions=(
        decision_of(items["i4"], answer_of(BROAD), revision=2), decision_of(items["i4"], answer_of(), revision=1),
        decision_of(items["i2"], answer_of(unsure=True))))
    decided = {one.item_id: one.decided for one in disputed(answers)}
    assert (decided["i4"], decided["i2"], decided["i6"]) == (BROAD, None, None)


def test_selection_and_hidden_names():
    found = disputed(ANSWERS, Selection(people=(1, 2)), Options(hide_names=True))
    assert [one.item_id for one in found] == ["i3", "i4", "i6"]
    assert found[0].answers == (("P01", "VALIDATED"), ("P02", TEXT))
    assert disputed(ANSWERS, Selection(people=(1, 2)), a=1, b=3) == []   # what the third said is not selected


def test_nothing_to_differ_on():
    assert disputed(grid()) == disputed(grid(". .")) == disputed(grid("V", "T")) == []


@pytest.mark.parametrize(("asked", "said"), [
    ({"key": "colour"}, "“colour”.*binary"), ({"a": 1}, "two seats"), ({"a": 2, "b": 2}, "two different people"),
    ({"a": 1, "b": 9}, "Nobody has seat 9"),
])
def test_what_cannot_be_asked(asked, said):
    with pytest.raises(StudyError, match=said):
        disputed(ANSWERS, **asked)
    with pytest.raises(StudyError, match="preference study"):
        disputed(replace(ANSWERS, study=study_of(kind="preference")))
