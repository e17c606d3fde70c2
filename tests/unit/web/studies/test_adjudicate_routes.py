"""Adjudication of every kind: blind first, in the adjudicator's own order of sides, by the study's rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from annotation.adjudication.needs import Needs, needs_from, why
from annotation.kinds.marks.results import MarkedImage
from annotation.kinds.ratings.answers import KEYS
from annotation.kinds.ratings.results import mean_ratings
from annotation.kinds.table import KINDS
from annotation.records import Judgement, Study
from cir_core.errors import StudyError
from cir_core.gallery.gallery import Gallery
from cir_core.types.records import new_id
from storage.studies.store import SqlStudyStore
from tests.fakes.judged import item_of, study_of
from tests.fakes.session_studies import make_session_study, session_rated
from tests.fakes.studies import flagged, make_preference_study, make_study, rated, valid
from tests.fakes.target_studies import all_marked, make_target_study

Open = Callable[..., TestClient]


def tokens(item: Any) -> list[str]:
    return [one["token"] for one in item["candidates"]]


# How a study with two judges to an item is made; what an adjudicator presses first, and then instead.
OF = {
    "validity": (lambda store, home, gallery: make_study(store, home, items=4, seats=2, overlap=2),
                 lambda item: valid(), lambda item: flagged("QUERY_TOO_BROAD")),
    "sessions": (lambda *given: make_session_study(*given, sample=2, seats=2, overlap=2),
                 lambda item: session_rated(5, 4, 5, 5, 5), lambda item: session_rated(1, 1, 2, 1, 2)),
    "targets": (lambda *given: make_target_study(*given, count=3, seats=2, overlap=2),
                lambda item: all_marked(tokens(item), "yes"), lambda item: all_marked(tokens(item), "no")),
    "preference": (lambda store, home, gallery: make_preference_study(
        store, home, questions=8, per_person=6, forms=1, shared_every=2), lambda item: rated(4, 2, "A"),
        lambda item: rated(2, 4, "B")),
}


def two_answers(store: SqlStudyStore, study: Study, make: Any) -> str:
    """Two people disagree on an item, which of two answers however it looked to them; its id."""
    items = {one.item_id: one for one in store.items(study.study_id)}
    kind, places = KINDS[study.kind].answers, store.assignments(study.study_id)
    chosen = next(one.item_id for one in places if sum(each.item_id == one.item_id for each in places) == 2)
    people = {seat.number: seat.annotator for seat in (
        store.join(study.study_id, name, study.created_at, kind.reassign) for name in ("Ada", "Bea", "Cem", "Dora"))}
    shown = {"candidates": [{"token": token} for token in items[chosen].shown.get("candidates", ())]}
    for number, one in enumerate(each for each in places if each.item_id == chosen):
        answer = kind.normalize(make[1 + number](shown), items[chosen], study, extra={"first": 1}).answer
        store.save(Judgement(new_id(), study.study_id, chosen, people[one.seat] or "", 0, f"judged-{number}",
                             study.protocol, answer, 9.0, study.created_at), unsure=False)
    return chosen


@pytest.mark.parametrize("kind", OF)
def test_blind_first_then_compared_and_decided(
    kind: str, store: SqlStudyStore, visit: Open, tmp_path: Path, gallery: Gallery,
) -> None:
    made = OF[kind]
    study = made[0](store, tmp_path, gallery)
    item = two_answers(store, study, made)
    olga = visit("researcher", "Olga")
    rule = {"study": study.name, "needs": {"needs": ["split"], "below": 0.9, "discussion": "adjudicators"}}
    assert visit("annotator", "Ada").post("/adjudicate/needs", json=rule).status_code == 403
    assert olga.post("/adjudicate/needs", json=rule).json()["needs"] == rule["needs"]
    one = olga.get("/studies/one", params={"study": study.name}).json()
    assert one["queue"] == {"open": 1, "decided": 0} and one["needs"] == rule["needs"]

    about = {"study": study.name, "item": item}
    queue, blind = olga.get("/adjudicate/queue", params=about), olga.get("/adjudicate/case", params=about)
    assert queue.json()["cases"] == [{"item": item, "number": queue.json()["cases"][0]["number"], "why": None,
                                      "answered": False, "decided": False}]
    assert blind.json().keys() == {"item", "number", "decided", "first"} and blind.json()["first"] is None
    first, other = made[1](blind.json()["item"]), made[2](blind.json()["item"])
    case = olga.post("/adjudicate/answer", json={**about, "answer": first}).json()
    assert {key: case["first"][key] for key in first} == first and case["why"] in ("tie", "split")
    given = [{key: one["answer"][key] for key in first if key != "confirmed"} for one in case["judgements"]]
    assert sorted(map(str, given)) == sorted(
        str({key: each[key] for key in first if key != "confirmed"}) for each in (first, other))
    assert all(one["told"] for one in case["judgements"])

    said = olga.post("/adjudicate/say", json={**about, "text": "look at the sleeves", "token": "said-0001"})
    assert [one["label"] for one in said.json()["messages"]] == ["You"]
    sent = {**about, "answer": other, "reason": "the sleeves", "token": "decided-1"}
    decided = olga.post("/adjudicate/decide", json=sent).json()["decision"]
    assert {key: decided["answer"][key] for key in other} == other
    assert olga.get("/studies/one", params={"study": study.name}).json()["queue"] == {"open": 0, "decided": 1}

    # A second adjudicator is as blind, and then sees the decision in the order of sides that is theirs.
    petra = visit("researcher", "Petra")
    assert petra.get("/adjudicate/case", params=about).json().keys() == {"item", "number", "decided", "first"}
    seen = petra.post("/adjudicate/answer", json={
        **about, "answer": made[1](petra.get("/adjudicate/case", params=about).json()["item"])}).json()
    assert seen["decision"]["reason"] == "the sleeves" and seen["messages"][0]["label"] == "Adjudicator"
    assert sum(one["answer"] == seen["decision"]["answer"] for one in seen["judgements"]) == 1
    (right,) = store.decisions(study.study_id)
    made_gold = olga.post("/studies/gold", json={"study": study.name})
    assert made_gold.json()["gold"] == 1 and store.gold(study.study_id)[0].answer == right.answer


def test_judges_discuss_an_item_once_they_have_answered_it(
    store: SqlStudyStore, visit: Open, tmp_path: Path, gallery: Gallery,
) -> None:
    study = OF["validity"][0](store, tmp_path, gallery)
    item = two_answers(store, study, OF["validity"])
    about, olga = {"study": study.name, "item": item}, visit("researcher", "Olga")
    judges = {seat.annotator: visit("annotator", seat.annotator) for seat in store.seats(study.study_id)}
    answered = {one.annotator for one in store.judgements(study.study_id)}

    def heard(client: TestClient) -> tuple[list[str], list[str], bool]:
        """What a judge is told: the messages, the items with any, and whether judges of the study discuss."""
        at = client.get("/study/at", params={"study": study.name}).json()
        places = client.get("/study/overview", params={"study": study.name}).json()["places"]
        said = client.get("/study/discussion", params=about).json()["messages"]
        return ([one["text"] for one in said], [one["item"] for one in places if one.get("discussed")],
                at["study"].get("discussed", False))

    def say(client: TestClient, page: str, text: str) -> Any:
        return client.post(f"/{page}/say", json={**about, "text": text, "token": new_id()}).json()

    def rule(discussion: str) -> None:
        needs = {"needs": ["split"], "below": None, "discussion": discussion}
        assert olga.post("/adjudicate/needs", json={"study": study.name, "needs": needs}).status_code == 200

    olga.post("/adjudicate/answer", json={**about, "answer": valid()})
    rule("adjudicators")
    asked = "why is it too broad?"
    assert [one["text"] for one in say(olga, "adjudicate", asked)["messages"]] == [asked]
    assert all(heard(judge) == ([], [], False) for judge in judges.values())
    rule("judges")
    said: list[str] = []
    for name, judge in judges.items():
        told, answer = heard(judge), say(judge, "study", f"as {name} sees it")
        if name in answered:
            assert told == ([asked, *said], [item], True)
            said.append(answer["messages"][-1]["text"])
            assert answer["messages"][-1]["label"] == "You"
        else:
            assert told == ([], [], True) and "no discussion" in answer["problem"]
    assert len(said) == 2
    labels = [one["label"] for one in olga.get("/adjudicate/case", params=about).json()["messages"]]
    assert labels[0] == "You" and sorted(labels[1:]) == ["Judge A", "Judge B"]


def test_reasons_by_rule() -> None:
    study, of = study_of(), {name: kind.answers for name, kind in KINDS.items()}
    session, marks = session_rated, all_marked

    def preferred(*chosen: int) -> list[dict[str, Any]]:
        return [{"preferred": one, "ratings": [3, 3]} for one in chosen]

    everything = Needs(("unsure", "tie", "split"))
    for kind, answers, reason in [
        ("preference", preferred(1, 1), None), ("preference", preferred(1, 2), "tie"),
        ("preference", preferred(1, 1, 2), "split"), ("preference", preferred(1, 0, 2, 2), "split"),
        ("sessions", [session(4, 4, 4, 4, 4), session(5, 3, 4, 4, 4)], None),     # a point apart at most
        ("sessions", [session(4, 4, 4, 4, 4), session(4, 4, 2, 4, 4)], "split"),
        ("targets", [marks(["a", "b"], "yes"), marks(["a", "b"], "yes")], None),
        ("targets", [marks(["a", "b"], "yes"), marks(["a", "b"], "no")], "tie"),
        ("targets", [marks(["a"], "yes"), marks(["a"], "no"), marks(["a"], "no")], "split"),
        ("targets", [marks(["a"], "unsure")], "unsure"),
    ]:
        assert why(answers, study, of[kind], everything) == reason, (kind, answers)
        assert why(answers, study, of[kind], Needs()) is None
    assert why(preferred(1, 1, 2), study, of["preference"], Needs(("tie",))) is None
    # Of three pairs of judges one agrees: a mean of 1/3.
    for below, reason in ((1 / 3, None), (0.34, "agreement")):
        assert why(preferred(1, 1, 2), study, of["preference"], Needs(below=below)) == reason
    assert why(preferred(1), study, of["preference"], Needs(below=1)) is None


@pytest.mark.parametrize(("given", "said"), [
    ({"needs": ["often"]}, "“often” is not a reason"),
    ({"below": 1.5}, "from 0 to 1"), ({"below": True}, "from 0 to 1"),
    ({"discussion": "all"}, "one of none, adjudicators, judges"), ({"else": 1}, "needs, below and discussion"),
    ({"needs": "split"}, "a list of"), ([], "an object"),
])
def test_a_rule_that_is_none(given: object, said: str) -> None:
    with pytest.raises(StudyError, match=said):
        needs_from(given)


def test_a_rule_is_read_as_it_was_stored() -> None:
    rule = Needs(("unsure", "split"), 0.5, "judges")
    assert needs_from(rule.as_settings()) == replace(rule, needs=("unsure", "split"))


def test_a_decision_counts_in_results_instead_of_the_judges() -> None:
    image = MarkedImage(item_of(), "t", "i", None, False, (), {"yes": 2, "no": 0, "unsure": 0})
    found = {mark: replace(image, decided=mark) for mark in (None, "yes", "no", "unsure")}
    assert {mark: (one.verdict, one.share) for mark, one in found.items()} == {
        None: (True, 1.0), "yes": (True, 1.0), "no": (False, 0.0), "unsure": (None, None)}
    ratings = session_rated(5, 4, 3, 2, 1)
    assert mean_ratings([], KEYS, ratings) == ratings["ratings"]
    assert mean_ratings([], KEYS) == dict.fromkeys(KEYS)
