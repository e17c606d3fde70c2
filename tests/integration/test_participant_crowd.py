"""61 participants with ids over two processes, which are killed meanwhile: seats, answers and payment."""

from __future__ import annotations

import csv
import json
import re
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from annotation.kinds.table import KINDS
from annotation.quality.care import Care
from annotation.records import Decision, GoldAnswer, Item, Study
from annotation.recruitment.service import RecruitmentService
from annotation.recruitment.settings import settings_from
from annotation.recruitment.webhooks import secret_of
from annotation.studies.gold import make_gold
from annotation.studies.service import StudyService
from storage.engine.database import writing
from storage.mapping import tables
from tests.fakes.databases import check_sound, database_of
from tests.fakes.patience import PATIENCE, wait_for
from tests.fakes.studies import make_preference_study, make_study, rated, solved, valid
from tests.fakes.webhook_receiver import Receiver
from tests.integration.crowd import PASSWORD, Server, add_entered, at_once, stores_of
from tests.integration.raters import an_answer
from tests.integration.test_preference_crowd import Kept, in_stored_terms, kept

pytestmark = [pytest.mark.skipif(sys.platform == "win32", reason="kill -9"), pytest.mark.extended]
STUDY, TITLE, OTHER = "CIReVL against SEARLE", "Which shop is better?", "Another study of the lab"
SEATS, EACH, QUESTIONS, SHARED, GOLD = 36, 4, 96, 24, 3     # every fourth goes to 3 people: 96 + 2 × 24 = 36 × 4
EVERYBODY, EARLY, MINUTES = 61, 49, 30
QUOTAS = {"often": 20, "rarely": 16}
LEAVING, FAILING = {"often": 3, "rarely": 2}, {"often": 2, "rarely": 2}
ENDS = {"OUT": "screened-out", "FULL": "over-quota", "BELOW": "ended"}
AWAY = "away for too long"


@dataclass
class Participant:
    """Who comes by the link. Each request goes to the process after the one before; where one is gone, the same is sent
    to the other. ``heard`` is all that was received."""

    number: int
    urls: Sequence[str]
    link: str
    items: Mapping[str, Item]
    right: frozenset[str]                  # gold items, of which stored set 1 is right
    fails: bool = False                    # at gold items
    left: bool = False                     # for longer than the time limit
    sides: dict[str, int] = field(default_factory=dict)                   # stored set that stood as A, by item
    acknowledged: dict[str, Mapping[str, Any]] = field(default_factory=dict)   # answers in stored terms, by item
    heard: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    retried: int = 0
    state: str = ""                        # as the pages said, in the words of the payment table
    code: str = ""
    times: dict[str, tuple[datetime, datetime]] = field(default_factory=dict)  # of seat and end: sent, answered

    def __post_init__(self) -> None:
        self._turn, self._client = self.number, httpx.Client(timeout=PATIENCE, follow_redirects=True)

    @property
    def participant_id(self) -> str:
        return f"worker-{self.number:02d}"

    @property
    def group(self) -> str:
        return "often" if self.number % 2 else "rarely"

    @property
    def is_adult(self) -> bool:
        return self.number % 8 != 0

    def close(self) -> None:
        self._client.close()

    def send(self, method: str, path: str, **sent: Any) -> httpx.Response:
        def ask() -> tuple[httpx.Response] | None:    # a response that refuses is false
            self._turn += 1
            try:
                return (self._client.request(method, self.urls[self._turn % len(self.urls)] + path, **sent),)
            except httpx.TransportError:
                self.retried += 1
                return None

        [answer] = wait_for(ask)
        self.heard.append(f"{answer.url.path} {json.dumps(dict(answer.headers))} {answer.text}")
        return answer

    def open(self, method: str = "GET", **sent: Any) -> None:
        """The link, as the site that they come from has it."""
        self._read(self.send(method, self.link, params={
            "workerId": self.participant_id, "assignmentId": f"a-{self.number}", "hitId": "hit"}, **sent))

    def on_another_device(self) -> None:
        self.close()
        self._client = httpx.Client(timeout=PATIENCE, follow_redirects=True)
        self.open()

    def arrive(self) -> None:
        self.open()
        self.timed("seated", lambda: self.open("POST", data={
            "agree": "yes", "q.age": "18 or older" if self.is_adult else "under 18", "q.buys": self.group}))

    def work(self, answers: int | None = None, *, devices: bool = False) -> None:
        """Until nothing is left, or so many ``answers`` are given; then the end is confirmed."""
        workspace = self._sent("GET", "study/at")
        while workspace["item"] is not None or (workspace["gate"] or {}).get("kind", "finished") != "finished":
            if answers is not None and len(self.acknowledged) >= answers:
                return
            workspace = self._go_on(workspace)
            if devices and len(self.acknowledged) == EACH // 2:
                devices = False
                self.on_another_device()
                assert self.state == "in", self.state
                workspace = self._sent("GET", "study/at")
                assert workspace["progress"]["done"] == len(self.acknowledged)
        self.timed("finished", lambda: self._read(self.send("POST", f"{self.link}/finish")))

    def timed(self, what: str, does: Callable[[], None]) -> None:
        begun = datetime.now(UTC)
        does()
        self.times[what] = begun, datetime.now(UTC)

    def complaining(self, does: Callable[..., None], *arguments: Any, **more: Any) -> None:
        try:
            does(*arguments, **more)
        except Exception as error:
            self.complaints.append(f"{self.participant_id}: {type(error).__name__}: {error}")

    def _go_on(self, workspace: Mapping[str, Any]) -> Any:
        gate, item = workspace["gate"], workspace["item"]
        if gate is not None:
            return self._sent("POST", "study/gate", {
                "study": "", "token": f"{self.participant_id}-{gate['kind']}", **solved(gate)})["desk"]
        shown = [[picture["token"] for picture in item["sets"][side]] for side in "AB"]
        first = self.sides[item["id"]] = 1 if shown[0] == self.items[item["id"]].shown["sets"][0] else 2
        assert shown[first - 1] == self.items[item["id"]].shown["sets"][0]
        answer = an_answer(f"Worker {self.number}", item["position"])
        if item["id"] in self.right:
            answer = rated(5, 1, "A") if (first == 1) is not self.fails else rated(1, 5, "B")
        saved = self._sent("POST", "study/save", {
            "study": "", "item": item["id"], "answer": answer, "token": f"{self.participant_id}-{item['id']}"})
        self.acknowledged[item["id"]] = in_stored_terms(answer, first)
        return saved["desk"]

    def _sent(self, method: str, path: str, content: Any = None) -> Any:
        answer = self.send(method, f"{self.link}/{path}", json=content)
        assert answer.status_code == 200, f"{path}: {answer.status_code}: {answer.text}"
        return answer.json()

    def _read(self, page: httpx.Response) -> None:
        assert page.status_code == 200, f"{page.status_code}: {page.text}"
        found = re.search(r"<code>(.+?)</code>", page.text)
        self.code = found[1] if found else ""
        if page.url.path.endswith("/work"):
            self.state = "in"
        elif AWAY in page.text:
            self.state = "expired"
        else:
            self.state = ENDS.get(self.code, "finished") if found else "new"


@dataclass(frozen=True)
class Crowd:
    servers: tuple[Server, Server]
    study: Study
    other: Study
    other_link: str
    gold: frozenset[str]
    plan: Kept
    people: list[Participant]
    found: list[Kept]              # once, at the end
    known: list[GoldAnswer]        # answers to gold items, at the end
    receiver: Receiver

    @property
    def home(self) -> Path:
        return self.servers[0].home

    def of(self, state: str) -> list[Participant]:
        return [one for one in self.people if one.state == state]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowd]:
    """After everybody has come, worked, left, and come back."""
    home, receiver = tmp_path_factory.mktemp("participants") / "home", Receiver()
    stores = stores_of(home)
    add_entered(stores, [])
    study = make_preference_study(stores.studies, home, name=STUDY, questions=QUESTIONS, per_person=EACH, forms=1,
                                  shared_every=QUESTIONS // SHARED, shared_by=3, edge=16, settings={"check": "none"})
    assert study.plan.seats == SEATS
    other = make_study(stores.studies, home, name=OTHER, items=2, seats=1, edge=16)
    gold = _make_gold(stores.studies, study)
    kinds = {name: kind.answers for name, kind in KINDS.items()}
    recruitment = RecruitmentService(stores.recruitment, stores.studies, StudyService(stores.studies, kinds), kinds)
    links = ["/take/" + recruitment.save(one, settings_from({"open": True, "title": TITLE, **settings})).link.token
             for one, settings in ((other, {}), (study, {
                 "webhook": receiver.address, "minutes": MINUTES, "consent": "I take part of my own will.",
                 "questions": [{"key": "age", "text": "How old are you?", "answers": ["under 18", "18 or older"],
                                "accepts": ["18 or older"]},
                               {"key": "buys", "text": "How often do you buy clothes?", "answers": list(QUOTAS)}],
                 "quotas": [{"where": {"buys": group}, "most": most} for group, most in QUOTAS.items()],
                 **{name: {"code": code} for name, code in zip(("screened_out", "over_quota", "below_mark"), ENDS,
                                                               strict=True)}}))]
    stores.close()
    servers = Server(home), Server(home)
    plan = kept(home, STUDY)
    crowd = Crowd(servers, study, other, links[0], gold, plan, [], [], [], receiver)
    with ExitStack() as leaving:
        leaving.callback(receiver.close)
        for number, server in enumerate(servers):
            server.logs = home.parent / f"logs-{number}"
            server.logs.mkdir()
            leaving.callback(server.stop)
            server.start()
        crowd.people.extend(Participant(number, [server.url for server in servers], links[1], plan.items, gold)
                            for number in range(EVERYBODY))
        for one in crowd.people:
            leaving.callback(one.close)
        _come_and_go(crowd)
        crowd.found.append(kept(home, STUDY))
        stores = stores_of(home)
        crowd.known.extend(stores.studies.gold_answers(study.study_id))
        stores.close()
        yield crowd


def _make_gold(store: Any, study: Study) -> frozenset[str]:
    """The first questions that one person alone has; of each, stored set 1 is right."""
    once = Counter(one.item_id for one in store.assignments(study.study_id))
    chosen = [item for item in store.items(study.study_id) if once[item.item_id] == 1][:GOLD]
    answers = KINDS["preference"].answers
    for item in chosen:
        right = answers.normalize(rated(5, 1, "A"), item, study, extra={"first": 1}).answer
        store.decide(Decision(f"decision-{item.number}", study.study_id, item.item_id, "Ada Min", 0,
                              f"decided-{item.number:04d}", right, "", datetime.now(UTC)))
    made = make_gold(store, study, answers.dealt_extra, care=Care(mark=0.9, least=2, below="end"), by="Ada Min")
    assert (made.gold, made.dealt) == (GOLD, SEATS)
    return frozenset(item.item_id for item in chosen)


def _come_and_go(crowd: Crowd) -> None:
    early, late = crowd.people[:EARLY], crowd.people[EARLY:]
    _at_once_and_kill(crowd, [partial(one.complaining, one.arrive) for one in early],
                      lambda: sum(bool(one.state) and one.state != "new" for one in early), EARLY)
    inside = [one for one in early if one.state == "in"]
    acts = {}
    for group, most in QUOTAS.items():
        mine = [one for one in inside if one.group == group]
        assert len(mine) == most, "as many as the quota has, although more came at once"
        leaving, failing = LEAVING[group], LEAVING[group] + FAILING[group]
        for place, one in enumerate(mine):
            one.fails = leaving <= place < failing
            # Some leave before their first answer, after one, after two; every third of the others goes elsewhere.
            acts[one.number] = partial(one.complaining, one.work, *([place] if place < leaving else []),
                                       devices=place >= failing and place % 3 == 0)
    leavers = [one for one in inside if acts[one.number].args[1:]]
    _at_once_and_kill(crowd, list(acts.values()),
                      lambda: sum(len(one.acknowledged) for one in inside), (SEATS - len(leavers)) * EACH)
    _let_time_pass(crowd, leavers)
    at_once([partial(one.complaining, one.arrive) for one in late])
    at_once([partial(one.complaining, one.work) for one in late if one.state == "in"])
    for one in leavers:   # if nobody has taken their place, they go on
        one.left = True
        one.complaining(one.on_another_device)
        if one.state == "in":
            one.complaining(one.work)


def _at_once_and_kill(crowd: Crowd, jobs: list[Callable[[], Any]], done: Callable[[], int], total: int) -> None:
    """One process, the other, and both together, each time after a further quarter of what is to be done."""
    working = threading.Thread(target=at_once, args=(jobs,), daemon=True)
    working.start()
    one, other = crowd.servers
    for quarter, killed in enumerate(([one], [other], [one, other]), 1):
        wait_for(lambda quarter=quarter: done() >= quarter * total // 4, going=working.is_alive,
                 told=lambda: [each.complaints for each in crowd.people], pause=0.005)
        for server in killed:
            server.kill()
        for server in killed:
            server.start()
    working.join(PATIENCE)
    assert not working.is_alive()


def _let_time_pass(crowd: Crowd, people: list[Participant]) -> None:
    """They were away for longer than the time limit."""
    stores = stores_of(crowd.home)
    seats, ids = tables.study_seats, {one.participant_id for one in people}
    names = [one.annotator for one in stores.recruitment.participants(crowd.study.study_id)
             if one.participant_id in ids]
    with writing(stores.studies.engine) as connection:
        connection.execute(update(seats).where(seats.c.study_id == crowd.study.study_id, seats.c.annotator.in_(names))
                           .values(seen_at=datetime.now(UTC) - timedelta(minutes=MINUTES + 1)))
    stores.close()


def _places(crowd: Crowd) -> dict[str, str]:
    """Names in judgements by participant id."""
    stores = stores_of(crowd.home)
    try:
        return {one.participant_id: one.annotator for one in stores.recruitment.participants(crowd.study.study_id)}
    finally:
        stores.close()


def test_nothing_acknowledged_is_lost(crowd: Crowd) -> None:
    assert [complaint for one in crowd.people for complaint in one.complaints] == []
    assert sum(one.retried for one in crowd.people) > 0
    name_of, found = _places(crowd), crowd.found[0]
    answered = [it for it in crowd.known if it.answer is not None]
    assert {(it.annotator, it.item_id): dict(it.answer or {}) for it in [*found.history, *answered]} == {
        (name_of[one.participant_id], item): answer
        for one in crowd.people for item, answer in one.acknowledged.items()}
    assert {it.item_id for it in answered} == crowd.gold
    assert len({it.annotator for it in answered}) > SEATS - sum(LEAVING.values())
    assert {it.revision for it in found.history} == {1}
    consents = Counter(it.annotator for it in found.events if it.kind == "consent")
    assert consents == {name_of[one.participant_id]: 1 for one in crowd.people if one.state not in (
        "screened-out", "over-quota")}
    assert all("Traceback" not in server.log() and "locked" not in server.log() for server in crowd.servers)
    check_sound(database_of(crowd.home))


def test_quotas_and_seats(crowd: Crowd) -> None:
    assert {one.number for one in crowd.of("screened-out")} == {
        one.number for one in crowd.people if not one.is_adult}
    assert not crowd.of("in") and not crowd.of("new")
    assert {one.number for one in crowd.of("ended")} == {one.number for one in crowd.people if one.fails}
    assert len(crowd.of("ended")) == sum(FAILING.values())
    assert all(one.left for one in crowd.of("expired"))
    found = crowd.found[0]
    for group, most in QUOTAS.items():
        assert most - LEAVING[group] <= sum(one.group == group for one in crowd.of("finished")) <= most
    taken = Counter(seat.annotator for seat in found.seats if seat.annotator)
    name_of = _places(crowd)
    assert taken == {name_of[one.participant_id]: 1 for one in crowd.people if one.times.get("finished")
                     or one.acknowledged or one.state == "expired"}
    # What was left has been done by those who came later: every question as often as planned, and no person twice.
    planned = Counter(it.item_id for it in crowd.plan.assignments if it.dealt is None)
    done = Counter(it.item_id for it in found.assignments if it.dealt is None and it.state == "done")
    assert done == planned
    assert not [it for it in found.assignments if it.state == "open" and it.dealt is None]


def test_sides(crowd: Crowd) -> None:
    """As planned, also where somebody else went on; balanced over the study, for each pair of methods and each question
    of several people."""
    found, name_of = crowd.found[0], _places(crowd)
    person = {seat.number: seat.annotator for seat in found.seats}
    seen = {(name_of[one.participant_id], item): first for one in crowd.people for item, first in one.sides.items()}
    done = [it for it in found.assignments if it.state == "done"]
    assert all(seen[person[it.seat], it.item_id] == it.extra["first"] for it in done)
    assert sorted((it.item_id, it.extra["first"]) for it in done if it.dealt is None) == sorted(
        (it.item_id, it.extra["first"]) for it in crowd.plan.assignments if it.dealt is None)
    surplus: dict[tuple[str, ...], int] = defaultdict(int)
    for it in done:
        if it.dealt is None:
            item = found.items[it.item_id]
            first = item.hidden["methods"][it.extra["first"] - 1] == item.stratum.split("|")[0]
            for group in ((), ("pair", item.stratum), ("question", item.item_id)):
                surplus[group] += 1 if first else -1
    assert max(map(abs, surplus.values())) <= 1


def test_the_webhook_hears_of_everybody(crowd: Crowd) -> None:
    """Although the processes that tell it were killed: at least once, and repeats have the same id."""
    stores = stores_of(crowd.home)
    try:
        wait_for(lambda: stores.webhooks.undelivered(crowd.study.study_id) == 0)
        found = stores.recruitment.recruitment(crowd.study.study_id)
        assert found is not None
        assert all(message.is_signed(secret_of(found)) for message in crowd.receiver.got)
        told = {message.headers["webhook-id"]: message.content for message in crowd.receiver.got}
        assert set(told) == {call.call_id for call in stores.webhooks.recent(crowd.study.study_id, 10_000)}
    finally:
        stores.close()
    heard: dict[str, list[str]] = defaultdict(list)
    for content in told.values():
        heard[content["data"]["participant_id"]].append(content["type"].partition(".")[2])
    ends = {"finished": ["finished"], "ended": ["below-mark"], "expired": ["away"]}
    for one in crowd.people:
        away = ["away", "returned"] if one.left and one.state == "finished" else []
        expected = ["begun", *away, *ends[one.state]] if one.state in ends else [one.state]
        assert sorted(heard[one.participant_id]) == sorted(expected), one.participant_id


def test_nobody_sees_another_study(crowd: Crowd) -> None:
    stores = stores_of(crowd.home)
    try:
        item = stores.studies.items(crowd.other.study_id)[0]
        secrets = {OTHER, crowd.other.study_id, crowd.other_link, STUDY, item.item_id, item.shown["reference"]}
        for one in crowd.people:
            heard = "\n".join(one.heard)
            assert not [secret for secret in secrets if secret in heard]
            assert set(re.findall(r"worker-\d\d", heard)) <= {one.participant_id}
            assert one.send("GET", f"{crowd.other_link}/study/at").status_code == 403
            saved = one.send("POST", f"{one.link}/study/save", json={
                "study": crowd.other.study_id, "item": item.item_id, "answer": valid(), "token": "another-study"})
            assert saved.status_code in (403, 404) and OTHER not in saved.text
        assert not stores.studies.judgements(crowd.other.study_id)
    finally:
        stores.close()


def test_the_payment_table_is_the_scripts_own(crowd: Crowd) -> None:
    with httpx.Client(base_url=crowd.servers[0].url, timeout=PATIENCE) as ada:
        ada.post("/sign-in", json={"name": "Ada Min", "password": PASSWORD}).raise_for_status()
        for state, payment, reason in (("finished", "approved", ""), ("ended", "rejected", "Checks failed")):
            ada.post("/studies/pay", json={
                "study": STUDY, "participants": [one.participant_id for one in crowd.of(state)],
                "payment": payment, "reason": reason}).raise_for_status()

        def file(form: str) -> str:
            found = ada.get("/studies/participants", params={"study": STUDY, "form": form})
            return found.raise_for_status().content.decode("utf-8-sig")

        rows = {row["participant_id"]: row for row in csv.DictReader(file("table").splitlines())}
        ids, batch = file("ids").split(), list(csv.DictReader(file("mturk").splitlines()))
    assert {who: (row["state"], int(row["done"]), row["code"], row["payment"], row["reason"], row["site"])
            for who, row in rows.items()} == {one.participant_id: (
                one.state, len(one.acknowledged), one.code,
                {"finished": "approved", "ended": "rejected"}.get(one.state, "open"),
                "Checks failed" if one.state == "ended" else "", f"assignmentId=a-{one.number}; hitId=hit")
            for one in crowd.people}
    assert len({one.code for one in crowd.of("finished")}) == len(crowd.of("finished")), "each a code of their own"
    for one in crowd.people:
        row = rows[one.participant_id]
        for what in ("seated", "finished"):
            kinds = {"seated": ("expired", "finished", "ended"), "finished": ("finished", "ended")}
            is_due = one.state in kinds[what]
            assert bool(row[f"{what}_at"]) is is_due
            if is_due:
                sent, answered = one.times[what]
                second = timedelta(seconds=1)     # the table has whole seconds
                assert sent - second <= datetime.fromisoformat(row[f"{what}_at"]) <= answered + second
        if one.state in ("finished", "ended"):
            assert row["items"] == row["done"]
            spent = (one.times["finished"][1] - one.times["seated"][0]).total_seconds() / 60
            assert 0 <= float(row["minutes"]) <= spent + 0.1
    assert sorted(ids) == sorted(one.participant_id for one in crowd.of("finished"))
    assert {(it["WorkerId"], it["AssignmentId"], it["HITId"], it["Approve"], it["Reject"]) for it in batch} == {
        (one.participant_id, f"a-{one.number}", "hit",
         *(("x", "") if one.state == "finished" else ("", "Checks failed")))
        for one in crowd.people if one.state in ("finished", "ended")}
