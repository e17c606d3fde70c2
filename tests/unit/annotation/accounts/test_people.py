"""Accounts, sign-ins, invitations and roles, over both stores."""

from __future__ import annotations

import hashlib
import threading
from datetime import timedelta

import pytest
from argon2 import PasswordHasher

from annotation.accounts.account_names import clean_name, new_name
from annotation.accounts.roles import EVERYTHING, ROLES, SAYS, as_role, may
from annotation.accounts.service import VISITOR_SECONDS, Passwords, PeopleService, digest_of
from annotation.records import Person, looks_like
from cir_core.errors import AccessError, SignInFailed, StorageError, TooManyTries
from cir_core.support.revocable_cache import RevocableCache
from tests.fakes.people import LIGHT, NOON, PASSWORD, people_service
from tests.fakes.people_store import InMemoryPeopleStore


@pytest.fixture
def people(store, clock):
    service = people_service(store, clock=clock, visitor_cache=RevocableCache(10, VISITOR_SECONDS, clock.seconds))
    service.add("Ada", PASSWORD, "admin")
    return service


# --- roles and names ----------------------------------------------------------------------


def test_what_each_role_may():
    assert may("admin") == {"search", "annotate", "adjudicate", "manage", "results", "people"} == EVERYTHING
    assert may("researcher") == {"search", "annotate", "adjudicate", "manage", "results"}
    assert may("analyst") == {"results"}
    assert may("annotator") == {"annotate"}
    assert set(SAYS) == set(ROLES) == {"admin", "researcher", "analyst", "annotator"}


@pytest.mark.parametrize("wrong", ["", "Admin", "root", None, 3, ["admin"]])
def test_a_role_that_is_not_there_names_those_there_are(wrong):
    with pytest.raises(AccessError, match="admin, researcher, analyst, annotator"):
        as_role(wrong)


@pytest.mark.parametrize(("given", "kept"), [
    ("  Ada  ", "Ada"), ("Ada   Byron", "Ada Byron"), ("Zoe\u0308", "Zoë"), ("محمد", "محمد"), ("👩🏽‍🔬", "👩🏽‍🔬"),
    ("annotator_1", "annotator_1"), ("x" * 64, "x" * 64), ("a/b?c", "a/b?c"), ("Locale", "Locale"),
])
def test_names_are_tidied(given, kept):
    assert clean_name(given) == kept


@pytest.mark.parametrize("given", [
    "", "   ", "x" * 65, "a\nb", "a\tb", "a\x00b", "\u202eadmin", "a\u200bb", "\ufeffAda", "\u200d", "\ud800", "local",
    " Local ", "LOCAL", None, 7,
])
def test_names_that_cannot_be(given):
    with pytest.raises(AccessError):
        clean_name(given)


@pytest.mark.parametrize("name", [
    "Ad\u200da", "Ada\u200c", "\u200dAda", "Ada\u3164", "Ada\ufe0f", "Ada\u034f", "Ada\u115f", "Ada\u1160", "Ada\uffa0",
    "Ada\ufe00", "Ada\U000e0100", "Ada\u2800", "\u2800", "Ada\u180b", "\u0410da", "Ad\u03b1", "L\u0456nus", 
    "loca\u04cf", "\ufe0fAda", "Ada \ufe0f", "`\ufe0f", "Iocal",
])
def test_nobody_new_passes_for_another_by_letters_that_are_not_seen_or_of_two_scripts(name):
    with pytest.raises(AccessError, match=r"invisible|mixes|is reserved for"):
        new_name(name)


@pytest.mark.parametrize("name", [
    "Анна", "Сара", "Ольга Smith", "Σοφία", "Արամ", "Zoë", "محمد", "علی\u200cرضا", "क\u094d\u200dष", "👩🏽\u200d🔬",
    "👁\ufe0f\u200d🗨\ufe0f", "❤\ufe0f", "O’Нил", "annotator_1", "田中", "김",
])
def test_names_of_any_script_are_possible(name):
    assert new_name(name) == name


@pytest.mark.parametrize(("one", "other"), [
    ("Ada", "Ad\u200da"), ("Ada", "Ada\u3164"), ("Ada", "Ada\ufe0f"), ("Ada", "Ada\u034f"), ("Ada", "\u0410da"),
    ("ada", "\u0410D\u0410"), ("Sara", "Ѕаrа"), ("Capa", "Сара"), ("Iris", "lris"), ("Ian", "\u0406an"), ("Tom", "Τοm"),
    ("Nora", "ΝΟRΑ"), ("Ada", "Ａｄａ"), ("Ada", "𝐀𝐝𝐚"), ("Ada", "ꓮꓓꓮ"), ("Zoë", "Zoё"), ("❤", "❤\ufe0f"),
])
def test_names_that_look_the_same(one, other):
    assert looks_like(one, other) and looks_like(other, one)


@pytest.mark.parametrize(("one", "other"), [
    ("Ada", "Анна"), ("Elle", "Elie"), ("Anna", "Анна"), ("Sara", "Сара"), ("Ada", "Áda"), ("P1", "Pl"), ("Zoe", "Zoë"),
])
def test_names_that_do_not(one, other):
    assert not looks_like(one, other)


def test_a_name_that_looks_like_an_accounts_is_taken_by_invitation_and_by_hand(people):
    people.add("Capa", PASSWORD, "annotator")
    secret = people.invite("admin", 7, 1, "Ada")
    for same in ("Сара", "Сара ", "САРА"):   # Cyrillic throughout, so it may be a name
        with pytest.raises(AccessError, match="looks like “Capa”"):
            people.add(same, PASSWORD, "annotator")
        with pytest.raises(AccessError, match="looks like “Capa”"):
            people.accept(secret, same, PASSWORD)
    people.accept(secret, "Саша", PASSWORD)
    people.deactivate("Capa")
    with pytest.raises(AccessError, match="looks like “Capa”"):   # judgements go on carrying it
        people.add("Сара", PASSWORD, "annotator")


def test_who_has_such_a_name_from_before_still_signs_in(people, store):
    for old in ("Nα", "葛\U000e0100"):
        store.add(Person(old, "annotator", LIGHT.hash(PASSWORD), True, NOON))
        assert people.visitor(people.sign_in(old, PASSWORD)).name == old


# --- accounts -----------------------------------------------------------------------------


def test_open_until_there_is_an_account(store, clock):
    people = people_service(store, clock=clock)
    assert people.is_open()
    assert people.cached_state("whatever").open
    people.add("Ada", PASSWORD, "admin")
    assert not people.is_open()                       # at once, in the process that added it
    assert not people_service(store).is_open()
    assert people.cached_state(None).person is None


def test_an_account_made_by_another_process_closes_it_within_seconds(store, monkeypatch):
    people, now = people_service(store), [0.0]
    monkeypatch.setattr("annotation.accounts.service.time.monotonic", lambda: now[0])
    assert people.is_open()
    people_service(store).add("Ada", PASSWORD, "admin")
    now[0] = 1.5
    assert people.cached_state(None) is None                # it has to be asked
    assert not people.auth_state(None).open


def test_the_first_account_is_an_admins(store):
    people = people_service(store)
    with pytest.raises(AccessError, match="must be an admin's"):
        people.add("Bob", PASSWORD, "annotator")
    with pytest.raises(AccessError, match="admin account first"):
        people.invite("annotator", 7, 1, "local")
    assert people.is_open()


def test_names_are_unique_without_regard_to_case(people):
    for same in ("Ada", "ADA", " ada "):
        with pytest.raises(AccessError, match=r"taken|called"):
            people.add(same, PASSWORD, "annotator")
    assert [one.name for one in people.people()] == ["Ada"]


def test_what_is_stored_is_no_password_and_no_secret(people, store):
    secret = people.sign_in("ada", PASSWORD)
    assert PASSWORD not in store.person("ada").password_hash
    assert len(secret) == 43   # 32 bytes in base 64: ceil(32 * 8 / 6) = 43 letters
    digest = hashlib.sha256(secret.encode()).hexdigest()
    assert digest == digest_of(secret)
    assert store.visitor(digest, NOON)[0].name == "Ada"
    assert store.visitor(secret, NOON) is None
    assert PASSWORD not in repr(people.people())


def test_the_last_admin_stays(people):
    with pytest.raises(AccessError, match="admin"):
        people.deactivate("Ada")
    with pytest.raises(AccessError, match="admin"):
        people.set_role("ada", "analyst")
    people.add("Bob", PASSWORD, "admin")
    people.deactivate("Ada")
    assert [(one.name, one.active) for one in people.people()] == [("Ada", False), ("Bob", True)]


def test_who_is_not_there_cannot_be_changed(people):
    for change in (lambda: people.set_role("Eve", "admin"), lambda: people.set_password("Eve", PASSWORD),
                   lambda: people.deactivate("Eve"), lambda: people.person("Eve")):
        with pytest.raises(AccessError, match="Eve"):
            change()


# --- signing in ---------------------------------------------------------------------------


def test_in_and_out(people):
    secret = people.sign_in("  aDA ", PASSWORD)
    assert people.visitor(secret).name == "Ada"
    assert people.auth_state(secret).person.role == "admin"
    people.sign_out(secret)
    assert people.visitor(secret) is None
    assert people.auth_state(secret).person is None
    people.sign_out(secret)   # again: nothing


def test_one_sentence_for_a_wrong_name_a_wrong_password_and_who_is_inactive(people):
    people.add("Bob", PASSWORD, "annotator")
    people.deactivate("Bob")
    said = set()
    for name, password in (("Ada", "wrong horse"), ("Eve", PASSWORD), ("Bob", PASSWORD), ("", ""), ("local", PASSWORD),
                           ("a\x00", PASSWORD), (None, None), ("x" * 9999, PASSWORD)):
        with pytest.raises(SignInFailed) as caught:
            people.sign_in(name, password)
        said.add(str(caught.value))
    assert said == {"The name or password is wrong. Check both and try again."}


def test_a_sign_in_slides_and_ends(store, clock):
    people = people_service(store, clock=clock, sign_in_days=14)
    people.add("Ada", PASSWORD, "admin")
    secret = people.sign_in("Ada", PASSWORD)
    clock.move(minutes=59)
    assert people.visitor(secret)
    assert store.visitor(digest_of(secret), clock.now)[1].expires_at == NOON + timedelta(days=14)   # not yet
    clock.move(minutes=1)
    assert people.visitor(secret)
    assert store.visitor(digest_of(secret), clock.now)[1].expires_at == NOON + timedelta(days=14, hours=1)
    clock.move(days=13, hours=23)
    assert people.visitor(secret)
    clock.move(days=14)
    assert people.visitor(secret) is None


def test_a_short_life_slides_too(store, clock):
    people = people_service(store, clock=clock, sign_in_days=1 / 24)   # an hour; a quarter of it is 15 minutes
    people.add("Ada", PASSWORD, "admin")
    secret = people.sign_in("Ada", PASSWORD)
    for _ in range(8):
        clock.move(minutes=20)
        assert people.visitor(secret)
    clock.move(minutes=60)
    assert people.visitor(secret) is None


def test_a_new_password_ends_sign_ins_and_a_role_counts_at_once(people):
    people.add("Bob", PASSWORD, "annotator")
    bob, ada = people.sign_in("Bob", PASSWORD), people.sign_in("Ada", PASSWORD)
    assert people.auth_state(bob).person.role == "annotator"
    people.set_role("bob", "researcher")
    assert people.cached_state(bob) is None                          # forgotten
    assert people.auth_state(bob).person.role == "researcher"
    people.set_password("bob", "another horse")
    assert people.auth_state(bob).person is None
    assert people.auth_state(ada).person.name == "Ada"
    with pytest.raises(SignInFailed):
        people.sign_in("Bob", PASSWORD)
    again = people.sign_in("Bob", "another horse")
    people.deactivate("Bob")
    assert people.auth_state(again).person is None
    people.reactivate("Bob")
    assert people.auth_state(again).person is None                   # signs in anew
    assert people.sign_in("Bob", "another horse")


def test_the_store_is_asked_once_in_three_seconds(clock):
    store = InMemoryPeopleStore()
    people = people_service(store, clock=clock, visitor_cache=RevocableCache(10, 3, clock.seconds))
    people.add("Ada", PASSWORD, "admin")
    secret = people.sign_in("Ada", PASSWORD)
    people.visitor(secret)
    assert store.asked == 1
    for _ in range(30):
        assert people.cached_state(secret).person.name == "Ada"
    assert store.asked == 1
    clock.move(seconds=3)
    assert people.cached_state(secret) is None


def test_what_was_read_before_a_change_is_not_remembered_after_it(clock):
    """A slow look at the store meets a sign-out: the answer it brings is old."""
    store, secret = InMemoryPeopleStore(), []

    class Slow(InMemoryPeopleStore):
        def visitor(self, digest, now):
            found = store.visitor(digest, now)
            people.sign_out(secret[0])
            return found

    slow = Slow()
    slow._people, slow.sign_ins = store._people, store.sign_ins
    people = people_service(slow, clock=clock)
    people.add("Ada", PASSWORD, "admin")
    secret.append(people.sign_in("Ada", PASSWORD))
    people.visitor(secret[0])
    assert people.cached_state(secret[0]) is None


def test_a_hash_with_older_parameters_is_replaced_at_the_next_sign_in(store):
    people_service(store).add("Ada", PASSWORD, "admin")
    old = store.person("Ada").password_hash
    stronger = PeopleService(store, passwords=Passwords(PasswordHasher(time_cost=2, memory_cost=8, parallelism=1)))
    secret = stronger.sign_in("Ada", PASSWORD)
    assert stronger.visitor(secret).name == "Ada"
    assert store.person("Ada").password_hash != old
    assert "t=2" in store.person("Ada").password_hash
    assert LIGHT.check_needs_rehash(store.person("Ada").password_hash)


def test_after_five_wrong_ones_one_waits_by_name_and_address(people):
    for _ in range(5):
        with pytest.raises(SignInFailed):
            people.sign_in("Ada", "wrong horse", "10.0.0.1")
    with pytest.raises(TooManyTries):
        people.sign_in("ADA", PASSWORD, "10.0.0.1")       # also with the right one
    assert people.sign_in("Ada", PASSWORD, "10.0.0.2")    # whoever tries that cannot lock her out
    with pytest.raises(SignInFailed, match="is wrong"):
        people.sign_in("Bob", PASSWORD, "10.0.0.1")


def test_a_network_of_ipv6_is_one_address_when_signing_in(people):
    for number in range(5):
        with pytest.raises(SignInFailed):
            people.sign_in("Ada", "wrong horse", f"2001:db8:1:2::{number}")
    for address in ("2001:db8:1:2:ffff::1", "2001:db8:1:2::4"):
        with pytest.raises(TooManyTries):
            people.sign_in("Ada", PASSWORD, address)
    assert people.sign_in("Ada", PASSWORD, "2001:db8:1:3::1")


def test_whose_name_is_guessed_from_everywhere_gets_in_where_they_were_before(people):
    people.sign_in("Ada", PASSWORD, "10.0.0.1")
    for number in range(30):
        with pytest.raises(SignInFailed):
            people.sign_in("Ada", "wrong horse", f"198.51.100.{number}")
    with pytest.raises(TooManyTries, match="from an address you have used before") as caught:
        people.sign_in("Ada", PASSWORD, "198.51.100.99")
    assert caught.value.seconds == 60
    assert people.sign_in("ada", PASSWORD, "10.0.0.1")


# --- invitations --------------------------------------------------------------------------


def test_an_invitation_makes_an_account_and_is_used_up(people, clock):
    secret = people.invite("annotator", 7, 2, "Ada")
    assert [(one.role, one.uses_left, one.created_by) for one in people.invitations()] == [("annotator", 2, "Ada")]
    signed_in = people.accept(secret, " Bob ", PASSWORD)
    assert people.visitor(signed_in).name == "Bob"
    assert people.visitor(signed_in).role == "annotator"
    with pytest.raises(AccessError, match=r"taken|called"):
        people.accept(secret, "BOB", PASSWORD)
    with pytest.raises(AccessError, match="8 characters"):
        people.accept(secret, "Eve", "short")
    assert people.invitation(secret).uses_left == 1       # what failed used nothing
    people.accept(secret, "Eve", PASSWORD)
    with pytest.raises(AccessError, match="can no longer be used"):
        people.accept(secret, "Joe", PASSWORD)
    assert [one.name for one in people.people()] == ["Ada", "Bob", "Eve"]


def test_an_invitation_ends(people, clock):
    secret = people.invite("analyst", 7, 1, "Ada")
    clock.move(days=7)
    with pytest.raises(AccessError, match="can no longer be used"):
        people.invitation(secret)
    with pytest.raises(AccessError, match="can no longer be used"):
        people.invitation("made up")
    assert list(people.invitations()) == []


@pytest.mark.parametrize(("role", "days", "uses"), [
    ("annotator", 0, 1), ("annotator", -1, 1), ("annotator", 366, 1), ("annotator", float("nan"), 1),
    ("annotator", 7, 0), ("annotator", 7, 1001), ("boss", 7, 1),
])
def test_invitations_that_make_no_sense(people, role, days, uses):
    with pytest.raises(AccessError):
        people.invite(role, days, uses, "Ada")


def test_an_invitation_is_withdrawn(people):
    kept, gone = people.invite("annotator", 7, 2, "Ada"), people.invite("annotator", 7, 2, "Ada")
    people.accept(gone, "Eve", PASSWORD)
    handle = people.invitation(gone).handle
    assert handle == hashlib.sha256(gone.encode()).hexdigest()[:8]
    for wrong in ("", handle[:7], "0" * 8, handle[:7] + "%"):   # nothing goes by a part of its name
        with pytest.raises(AccessError, match="There is no usable invitation"):
            people.withdraw(wrong)
    assert people.withdraw(f" {handle.upper()} ").uses_left == 1
    for again in (people.invitation, lambda secret: people.accept(secret, "Mallory", PASSWORD)):
        with pytest.raises(AccessError, match="can no longer be used"):
            again(gone)
    assert [one.handle for one in people.invitations()] == [people.invitation(kept).handle]
    assert people.person("Eve").active                    # who had used it stays
    with pytest.raises(AccessError, match="List all: cirque user invitations"):
        people.withdraw(handle)


def test_two_at_once_use_an_invitation_for_one_once(people):
    secret, errors, ready = people.invite("annotator", 7, 1, "Ada"), [], threading.Barrier(4)

    def accept(name: str) -> None:
        ready.wait()
        try:
            people.accept(secret, name, PASSWORD)
        except (AccessError, StorageError) as error:
            errors.append(error)

    threads = [threading.Thread(target=accept, args=(f"person {number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(people.people()) == 2 and len(errors) == 3


@pytest.mark.parametrize("loses", [lambda people: people.deactivate("Eve", by="Ada"),
                                   lambda people: people.set_role("Eve", "researcher", by="Ada")])
def test_nobody_comes_back_by_an_invitation_they_made(people, clock, loses):
    people.add("Eve", PASSWORD, "admin")
    back, other = people.invite("admin", 365, 1000, "Eve"), people.invite("annotator", 7, 1, "Eve")
    old, kept = people.invite("annotator", 1, 1, "Eve"), people.invite("annotator", 7, 1, "Ada")
    clock.move(days=2)
    assert loses(people).withdrawn == 2   # the old one had ended by itself
    for secret in (back, other, old):
        with pytest.raises(AccessError, match="can no longer be used"):
            people.accept(secret, "Eve again", PASSWORD)
    with pytest.raises(AccessError, match="Only admins can invite"):
        people.invite("admin", 7, 1, "Eve")
    assert [one.created_by for one in people.invitations()] == ["Ada"]
    people.set_role("Eve", "admin")
    people.reactivate("Eve")
    assert [one.created_by for one in people.invitations()] == ["Ada"]
    assert people.accept(kept, "Bob", PASSWORD)


def test_who_stays_an_admin_keeps_their_invitations(people):
    people.add("Eve", PASSWORD, "admin")
    secret = people.invite("annotator", 7, 1, "Eve")
    people.set_password("Eve", "another horse")
    assert people.set_role("Eve", "admin").withdrawn == 0
    assert people.accept(secret, "Bob", PASSWORD)
