"""The clock of the machine jumps back an hour, or forward a day and back again: nobody is locked out for as long, and
nothing goes or changes its order."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine

from annotation.accounts.service import PeopleService
from annotation.accounts.throttle import NotedWaits, Throttle
from annotation.kinds.validity.answers import Validity
from annotation.records import AuditEvent
from annotation.studies.service import StudyService
from cir_core.errors import AccessError, SignInFailed, TooManyTries
from storage.accounts.audit_log import SqlAuditLog
from storage.accounts.store import SqlPeopleStore
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import engine as engine
from tests.fakes.databases import engine_of
from tests.fakes.people import NOON, PASSWORD, Clock, people_service
from tests.fakes.people import clock as clock
from tests.fakes.people_store import InMemoryPeopleStore
from tests.fakes.studies import make_study, valid

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
HERE = "198.18.0.1"


@pytest.fixture
def sql(engine: Engine) -> SqlPeopleStore:
    return SqlPeopleStore(engine)


@pytest.fixture
def people(sql: SqlPeopleStore, clock: Clock) -> PeopleService:
    service = people_service(sql, clock=clock)
    service.add("Ada", PASSWORD, "admin")
    service.add("Bo", PASSWORD, "annotator")
    return service


def test_nobody_waits_for_the_clock_to_catch_up(people: PeopleService, clock: Clock) -> None:
    """Seven wrong passwords make four seconds of waiting: 1, 2, 4."""
    for _ in range(7):
        with pytest.raises(SignInFailed):
            people.sign_in("Bo", "a wrong password", HERE)
        clock.now += timedelta(seconds=4)
    clock.now -= HOUR
    assert people.sign_in("Bo", PASSWORD, HERE)


def test_a_clock_set_back_by_less_than_the_wait_at_most_doubles_it() -> None:
    throttle = Throttle(InMemoryPeopleStore())
    for _ in range(14):   # 2^9 seconds, so the longest wait: 300
        throttle.failed("bo", HERE, NOON)
    moment, waited = NOON - timedelta(seconds=200), 0
    while True:
        try:
            throttle.check("bo", HERE, moment)
            break
        except TooManyTries as wait:
            assert wait.seconds <= 300
            moment, waited = moment + timedelta(seconds=1), waited + 1
    assert waited == 500   # until 300 s after the last one


def test_a_wait_is_noted_again_after_a_clock_that_was_ahead() -> None:
    store = InMemoryPeopleStore()
    waits, wait = NotedWaits(store), TooManyTries("", 60, "address")
    for at, noted in ((NOON + DAY, 1), (NOON, 2), (NOON + timedelta(minutes=9), 2), (NOON + timedelta(minutes=10), 3)):
        waits.note(wait, "Bo", HERE, at)
        assert len(store.noted) == noted


def test_who_is_signed_in_stays_so(people: PeopleService, clock: Clock) -> None:
    secret = people.sign_in("Bo", PASSWORD)
    for jump in (-HOUR, HOUR, DAY, -DAY):
        clock.now += jump
        assert people.visitor(secret) is not None


def test_a_day_ahead_ends_short_sign_ins_only_for_as_long(sql: SqlPeopleStore, clock: Clock) -> None:
    people = people_service(sql, clock=clock, sign_in_days=0.5)
    people.add("Ada", PASSWORD, "admin")
    secret = people.sign_in("Ada", PASSWORD)
    invited = people.invite("annotator", 0.5, 1, "Ada")
    clock.now += DAY
    assert people.visitor(secret) is None
    people.sign_in("Ada", PASSWORD)                  # clears away what is old
    people.invite("annotator", 7, 1, "Ada")
    with pytest.raises(AccessError):
        people.invitation(invited)
    clock.now -= DAY
    assert people.visitor(secret) is not None and people.invitation(invited).uses_left == 1


def test_a_sign_in_of_a_clock_that_was_far_ahead_ends_as_any_other(people: PeopleService, clock: Clock) -> None:
    clock.now += 3650 * DAY
    secret = people.sign_in("Bo", PASSWORD)
    clock.now -= 3650 * DAY
    assert people.visitor(secret) is not None   # from now on it has the usual fourteen days
    clock.now += 15 * DAY
    assert people.visitor(secret) is None


@pytest.fixture
def studies(tmp_path: Path) -> SqlStudyStore:
    return SqlStudyStore(engine_of(tmp_path))


def test_revisions_drafts_and_the_log_keep_their_order(studies: SqlStudyStore, tmp_path: Path, clock: Clock) -> None:
    make_study(studies, tmp_path)
    service = StudyService(studies, {"validity": Validity()}, clock)
    item = service.join("Sample", "Ada").item
    assert item is not None
    for number, jump in enumerate((timedelta(), -HOUR, DAY, -DAY)):
        clock.now += jump
        answer = valid(note=f"revision {number}")
        service.save_draft("Sample", "Ada", item.item_id, answer)
        draft = service.workspace("Sample", "Ada", item_id=item.item_id).draft
        assert draft is not None and draft.answer["note"] == f"revision {number}"
        saved, _ = service.save("Sample", "Ada", item.item_id, answer, f"token-{number}-of-many")
        assert saved.judgement.revision == number + 1
        SqlAuditLog(studies.engine).note(AuditEvent("sign-out", f"number {number}"))
    study = studies.study("Sample")
    kept, = studies.judgements(study.study_id)
    assert kept.answer["note"] == "revision 3"
    history = studies.judgements(study.study_id, history=True)
    assert [one.answer["note"] for one in history] == [f"revision {number}" for number in range(4)]
    noted = SqlAuditLog(studies.engine).acts(limit=4)
    assert [one.act.by for one in noted] == [f"number {number}" for number in (3, 2, 1, 0)]


def test_a_day_ahead_lends_out_work_and_loses_none(studies: SqlStudyStore, tmp_path: Path, clock: Clock) -> None:
    """Whoever works seems to have been away for longer than the lease of three hours. Who joins just then gets a share
    of what is open, and both may answer it."""
    study = make_study(studies, tmp_path, seats=1, items=6, lease_hours=3)
    service = StudyService(studies, {"validity": Validity()}, clock)
    open_items = [one.item_id for one in service.overview("Sample", "Ada")] if service.join("Sample", "Ada") else []
    service.save("Sample", "Ada", open_items[0], valid(), "token-before-it")
    clock.now += DAY
    service.join("Sample", "Bea")
    clock.now -= DAY
    for number, item in enumerate(open_items[1:]):
        service.save("Sample", "Ada", item, valid(), f"token-afterwards-{number}")
    assert {one.item_id for one in studies.judgements(study.study_id) if one.annotator == "Ada"} == set(open_items)
