"""What the survey screen asks for over HTTP, and what it must never be told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from annotation.records import Study
from storage.studies.store import SqlStudyStore
from tests.fakes.studies import make_preference_study, make_study, rated, solved, valid

# Methods, images (the targets are among them), keys, queries, the seed; and what would tell the stored sets.
METHODS = ("narwhal-7b", "okapi+text", "quagga_soft")
MARKERS = (*METHODS, "picture-", "shops::", "zebraquery", "axolotl", "8675309", "stored", "set_ids", "methods",
           "target", '"first"', "hidden", "stratum", "seed", '"rank', '"score')


@pytest.fixture
def page(visit: Callable[..., TestClient]) -> TestClient:
    return visit("annotator", "Ada")


@pytest.fixture
def call(calls: TestClient) -> Callable[..., Any]:
    return lambda name, *inputs, who="Ada": calls.post(
        f"/gradio_api/run/{name}", json={"data": list(inputs)}, headers={"x-test-name": who})


class Screen:
    """One person's page; ``heard`` is every byte it got."""

    def __init__(self, page: TestClient, who: str = "Ada", study: str = "Shops") -> None:
        self.page, self.who, self.study, self.presses, self.heard = page, who, study, 0, ""

    def get(self, path: str, **query: Any) -> Any:
        return self._hear(self.page.get(f"/study/{path}", params={"study": self.study} | query,
                                        headers={"x-test-name": self.who}))

    def post(self, path: str, **fields: Any) -> Any:
        return self._hear(self.page.post(f"/study/{path}", json={"study": self.study} | fields,
                                         headers={"x-test-name": self.who}))

    def token(self) -> str:
        self.presses += 1
        return f"press-{self.who}-{self.presses:04}"

    def save(self, item: str, answer: Any, **more: Any) -> Any:
        return self.post("save", **{"item": item, "answer": answer, "token": self.token()} | more)

    def gate(self, **sent: Any) -> Any:
        return self.post("gate", **{"token": self.token()} | sent)

    def join(self) -> Any:
        return self.post("join").json()

    def workspace(self) -> Any:
        """The desk with the next question, past what stands before it."""
        workspace = self.join()
        while workspace["gate"] and workspace["gate"]["kind"] != "finished":
            workspace = self.gate(**solved(workspace["gate"])).json()["desk"]
        return workspace

    def _hear(self, answer: Any) -> Any:
        self.heard += answer.text + str(answer.headers)
        return answer


def refused(answer: Any) -> tuple[int, str]:
    told = answer.json()
    assert set(told) == {"problem", "kind"} and told["problem"][-1] in ".?", told
    assert answer.headers["cache-control"] == "no-store"
    return answer.status_code, told["kind"]


def marked(store: SqlStudyStore, home: Path, **changes: Any) -> Study:
    """A study of which every hidden thing can be recognised."""
    return make_preference_study(store, home, **{
        "methods": METHODS, "seed": 8675309,
        "hidden": {"query_id": "zebraquery-1", "dataset": "axolotlset", "category": "axolotlcat"}} | changes)


def test_a_question_in_shown_terms(page: TestClient, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_preference_study(store, tmp_path, reason_every=1)
    ada = Screen(page)
    fields = {"study", "joined", "progress", "gate", "item", "answer", "revision", "seconds", "draft", "ahead",
              "handed_on"}
    look = ada.get("at").json()
    assert set(look) == fields and store.counts(study.study_id)["people"] == 0
    assert (look["joined"], look["gate"], look["item"], look["progress"]["total"]) == (False, None, None, 6)
    assert refused(ada.gate(kind="guidelines")) == (404, "not-yours")
    before = ada.join()
    assert before["gate"] == {"kind": "guidelines"} and before["item"] is None and before["ahead"] == []
    workspace = ada.workspace()
    assert set(workspace) == fields and workspace["joined"] is True
    item = workspace["item"]
    assert {name: item[name] for name in ("position", "number", "of", "form", "forms", "locked", "ask_reason")} == {
        "position": 0, "number": 1, "of": 6, "form": 1, "forms": 2, "locked": False, "ask_reason": True}
    assert [workspace[name] for name in ("answer", "revision", "seconds", "draft", "gate", "handed_on")] == [
        None, 0, 0, None, None, 0]
    assert set(item["sets"]) == {"A", "B"} and [len(images) for images in item["sets"].values()] == [5, 5]
    token = item["sets"]["A"][0]["token"]
    assert item["sets"]["A"][0] == {
        "token": token, "small": f"study/image/{study.study_id}/{token}-s.webp",
        "large": f"study/image/{study.study_id}/{token}-l.webp", "width": 72, "height": 96}
    assert page.get("/" + item["sets"]["B"][4]["small"]).headers["content-type"] == "image/webp"
    # What stands first for this person is A.
    stored = {one.item_id: one.shown["sets"] for one in store.items(study.study_id)}[item["id"]]
    first = store.workspace(study.study_id, "Ada").extra["first"]
    assert [image["token"] for image in item["sets"]["A"]] == stored[first - 1]
    assert [image["token"] for image in item["sets"]["B"]] == stored[2 - first]

    drafted = ada.post("draft", item=item["id"], answer={"ratings": {"B": 2}, "reason": "hm"}, seconds=3)
    assert drafted.json() == {"kept": True}
    assert ada.get("at").json()["draft"] == {"seconds": 3, "answer": {
        "ratings": {"A": None, "B": 2}, "preferred": None, "irrelevant": {"either": False},
        "reason": "hm", "confirmed": False}}
    given = rated(5, 2, reason="nearer", irrelevant={"either": True})
    ahead = ada.get("at", ahead=20).json()["ahead"]
    assert ["item" in one for one in ahead] == [True] * 2 + [False] * 3   # a form of 3 ends with a sum
    told = ada.save(item["id"], given, seconds=8.5, seen_revision=0).json()
    assert told["saved"] == {"revision": 1, "repeated": False, "overtook": False, "unsure": False}
    assert told["desk"]["item"]["number"] == 2 and told["desk"]["progress"]["done"] == 1
    # What was loaded ahead are the pictures of the question that came, in an order that tells nothing.
    coming = told["desk"]["item"]
    sets = [image["small"] for images in coming["sets"].values() for image in images]
    assert workspace["ahead"][0]["images"] == [coming["reference"]["large"], *sorted(sets)]
    assert ahead[0]["item"] == coming
    again = ada.get("at", position=0).json()
    assert again["answer"] == given and again["seconds"] == 8.5


def test_nothing_hidden_leaves_the_server(
    page: TestClient, call: Callable[..., Any], store: SqlStudyStore, tmp_path: Path,
) -> None:
    study = marked(store, tmp_path, settings={"consent": "Of my own will.", "check": "instruction"}, shared_every=1)
    hidden = [one.hidden for one in store.items(study.study_id)]
    assert {method for one in hidden for method in one["methods"]} == set(METHODS) and hidden[0]["seed"] == 8675309
    everybody = ""
    screens = [Screen(page, who) for who in ("Ada", "Bea", "Cem", "Dee")]
    for screen in screens:
        screen.get("mine")
        screen.get("at")
        screen.join()
    for screen in screens:
        workspace = screen.workspace()
        while workspace["item"]:
            item = workspace["item"]["id"]
            screen.get("at", item=item)
            screen.post("draft", item=item, answer=rated())
            screen.save(item, {})
            screen.save(item, rated(1, 4))                       # asks whether that was meant
            screen.save(item, rated(4, 1), then="stay")
            screen.gate(kind="check", number=0, attempt=0, answer=1)
            screen.get("overview")
            workspace = screen.workspace()
        assert workspace["gate"]["kind"] == "finished"
        screen.get("at", position=0)
        screen.post("more")
        screen.get("at", item="nobody's")
        everybody += screen.heard + page.get("/study/rubric", params={"study": "Shops"}).text
        item = screen.get("at", position=1).json()["item"]["id"]
        for name, *inputs in (("next_question", ""), ("next_question", item), ("next_item", item), ("progress",),
                              ("save_rating", item, rated(5, 1), "token-001", 0), ("save_rating", item, {}, "x", 0)):
            everybody += call(name, "Shops", *inputs, who=screen.who).text
    assert everybody.count("at night, in rain") > 8   # it is in there: so would the rest be
    heard = everybody.lower()
    for words in ("score for shopping mall", "the score you should give", "please score as", "for your score"):
        assert words in heard   # of the survey itself
        heard = heard.replace(words, "")
    for marker in MARKERS:
        assert marker not in heard, marker


def test_no_address_comes_back_in_another_place(page: TestClient, store: SqlStudyStore, tmp_path: Path) -> None:
    """The same picture stands in both sets of a question and in several questions, each time at another address."""
    study = marked(store, tmp_path)
    places: dict[str, set[str]] = {}
    for who in ("Ada", "Bea"):
        screen = Screen(page, who)
        workspace = screen.workspace()
        while workspace["item"]:
            item = workspace["item"]
            for place, images in {"reference": [item["reference"]], **item["sets"]}.items():
                for position, image in enumerate(images):
                    for size in ("small", "large"):
                        places.setdefault(image[size], set()).add(f"{item['id']} {place} {position}")
            screen.save(item["id"], rated())
            workspace = screen.workspace()
    assert len(places) == 12 * 11 * 2 and all(len(found) == 1 for found in places.values())
    pictures = {image.image_id for image in store.images(study.study_id).values()}
    assert len(pictures) == 24   # few pictures, many addresses


def test_two_people_meet_a_question_the_other_way_round(
    page: TestClient, store: SqlStudyStore, tmp_path: Path,
) -> None:
    make_preference_study(store, tmp_path, questions=6, shared_every=1, per_person=6, settings={"check": "none"})
    seen: dict[str, dict[str, list[str]]] = {}
    for who in ("Ada", "Bea"):
        screen = Screen(page, who)
        workspace = screen.workspace()
        while workspace["item"]:
            item = workspace["item"]
            seen.setdefault(item["id"], {})[who] = [image["token"] for image in item["sets"]["A"]]
            screen.save(item["id"], rated())
            workspace = screen.workspace()
    # Each of the six is shared by two, and its sets stand first once each.
    assert len(seen) == 6 and all(found["Ada"] != found["Bea"] for found in seen.values())


def test_gates_over_http(page: TestClient, store: SqlStudyStore, tmp_path: Path) -> None:
    make_preference_study(store, tmp_path, settings={"consent": "Of my own will.", "completion_prefix": "CQ-"})
    ada = Screen(page)
    item = store.workspace(store.study("Shops").study_id, "Ada").item if ada.join() else None
    assert item is not None
    assert refused(ada.save(item.item_id, rated())) == (409, "gate")
    assert ada.gate(kind="guidelines").json()["desk"]["gate"] == {"kind": "consent", "text": "Of my own will."}
    for answer in (None, False, "yes", 1):
        assert refused(ada.gate(kind="consent", answer=answer)) == (422, "incomplete")
    assert ada.gate(kind="consent", answer=True).json()["passed"] is True
    for _ in range(3):
        workspace = ada.save(ada.get("at").json()["item"]["id"], rated()).json()["desk"]
    gate = workspace["gate"]
    assert workspace["item"] is None and gate["kind"] == "check" and set(gate) == {
        "kind", "number", "attempt", "check", "question"}
    assert len(workspace["ahead"]) > 1   # what comes behind it is loaded meanwhile
    wrong = ada.gate(**solved(gate) | {"answer": 1}).json()
    assert wrong["passed"] is False and wrong["desk"]["gate"]["attempt"] == 1
    assert ada.get("at").json()["gate"] == wrong["desk"]["gate"]
    for sent in ({"answer": ""}, {"answer": {}}, {"answer": "x" * 1000}, {"attempt": 7}, {"number": "3"}):
        assert refused(ada.gate(**solved(wrong["desk"]["gate"]) | sent)) == (422, "incomplete")
    for sent in ({"kind": "finish"}, {"kind": 5}, {"token": "short"}):
        assert refused(ada.gate(**{"kind": "check"} | sent)) == (400, "other")
    assert refused(ada.post("gate", kind="check")) == (400, "other")
    workspace = ada.workspace()
    while workspace["item"]:
        ada.save(workspace["item"]["id"], rated())
        workspace = ada.workspace()
    assert re.fullmatch("CQ-[0-9A-F]{8}", workspace["gate"]["code"])


def test_what_is_asked_back(page: TestClient, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_preference_study(store, tmp_path, settings={"set_names": ["Mall 1", "Mall 2"]})
    ada = Screen(page)
    item = ada.workspace()["item"]["id"]
    answer = ada.save(item, rated(2, 4))
    assert refused(answer) == (422, "confirm") and "You prefer Mall 1, but gave it 2" in answer.json()["problem"]
    for incomplete in ({}, None, rated(preferred=None), rated(preferred="tie"), rated(6, 1), rated(colour="red")):
        assert refused(ada.save(item, incomplete)) == (422, "incomplete")
    assert store.judgements(study.study_id) == ()
    assert ada.save(item, rated(2, 4, confirmed=True)).status_code == 200
    assert refused(Screen(page, "Bea").save(item, rated())) == (404, "not-yours")


def test_a_form_that_is_finished_is_shown_and_not_changed(
    page: TestClient, store: SqlStudyStore, tmp_path: Path,
) -> None:
    make_preference_study(store, tmp_path)
    ada = Screen(page)
    for _ in range(3):
        ada.save(ada.workspace()["item"]["id"], rated(5, 2))
    assert ada.get("at", position=0).json()["item"]["locked"] is False
    assert ada.workspace()["item"]["number"] == 4
    back = ada.get("at", position=0).json()
    assert back["item"]["locked"] is True and back["answer"]["ratings"] == {"A": 5, "B": 2}
    assert refused(ada.save(back["item"]["id"], rated(1, 1))) == (422, "incomplete")


@pytest.mark.parametrize("kind", ["validity", "preference"])
def test_two_people_in_one_browser_do_not_mix(
    page: TestClient, store: SqlStudyStore, tmp_path: Path, kind: str,
) -> None:
    study, answer = ((make_study(store, tmp_path), valid()) if kind == "validity"
                     else (make_preference_study(store, tmp_path), rated()))
    ada = Screen(page, study=study.name)
    if kind == "preference":
        passing = ada.gate(kind="guidelines", by="Bea")
        assert refused(passing) == (403, "forbidden") and store.events(study.study_id) == ()
        ada.workspace()
    item = ada.join()["item"]["id"]
    for by in ("Bea", "", 5, ["Ada"]):
        told = ada.save(item, answer, by=by)
        assert refused(told) == (403, "forbidden") and "now signed in as Ada" in told.json()["problem"]
        assert refused(ada.post("draft", item=item, answer=answer, by=by)) == (403, "forbidden")
    assert store.judgements(study.study_id) == () and ada.get("at").json()["draft"] is None
    assert ada.post("draft", item=item, answer=answer, by="ada").status_code == 200
    assert ada.save(item, answer, by="Ada").status_code == 200


def test_an_imported_study_says_why_it_cannot_be_shown(
    page: TestClient, store: SqlStudyStore, tmp_path: Path,
) -> None:
    """Nobody recorded which set stood first."""
    study = make_preference_study(store, tmp_path)
    store.join(study.study_id, "Ada", study.created_at, lambda work: [])
    with store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE assignments SET extra = '{}'")
    ada = Screen(page)
    told = ada.gate(kind="guidelines")
    assert told.status_code == 400 and "was not recorded" in told.json()["problem"]


def test_named_calls_take_a_script_through(call: Callable[..., Any], store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_preference_study(store, tmp_path, settings={"check_every": 1, "consent": "Of my own will."})

    def called(name: str, *inputs: Any) -> Any:
        answer = call(name, *inputs)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"][0]

    workspace, presses = called("next_question", "Shops", ""), 0
    while not (workspace["gate"] and workspace["gate"]["kind"] == "finished"):
        presses += 1
        if workspace["gate"]:
            sent: dict[str, Any] = {"number": None, "attempt": None, "answer": None, **solved(workspace["gate"])}
            told = called("pass_gate", "Shops", sent["kind"], f"token-{presses:03}", sent["number"], sent["attempt"],
                          sent["answer"])
            assert told["passed"] is True
        else:
            item = workspace["item"]["id"]
            for repeated in (False, True):
                told = called("save_rating", "Shops", item, rated(), f"token-{presses:03}", 5)
                assert told["saved"]["repeated"] is repeated
        workspace = told["desk"]
    assert len(store.judgements(study.study_id)) == 6
    assert called("next_question", "Shops", item)["answer"] == rated()
    assert called("progress", "Shops")["done"] == 6
    refusal = call("save_rating", "Shops", item, {}, "token-999", 0)
    assert refusal.status_code == 500 and "no rating yet" in refusal.json()["error"]


def test_what_the_pages_are_told_is_json_for_everybody(
    page: TestClient, store: SqlStudyStore, tmp_path: Path,
) -> None:
    make_preference_study(store, tmp_path)
    survey = page.get("/study/rubric", params={"study": "Shops"}).json()
    assert survey["set_names"] == ["Shopping Mall 1", "Shopping Mall 2"]
    assert len(survey["scale"]) == 5 and survey["allow_tie"] is False
    assert not {"exclude", "completion_prefix", "shared_every", "lease_hours"} & set(survey)
    assert json.loads(page.get("/study/mine").text) == {"studies": [
        {"name": "Shops", "kind": "preference", "accepting": True, "joined": False, "done": 0, "total": 6}]}
