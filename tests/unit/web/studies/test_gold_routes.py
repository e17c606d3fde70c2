"""Training and gold of every kind: made of decided items, mixed in unseen, and what follows from wrong answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlalchemy import event
from starlette.testclient import TestClient

from annotation.kinds.table import KINDS, Export
from annotation.records import Decision, Study
from cir_core.gallery.gallery import Gallery
from storage.studies.store import SqlStudyStore
from tests.fakes.session_studies import make_session_study, session_rated
from tests.fakes.studies import flagged, make_preference_study, make_study, rated, solved, valid
from tests.fakes.target_studies import all_marked, make_target_study

Open = Callable[..., TestClient]
AT = datetime(2026, 1, 2, tzinfo=UTC)


class Told(NamedTuple):
    """A study of two seats; two answers to an item, of which the first is right; the right one in words."""

    make: Callable[..., Study]
    right: Callable[[Any], Any]
    wrong: Callable[[Any], Any]
    words: str


def marks(mark: str) -> Callable[[Any], Any]:
    return lambda item: all_marked([one["token"] for one in item["candidates"]], mark)


TOLD = {
    "validity": Told(lambda store, home, gallery: make_study(store, home, items=16, seats=2), lambda item: valid(),
                     lambda item: flagged("QUERY_TOO_BROAD"), "Valid"),
    "sessions": Told(lambda *given: make_session_study(*given, sample=3, seats=2),
                     lambda item: session_rated(5, 4, 5, 5, 5), lambda item: session_rated(1, 1, 2, 1, 2),
                     "Session naturalness: 5"),
    "targets": Told(lambda *given: make_target_study(*given, count=6, seats=2), marks("yes"), marks("no"), "yes: 1, 2"),
    "preference": Told(lambda store, home, gallery: make_preference_study(
        store, home, questions=16, per_person=8, forms=1, settings={"check": "none"}), lambda item: rated(4, 4, "A"),
        lambda item: rated(4, 4, "B"), "is better"),
}


def decide(store: SqlStudyStore, study: Study, told: Told, count: int) -> list[str]:
    """Decide the first items of seat 2, for the set that is stored first; their ids."""
    items = {one.item_id: one for one in store.items(study.study_id)}
    kind = KINDS[study.kind].answers
    chosen = [one for one in store.assignments(study.study_id) if one.seat == 2][:count]
    for number, one in enumerate(chosen):
        shown = {"candidates": [{"token": token} for token in items[one.item_id].shown.get("candidates", ())]}
        answer = kind.normalize(told.right(shown), items[one.item_id], study, extra={"first": 1}).answer
        store.decide(Decision(f"d{number}", study.study_id, one.item_id, "Judith", 0, f"decided-{number}", answer,
                              "because of the sleeves", AT))
    return [one.item_id for one in chosen]


class Person:
    def __init__(self, page: TestClient, study: Study) -> None:
        self.page, self.study, self.presses = page, study.name, 0

    def post(self, path: str, **fields: Any) -> Any:
        answer = self.page.post(f"/study/{path}", json={"study": self.study} | fields)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def join(self) -> Any:
        desk = self.post("join", ahead=20)
        while desk.get("gate") and desk["gate"]["kind"] != "finished":
            desk = self.post("gate", token=self.token(), ahead=20, **solved(desk["gate"]))["desk"]
        return desk

    def token(self) -> str:
        self.presses += 1
        return f"press-{self.presses:04}"

    def save(self, desk: Any, answer: Any) -> Any:
        return self.post("save", item=desk["item"]["id"], answer=answer, token=self.token(), ahead=20)


def right_of(told: Told, desk: Any, first_of: Mapping[str, int]) -> Any:
    """The decided answer as this person gives it: whose sets are turned presses the other side."""
    return (told.right if first_of.get(desk["item"]["id"], 1) == 1 else told.wrong)(desk["item"])


@pytest.mark.parametrize("kind", TOLD)
def test_training_is_told_and_gold_is_unseen(
    kind: str, store: SqlStudyStore, visit: Open, tmp_path: Path, gallery: Gallery,
) -> None:
    told = TOLD[kind]
    study = told.make(store, tmp_path, gallery)
    decided = decide(store, study, told, 3)
    olga = visit("researcher", "Olga")
    assert olga.get("/studies/quality", params={"study": study.name}).json()["gold"]["ready"] == 3
    made = olga.post("/studies/gold", json={"study": study.name, "training": 1, "care": {"training_mark": 1}})
    assert made.json() == {"gold": 2, "training": 1, "dealt": 1}   # seat 2 has these items anyway
    gold = {one.item_id: one.role for one in store.gold(study.study_id)}
    assert set(gold) == set(decided)

    ada = Person(visit("annotator", "Ada"), study)
    desk = ada.join()
    assert desk["training"] == [1, 1] and gold[desk["item"]["id"]] == "training"
    assert all("item" in one for one in desk["ahead"])
    own = {one.item_id: int(one.extra.get("first", 1)) for one in store.overview(study.study_id, "Ada")}
    later = desk["ahead"][0]["item"]["id"]
    early = ada.page.post("/study/save", json={"study": study.name, "item": later, "token": "too-early",
                                               "answer": told.right(desk["ahead"][0]["item"])})
    assert (early.status_code, early.json()["kind"]) == (409, "gate")
    wrong = told.wrong if own[desk["item"]["id"]] == 1 else told.right
    saved = ada.save(desk, wrong(desk["item"]))
    feedback = saved["saved"]["feedback"]
    assert not feedback["right"] and told.words in feedback["expected"] and feedback["note"] == "because of the sleeves"
    assert "once more" in feedback["verdict"]
    again = saved["desk"]
    assert again["training"] == [1, 1] and again["item"]["id"] == desk["item"]["id"]
    saved = ada.save(again, right_of(told, again, own))
    assert saved["saved"]["feedback"]["right"] and "begins" in saved["saved"]["feedback"]["verdict"]

    desk, keys, seen = saved["desk"], set(), []
    while desk["item"] is not None and (desk.get("gate") or {"kind": ""})["kind"] != "finished":
        keys.add((tuple(desk), tuple(desk["item"])))
        seen.append((desk["item"]["id"], desk["item"]["position"]))
        saved = ada.save(desk, right_of(told, desk, own))
        assert "feedback" not in saved["saved"]
        desk = saved["desk"]
    assert len(keys) == 1, "an item of gold would look otherwise"
    assert {item for item, _ in seen} >= {item for item, role in gold.items() if role == "gold"}
    assert [position for _, position in seen] == list(range(seen[0][1], seen[0][1] + len(seen)))
    # None of it counts as an answer to the study, and all of it for the person.
    assert not {one.item_id for one in store.judgements(study.study_id)} & set(gold)
    person = olga.get("/studies/quality", params={"study": study.name}).json()["people"][0]
    assert (person["name"], person["outcomes"], person["gold"]) == ("Ada", [1.0, 1.0], 1.0)
    assert person["answers"] == len(seen) - 2
    table = olga.get(f"/studies/export?study={study.name}&form=csv&table=judgements").text
    assert not any(item in table for item in gold)
    if kind == "validity":   # in which everything planned for a person is a record, answered or not
        files, _ = KINDS[kind].export(store, study, Export("circus"))
        assert json.loads(files["Ada.json"])["assignment_count"] == person["answers"]


@pytest.mark.parametrize("kind", TOLD)
def test_below_the_mark_the_study_ends(
    kind: str, store: SqlStudyStore, visit: Open, tmp_path: Path, gallery: Gallery,
) -> None:
    told = TOLD[kind]
    study = told.make(store, tmp_path, gallery)
    gold = decide(store, study, told, 2)
    olga = visit("researcher", "Olga")
    olga.post("/studies/gold", json={"study": study.name, "care": {"mark": 0.9, "least": 1, "below": "end"}})
    ada = Person(visit("annotator", "Ada"), study)
    desk = ada.join()
    own = {one.item_id: int(one.extra.get("first", 1)) for one in store.overview(study.study_id, "Ada")}
    given = 0
    while desk["item"] is not None:
        wrong = told.wrong if own[desk["item"]["id"]] == 1 else told.right
        item, given = desk["item"]["id"], given + 1
        desk = ada.save(desk, wrong(desk["item"]))["desk"]
        if item in gold:
            break
    assert desk["item"] is None and desk["progress"]["done"] == desk["progress"]["total"] == given
    assert ada.post("more")["added"] == 0 and ada.join()["item"] is None
    found = olga.get("/studies/quality", params={"study": study.name}).json()
    assert found["gold"]["ended"] == ["Ada"] and found["people"][0]["gold"] == 0
    # Late answers of somebody for whom it has ended are taken no more, in whatever row they waited.
    left = next((one for one in store.overview(study.study_id, "Ada") if one.state == "handed_on"), None)
    if left:
        item = next(one for one in store.items(study.study_id) if one.item_id == left.item_id)
        shown = {"candidates": [{"token": token} for token in item.shown.get("candidates", ())]}
        late = ada.page.post("/study/save", json={"study": study.name, "item": left.item_id, "token": ada.token(),
                                                  "answer": told.right(shown)})
        assert "has ended for you" in late.json()["problem"]
    # What was open lies on a free seat; a rule excludes what there is.
    states = [one.state for one in store.assignments(study.study_id) if one.annotator is None]
    assert set(states) == {"open"} and len(states) >= len(store.items(study.study_id)) - given
    if given > 1:
        rules = olga.get("/studies/quality", params={"study": study.name, "rules": "gold=0.5"}).json()
        assert rules["left"] == 0 and rules["removed"][0]["people"] == ["Ada"]


def test_a_save_of_gold_is_as_many_statements_as_another(store: SqlStudyStore, visit: Open, tmp_path: Path) -> None:
    study = make_study(store, tmp_path, items=16, seats=2)
    gold = decide(store, study, TOLD["validity"], 3)
    visit("researcher", "Olga").post("/studies/gold", json={
        "study": study.name, "care": {"least": 100, "below": "end"}})
    ada, seen = Person(visit("annotator", "Ada"), study), list[str]()
    event.listen(store.engine, "before_cursor_execute", lambda c, cursor, statement, *rest: seen.append(statement))
    desk, counts = ada.join(), dict[str, int]()
    while desk["item"] is not None:
        item, before = desk["item"]["id"], len(seen)
        desk = ada.save(desk, valid())["desk"]
        counts[item] = len(seen) - before
    given = list(counts)
    of_gold, others = ({counts[one] for one in given[1:-1] if (one in gold) is wanted} for wanted in (True, False))
    assert of_gold and of_gold <= others and len(others) <= 2, (of_gold, others)   # fewer towards the end of the work


def test_a_second_training_takes_the_same_answers_and_a_call_that_is_repeated_counts_once(
    store: SqlStudyStore, visit: Open, tmp_path: Path,
) -> None:
    study = make_study(store, tmp_path, items=8, seats=2)
    decide(store, study, TOLD["validity"], 2)
    visit("researcher", "Olga").post("/studies/gold", json={
        "study": study.name, "training": 2, "care": {"training_mark": 1, "training_tries": 2}})
    ada = Person(visit("annotator", "Ada"), study)
    desk, told = ada.join(), []
    for answer in (valid(), flagged("QUERY_TOO_BROAD"), valid(), flagged("QUERY_TOO_BROAD")):
        sent = {"item": desk["item"]["id"], "answer": answer, "token": ada.token()}
        saved = ada.post("save", **sent)
        again = ada.post("save", **sent)
        assert again["saved"]["repeated"] and again["saved"]["feedback"]["right"] is saved["saved"]["feedback"]["right"]
        told.append((saved["saved"]["feedback"]["right"], saved["saved"]["feedback"]["verdict"].partition(".")[2]))
        desk = saved["desk"]
    assert [right for right, _ in told] == [True, False, True, False]
    assert "once more" in told[1][1] and "ends here" in told[3][1] and told[0][1] == told[2][1] == ""
    assert desk["item"] is None and len(store.events(study.study_id, "Ada", "care")) == 2


def test_what_somebody_who_knows_has_answered_is_gold_for_others(
    store: SqlStudyStore, visit: Open, tmp_path: Path,
) -> None:
    study = make_study(store, tmp_path, items=8, seats=2)
    judith, ada = Person(visit("annotator", "Judith"), study), Person(visit("annotator", "Ada"), study)
    desk = judith.join()
    judith.save(desk, flagged("QUERY_TOO_BROAD", note="four would fit"))
    olga, sent = visit("researcher", "Olga"), {"study": study.name, "training": 1}
    assert "name somebody" in olga.post("/studies/gold", json=sent).json()["problem"]
    assert olga.post("/studies/gold", json=sent | {"person": "Judith"}).json() == {
        "gold": 0, "training": 1, "dealt": 1}
    feedback = ada.save(ada.join(), flagged("QUERY_TOO_BROAD"))["saved"]["feedback"]
    assert feedback == {"right": True, "expected": "Too broad", "note": "four would fit",
                        "verdict": "The study begins now."}


def test_gold_needs_decisions_and_right_settings(store: SqlStudyStore, visit: Open, tmp_path: Path) -> None:
    study = make_study(store, tmp_path)
    olga, sent = visit("researcher", "Olga"), {"study": study.name}
    assert "no adjudicated item" in olga.post("/studies/gold", json=sent | {"training": None}).json()["problem"]
    assert "no adjudicated item" in olga.post("/studies/gold", json=sent).json()["problem"]
    decide(store, study, TOLD["validity"], 2)
    for wrong, said in (({"training": 3}, "2 items with a known answer are not gold yet"),
                        ({"most": 0.5}, "whole number"), ({"training": "2"}, "whole number"),
                        ({"person": "Jo"}, "'Jo' has given no definite answer"),
                        ({"care": {"mark": 2}}, "share from 0 to 1"), ({"care": {"below": "shout"}}, "one of nothing"),
                        ({"care": {"marks": 1}}, "settings of training"),
                        ({"care": {"least": 0}}, "whole number from 1")):
        assert said in olga.post("/studies/gold", json=sent | wrong).json()["problem"]
    assert store.gold(study.study_id) == ()
    assert visit("annotator", "Ada").post("/studies/gold", json=sent).status_code == 403
