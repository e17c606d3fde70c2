"""Waiting after wrong passwords: counted in the store, so for all processes and over restarts."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.profiles import RFC_9106_LOW_MEMORY

from annotation.accounts.service import Passwords, PeopleService
from annotation.accounts.throttle import Backoff, LeakyBucket, NotedWaits, Throttle, place_of
from annotation.kinds.validity.answers import Validity
from annotation.records import AuditEvent, FailedLogins, Person, SignIn
from annotation.studies.service import StudyService
from cir_core.errors import AccessError, SignInFailed, TooManyTries
from storage.accounts.audit_log import SqlAuditLog
from storage.accounts.store import SqlPeopleStore
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import engine_of
from tests.fakes.people import LIGHT, NOON, PASSWORD, Clock, people_service
from tests.fakes.people_store import InMemoryPeopleStore
from tests.fakes.studies import make_study, valid

HERE = "10.0.0.1"


def wait_of(throttle, now, name="ada", address=HERE):
    with pytest.raises(TooManyTries) as caught:
        throttle.check(name, address, now)
    return caught.value


def test_five_wrong_ones_are_free_then_the_wait_doubles_up_to_a_limit(store):
    throttle, now = Throttle(store, Backoff(5, longest=10)), NOON
    for _ in range(5):
        throttle.check("ada", HERE, now)
        throttle.failed("ada", HERE, now)
    waits = []
    for _ in range(6):
        waits.append(wait_of(throttle, now).seconds)
        now += timedelta(seconds=waits[-1])
        throttle.check("ada", HERE, now)
        throttle.failed("ada", HERE, now)
    assert waits == [1, 2, 4, 8, 10, 10]   # 2^0, 2^1, 2^2, 2^3, then the longest


def test_another_process_counts_on(store):
    """Two throttles over one store are two processes: five free tries together, not each."""
    one, other = Throttle(store), Throttle(store)
    for number in range(5):
        (one if number % 2 else other).failed("ada", HERE, NOON)
    assert wait_of(one, NOON).seconds == wait_of(other, NOON).seconds == 1


def test_the_sentence_says_how_long(store):
    throttle, said = Throttle(store, Backoff(1)), []
    for _ in range(11):
        throttle.failed("ada", HERE, NOON)
        said.append(str(wait_of(throttle, NOON)))
    assert said[0] == "Too many wrong passwords. Wait a second and try again."
    assert said[2] == "Too many wrong passwords. Wait 4 seconds and try again."
    assert said[-1] == "Too many wrong passwords. Wait 5 minutes and try again."


def test_others_do_not_wait_and_a_right_one_or_an_hour_makes_good(store):
    throttle = Throttle(store, Backoff(1))
    throttle.failed("ada", HERE, NOON)
    throttle.check("bob", HERE, NOON)
    throttle.check("ada", "10.0.0.2", NOON)
    throttle.succeeded("ada", HERE)
    throttle.check("ada", HERE, NOON)
    for _ in range(8):
        throttle.failed("ada", HERE, NOON)
    later = NOON + timedelta(hours=1, seconds=1)
    throttle.failed("ada", HERE, later)   # the first one again: a second
    assert wait_of(throttle, later).seconds == 1
    throttle.check("ada", HERE, later + timedelta(seconds=1))


def test_an_address_waits_whatever_names_it_tries(store):
    throttle = Throttle(store, by_address=LeakyBucket(3, 5))
    for name in ("ada", "bob", "eve"):
        throttle.check(name, HERE, NOON)
        throttle.failed(name, HERE, NOON)
    wait = wait_of(throttle, NOON, "dan")
    assert (wait.seconds, wait.counted) == (5, "address")
    throttle.check("dan", "10.0.0.2", NOON)


def test_an_address_is_forgiven_one_after_the_other_and_waits_for_no_more_than_that(store):
    """Ten fill it at once. Every 5 seconds one is forgiven, also where tries come every 3: 600 / 5 = 120 of those
    200 are let in, in whatever order, and nobody waits longer than 5 seconds."""
    throttle = Throttle(store, Backoff(1000), LeakyBucket(10, 5), LeakyBucket(1000, 5))
    for _ in range(10):
        throttle.failed("ada", HERE, NOON)
    let_in, waits = 0, set()
    for number in range(1, 201):
        now = NOON + timedelta(seconds=3 * number)
        try:
            throttle.check(f"somebody {number}", HERE, now)
        except TooManyTries as wait:
            waits.add(wait.seconds)
        else:
            throttle.failed(f"somebody {number}", HERE, now)
            let_in += 1
    assert let_in == 600 // 5
    assert waits and max(waits) < 5   # a try that is refused was itself 3 seconds after the last
    throttle.check("dan", HERE, now + timedelta(seconds=5))


def test_a_lab_behind_one_address_is_not_held_off_by_ordinary_mistakes(store):
    """Five mistakes a minute, for an hour: 12 a minute are forgiven, so there is never anything to wait for."""
    throttle = Throttle(store)
    for number in range(60 * 5):
        now = NOON + timedelta(seconds=12 * number)
        throttle.check(f"person {number % 200}", HERE, now)
        throttle.failed(f"person {number % 200}", HERE, now)


def test_a_right_one_forgives_the_mistakes_before_it_and_no_others(store):
    throttle = Throttle(store, by_address=LeakyBucket(6, 5), anywhere=LeakyBucket(6, 5))
    for name in ("ada", "ada", "ada", "bob", "eve", "eve"):
        throttle.failed(name, HERE, NOON)
    assert wait_of(throttle, NOON, "dan").counted == "address"
    throttle.succeeded("ada", HERE)
    for _ in range(3):   # as many as Ada's mistakes
        throttle.check("dan", HERE, NOON)
        throttle.failed("dan", HERE, NOON)
    throttle.succeeded("ada", HERE)
    assert wait_of(throttle, NOON, "joe").counted == "address"
    for _ in range(5):
        throttle.failed("ada", "10.0.0.2", NOON)
    throttle.check("ada", "10.0.0.3", NOON)   # 5 of 6 anywhere: her own three are forgotten there too


@pytest.mark.parametrize(("address", "place"), [
    ("192.0.2.7", "192.0.2.7"), ("::ffff:192.0.2.7", "192.0.2.7"), ("::FFFF:c000:207", "192.0.2.7"),
    ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("2001:db8:1:2::", "2001:db8:1:2::/64"),
    ("2001:db8:1:3::", "2001:db8:1:3::/64"), ("fe80::1%eth0", "fe80::/64"), ("testclient", "testclient"), ("", ""),
])
def test_what_counts_as_one_address(address, place):
    assert place_of(address) == place


def test_all_addresses_of_a_network_of_ipv6_are_one(store):
    """A subscriber has 2 ** 64 of them: five free ones together, not each."""
    throttle, tried = Throttle(store), 0
    for number in range(300):
        address = f"2001:db8:1:2::{number:x}"
        try:
            throttle.check("ada", address, NOON)
        except TooManyTries:
            continue
        throttle.failed("ada", address, NOON)
        tried += 1
    assert tried == 5
    throttle.check("ada", "2001:db8:1:3::1", NOON)


def test_guessing_one_name_from_many_addresses_is_slowed_down_and_who_was_here_before_gets_in(store):
    throttle, home = Throttle(store), "2001:db8:9::1"
    store.add(Person("Ada", "admin", "hash", True, NOON))
    store.begin(SignIn("d", "Ada", NOON, NOON + timedelta(days=1)), home)
    tried = 0
    for number in range(1000):   # a hundred addresses a second
        address, now = f"198.18.{number // 256}.{number % 256}", NOON + timedelta(seconds=number / 100)
        try:
            throttle.check("ada", address, now)
        except TooManyTries as wait:
            assert wait.counted == "name" and 1 <= wait.seconds <= 60 and "an address you have used" in str(wait)
            continue
        throttle.failed("ada", address, now)
        tried += 1
    assert tried == 20   # in ten seconds none is forgiven
    throttle.check("ada", home, now)
    throttle.check("ada", "2001:db8:9::ffff", now)   # the same network
    throttle.check("bob", "198.18.0.1", now)
    assert wait_of(throttle, now, "ada", "2001:db8:10::1").counted == "name"


def test_a_clock_that_is_set_back_makes_nobody_wait_longer_than_the_wait(store):
    throttle = Throttle(store, Backoff(1))
    throttle.failed("ada", HERE, NOON)
    assert wait_of(throttle, NOON - timedelta(seconds=1)).seconds == 1
    throttle.check("ada", HERE, NOON - timedelta(seconds=1.1))   # and not until the clock has caught up


def test_a_bucket_and_a_clock_that_is_set_back():
    bucket, full = LeakyBucket(2, 5), FailedLogins(2, NOON)
    assert bucket.left(full, NOON - timedelta(seconds=4)) == 5   # never more than the whole wait
    assert bucket.left(full, NOON - timedelta(days=1)) == 0      # and not until the clock has caught up


def test_what_is_old_goes_and_names_are_not_kept(tmp_path):
    engine = engine_of(tmp_path)
    store = SqlPeopleStore(engine)
    throttle = Throttle(store)
    throttle.failed("correct horse", HERE, NOON)   # a password, typed into the field of the name
    throttle.failed("ada", "10.0.0.9", NOON + timedelta(hours=2))
    with engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT key, tries FROM wrong_tries").all()
    assert len(rows) == 3 and all(len(key) == 64 for key, _ in rows)   # the later one's, three keys
    engine.dispose()
    assert b"correct horse" not in b"".join(path.read_bytes() for path in tmp_path.glob("cirque.db*"))


def one_more(before):
    return FailedLogins(1 if before is None else before.count + 1, NOON)


def test_none_is_lost_among_many_at_once(tmp_path):
    engine = engine_of(tmp_path)
    store = SqlPeopleStore(engine)

    def fail(_):
        for _ in range(10):
            store.add_failed_login({"b": one_more, "a": one_more}, NOON, NOON)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(fail, range(4)))
    assert {key: wrong.count for key, wrong in store.failed_logins(["a", "b"]).items()} == {"a": 40, "b": 40}
    engine.dispose()


def test_those_who_count_and_those_who_forgive_at_once_keep_the_count(tmp_path):
    """Each of four adds ten to its own key and to the shared one, of which as many are forgiven: none is left over."""
    engine = engine_of(tmp_path)
    store = SqlPeopleStore(engine)

    def work(number):
        for key in (f"a{number}", f"z{number}"):   # before and after the shared key in the order of locks
            for _ in range(5):
                store.add_failed_login({key: one_more, "m": one_more}, NOON, NOON + timedelta(seconds=-1))
            store.clear_failed_logins(key, ["m"])

    store.add_failed_login({"m": one_more}, NOON, NOON)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert store.failed_logins(["m", "a0", "z3"]) == {"m": FailedLogins(1, NOON)}
    engine.dispose()


# --- passwords -------------------------------------------------------------------------------

passwords = Passwords(LIGHT)


def test_a_hash_carries_its_parameters_and_a_salt_of_its_own():
    first, second = passwords.hash(PASSWORD), passwords.hash(PASSWORD)
    assert re.match(r"\$argon2id\$v=19\$m=8,t=1,p=1\$", first)
    assert first != second
    assert passwords.check(PASSWORD, first).right and passwords.check(PASSWORD, second).right


@pytest.mark.parametrize("given", ["correct horsf", "", " correct horse", "correct horse ", "CORRECT HORSE", None,
                                   12345678, "x" * 2000, "\ud800correct horse"])
def test_other_passwords_are_wrong(given):
    assert not passwords.check(given, passwords.hash(PASSWORD)).right


@pytest.mark.parametrize("stored", ["", "plain", "$argon2id$v=19$m=8,t=1,p=1$broken"])
def test_a_hash_that_is_missing_or_damaged_lets_nobody_in(stored):
    assert not passwords.check(PASSWORD, stored).right
    assert not passwords.check("", stored).right


def test_an_unknown_person_takes_as_much_work_as_a_known_one():
    verified = []

    class Counting(PasswordHasher):
        def verify(self, hash, password):
            verified.append(str(hash))
            return super().verify(hash, password)

    Passwords(Counting(time_cost=1, memory_cost=8, parallelism=1)).check(PASSWORD, "")
    assert len(verified) == 1
    assert verified[0].startswith("$argon2id$v=19$m=8,t=1,p=1$")   # the same parameters: the same work


@pytest.mark.parametrize("password", ["", "1234567", None, "x" * 1025])
def test_too_short_and_too_long_ones_are_refused_with_a_sentence(password):
    with pytest.raises(AccessError, match=r"at least 8 characters|the limit is 1024"):
        passwords.hash(password)


def test_eight_characters_of_any_script_will_do():
    for password in ("12345678", "пароль да", "🐎🐎🐎🐎🐎🐎🐎🐎", "x" * 1024):
        assert passwords.check(password, passwords.hash(password)).right


def test_the_parameters_are_those_that_rfc_9106_recommends(monkeypatch):
    monkeypatch.setattr("annotation.accounts.service.PasswordHasher", PasswordHasher)   # tests hash lightly
    assert extract_parameters(Passwords().hash(PASSWORD)) == RFC_9106_LOW_MEMORY


def test_an_accent_may_be_typed_as_one_code_point_or_two():
    assert passwords.check("cafe\u0301 noir", passwords.hash("caf\u00e9 noir")).right


def test_a_hash_with_other_parameters_is_renewed_when_the_password_is_right():
    stronger = Passwords(PasswordHasher(time_cost=2, memory_cost=8, parallelism=1))
    old = passwords.hash(PASSWORD)
    checked = stronger.check(PASSWORD, old)
    assert checked.right and checked.renewed is not None and "t=2" in checked.renewed
    assert stronger.check(PASSWORD, checked.renewed).renewed is None
    assert stronger.check("wrong horse", old).renewed is None


# --- the clock of the machine jumps ----------------------------------------------------------

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ADDRESS = "198.18.0.1"


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
            people.sign_in("Bo", "a wrong password", ADDRESS)
        clock.now += timedelta(seconds=4)
    clock.now -= HOUR
    assert people.sign_in("Bo", PASSWORD, ADDRESS)


def test_a_clock_set_back_by_less_than_the_wait_at_most_doubles_it() -> None:
    throttle = Throttle(InMemoryPeopleStore())
    for _ in range(14):   # 2^9 seconds, so the longest wait: 300
        throttle.failed("bo", ADDRESS, NOON)
    moment, waited = NOON - timedelta(seconds=200), 0
    while True:
        try:
            throttle.check("bo", ADDRESS, moment)
            break
        except TooManyTries as wait:
            assert wait.seconds <= 300
            moment, waited = moment + timedelta(seconds=1), waited + 1
    assert waited == 500   # until 300 s after the last one


def test_a_wait_is_noted_again_after_a_clock_that_was_ahead() -> None:
    store = InMemoryPeopleStore()
    waits, wait = NotedWaits(store), TooManyTries("", 60, "address")
    for at, noted in ((NOON + DAY, 1), (NOON, 2), (NOON + timedelta(minutes=9), 2), (NOON + timedelta(minutes=10), 3)):
        waits.note(wait, "Bo", ADDRESS, at)
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
