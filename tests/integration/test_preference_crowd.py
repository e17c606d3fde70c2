"""Sixteen people rate at once, over HTTP and signed in, while the server is killed. What is acknowledged is
stored, once, with the sides that were planned."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from annotation.accounts.service import PeopleService
from annotation.records import Assignment, Item, Judgement, Seat, StudyEvent
from tests.fakes.databases import ON_SQLITE, check_sound, database_of
from tests.fakes.forked import run
from tests.fakes.patience import PATIENCE, wait_for
from tests.fakes.studies import make_preference_study, rated
from tests.integration.crowd import ROOT, Refused, Server, add_entered, at_once, stores_of
from tests.integration.raters import FIRST_CHECK, NEVER_RIGHT, Rater, an_answer

# `make test` has this crowd on PostgreSQL, and one of another kind of study on SQLite.
pytestmark = [pytest.mark.skipif(sys.platform == "win32", reason="kill -9"), *[pytest.mark.extended] * ON_SQLITE]
NAMES = [f"Rater {number:02d}" for number in range(1, 17)]
STUDY = "Crowd: Ünïcode & co"
EACH = 12                      # questions of a person, in 2 forms; a check after 3, 6, 9 and 12
QUESTIONS, SHARED = 128, 32    # every fourth goes to 3 people: 128 + 2 × 32 = 192 = 16 × 12
KILLS = 1
Come = Callable[..., list[Rater]]


@dataclass(frozen=True)
class Kept:
    """All that is in the database of a study."""

    items: Mapping[str, Item]
    seats: list[Seat]
    assignments: list[Assignment]
    history: list[Judgement]
    events: list[StudyEvent]


def kept(home: Path, name: str = STUDY) -> Kept:
    stores = stores_of(home)
    try:
        of, study = stores.studies, stores.studies.study(name).study_id
        return Kept({item.item_id: item for item in of.items(study)}, list(of.seats(study)),
                    list(of.assignments(study)), list(of.judgements(study, history=True)), list(of.events(study)))
    finally:
        stores.close()


@dataclass(frozen=True)
class Crowd:
    server: Server
    secrets: Mapping[str, str]     # of everybody's sign-in
    raters: list[Rater]
    plan: Kept
    found: list[Kept]              # once, when everybody had rated everything

    def come(self, leaving: contextlib.ExitStack, *names: str, study: str = STUDY) -> list[Rater]:
        """Signed in; the same name twice is two windows of one person."""
        raters = [Rater(name, self.server.url, study) for name in names]
        for rater in raters:
            leaving.callback(rater.close)
            rater.enter(self.secrets[rater.name])
        return raters


@pytest.fixture
def come(crowd: Crowd) -> Iterator[Come]:
    with contextlib.ExitStack() as leaving:
        yield partial(crowd.come, leaving)


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowd]:
    """After everybody has rated everything, and the server was killed in the middle."""
    home = tmp_path_factory.mktemp("raters") / "home"
    stores = stores_of(home)
    secrets = add_entered(stores, [*NAMES, "Late"])
    make_preference_study(
        stores.studies, home, name=STUDY, questions=QUESTIONS, per_person=EACH, forms=2, shared_every=4, shared_by=3,
        edge=16, settings={"consent": "I take part of my own will.", "check_every": FIRST_CHECK})
    make_preference_study(stores.studies, home, name="Doors", questions=4, per_person=4, forms=1, edge=16,
                          settings={"check_every": 1})
    stores.close()
    crowd = Crowd(Server(home), secrets, [], kept(home), [])
    with contextlib.ExitStack() as leaving:
        leaving.callback(crowd.server.stop)
        crowd.server.start()
        crowd.raters.extend(crowd.come(leaving, *NAMES))
        _rate_and_kill(crowd.server, crowd.raters)
        crowd.found.append(kept(home))
        yield crowd


def _rate_and_kill(server: Server, raters: list[Rater]) -> None:
    """Everybody sends again, with the same token, what was not acknowledged."""
    working = threading.Thread(target=at_once, args=([rater.rate_everything for rater in raters],), daemon=True)
    working.start()
    for kill in range(1, KILLS + 1):
        least = kill * EACH * len(raters) // (KILLS + 1)
        wait_for(lambda least=least: sum(len(rater.acknowledged) for rater in raters) >= least,
                 going=working.is_alive, told=lambda: [rater.complaints for rater in raters], pause=0.005)
        server.kill()
        acknowledged = {(rater.name, ack.token) for rater in raters for ack in list(rater.acknowledged)}
        passed = {(rater.name, token) for rater in raters for token in list(rater.noted)}
        found = kept(server.home)
        stored = Counter((it.annotator, it.token) for it in found.history)
        noted = Counter((it.annotator, it.token) for it in found.events if it.kind != "finish")
        assert acknowledged <= set(stored) and set(stored.values()) == {1}
        assert passed <= set(noted) and set(noted.values()) == {1}
        # One at most for each person was on disk before its answer was sent.
        assert len(stored) + len(noted) - len(acknowledged) - len(passed) <= len(raters)
        server.start()
    working.join(PATIENCE)
    assert not working.is_alive()


def quiet(server: Server, raters: list[Rater]) -> None:
    assert [rater.complaints for rater in raters if rater.complaints] == []
    said = server.log()
    assert "locked" not in said and "Traceback" not in said, said


def in_stored_terms(answer: Mapping[str, Any], first: int) -> dict[str, Any]:
    """What is kept of a rating, if stored set ``first`` stood as A."""
    one, other = answer["ratings"]["A"], answer["ratings"]["B"]
    stored_set = {"A": first, "B": 3 - first}
    return {"ratings": [one, other] if first == 1 else [other, one], "preferred": stored_set[answer["preferred"]],
            "irrelevant": {"either": False}, "reason": answer["reason"], "first": first,
            "contradiction_confirmed": answer["confirmed"]}


def test_every_acknowledged_rating_is_kept_once(crowd: Crowd) -> None:
    quiet(crowd.server, crowd.raters)
    found = crowd.found[0]
    assert sum(rater.retried for rater in crowd.raters) >= KILLS
    assert Counter((it.annotator, it.token) for it in found.history) == Counter(
        (rater.name, ack.token) for rater in crowd.raters for ack in rater.acknowledged)
    assert {it.revision for it in found.history} == {1}
    by_token = {it.token: it for it in found.history}
    assert all(by_token[ack.token].item_id == ack.item for rater in crowd.raters for ack in rater.acknowledged)
    assert Counter(it.annotator for it in found.history) == dict.fromkeys(NAMES, EACH)
    assert Counter(Counter(it.item_id for it in found.history).values()) == {1: QUESTIONS - SHARED, 3: SHARED}
    check_sound(database_of(crowd.server.home))


def test_the_sides_are_those_planned_and_those_shown(crowd: Crowd) -> None:
    found = crowd.found[0]
    person = {seat.number: seat.annotator for seat in found.seats}
    assert sorted(name or "" for name in person.values()) == NAMES, "no two people in one seat, and nobody in two"
    assert {(it.item_id, it.seat, it.position): it.extra for it in found.assignments} == {
        (it.item_id, it.seat, it.position): it.extra for it in crowd.plan.assignments}
    assert {it.state for it in found.assignments} == {"done"}
    place = {(it.item_id, person[it.seat]): it for it in found.assignments}
    seen = {rater.name: rater.seen for rater in crowd.raters}
    for rating in found.history:
        planned = place[rating.item_id, rating.annotator]
        first = planned.extra["first"]
        assert rating.answer == in_stored_terms(an_answer(rating.annotator, planned.position), first)
        one, other = found.items[rating.item_id].shown["sets"]
        assert seen[rating.annotator][rating.item_id] == ((one, other) if first == 1 else (other, one))


def test_the_sides_in_the_database_are_balanced(crowd: Crowd) -> None:
    """For each person, each pair of methods, each pair before each person, each shared question, and over all."""
    found = crowd.found[0]
    surplus: dict[tuple[str, ...], int] = defaultdict(int)
    for rating in found.history:
        item = found.items[rating.item_id]
        stood_first = item.hidden["methods"][rating.answer["first"] - 1]
        for group in ((), ("person", rating.annotator), ("pair", item.stratum),
                      ("both", rating.annotator, item.stratum), ("question", item.item_id)):
            surplus[group] += 1 if stood_first == item.stratum.split("|")[0] else -1
    assert len(surplus) > len(NAMES) + 3 + 3 * len(NAMES) and max(map(abs, surplus.values())) <= 1
    assert surplus[()] == 0    # 192 is even


def test_every_gate_is_noted_once(crowd: Crowd) -> None:
    found = crowd.found[0]
    for rater in crowd.raters:
        own = [it for it in found.events if it.annotator == rater.name]
        assert [it.kind for it in own] == ["guidelines", "consent", *["check"] * 5, "finish"]
        assert sorted(it.token for it in own[:-1]) == sorted(rater.noted) and len(set(rater.noted)) == 7
        assert [(it.payload["number"], it.payload["right"]) for it in own if it.kind == "check"] == [
            (3, False), (3, True), (6, True), (9, True), (12, True)]
        assert own[-1].payload == {"code": rater.code}
    assert len({rater.code for rater in crowd.raters}) == len(NAMES)


def test_windows_at_once(crowd: Crowd, come: Come) -> None:
    """After the crowd: the last form may still be changed. One press is one revision, however often it arrives."""
    server = crowd.server
    windows = come(*[NAMES[0]] * 4)
    by_position = {it.position: it.item_id for it in kept(server.home).assignments if it.annotator == NAMES[0]}
    early, item, other, third = (by_position[position] for position in (0, EACH - 3, EACH - 2, EACH - 1))

    def press(item_id: str, *presses: tuple[dict[str, Any], str]) -> list[str]:
        """Each from a window of its own, at the same moment; the tokens of what is kept besides the first."""
        answers = at_once([partial(window.rate, item_id, answer, token)
                           for window, (answer, token) in zip(windows, presses, strict=False)])
        assert [it for it in answers if isinstance(it, Exception)] == []
        return sorted(it.token for it in kept(server.home).history
                      if (it.item_id, it.annotator, it.revision > 1) == (item_id, NAMES[0], True))

    new, newer = rated(5, 1, reason="new"), rated(5, 1, reason="newer")
    assert press(item, *[(new, "double-click-1")] * 4) == ["double-click-1"]
    assert len(press(other, (new, "two-windows-1"), (new, "two-windows-2"))) == 1
    assert press(third, (new, "two-answers-1"), (newer, "two-answers-2")) == ["two-answers-1", "two-answers-2"]
    before = len(kept(server.home).history)
    with pytest.raises(Refused, match="of a form that you have finished"):
        windows[0].rate(early, new, "too-late-1")
    with pytest.raises(Refused, match="used for another answer"):
        windows[0].rate(item, newer, "double-click-1")
    mine = set(by_position.values())
    foreign = next(item_id for item_id in crowd.plan.items if item_id not in mine)
    with pytest.raises(Refused, match="not one of yours"):
        windows[0].rate(foreign, new, "forged-1")
    assert len(kept(server.home).history) == before
    quiet(server, windows)


def test_a_gate_in_windows_at_once(crowd: Crowd, come: Come) -> None:
    """One press that arrives four times is one event, right or wrong, and a gate that is passed stays so."""
    server = crowd.server
    windows = come(*["Late"] * 4, study="Doors")
    desks = at_once([partial(window.call, "next_question", "Doors", "") for window in windows])
    assert [workspace["gate"] for workspace in desks] == [{"kind": "guidelines"}] * 4

    def press(gate: Mapping[str, Any], token: str, **changes: Any) -> Any:
        told = at_once([partial(window.pass_gate, gate, token, **changes) for window in windows])
        assert [it for it in told if isinstance(it, Exception)] == []
        assert [it["passed"] for it in told] == [told[0]["passed"]] * 4
        return told[0]

    workspace = press(desks[0]["gate"], "guidelines-1")["desk"]
    check = windows[0].rate(workspace["item"]["id"], rated(), "question-1")["gate"]
    told = press(check, "a-wrong-sum-1", answer=NEVER_RIGHT)
    assert not told["passed"] and told["desk"]["item"] is None
    with pytest.raises(Refused, match="A short check comes first"):
        windows[1].rate(kept(server.home, "Doors").assignments[1].item_id, rated(), "past-it-1")
    told = press(told["desk"]["gate"], "the-sum-1")
    assert told["passed"] and told["desk"]["item"]["number"] == 2
    with pytest.raises(Refused, match="answered already"):
        windows[2].pass_gate(check, "the-old-sum-1")
    found = kept(server.home, "Doors")
    assert [(it.kind, it.token) for it in found.events] == [
        ("guidelines", "guidelines-1"), ("check", "a-wrong-sum-1"), ("check", "the-sum-1")]
    assert len(found.history) == 1 and [seat.annotator for seat in found.seats] == ["Late"]
    quiet(server, windows)


@pytest.mark.extended
def test_the_script_in_the_docs(crowd: Crowd) -> None:
    page = (ROOT / "docs/how-to/studies/programs.md").read_text("utf-8")
    script = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[1]
    stores = stores_of(crowd.server.home)
    try:
        PeopleService(stores.people).add("Ada", "her password", "annotator")
        study = make_preference_study(
            stores.studies, crowd.server.home, name="better", questions=7, per_person=7, forms=2, edge=16,
            settings={"consent": "I take part.", "check_every": 2, "completion_prefix": "HS-"}, reason_every=3)
        done = run("-c", script.replace("http://127.0.0.1:7860", crowd.server.url), environment=os.environ)
        assert done.returncode == 0, done.stderr
        ratings = stores.studies.judgements(study.study_id, history=True)
        assert [(it.annotator, it.revision) for it in ratings] == [("Ada", 1)] * 7
        assert all(it.answer["ratings"][it.answer["first"] - 1] == 4 for it in ratings), "A was given 4"
        finish, = stores.studies.events(study.study_id, "Ada", "finish")
        assert done.stdout.splitlines()[-1] == finish.payload["code"] and finish.payload["code"].startswith("HS-")
    finally:
        stores.close()
