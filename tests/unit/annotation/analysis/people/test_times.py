"""Seconds and order of answers, by hand."""

from math import exp, log, nan

import numpy as np
import pytest

from annotation.analysis.people.time_section import times_section
from annotation.analysis.people.times import Answered, same_as_others, times_of
from annotation.analysis.records import Options, Rater
from annotation.analysis.statistics.matrix import Ratings

NONE = Options(draws=0)


def person(seat, seconds, same=(), value=()):
    return [Answered(seat, place, one, same[place - 1] if same else nan, value[place - 1] if value else nan)
            for place, one in enumerate(seconds, 1)]


def raters(*seats):
    return [Rater(seat, f"P{seat:02}", 9) for seat in seats]


def test_thirds_and_drift():
    # Seat 1: medians 10, 10, 5 of the thirds, half as long at last; seat 2: 20, 20, 20.
    one = person(1, [10, 10, 10, 10, 10, 10, 5, 5, 5], same=[1, 1, 1, 1, 1, 1, 0, 0, 1], value=[0] * 6 + [1] * 3)
    two = person(2, [20] * 9, same=[1, 0, nan, 1, 1, 1, 1, 1, nan], value=[1] * 9)
    found = times_of([*one, *two], raters(1, 2), NONE)
    assert [round(each.last_by_first, 6) for each in found.people] == [0.5, 1]
    assert found.drift["seconds"].value == pytest.approx(exp((log(0.5) + log(1)) / 2)) and found.drift["seconds"].n == 2
    # Same: seat 1 from 3/3 to 1/3, seat 2 from 1/2 to 2/2.
    assert found.drift["same"].value == pytest.approx(((1 / 3 - 1) + (1 - 0.5)) / 2)
    assert found.drift["value"].value == pytest.approx(0.5)
    first, middle, last = found.thirds
    assert (first.answers, first.same.value, first.same.n) == (6, pytest.approx(4 / 5), 5)
    assert (last.seconds.value, last.seconds.n, middle.value.value) == (12.5, 6, 0.5)


def test_seconds_by_position_have_quartiles():
    found = times_of([one for seat in range(1, 5) for one in person(seat, [10 * seat, 8])], raters(1, 2, 3, 4), NONE)
    assert [one.name for one in found.stretches] == ["1", "2"]
    first = found.stretches[0].seconds           # 10, 20, 30, 40
    assert (first.low, first.value, first.high, first.n) == (17.5, 25, 32.5, 4)


def test_fast_people_are_marked():
    answers = [one for seat, seconds in ((1, 30), (2, 33), (3, 9), (4, 12)) for one in person(seat, [seconds] * 5)]
    # The median of 30, 33, 9 and 12 is 21; a third of it 7: nobody. With one at 6: medians 30, 33, 6, 12, still 21.
    assert [one.fast for one in times_of(answers, raters(1, 2, 3, 4), NONE).people] == [False] * 4
    answers = [one for seat, seconds in ((1, 30), (2, 33), (3, 6), (4, 12)) for one in person(seat, [seconds] * 5)]
    assert [one.fast for one in times_of(answers, raters(1, 2, 3, 4), NONE).people] == [False, False, True, False]
    assert not any(one.fast for one in times_of(answers[:10], raters(1, 2), NONE).people)     # two tell nothing


def test_what_was_not_recorded_is_said():
    found = times_of(person(1, [nan] * 9, value=[1] * 9), raters(1), NONE, ordered=False)
    assert (found.timed, found.stretches, found.thirds) == (0, (), ())
    assert found.people[0].median_seconds is None and found.drift["seconds"].reason
    [section] = times_section(found, "Judged valid", "share", "item")
    tables = {table.key: table for table in section.tables}
    assert "Times were not recorded" in section.intro and not section.figures
    assert tables["people-times"].rows[0][-1] == "not recorded"
    assert tables["thirds"].empty == "The order of the answers was not recorded."
    ordered = times_of(person(1, [nan] * 9, value=[0] * 3 + [1] * 6), raters(1), NONE)
    assert ordered.drift["value"].value == 1 and ordered.drift["seconds"].reason == "not recorded"
    assert times_section(times_of([], [], NONE), "x", "share", "item") == ()


def test_drift_of_ten_people_has_an_interval_over_people():
    answers = [one for seat in range(1, 13) for one in person(seat, [10] * 6 + [10 - seat / 2] * 3)]
    found = times_of(answers, raters(*range(1, 13)), Options(draws=200)).drift["seconds"]
    assert found.low < found.value < found.high < 1


def test_same_as_the_majority_of_the_others():
    same = same_as_others(Ratings(np.array([[1, 1, 0], [1, -1, -1]], np.int16), ("no", "yes")))
    # The others of the first two tie (1, 0); those of the third say 1.
    np.testing.assert_equal(same, [[nan, nan, 0], [nan, nan, nan]])
