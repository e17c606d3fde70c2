"""Figures of searches by people's thumbs, over turns that are made for these tests."""

from __future__ import annotations

import random

import pytest

from annotation.analysis.searches import search_json, search_report, search_tables
from cir_core.sessions.judged import JudgedTurn


def turn(session: object, up: int = 0, down: int = 0, **changes: object) -> JudgedTurn:
    given = {"number": 1, "request": "colour", "method": "Guided", "shown": 5, "judged": min(up + down, 5), **changes}
    return JudgedTurn(session_id=str(session), up=up, down=down, **given)   # type: ignore[arg-type]


def test_every_group_counts_its_own() -> None:
    turns = [turn(0, 3, 1), turn(0, 0, 2, number=2, request="several"), turn(1, 1, 0, method="CIReVL"), turn(2)]
    report = search_report(turns, draws=0)
    overall = report.overall
    assert (overall.satisfaction.value, overall.satisfaction.n, overall.satisfaction.count) == (4 / 7, 7, 4)
    assert (overall.results_judged, overall.results, overall.coverage) == (7, 20, 0.35)
    assert (overall.turns_judged, overall.turns, overall.sessions_judged, overall.sessions) == (3, 4, 2, 3)
    assert {key: one.satisfaction.value for key, one in report.by_turn.items()} == {1: 0.8, 2: 0}
    assert {key: one.satisfaction.value for key, one in report.by_request.items()} == {"colour": 0.8, "several": 0}
    assert {key: one.satisfaction.value for key, one in report.by_method.items()} == {"CIReVL": 1, "Guided": 0.5}
    assert list(report.by_all) == [(1, "colour", "CIReVL"), (1, "colour", "Guided"), (2, "several", "Guided")]


def test_two_people_may_judge_one_result() -> None:
    figures = search_report([turn(0, 1, 1, judged=1)], draws=0).overall
    assert (figures.satisfaction.value, figures.results_judged, figures.coverage) == (0.5, 1, 0.2)


def test_the_interval_is_over_sessions_not_over_thumbs() -> None:
    """Of 40 sessions half say yes to everything, half no: 5 turns of each add no knowledge."""
    one = search_report([turn(session, 5 * (session % 2), 5 * (1 - session % 2)) for session in range(40)])
    five = search_report([turn(session, 5 * (session % 2), 5 * (1 - session % 2)) for session in range(40)
                          for _ in range(5)])
    same = [(found.overall.satisfaction.low, found.overall.satisfaction.high) for found in (one, five)]
    assert same[0] == same[1] and five.overall.satisfaction.n == 1000
    low, high = same[0]
    half = 1.96 * (0.25 / 40) ** 0.5     # of a share of 40 that are independent
    assert low == pytest.approx(0.5 - half, abs=0.03) and high == pytest.approx(0.5 + half, abs=0.03)


def test_equal_turns_give_the_same_figures_in_any_order() -> None:
    turns = [turn(session, session % 4, 1) for session in range(12)]
    shuffled = random.Random(1).sample(turns, len(turns))
    assert search_report(turns).overall.satisfaction.value == search_report(shuffled).overall.satisfaction.value
    assert search_json(search_report(turns)) == search_json(search_report(turns))


@pytest.mark.parametrize(("sessions", "said"), [(1, "1 session with judgements is too few"), (9, "at least 1 more")])
def test_few_sessions_have_no_interval_and_say_how_many_more(sessions: int, said: str) -> None:
    report = search_report([turn(number, number % 2, 1) for number in range(sessions)])
    assert report.overall.satisfaction.low is None and f"{sessions} session" in report.overall.satisfaction.reason
    assert said in report.notes[0]


def test_how_many_more_sessions_a_narrow_interval_needs() -> None:
    """The width falls with the root of the sessions: from 20 to about 20 (w / 0.1)² of them."""
    report = search_report([turn(number, 4 * (number % 2), 4 * (1 - number % 2)) for number in range(20)])
    found = report.overall.satisfaction
    assert found.low is not None and found.high is not None
    [note] = report.notes
    more = int(note.split("about ")[1].split(" more")[0].replace(",", ""))
    assert 20 + more == pytest.approx(20 * ((found.high - found.low) / 0.1) ** 2, rel=0.25)
    many = search_report([turn(number, 4 * (number % 2), 4 * (1 - number % 2)) for number in range(2000)], draws=200)
    assert many.notes == ()


def test_all_alike_has_wilsons_interval_over_sessions() -> None:
    report = search_report([turn(number, 5, 0) for number in range(12)])
    found = report.overall.satisfaction
    # Wilson at n of n: from n / (n + z²) to 1.
    assert (found.value, found.low, found.high) == (1, pytest.approx(12 / (12 + 1.959964**2), abs=1e-6), 1)
    assert found.reason == "Wilson’s interval over 12 sessions"
    assert "judge results in many more sessions" in report.notes[0]


def test_nothing_to_report() -> None:
    none, unjudged = search_report([]), search_report([turn(0), turn(0, number=2, beyond=2)])
    assert none.overall.satisfaction.value is None and none.overall.coverage is None and "Search first" in none.notes[0]
    assert unjudged.overall.coverage == 0 and "2 turns in 1 session" in unjudged.notes[0]
    assert "2 judgements of results beyond the first 5 do not count" in unjudged.notes[1]
    for report in (none, unjudged):
        assert [table.key for table in search_tables(report)] == [
            "searches", "searches-turn", "searches-request", "searches-method", "searches-each"]
        for table in search_tables(report):
            assert all(len(row) == len(table.columns) for row in table.rows)
