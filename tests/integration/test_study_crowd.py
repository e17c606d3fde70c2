"""Sixteen people judge at once, over HTTP and signed in. What is acknowledged is stored, once."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from annotation.accounts.service import PeopleService
from annotation.records import Judgement
from tests.fakes.databases import check_sound, database_of
from tests.fakes.forked import run
from tests.fakes.patience import PATIENCE, wait_for
from tests.fakes.studies import flagged, make_study, valid
from tests.integration.crowd import ROOT, Judge, Refused, Server, add_people, an_answer, at_once, stores_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
NAMES = [f"Judge {number:02d}" for number in range(1, 17)]
STUDY = "Crowd: Ünïcode & co"
EACH, MANY, KILLED_EACH = 4, 200, 40       # items a person; overlap is 2, so 16 × 4 / 2 = 32 items
KILLS = 3
Come = Callable[..., list[Judge]]


def a_server(home: Path, each: int) -> Server:
    stores = stores_of(home)
    add_people(stores, [*NAMES, "Late"])
    make_study(stores.studies, home, name=STUDY, items=each * len(NAMES) // 2, seats=len(NAMES), overlap=2,
               panel=4, edge=16)
    stores.close()
    server = Server(home)
    server.start()
    return server


@pytest.fixture
def come() -> Iterator[Callable[..., list[Judge]]]:
    """People who have signed in; the same name twice is two windows of one person."""
    everybody: list[Judge] = []

    def come(server: Server, *names: str) -> list[Judge]:
        judges = [Judge(name, server.url, STUDY) for name in names]
        everybody.extend(judges)
        for judge in judges:
            judge.sign_in()
        return judges

    yield come
    for judge in everybody:
        judge.close()


def history(home: Path) -> list[Judgement]:
    stores = stores_of(home)
    try:
        study = stores.studies.study(STUDY)
        seats = {seat.annotator: seat.number for seat in stores.studies.seats(study.study_id) if seat.annotator}
        assert len(set(seats.values())) == len(seats), "no two people in one seat"
        return list(stores.studies.judgements(study.study_id, history=True))
    finally:
        stores.close()


def check_stored(home: Path, judges: list[Judge], each: int) -> None:
    """Every judgement that was acknowledged, once, as it was sent, and no other; the plan is whole."""
    stored = history(home)
    assert Counter((it.annotator, it.token) for it in stored) == Counter(
        (judge.name, ack.token) for judge in judges for ack in judge.acknowledged)
    by_token = {it.token: it for it in stored}
    assert all(by_token[ack.token].item_id == ack.item for judge in judges for ack in judge.acknowledged)
    assert {it.revision for it in stored} == {1}
    assert all(dict(it.answer) == an_answer(int(it.token.rpartition("-")[2])) for it in stored)
    assert Counter(it.annotator for it in stored) == dict.fromkeys(NAMES, each)
    assert set(Counter(it.item_id for it in stored).values()) == {2}, "every item met two people"
    check_sound(database_of(home))


def check_quiet(server: Server, judges: list[Judge]) -> None:
    assert [judge.complaints for judge in judges if judge.complaints] == []
    said = server.log()
    assert "locked" not in said and "Traceback" not in said, said


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = a_server(tmp_path_factory.mktemp("crowd") / "home", EACH)
    yield server
    server.stop()


def judge_at_once(server: Server, judges: list[Judge], each: int) -> None:
    at_once([judge.judge_everything for judge in judges])
    check_quiet(server, judges)
    assert [len(judge.acknowledged) for judge in judges] == [each] * len(NAMES)
    check_stored(server.home, judges, each)
    progress = [judge.call("progress", STUDY) for judge in judges]
    assert {(it["done"], it["total"]) for it in progress} == {(each, each)}


@pytest.fixture(scope="module")
def judged(server: Server) -> Server:
    """After sixteen people have judged everything."""
    judges = [Judge(name, server.url, STUDY) for name in NAMES]
    for judge in judges:
        judge.sign_in()
    judge_at_once(server, judges, EACH)
    for judge in judges:
        judge.close()
    return server


def test_sixteen_people_at_once(judged: Server) -> None:
    assert sum(it.revision == 1 for it in history(judged.home)) == EACH * len(NAMES)


@pytest.mark.extended
def test_sixteen_people_with_200_items_each(tmp_path: Path, come: Come) -> None:
    server = a_server(tmp_path / "home", MANY)
    try:
        judge_at_once(server, come(server, *NAMES), MANY)
    finally:
        server.stop()


def test_clicks_at_once_and_calls_again(judged: Server, come: Come) -> None:
    """After the crowd: its judgements are revised. One press is one revision, however often it arrives."""
    server = judged
    windows = come(server, *[NAMES[0]] * 4)
    mine = [it for it in history(server.home) if it.annotator == NAMES[0]]
    assert windows[0].call("next_item", STUDY, "")["item"] is None and len(mine) == EACH
    item, other, third = (it.item_id for it in mine[:3])
    broad = flagged("QUERY_TOO_BROAD")

    def tokens_of(item_id: str) -> list[str]:
        return [it.token for it in history(server.home) if it.item_id == item_id and it.annotator == NAMES[0]]

    def press(item_id: str, *presses: tuple[dict[str, Any], str]) -> None:
        """Each from a window of its own, at the same moment."""
        answers = at_once([partial(window.save, item_id, answer, token)
                           for window, (answer, token) in zip(windows, presses, strict=False)])
        assert [it for it in answers if isinstance(it, Exception)] == []

    press(item, *[(broad, "double-click-1")] * 4)
    assert tokens_of(item)[1:] == ["double-click-1"]

    press(other, (broad, "two-windows-1"), (broad, "two-windows-2"))
    assert len(tokens_of(other)) == 2, "the same answer from two windows is one revision"

    press(third, (valid(note="one"), "two-answers-1"), (valid(note="two"), "two-answers-2"))
    assert sorted(tokens_of(third)[1:]) == ["two-answers-1", "two-answers-2"], "two answers: both are kept"

    before, window = len(history(server.home)), windows[0]
    window.acknowledged.clear()
    for _ in range(3):
        window.save(item, broad, "double-click-1")
    assert [(it.revision, it.repeated) for it in window.acknowledged] == [(2, True)] * 3
    assert len(history(server.home)) == before
    check_quiet(server, windows)


def test_somebody_elses_item_and_one_that_is_made_up(judged: Server, come: Come) -> None:
    server = judged
    judge, = come(server, NAMES[0])
    everything = history(server.home)
    mine = {it.item_id for it in everything if it.annotator == NAMES[0]}
    foreign = next(it.item_id for it in everything if it.item_id not in mine)
    for item in (foreign, "forged0000000000", "", "../../cirque.db", "x" * 10_000):
        with pytest.raises(Refused, match=r"not one of yours|No such item"):
            judge.save(item, valid(), "forged-token-1")
    assert len(history(server.home)) == len(everything)


def test_the_script_in_the_docs(server: Server) -> None:
    page = (ROOT / "docs/how-to/studies/programs.md").read_text("utf-8")
    script = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[0]
    stores = stores_of(server.home)
    try:
        PeopleService(stores.people).add("Ada", "her password", "annotator")
        study = make_study(stores.studies, server.home, name="First hundred", items=3, seats=1)
        done = run("-c", script.replace("http://127.0.0.1:7860", server.url), environment=os.environ)
        assert done.returncode == 0, done.stderr
        assert "'done': 3" in done.stdout
        kept = stores.studies.judgements(study.study_id, history=True)
        assert [(it.annotator, it.revision, it.answer["reasons"]) for it in kept] == [("Ada", 1, ["1b"])] * 3
    finally:
        stores.close()


@pytest.mark.extended
def test_kill_nine_three_times(tmp_path: Path, come: Come) -> None:
    """Everybody sends again, with the same token, what was not acknowledged."""
    server = a_server(tmp_path / "home", KILLED_EACH)
    try:
        judges = come(server, *NAMES)
        total = KILLED_EACH * len(NAMES)
        crowd = threading.Thread(target=at_once, args=([judge.judge_everything for judge in judges],), daemon=True)
        crowd.start()
        for kill in range(1, KILLS + 1):
            least = kill * total // (KILLS + 1)
            wait_for(lambda least=least: sum(len(judge.acknowledged) for judge in judges) >= least,
                     going=crowd.is_alive, told=lambda: [judge.complaints for judge in judges], pause=0.005)
            server.kill()
            acknowledged = {(judge.name, ack.token) for judge in judges for ack in list(judge.acknowledged)}
            stored = Counter((it.annotator, it.token) for it in history(server.home))
            assert acknowledged <= set(stored) and set(stored.values()) == {1}
            # One at most for each person was on disk before its answer was sent.
            assert len(stored) - len(acknowledged) <= len(NAMES)
            server.start()
        crowd.join(PATIENCE)
        check_quiet(server, judges)
        assert sum(judge.retried for judge in judges) >= KILLS
        check_stored(server.home, judges, KILLED_EACH)
    finally:
        server.stop()
