"""Recall@k of the sets that people saw."""

import pytest

from annotation.kinds.preference.hp_fashioniq import KEPT
from annotation.kinds.preference.report.recall import recall_scores
from cir_core.errors import StudyError
from tests.fakes.preferences import an_item


def test_one_target_is_found_or_not():
    # The target is the first image of set 2.
    found = recall_scores([an_item(0), an_item(1, target_ids=["1-a3"])], 3)
    assert found.name == "recall@3"
    assert found.scores == {("i0", 1): 0.0, ("i0", 2): 1.0, ("i1", 1): 0.0, ("i1", 2): 0.0}
    assert recall_scores([an_item(1, target_ids=["1-a3"])], 4).scores["i1", 1] == 1.0
    assert found.notes == ()


def test_of_several_targets_it_is_the_share():
    # Set 1 holds two of the four, one of them in its first three; the empty one pads the list.
    item = an_item(target_ids=["0-a0", "0-a4", "0-b1", "elsewhere", ""])
    assert recall_scores([item], 5).scores == {("i0", 1): 0.5, ("i0", 2): 0.25}
    assert recall_scores([item], 3).scores == {("i0", 1): 0.25, ("i0", 2): 0.25}


def test_questions_without_a_target_have_no_score():
    found = recall_scores([an_item(0, target_ids=[]), an_item(1)], 5)
    assert set(found.scores) == {("i1", 1), ("i1", 2)}
    assert found.notes == ("Questions without a known target, which recall@5 leaves out: 1 of 2.",)
    none = recall_scores([an_item(0, target_ids=[]), an_item(1, target_ids=[""])], 5)
    assert (none.scores, none.notes) == ({}, ("No question has a known target, so there is no recall@5.",))
    assert recall_scores([], 5).notes == ()


def test_sets_of_fewer_images_are_said():
    found = recall_scores([an_item(0, size=4), an_item(1)], 5)
    assert found.scores["i0", 2] == 1.0
    assert found.notes == ("Questions with a set of fewer than 5 images, of which recall@5 takes all: 1.",)


def test_a_released_file_has_no_ranks():
    item = an_item(**{KEPT: {"number": 0}})
    assert recall_scores([item], 5).notes == ()
    assert recall_scores([item], 1).notes == (
        "The released file does not say how the images of a set were ranked: recall@1 takes its first 1 in the order "
        "of the file.",)


@pytest.mark.parametrize("k", [0, -1, 2.0, True])
def test_k_is_a_whole_number(k):
    with pytest.raises(StudyError, match="whole number from 1 as k"):
        recall_scores([], k)
