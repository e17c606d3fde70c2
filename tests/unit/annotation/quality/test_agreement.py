"""How far judges agree on an item."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from itertools import combinations
from statistics import fmean

import pytest

from annotation.quality.agreement import agreement, disputed
from annotation.records import Judgement


def score(one, other):
    """By no means symmetric, and less than 1 for two equal answers that are unsure."""
    return 0.0 if one["a"] is None else 1.0 if one == other else 1 / (2 + one["a"])


def test_equal_answers_count_as_often_as_they_were_given():
    rng = random.Random(4)
    for count in range(2, 12):
        answers = [{"a": rng.choice([None, 1, 2, 3]), "b": [rng.randrange(2)]} for _ in range(count)]
        pairs = [(score(one, other) + score(other, one)) / 2 for one, other in combinations(answers, 2)]
        assert agreement(answers, score) == pytest.approx(fmean(pairs), abs=1e-12)
    assert agreement([], score) is agreement([{"a": 1}], score) is None


def test_an_answer_of_hundreds_is_scored_once():
    asked = []

    def counted(one, other):
        asked.append((one, other))
        return score(one, other)

    assert agreement([{"a": 1}] * 300 + [{"a": 2}], counted) == pytest.approx(
        (300 * 299 / 2 + 300 * (1 / 3 + 1 / 4) / 2) / (301 * 300 / 2))
    assert len(asked) == 4


def test_the_least_agreement_comes_first_and_agreement_is_left_out():
    def given(item, number, value):
        return Judgement(f"{item}{number}", "s", item, f"P{number}", 0, f"token-{item}{number}", "circus/1",
                         {"a": value}, 1.0, datetime(2026, 1, 1, tzinfo=UTC))

    answers = {"agreed": (1, 1), "half": (1, 1, 1, 2), "apart": (1, 2), "unsure": (None, None), "alone": (1,)}
    judgements = [given(item, number, value) for item, values in answers.items() for number, value in enumerate(values)]
    assert disputed(judgements, score) == ["unsure", "apart", "half"]
