"""Cases for an adjudicator, and decisions, over the real store."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import pytest

from annotation.adjudication.needs import Needs
from annotation.adjudication.service import LONGEST_REASON, Adjudication, nameless
from annotation.kinds.validity.answers import Validity
from annotation.kinds.validity.labels import final_labels
from annotation.kinds.validity.rubric import load_rubric
from annotation.records import Decision, Item, Study
from annotation.studies.service import StudyService
from cir_core.errors import IncompleteJudgement, StudyError, UnknownItem, UnknownStudy, UsedToken
from cir_core.types.records import new_id
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import study_store as study_store
from tests.fakes.judged import answer_of, item_of, judgement_of, study_of
from tests.fakes.studies import flagged, make_study, valid

KINDS = {"validity": Validity()}
BROAD = flagged("QUERY_TOO_BROAD")
VAGUE = flagged("INVALID_TEXT_QUERY", reasons=("1b",))
UNSURE = valid(validated=None, unsure=True)


@pytest.fixture
def study(store: SqlStudyStore, tmp_path: Path) -> Study:
    return make_study(store, tmp_path, items=6, seats=3, overlap=3, pictures=4, panel=2)


@pytest.fixture
def items(store: SqlStudyStore, study: Study) -> list[Item]:
    return list(store.items(study.study_id))


@pytest.fixture
def adjudication(store: SqlStudyStore) -> Adjudication:
    return Adjudication(store, KINDS, lambda: datetime(2026, 3, 1, tzinfo=UTC))


def judge(store: SqlStudyStore, item: Item, **answers: dict[str, object]) -> None:
    service = StudyService(store, KINDS)
    for who, answer in answers.items():
        service.join("Sample", who)
        service.save("Sample", who, item.item_id, answer, f"{who}-{item.item_id}", seconds=20)


def test_the_queue_has_what_is_open_to_question_and_keeps_its_order(
    adjudication: Adjudication, store: SqlStudyStore, items: list[Item],
) -> None:
    judge(store, items[0], Ada=valid(), Bea=BROAD)                     # a tie
    judge(store, items[1], Ada=valid(), Bea=valid(), Cem=BROAD)        # two to one
    judge(store, items[2], Ada=VAGUE, Bea=BROAD)                       # not valid either way, for what?
    judge(store, items[3], Ada=UNSURE, Bea=valid())
    judge(store, items[4], Ada=valid(), Bea=valid(), Cem=valid())      # agreed: no case
    found = adjudication.cases("sample", "Olga")
    assert {case.item_id for case in found.cases} == {item.item_id for item in items[:4]}
    assert not any(case.why or case.answered for case in found.cases), "before an own answer no reason is told"
    assert dict(found.counts) == {"open": 4, "decided": 0}
    order = [case.item_id for case in found.cases]

    for item in items[:4]:
        adjudication.answer("Sample", item.item_id, "Olga", BROAD)
    adjudication.decide("Sample", items[0].item_id, "Olga", BROAD, "too many of them", "token-01")
    found = adjudication.cases("Sample", "Olga")
    assert [case.item_id for case in found.cases] == order
    assert {case.item_id: (case.why, case.decided) for case in found.cases} == {
        items[3].item_id: ("unsure", False), items[0].item_id: ("tie", True), items[1].item_id: ("split", False),
        items[2].item_id: ("flags", False)}
    assert dict(found.counts) == {"open": 3, "decided": 1, "unsure": 1, "split": 1, "flags": 1}
    others = adjudication.cases("Sample", "Petra")
    assert not any(case.why for case in others.cases) and dict(others.counts) == {"open": 3, "decided": 1}


def test_before_an_own_answer_nothing_of_the_others_is_told(
    adjudication: Adjudication, store: SqlStudyStore, study: Study, items: list[Item],
) -> None:
    """The same item, whether judges agree or not, whether somebody has decided and written of it or not."""
    item = items[0].item_id
    blind = adjudication.case("Sample", item, "Petra")
    judge(store, items[0], Ada=valid(note="fine by me"), Bea=BROAD)
    adjudication.decide("Sample", item, "Olga", VAGUE, "nobody can tell", "token-01")
    adjudication.say("Sample", item, "Olga", "adjudicator", "is it a dog?", "token-02")
    assert adjudication.case("Sample", item, "Petra") == replace(blind, decided=True) and blind.first is None
    with pytest.raises(StudyError, match="yourself first"):
        adjudication.say("Sample", item, "Petra", "adjudicator", "no", "token-03")
    assert adjudication.discussion("Sample", item, "Petra", "adjudicator") == ()

    adjudication.answer("Sample", item, "Petra", valid())
    adjudication.answer("Sample", item, "Petra", BROAD)   # the first stays
    found = adjudication.case("Sample", item, "Petra")
    assert found.first is not None and found.first["validated"] is True and found.why == "tie"
    assert found.decision is not None and found.decision.reason == "nobody can tell"
    assert [(one.label, one.text) for one in found.messages] == [("Adjudicator", "is it a dog?")]
    assert [one.adjudicator for one in store.first_answers(study.study_id, item_id=item)] == ["Olga", "Petra"]


def test_who_decided_in_an_earlier_version_has_answered(
    adjudication: Adjudication, store: SqlStudyStore, study: Study, items: list[Item],
) -> None:
    judge(store, items[0], Ada=valid(), Bea=BROAD)
    item = items[0].item_id
    kept = store.decide(Decision(new_id(), study.study_id, item, "Petra", 0, "token-01", valid(), "one can tell",
                                 study.created_at))
    found = adjudication.case("Sample", item, "petra")
    assert found.decision == kept and found.first == kept.answer and found.why == "tie"
    assert [(one.why, one.answered) for one in adjudication.cases("Sample", "Petra").cases] == [("tie", True)]
    assert adjudication.say("Sample", item, "Petra", "adjudicator", "see there", "token-02")[0].label == "You"
    other = adjudication.case("Sample", item, "Olga")
    assert (other.first, other.decision, other.judgements) == (None, None, ()) and other.decided


def test_judges_discuss_what_they_have_judged_once_an_adjudicator_begins(
    adjudication: Adjudication, store: SqlStudyStore, study: Study, items: list[Item],
) -> None:
    item = items[0].item_id
    judge(store, items[0], Ada=valid(), Bea=BROAD)
    adjudication.answer("Sample", item, "Olga", valid())
    adjudication.say("Sample", item, "Olga", "adjudicator", "why too broad?", "token-01")
    assert adjudication.discussion("Sample", item, "Ada", "judge") == (), "the study's rule has adjudicators alone"
    store.change_settings(study.study_id, {**study.settings, "adjudication": Needs(
        ("split",), discussion="judges").as_settings()})
    with pytest.raises(StudyError, match="no discussion"):
        adjudication.say("Sample", item, "Cem", "judge", "me too", "token-02")   # has not judged it
    assert adjudication.discussion("Sample", items[1].item_id, "Ada", "judge") == ()
    for _ in range(2):
        adjudication.say("Sample", item, "Bea", "judge", "many dogs", "token-03")
    with pytest.raises(UsedToken):
        adjudication.say("Sample", item, "Bea", "judge", "few dogs", "token-03")
    with pytest.raises(IncompleteJudgement, match="Write something"):
        adjudication.say("Sample", item, "Bea", "judge", " ", "token-04")
    seen = {who: adjudication.discussion("Sample", item, who, "judge") for who in ("Ada", "Bea")}
    assert [one.label for one in seen["Bea"]] == ["Adjudicator", "You"]
    assert [one.text for one in seen["Ada"]] == ["why too broad?", "many dogs"]
    (letter,) = {one.label for one in seen["Ada"]} - {"Adjudicator"}
    found = adjudication.case("Sample", item, "Olga")
    assert {one.label: one.answer["validated"] for one in found.judgements}[letter] is False
    assert [one.label for one in found.messages] == ["You", letter]


def test_a_decision_does_not_read_the_whole_study(
    adjudication: Adjudication, store: SqlStudyStore, items: list[Item], monkeypatch: pytest.MonkeyPatch,
) -> None:
    judge(store, items[0], Ada=valid(), Bea=BROAD)
    adjudication.cases("Sample", "Olga")   # what never changes is known from now on

    def unwanted(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a decision needs its own item only")

    for reads_all in ("judgements", "decisions", "items", "assignments"):
        monkeypatch.setattr(store, reads_all, unwanted)
    decided = adjudication.decide("Sample", items[0].item_id, "Olga", BROAD, "too many of them", "token-01")
    assert decided.decision.revision == 1


def test_two_adjudicators_at_one_case_are_told_who_came_second(
    adjudication: Adjudication, store: SqlStudyStore, study: Study, items: list[Item],
) -> None:
    item = items[0].item_id
    judge(store, items[0], Ada=valid(), Bea=BROAD)

    def decide(who: str, answer: object, token: str, seen: object = None) -> tuple[int, bool]:
        found = adjudication.decide("Sample", item, who, answer, "because", token, seen_revision=seen)
        return found.decision.revision, found.overtook

    assert decide("Olga", BROAD, "token-01", 0) == (1, False)
    assert decide("Petra", valid(), "token-02", 0) == (2, True)    # opened before Olga had decided
    assert decide("Petra", valid(), "token-02", 0) == (2, True)    # the same call again says the same
    assert decide("Petra", valid(), "token-03", 0) == (2, False)   # nothing new, so it overtakes nothing
    assert decide("Olga", BROAD, "token-04", 2) == (3, False)      # who has seen the other's revises it
    assert decide("Petra", BROAD, "token-05") == (4, False)        # scripts that do not say are not told
    assert decide("Olga", BROAD, "token-04", 2) == (4, False)      # a late call again: another decision counts now
    assert [it.adjudicator for it in store.decisions(study.study_id, history=True)] == [
        "Olga", "Petra", "Olga", "Petra"]
    for seen in (-1, "1", True, 2**31):
        with pytest.raises(StudyError, match="revision"):
            decide("Olga", valid(), "token-06", seen)


def test_numbers_of_cases_do_not_follow_the_source(
    adjudication: Adjudication, store: SqlStudyStore, tmp_path: Path,
) -> None:
    study = make_study(store, tmp_path, name="Long", items=30, seats=2, overlap=2, pictures=4, panel=2)
    service = StudyService(store, KINDS)
    items = store.items(study.study_id)
    for who, answer in (("Ada", valid()), ("Bea", BROAD)):
        service.join("Long", who)
        for item in items:
            service.save("Long", who, item.item_id, answer, f"{who}-{item.item_id}")
    cases = adjudication.cases("Long", "Olga").cases
    assert [case.number for case in cases] == list(range(1, 31))
    places = {item.item_id: item.number for item in items}
    order = [places[case.item_id] for case in cases]
    assert order != sorted(order)
    # Two categories alternate in the source: in the order of the source one half of all
    # neighbours would never be of the same one.
    assert sum(a % 2 == b % 2 for a, b in zip(order, order[1:], strict=False)) > 2
    again = Adjudication(store, KINDS).cases("Long", "Petra").cases
    assert [case.item_id for case in again] == [it.item_id for it in cases]


def test_a_case_names_nobody_and_nothing_hidden_but_shows_all_that_was_said(
    adjudication: Adjudication, store: SqlStudyStore, items: list[Item],
) -> None:
    judge(store, items[0], Ada=valid(note="fine by me"), Bea=BROAD, Olga=VAGUE)
    for who in ("Olga", "Petra"):
        adjudication.answer("Sample", items[0].item_id, who, valid())
    found = adjudication.case("Sample", items[0].item_id, "Olga")
    assert sorted(it.label for it in found.judgements) == ["Judge A", "Judge B", "Judge C"]
    assert {it.answer["validated"] for it in found.judgements} == {True, False} and found.why == "split"
    assert found.own and found.decision is None and found.judgements[0].seconds == 20
    assert not adjudication.case("Sample", items[0].item_id, "Petra").own
    said = json.dumps([asdict(it) for it in found.judgements])
    assert not any(name in said for name in ("Ada", "Bea", "Olga"))


def test_letters_say_nothing_of_who_it_is_from_case_to_case() -> None:
    study = study_of()
    people = ("ada", "bea", "cem")
    letters = set()
    for number in range(40):
        item = item_of(number)
        found = nameless(study, item.item_id, [judgement_of(item, who, answer_of(note=who)) for who in people])
        order = tuple(it.answer["note"] for _, it in found)
        again = nameless(study, item.item_id,
                         [judgement_of(item, who, answer_of(note=who)) for who in reversed(people)])
        assert tuple(it.answer["note"] for _, it in again) == order   # the same for whoever looks, and whenever
        letters.add(order)
    assert len(letters) == 6   # all orders of three come up


def test_more_judges_than_letters() -> None:
    judgements = [judgement_of(item_of(), f"p{number}", answer_of()) for number in range(28)]
    labels = [label for label, _ in nameless(study_of(), "i0", judgements)]
    assert [labels[place] for place in (0, 25, 26, 27)] == ["Judge A", "Judge Z", "Judge AA", "Judge AB"]


def test_a_decision_settles_the_label_and_may_be_revised(
    adjudication: Adjudication, store: SqlStudyStore, study: Study, items: list[Item],
) -> None:
    judge(store, items[0], Ada=valid(), Bea=BROAD)
    store.set_accepting(study.study_id, False)   # adjudication goes on when judging has ended
    first = adjudication.decide(
        "Sample", items[0].item_id, "Olga", VAGUE, "  nobody can tell\x07 ", "token-01").decision
    assert (first.revision, first.reason, first.answer["reasons"]) == (1, "nobody can tell", ["1b"])
    again = adjudication.decide("Sample", items[0].item_id, "Olga", VAGUE, "nobody can tell", "token-01").decision
    assert again.revision == 1 and len(store.decisions(study.study_id, history=True)) == 1
    second = adjudication.decide("Sample", items[0].item_id, "Petra", valid(), "one can tell", "token-02").decision
    assert second.revision == 2 and len(store.decisions(study.study_id, history=True)) == 2
    label = final_labels(items, store.judgements(study.study_id), store.decisions(study.study_id),
                         rubric=load_rubric(study.protocol))[items[0].item_id]
    assert (label.validated, label.by) == (True, "adjudicated")
    found = adjudication.case("Sample", items[0].item_id, "Olga").decision
    assert found is not None and found.adjudicator == "Petra" and found.reason == "one can tell"


@pytest.mark.parametrize(("answer", "reason", "said"), [
    (UNSURE, "cannot tell", "cannot be unsure"),
    (valid(validated=None), "none", "Nothing is chosen"),
    (flagged("INVALID_TEXT_QUERY"), "vague", "needs a reason"),
    (valid(), "", "Give a short reason"),
    (valid(), " \n x", "Give a short reason"),
    (valid(), None, "Give a short reason"),
    (valid(), "x" * (LONGEST_REASON + 1), "4,001 characters"),
    ("valid", "because", "A judgement is an object"),
    (valid(note="x" * 70_000), "because", "70,000 characters"),
])
def test_a_decision_must_decide_and_say_why(
    adjudication: Adjudication, store: SqlStudyStore, study: Study, items: list[Item],
    answer: object, reason: object, said: str,
) -> None:
    judge(store, items[0], Ada=valid(), Bea=BROAD)
    with pytest.raises(IncompleteJudgement, match=said):
        adjudication.decide("Sample", items[0].item_id, "Olga", answer, reason, "token-01")
    assert not store.decisions(study.study_id)


def test_what_is_not_there_cannot_be_decided(
    adjudication: Adjudication, store: SqlStudyStore, items: list[Item],
) -> None:
    with pytest.raises(StudyError, match="Nobody has judged"):
        adjudication.decide("Sample", items[0].item_id, "Olga", valid(), "because", "token-01")
    judge(store, items[0], Ada=valid())
    with pytest.raises(StudyError, match="token"):
        adjudication.decide("Sample", items[0].item_id, "Olga", valid(), "because", "short")
    for item in ("nosuchitem", "../x", None):
        with pytest.raises(UnknownItem):
            adjudication.decide("Sample", item, "Olga", valid(), "because", "token-01")  # type: ignore[arg-type]
        with pytest.raises(UnknownItem):
            adjudication.case("Sample", item, "Olga")  # type: ignore[arg-type]
    with pytest.raises(UnknownStudy):
        adjudication.cases("no such study", "Olga")


def test_an_item_all_agree_on_is_no_case_but_can_be_looked_at(
    adjudication: Adjudication, store: SqlStudyStore, items: list[Item],
) -> None:
    judge(store, items[0], Ada=valid(), Bea=valid())
    adjudication.answer("Sample", items[0].item_id, "Olga", BROAD)
    assert adjudication.case("Sample", items[0].item_id, "Olga").why is None
    assert adjudication.cases("Sample", "Olga").cases == ()
