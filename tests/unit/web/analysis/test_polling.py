"""How far apart looks at a running study are, by what they cost."""

import pytest

from web.analysis.polling import OFTEN, RARELY, PollingInterval


@pytest.fixture
def now():
    return [0.0]


@pytest.fixture
def pace(now):
    return PollingInterval(lambda: now[0])


def spend(pace, now, work, seconds, study="s"):
    with pace.spending(study, work):
        now[0] += seconds


def test_five_times_what_was_spent_within_bounds(pace, now):
    assert pace.seconds("s") == OFTEN == 2.0
    pace.news("s")
    spend(pace, now, "reading", 0.1)
    assert pace.seconds("s") == 2.0                  # 5 * 0.1 is less
    spend(pace, now, "reading", 3)
    spend(pace, now, "making", 1)
    spend(pace, now, "making", 2)
    spend(pace, now, "making", 1.5)                  # the one that took longest counts
    assert pace.seconds("s") == 5 * (3 + 2)
    assert pace.seconds("other") == 2.0
    spend(pace, now, "making", 100)
    assert pace.seconds("s") == RARELY == 60.0


def test_what_the_last_news_cost_is_remembered_once(pace, now):
    spend(pace, now, "reading", 3)
    spend(pace, now, "making", 1)
    pace.news("s")
    assert pace.seconds("s") == 20.0                 # nothing is spent yet on what is new
    spend(pace, now, "reading", 1)
    assert pace.seconds("s") == 20.0
    pace.news("s")
    assert pace.seconds("s") == 5.0
    pace.news("s")
    assert pace.seconds("s") == 2.0


def test_a_look_counts_while_work_is_under_way(pace, now):
    with pace.spending("s", "reading"):
        for now[0] in (1.0, 2.0, 7.0):
            assert pace.seconds("s") >= min(5 * now[0], 60)
    with pytest.raises(ZeroDivisionError), pace.spending("s", "making"):
        now[0] += 2.0
        raise ZeroDivisionError
    assert pace.seconds("s") == 5 * (7 + 2)          # failures cost too
