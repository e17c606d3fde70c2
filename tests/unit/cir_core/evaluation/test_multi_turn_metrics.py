"""CIRCLED's metrics on sessions small enough to count on one hand."""

import numpy as np
import pytest

from cir_core.evaluation.metrics.consistency import rank_setbacks, repeated_texts
from cir_core.evaluation.metrics.multi_turn import multi_turn_scores, session_values
from cir_core.evaluation.metrics.subset_recall import subset_rank


def test_auc_of_one_session_that_hits_at_turn_two():
    # hits (0, 1, 1): trapezoids ½ and 1 over L_max − 1 = 2 give 0.75 (a plain mean would be 0.667)
    scores = multi_turn_scores([[200, 4, 3]])
    assert scores is not None
    assert scores.hits_at_10 == (0.0, 1.0, 1.0)
    assert scores.auc == pytest.approx(0.75)


def test_auc_of_two_sessions():
    # turn 1: none; turn 2: one of two; turn 3: both. (0, ½, 1): ¼ + ¾ over 2 = 0.5
    scores = multi_turn_scores([[50, 10, 1], [50, 11, 10]])
    assert scores is not None
    assert scores.hits_at_10 == (0.0, 0.5, 1.0)
    assert scores.auc == pytest.approx(0.5)


def test_hits_stay_after_a_session_ends_but_final_recall_looks_at_the_last_turn():
    # Session A hits at turn 1 and loses the target at turn 2; B ends after turn 1 with a hit.
    scores = multi_turn_scores([[3, 80], [9]])
    assert scores is not None
    assert scores.hits_at_10 == (1.0, 1.0)
    assert scores.final_recall_at_10 == 0.5
    assert scores.max_turns == 2


def test_a_rank_of_exactly_ten_is_a_hit_also_at_the_last_turn():
    # By turn 1, 2, 3, as it stays after a session's end: (0, 1, 1), (1, 1, 1), (0, 0, 1), (1, 1, 1).
    ranks = [[40, 10], [10, 11], [12, 30, 9], [10]]
    scores = multi_turn_scores(ranks)
    assert scores is not None
    assert scores.hits_at_10 == (0.5, 0.75, 1.0)
    assert scores.final_recall_at_10 == 0.75                        # last ranks 10, 11, 9, 10
    assert scores.auc == pytest.approx((0.625 + 0.875) / 2)
    # What each session adds: Hits@10 by turn 1, 2, 3, final recall, and the area of (0, 1, 1) is (½ + 1) / 2.
    values = session_values(ranks, 3)
    assert values.tolist() == [[0, 1, 1, 1, 0.75], [1, 1, 1, 0, 1], [0, 0, 1, 1, 0.25], [1, 1, 1, 1, 1]]
    np.testing.assert_allclose(values.mean(axis=0), [*scores.hits_at_10, scores.final_recall_at_10, scores.auc])
    assert session_values([[10], [11]], 1).tolist() == [[1, 1, 1], [0, 0, 0]]   # one turn: its hit is the area


def test_one_turn_has_no_area_and_says_so():
    scores = multi_turn_scores([[1], [30]])
    assert scores is not None
    assert scores.auc == 0.5 and "one turn" in scores.note


def test_no_sessions_have_no_score():
    assert multi_turn_scores([]) is None
    assert multi_turn_scores([[]]) is None


def test_a_setback_of_exactly_epsilon_is_allowed():
    assert rank_setbacks([10, 40]) == ()
    (setback,) = rank_setbacks([10, 41, 5])
    assert (setback.turn, setback.before, setback.after) == (2, 10, 41)


def test_repeated_texts_name_the_earlier_turn():
    features = np.array([[1, 0], [0, 1], [0.6, 0.8]], dtype=np.float32)  # cos(2,3) = 0.8 = τ
    (repeat,) = repeated_texts(features)
    assert (repeat.turn, repeat.earlier) == (3, 2)


def test_the_rank_in_a_subset_counts_its_members_alone():
    ranking, members = ["x", "a", "y", "b", "target", "c"], {"a", "b", "c", "d", "target"}
    found = subset_rank(ranking, members, "target")
    assert found.rank == 3                                   # after a and b; x and y are no members
    assert [found.hit(k) for k in (1, 2, 3, 4)] == [False, False, True, True]
    assert found.known(1) and found.known(5)
    short = subset_rank(ranking[:4], members, "target")      # the list ends after two members
    assert short.rank is None and short.before == 2
    assert [short.known(k) for k in (1, 2, 3)] == [True, True, False]
    assert not any(short.hit(k) for k in (1, 2, 3))
    with pytest.raises(ValueError, match="not a member"):
        subset_rank(ranking, {"a", "b"}, "target")
