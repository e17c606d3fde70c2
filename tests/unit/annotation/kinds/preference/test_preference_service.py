"""A person's way through a preference study, over the real store: gates, forms, sides, abandoned forms."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import update

from annotation.kinds.preference.answers import Preference
from annotation.kinds.preference.survey.flow import completion_code
from annotation.kinds.validity.answers import Validity
from annotation.records import Released, Study, StudyEvent, Workspace
from annotation.studies.service import StudyService
from cir_core.errors import (
    GateStands,
    IncompleteJudgement,
    NeedsConfirmation,
    NotJoined,
    StudyClosed,
    StudyError,
    UnknownItem,
)
from storage.mapping import tables
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import study_store as study_store
from tests.fakes.people import Clock
from tests.fakes.people import clock as clock
from tests.fakes.studies import make_preference_study, make_study, rated, solved, valid


@pytest.fixture
def service(store: SqlStudyStore, clock: Clock) -> StudyService:
    return StudyService(store, {"validity": Validity(), "preference": Preference()}, clock)


class Person:
    """Somebody in the study "Shops", who does what stands before them."""

    def __init__(self, service: StudyService, name: str) -> None:
        self.service, self.name, self.presses = service, name, 0
        self.workspace = service.join("Shops", name)

    @property
    def gate(self) -> str | None:
        assert self.workspace.survey is not None
        return self.workspace.survey.gate["kind"] if self.workspace.survey.gate else None

    def token(self) -> str:
        self.presses += 1
        return f"{self.name}-{self.presses:05}"

    def go_on(self) -> Person:
        """Past every gate but the end."""
        while self.gate not in (None, "finished"):
            assert self.workspace.survey is not None and self.workspace.survey.gate is not None
            sent = solved(self.workspace.survey.gate)
            passed, self.workspace = self.service.pass_gate("Shops", self.name, sent.pop("kind"), self.token(), **sent)
            assert passed
        return self

    def rate(self, *ratings: int, preferred: str = "A", **more: object) -> str:
        """Answers the item on the desk; its id."""
        assert self.workspace.item is not None
        item_id = self.workspace.item.item_id
        _, self.workspace = self.service.save(
            "Shops", self.name, item_id, rated(*ratings, preferred=preferred), self.token(), **more)  # type: ignore[arg-type]
        return item_id

    def back_to(self, position: int) -> Workspace:
        self.workspace = self.service.workspace("Shops", self.name, position=position)
        return self.workspace


def stand_of(workspace: Workspace) -> tuple[int | None, int, int | None, int]:
    assert workspace.survey is not None
    return workspace.survey.number, workspace.survey.of, workspace.survey.form, workspace.survey.forms


def events(store: SqlStudyStore, study: Study, who: str) -> list[StudyEvent]:
    return list(store.events(study.study_id, who))


# --- gates ------------------------------------------------------------------------------------


def test_the_whole_way(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    """6 questions in 2 forms of 3, a check after every 5 answers of a form and at its end: after 3 and 6."""
    study = make_preference_study(store, tmp_path, settings={"consent": "I take part of my own will."})
    ada = Person(service, "Ada")
    passed = [ada.gate]
    numbers = []
    while ada.gate != "finished":
        if ada.gate:
            assert ada.workspace.survey is not None and ada.workspace.survey.gate is not None
            sent = solved(ada.workspace.survey.gate)
            _, ada.workspace = service.pass_gate("Shops", "Ada", sent.pop("kind"), ada.token(), **sent)
            passed.append(ada.gate)
        else:
            numbers.append(stand_of(ada.workspace))
            ada.rate()
            passed += [ada.gate] if ada.gate else []
    assert passed == ["guidelines", "consent", None, "check", None, "check", "finished"]
    assert numbers == [(1, 6, 1, 2), (2, 6, 1, 2), (3, 6, 1, 2), (4, 6, 2, 2), (5, 6, 2, 2), (6, 6, 2, 2)]
    code = completion_code(study, "Ada")
    assert ada.workspace.item is None and ada.workspace.survey is not None
    assert ada.workspace.survey.gate == {"kind": "finished", "code": code}
    for _ in range(3):
        service.workspace("Shops", "Ada")
    assert [one.kind for one in events(store, study, "Ada")] == ["guidelines", "consent", "check", "check", "finish"]
    assert events(store, study, "Ada")[-1].payload == {"code": code}   # noted once
    assert events(store, study, "Ada")[1].payload == {"text": "I take part of my own will."}


def test_a_new_answer_behind_a_gate_is_not_kept(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_preference_study(store, tmp_path)
    ada = Person(service, "Ada")
    with pytest.raises(GateStands, match="guidelines"):
        ada.rate()
    ada.go_on()
    done = [ada.rate() for _ in range(3)]
    assert ada.gate == "check" and ada.workspace.item is not None
    with pytest.raises(GateStands, match="check"):
        ada.rate()
    assert len(store.judgements(study.study_id)) == 3
    # What is answered may be changed, and a call whose reply was lost comes again.
    changed, _ = service.save("Shops", "Ada", done[0], rated(5, 1), "another-1")
    again, _ = service.save("Shops", "Ada", done[0], rated(5, 1), "another-1")
    assert (changed.judgement.revision, changed.repeated, again.judgement.revision, again.repeated) == (
        2, False, 2, True)
    ada.go_on().rate()
    assert len(store.judgements(study.study_id)) == 4


def test_answers_at_once_do_not_get_past_a_check(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    """A check after every 4 answers: of ten that come at the same moment four are kept."""
    study = make_preference_study(
        store, tmp_path, questions=12, per_person=12, forms=1, settings={"check_every": 4})
    Person(service, "Ada").go_on()
    ids = [one.item_id for one in service.overview("Shops", "Ada")][:10]
    together = Barrier(len(ids))

    def press(item_id: str) -> str:
        window = StudyService(store, {"preference": Preference()})   # as another process of the server
        window.workspace("Shops", "Ada", item_id=item_id)
        together.wait(timeout=60)
        try:
            window.save("Shops", "Ada", item_id, rated(), f"token-{item_id}")
        except GateStands as error:
            return str(error)
        return "kept"

    with ThreadPoolExecutor(len(ids)) as threads:
        told = Counter(threads.map(press, ids))
    assert told == {"kept": 4, "A short check comes first: reload the page. Nothing was saved yet.": 6}
    assert len(store.judgements(study.study_id)) == 4
    ada = Person(service, "Ada").go_on()
    ada.rate()
    assert len(store.judgements(study.study_id)) == 5


def test_an_answer_is_kept_by_the_side_that_stands_when_it_is_kept(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    """The service remembers a question that is looked at; since then the plan may give it another side."""
    study = make_preference_study(store, tmp_path)
    ada = Person(service, "Ada").go_on()
    assert ada.workspace.item is not None
    first = 3 - ada.workspace.extra["first"]
    with store.engine.begin() as connection:
        connection.execute(update(tables.assignments).values(extra={**ada.workspace.extra, "first": first}))
    ada.rate(5, 2)
    kept, = store.judgements(study.study_id)
    assert kept.answer["first"] == first == kept.answer["preferred"]


def test_a_wrong_answer_is_counted_and_another_sum_stands_there(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    study = make_preference_study(store, tmp_path, settings={"check_every": 1})
    ada = Person(service, "Ada").go_on()
    ada.rate()
    assert ada.workspace.survey is not None and ada.workspace.survey.gate is not None
    first = dict(ada.workspace.survey.gate)
    wrong = solved(first) | {"answer": 99}
    for _ in range(2):   # the second time with the same token: one wrong answer
        passed, workspace = service.pass_gate(
            "Shops", "Ada", "check", "wrong-001", number=1, attempt=0, answer=wrong["answer"])
        assert not passed and workspace.survey is not None and workspace.survey.gate is not None
        assert workspace.survey.gate["attempt"] == 1 and workspace.survey.gate["question"] != first["question"]
    with pytest.raises(IncompleteJudgement, match="answered already"):   # the first sum, from another window
        service.pass_gate("Shops", "Ada", "check", "wrong-002", number=1, attempt=0, answer=99)
    ada.workspace = service.workspace("Shops", "ada")     # a reload; names go without regard to case
    assert ada.workspace.survey is not None and ada.workspace.survey.gate == workspace.survey.gate
    ada.go_on()
    assert ada.gate is None
    assert [one.payload["right"] for one in events(store, study, "Ada") if one.kind == "check"] == [False, True]


def test_what_cannot_pass(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    make_preference_study(store, tmp_path)
    make_study(store, tmp_path)
    service.join("Shops", "Ada")
    for kind in ("finish", "finished", "", None, ["check"], "settings"):
        with pytest.raises(StudyError, match="guidelines"):
            service.pass_gate("Shops", "Ada", kind, "token-001")
    with pytest.raises(StudyError, match="A token is"):
        service.pass_gate("Shops", "Ada", "guidelines", "finish")   # the token of the end is nobody's
    with pytest.raises(IncompleteJudgement, match="answered already"):
        service.pass_gate("Shops", "Ada", "consent", "token-001", answer=True)
    service.join("Sample", "Ada")
    with pytest.raises(StudyError, match="has no steps between"):
        service.pass_gate("Sample", "Ada", "guidelines", "token-001")


def test_a_question_that_is_looked_at_again_is_not_behind_the_gate(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    make_preference_study(store, tmp_path)
    ada = Person(service, "Ada").go_on()
    for _ in range(3):
        ada.rate()
    assert ada.gate == "check"
    assert ada.back_to(1).judgement is not None and ada.gate is None and stand_of(ada.workspace) == (2, 6, 1, 2)
    ada.back_to(3)
    assert ada.workspace.judgement is None and ada.gate == "check"


# --- forms ------------------------------------------------------------------------------------


def test_back_within_a_form_only(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_preference_study(store, tmp_path, reason_every=3)
    ada = Person(service, "Ada").go_on()
    first = ada.rate()
    ada.rate()
    assert ada.workspace.extra["reason"] is True and ada.workspace.item is not None
    with pytest.raises(IncompleteJudgement, match="asks for a reason"):
        ada.rate()
    third = ada.workspace.item.item_id
    answer = rated(reason="the sleeves")
    _, ada.workspace = service.save("Shops", "Ada", third, answer, "third-001")
    # The form is at its end, not behind it: the check stands still.
    assert ada.back_to(0).survey is not None and ada.workspace.survey is not None and not ada.workspace.survey.locked
    service.save("Shops", "Ada", first, rated(3, 1), "change-01")
    ada.workspace = service.workspace("Shops", "Ada")
    ada.go_on()
    assert ada.back_to(0).survey is not None and ada.workspace.survey is not None and ada.workspace.survey.locked
    with pytest.raises(IncompleteJudgement, match="form that you have finished"):
        service.save("Shops", "Ada", first, rated(1, 1), "change-02")
    repeated, _ = service.save("Shops", "Ada", third, answer, "third-001")   # its reply was lost
    assert repeated.repeated
    ada.workspace = service.workspace("Shops", "Ada")
    ada.rate()
    ada.back_to(3)
    assert ada.workspace.survey is not None and not ada.workspace.survey.locked
    assert {one.item_id: one.answer["ratings"] for one in store.judgements(study.study_id)}[first] in ([3, 1], [1, 3])


def test_the_last_form_can_be_changed_while_the_study_is_open(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    study = make_preference_study(store, tmp_path, settings={"check": "none"})
    ada = Person(service, "Ada").go_on()
    ids = [ada.rate() for _ in range(6)]
    assert ada.gate == "finished"
    saved, workspace = service.save("Shops", "Ada", ids[-1], rated(5, 1), "change-01", stay=True)
    assert saved.judgement.revision == 2 and workspace.survey is not None and workspace.survey.gate is None
    with pytest.raises(IncompleteJudgement, match="form that you have finished"):
        service.save("Shops", "Ada", ids[2], rated(5, 1), "change-02")
    store.set_accepting(study.study_id, False)
    with pytest.raises(StudyClosed):
        service.save("Shops", "Ada", ids[-1], rated(4, 1), "change-03")
    closed = service.workspace("Shops", "Ada").survey
    assert closed is not None and closed.gate is not None and closed.gate["kind"] == "finished"   # the code stays


# --- sides and answers ------------------------------------------------------------------------


def test_answers_are_kept_in_stored_terms_whatever_stood_first(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    """A is rated 5 and B 2: stored set 1 has 5 where it stood first, else 2."""
    study = make_preference_study(store, tmp_path, questions=10, per_person=10, shared_every=1, forms=1)
    people = [Person(service, name).go_on() for name in ("Ada", "Bea")]
    for person in people:
        while person.go_on().gate != "finished":
            person.rate(5, 2)
    firsts = {(one.annotator, one.item_id): one.extra["first"] for one in store.assignments(study.study_id)}
    judgements = store.judgements(study.study_id)
    assert len(judgements) == 20
    for one in judgements:
        first = firsts[one.annotator, one.item_id]
        assert one.answer["first"] == first and one.answer["preferred"] == first
        assert one.answer["ratings"] == ([5, 2] if first == 1 else [2, 5])
    # A question that both have: each of its two sets stood first once.
    by_item = Counter((item_id, first) for (_, item_id), first in firsts.items())
    assert set(by_item.values()) == {1} and len(by_item) == 20


def test_a_draft_of_what_comes_next_does_not_need_its_side(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    """Of what comes next a desk knows no side; it is never taken from memory without one."""
    make_preference_study(store, tmp_path)
    ada = Person(service, "Ada").go_on()
    following = ada.workspace.ahead[0].item_id
    service.save_draft("Shops", "Ada", following, {"ratings": {"A": 3}, "reason": "hm"}, seconds=4)
    workspace = service.workspace("Shops", "Ada", item_id=following)
    assert workspace.draft is not None and workspace.draft.answer["ratings"] == {"A": 3, "B": None}
    saved, _ = service.save("Shops", "Ada", following, rated(5, 2), "token-001")
    assert saved.judgement.answer["first"] == workspace.extra["first"]
    restarted = StudyService(service._store, {"preference": Preference()}, service._clock)
    again, _ = restarted.save("Shops", "Ada", following, rated(5, 3), "token-002")   # nothing in memory
    assert again.judgement.answer["first"] == workspace.extra["first"] and again.judgement.revision == 2


def test_a_contradiction_is_asked_about_and_kept(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_preference_study(store, tmp_path)
    ada = Person(service, "Ada").go_on()
    assert ada.workspace.item is not None
    item_id = ada.workspace.item.item_id
    with pytest.raises(NeedsConfirmation, match="Is that what you meant"):
        service.save("Shops", "Ada", item_id, rated(2, 4), "token-001")
    assert store.judgements(study.study_id) == ()
    saved, _ = service.save("Shops", "Ada", item_id, rated(2, 4, confirmed=True), "token-002")
    assert saved.judgement.answer["contradiction_confirmed"] is True


def test_the_list_and_other_peoples_questions(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    make_preference_study(store, tmp_path)
    make_study(store, tmp_path)
    assert [(one.study.kind, one.joined, one.done, one.total) for one in service.assigned_studies("Ada")] == [
        ("validity", False, 0, 3), ("preference", False, 0, 6)]
    ada, bea = Person(service, "Ada").go_on(), Person(service, "Bea").go_on()
    assert bea.workspace.item is not None
    with pytest.raises(UnknownItem):
        service.save("Shops", "Ada", bea.workspace.item.item_id, rated(), "token-001")
    ada.rate()
    assert [(one.joined, one.done, one.total) for one in service.assigned_studies("Ada")][1] == (True, 1, 6)
    sample = service.join("Sample", "Ada")
    assert sample.survey is None and sample.item is not None   # the other kind has nothing of all this
    service.save("Sample", "Ada", sample.item.item_id, valid(), "token-001")


# --- abandoned forms --------------------------------------------------------------------------


def test_an_abandoned_form_is_given_out_again_when_its_lease_ends(
    service: StudyService, store: SqlStudyStore, clock: Clock, tmp_path: Path,
) -> None:
    study = make_preference_study(store, tmp_path, lease_hours=3)   # two seats of six
    ada = Person(service, "Ada").go_on()
    ada.rate()
    ada.rate()
    assert ada.workspace.item is not None
    on_screen = ada.workspace.item.item_id
    left = {one.item_id: one.extra["first"] for one in service.overview("Shops", "Ada") if one.state == "open"}
    Person(service, "Bea")

    clock.move(hours=2.9)
    cem = Person(service, "Cem")   # no seat is free and no lease has ended: nothing to do, and nothing to agree to
    assert cem.workspace.item is None and cem.gate is None and cem.workspace.total == 0
    service.pass_gate("Shops", "Bea", "guidelines", "token-001")   # Bea is at it

    clock.move(hours=0.2)
    cem = Person(service, "Cem")   # at the next visit
    assert cem.gate == "guidelines" and cem.workspace.total == 4
    cem.go_on()
    assert {one.item_id: one.extra["first"] for one in service.overview("Shops", "Cem")} == left
    assert [(one.position, one.extra["form"]) for one in service.overview("Shops", "Cem")] == [
        (0, 1), (1, 1), (2, 1), (3, 2)]
    while cem.go_on().gate != "finished":
        cem.rate()

    # Ada comes back to a page she had left open: her answer is kept, though a check stands at the end of what she has.
    late, _ = service.save("Shops", "Ada", on_screen, rated(1, 3, preferred="B"), "late-0001")
    assert late.judgement.revision == 1 and not late.repeated
    assert len(store.item_judgements(study.study_id, on_screen)) == 2
    ada.workspace = service.workspace("Shops", "Ada")
    ada.go_on()
    # She has answered three of six: that is not the end, and no code.
    assert ada.workspace.item is None and ada.gate is None
    assert ada.workspace.survey is not None and (ada.workspace.survey.handed_on, ada.workspace.total) == (3, 3)
    assert "finish" not in {one.kind for one in events(store, study, "Ada")}
    assert service.more("Shops", "Ada")[0] == 0

    clock.move(hours=3.1)   # now Bea is away
    added, ada.workspace = service.more("Shops", "Ada")
    assert added == 6 and stand_of(ada.workspace)[:2] == (4, 9)
    while ada.go_on().gate != "finished":
        ada.rate()
    assert ada.workspace.done == 9 and events(store, study, "Ada")[-1].kind == "finish"
    answers = Counter(one.item_id for one in store.judgements(study.study_id))
    assert len(answers) == 12 and answers.pop(on_screen) == 2 and set(answers.values()) == {1}


def test_work_that_the_owner_releases_goes_to_who_asks_for_more(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    study = make_preference_study(store, tmp_path)
    ada, bea = Person(service, "Ada").go_on(), Person(service, "Bea").go_on()
    while ada.go_on().gate != "finished":
        ada.rate()
    assert service.more("Shops", "Ada")[0] == 0   # Bea is at it
    bea.rate()
    assert store.release(study.study_id, "Bea") == Released(5, 0, freed=False)
    added, ada.workspace = service.more("Shops", "Ada")
    assert added == 5 and ada.gate is None and stand_of(ada.workspace) == (7, 11, 3, 4)
    while ada.go_on().gate != "finished":
        ada.rate()
    assert [one.kind for one in events(store, study, "Ada")].count("finish") == 1


def test_looking_takes_no_seat(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_preference_study(store, tmp_path)   # two seats of six
    workspace = service.workspace("Shops", "Ada")
    assert (workspace.joined, workspace.item, workspace.survey, workspace.total) == (False, None, None, 6)
    with pytest.raises(NotJoined):
        service.pass_gate("Shops", "Ada", "guidelines", "token-001")
    assert store.counts(study.study_id)["people"] == 0 and store.events(study.study_id) == ()
    assert Person(service, "Ada").gate == "guidelines" and service.workspace("Shops", "Ada").joined


def test_consent_is_not_inherited_with_a_seat(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_preference_study(store, tmp_path, settings={"consent": "I take part of my own will."})
    ada = Person(service, "Ada").go_on()
    hers = [one.item_id for one in service.overview("Shops", "Ada")]
    assert store.release(study.study_id, "Ada") == Released(6, 0, freed=True)
    bea = Person(service, "Bea")
    assert bea.gate == "guidelines" and [one.item_id for one in service.overview("Shops", "Bea")] == hers
    bea.go_on()
    assert [one.kind for one in events(store, study, "Bea")] == ["guidelines", "consent"]
    # Ada's consent is still on record, and she is not asked again; of work she gets what is free.
    assert [one.kind for one in events(store, study, "Ada")] == ["guidelines", "consent"]
    assert service.workspace("Shops", "Ada").item is None
    ada = Person(service, "Ada")
    assert ada.gate is None and ada.workspace.total == 6


def test_an_answer_is_read_by_the_side_that_is_shown_now(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    """Everything goes to both seats, with the sides turned. Ada has one seat's questions, then the other's."""
    study = make_preference_study(store, tmp_path, questions=6, shared_every=1, shared_by=2, settings={"check": "none"})
    workspace = Person(service, "Ada").go_on().back_to(1)
    assert workspace.item is not None
    second, side = workspace.item.item_id, workspace.extra["first"]
    store.release(study.study_id, "Ada")
    Person(service, "Bea")                       # takes the seat that Ada had
    ada = Person(service, "Ada")                 # and Ada what is in the other one
    assert ada.workspace.total == 6 and ada.workspace.item is not None and ada.workspace.item.item_id != second
    now = next(one.extra["first"] for one in service.overview("Shops", "Ada") if one.item_id == second)
    assert now != side
    saved, _ = service.save("Shops", "Ada", second, rated(5, 2), "token-001")
    assert saved.judgement.answer["first"] == now
    assert saved.judgement.answer["ratings"] == ([5, 2] if now == 1 else [2, 5])


def test_what_is_begun_is_told_by_the_sides_that_are_shown(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    make_preference_study(store, tmp_path)
    ada = Person(service, "Ada").go_on()
    sides, ids = set(), []
    for _ in range(3):
        sides.add(ada.workspace.extra["first"])
        ids.append(ada.rate(5, 2))
    assert sides == {1, 2}, "one of the answers is kept the other way round"
    for item_id in ids:
        service.save_draft("Shops", "Ada", item_id, rated(5, 2))      # looked at again
    assert service.begun("Shops", "Ada") == frozenset()
    service.save_draft("Shops", "Ada", ids[0], rated(5, 3))
    assert service.begun("Shops", "Ada") == {ids[0]}
