"""Agreement on sessions, by hand and against the plain definition of Krippendorff's alpha."""

from __future__ import annotations

import random

import numpy as np
import pytest

from annotation.analysis.records import Options
from annotation.analysis.sessions.agreement import SessionRating, session_agreement
from cir_core.construct.judging.scores import DIMENSIONS

NO_DRAWS = Options(draws=0)


def rating(session: str, annotator: str, score: int) -> SessionRating:
    return SessionRating(session, annotator, dict.fromkeys(DIMENSIONS, score))


def model(**scores: int) -> dict[str, dict[str, int]]:
    return {session: dict.fromkeys(DIMENSIONS, score) for session, score in scores.items()}


def plain_alpha(units: list[list[float]]) -> float:
    """Krippendorff (2011), section D, with the coincidences written out."""
    units = [unit for unit in units if len(unit) > 1]
    values = sorted({value for unit in units for value in unit})
    uses = {value: sum(unit.count(value) for unit in units) for value in values}
    total = sum(uses.values())

    def apart(one: float, other: float) -> float:
        low, high = sorted((one, other))
        return (sum(uses[v] for v in values if low <= v <= high) - (uses[low] + uses[high]) / 2)**2

    observed = sum(apart(a, b) / (len(unit) - 1) for unit in units for i, a in enumerate(unit)
                   for j, b in enumerate(unit) if i != j) / total
    expected = sum(uses[a] * uses[b] * apart(a, b) for a in values for b in values if a != b) / (total * (total - 1))
    return 1 - observed / expected


def test_each_question_in_its_order_with_its_own_ratings():
    given = [SessionRating(f"s{n}", who, {key: 1 + (n * place + shift) % 5 for place, key in enumerate(DIMENSIONS, 1)})
             for n in range(12) for shift, who in enumerate(("Ann", "Bob"))]
    found = session_agreement(given, options=NO_DRAWS)
    assert [one.question for one in found] == list(DIMENSIONS)
    for one in found:
        units = [[other.scores[one.question] for other in given if other.session == f"s{n}"] for n in range(12)]
        assert one.people.value == pytest.approx(plain_alpha(units)) and one.people.n == 12
        assert one.model.value is None and "people and the language model" in one.model.reason


def test_people_and_the_model():
    # s1: Ann 5, Bob 4, median 4.5, model 4; s2: 1, 2, 1.5, model 2; s3: only Ann, 3, model 3; s4: not judged
    given = [rating("s1", "Ann", 5), rating("s1", "Bob", 4), rating("s2", "Ann", 1), rating("s2", "Bob", 2),
             rating("s3", "Ann", 3), rating("s4", "Bob", 2)]
    found = session_agreement(given, model(s1=4, s2=2, s3=3, s9=1), NO_DRAWS)[0]
    assert found.people.value == pytest.approx(plain_alpha([[5, 4], [1, 2]])) and found.people.n == 2
    assert found.model.value == pytest.approx(plain_alpha([[4.5, 4], [1.5, 2], [3, 3]])) and found.model.n == 3
    # 4 - 4.5, 2 - 1.5, 0
    assert (found.difference.value, found.difference.n) == (pytest.approx(0), 3)
    assert (found.mean.value, found.mean.n) == (pytest.approx((4.5 + 1.5 + 3 + 2) / 4), 4)


def test_of_two_ratings_of_one_person_the_last_counts():
    given = [rating("s1", "Ann", 1), rating("s1", "Bob", 4), rating("s2", "Ann", 2), rating("s2", "Bob", 2)]
    again = session_agreement([*given, rating("s1", "Ann", 4)], options=NO_DRAWS)[0]
    assert again.people.value == pytest.approx(1.0) and again.mean.value == 3


def test_what_cannot_be_known_says_why():
    nothing = session_agreement([], model(s1=3))[0]
    assert all(one.value is None and one.reason for one in (nothing.mean, nothing.people, nothing.model,
                                                            nothing.difference))
    alone = session_agreement([rating("s1", "Ann", 3), rating("s2", "Ann", 4)])[0]
    assert alone.people.value is None and "two people" in alone.people.reason and alone.mean.value == 3.5
    same = session_agreement([rating(f"s{n}", who, 3) for n in range(5) for who in "ab"], model(s0=3, s1=3))[0]
    assert same.people.value is None and "single category" in same.people.reason and same.difference.value == 0


def test_intervals_hold_the_value_and_shrink_with_sessions():
    draw = random.Random(7)

    def found(sessions: int):
        truth = [draw.randint(1, 5) for _ in range(sessions)]
        given = [rating(f"s{n}", who, min(5, max(1, truth[n] + draw.choice((-1, 0, 0, 1)))))
                 for n in range(sessions) for who in ("Ann", "Bob", "Cid")]
        judged = model(**{f"s{n}": min(5, truth[n] + 1) for n in range(sessions)})
        return session_agreement(given, judged, Options(draws=400))[0]

    few, many = found(30), found(300)
    for one in (few, many):
        for estimate in (one.mean, one.people, one.model, one.difference):
            assert estimate.low < estimate.value < estimate.high
    assert many.people.high - many.people.low < few.people.high - few.people.low
    assert many.difference.low > 0 and many.people.value > 0.5
    assert np.isclose(many.mean.value, 3, atol=0.4)
