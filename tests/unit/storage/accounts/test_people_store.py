"""Accounts, sign-ins and invitations in the database."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from annotation.records import AuditEvent, Changed, Invitation, Person, SignIn
from cir_core.errors import AccessError
from storage.accounts.audit_log import SqlAuditLog
from storage.accounts.store import SqlPeopleStore
from storage.engine.database import writing
from storage.mapping import tables
from tests.fakes.databases import engine as engine

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
ADA = Person("Ada", "admin", "hash-a", True, NOW)
BO = Person("Bo", "annotator", "hash-b", True, NOW)


@pytest.fixture
def store(engine):
    return SqlPeopleStore(engine)


@pytest.fixture
def staffed(store):
    store.add(ADA)
    store.add(BO)
    return store


def hours(number):
    return NOW + timedelta(hours=number)


def a_sign_in(digest="d", name="Bo", until=8):
    return SignIn(digest, name, NOW, hours(until))


def an_invitation(digest="i", uses=1, until=8, made=0):
    return Invitation(digest, "annotator", uses, "Ada", hours(made), hours(until))


def test_people(store):
    assert not store.any() and store.people() == ()
    store.add(BO)
    store.add(ADA)
    assert store.any() and store.people() == (ADA, BO)
    assert store.person("ADA ") == ADA and store.person("Eve") is None
    assert "hash-a" not in repr(store.people())


def test_names_that_cannot_be_had(staffed):
    for name in ("bo", "BO", " Bo "):
        with pytest.raises(AccessError, match=r"already taken. Choose another name"):
            staffed.add(replace(BO, name=name))
    for name in ("", "  ", "a\0b", "\ud83d"):
        with pytest.raises(AccessError, match="empty or contains characters"):
            staffed.add(replace(BO, name=name))
        assert staffed.person(name) is None
    assert staffed.people() == (ADA, BO)


def test_changes(staffed):
    assert staffed.change("bo", role="researcher").person == replace(BO, role="researcher") == staffed.person("Bo")
    assert staffed.change("Bo", password_hash="other", active=False).person == replace(
        BO, role="researcher", password_hash="other", active=False)
    assert staffed.any()  # active or not
    assert staffed.change("Bo") == Changed(staffed.person("Bo"))
    with pytest.raises(AccessError, match="no account named 'Eve'"):
        staffed.change("Eve", active=True)


def test_one_active_admin_stays(staffed):
    for change in ({"role": "annotator"}, {"active": False}):
        with pytest.raises(AccessError, match="Ada is the only admin who can sign in"):
            staffed.change("ada", **change)
    staffed.change("Ada", role="admin", active=True, password_hash="new")
    staffed.change("Bo", role="admin", active=False)
    with pytest.raises(AccessError, match="only admin"):  # Bo is one, and cannot sign in
        staffed.change("Ada", active=False)
    staffed.change("Bo", active=True)
    assert not staffed.change("Ada", active=False).person.active
    with pytest.raises(AccessError, match="Bo is the only admin"):
        staffed.change("Bo", role="analyst")


def test_two_admins_who_leave_at_once(staffed):
    staffed.change("Bo", role="admin")
    start, refused = threading.Barrier(2), []

    def leave(name):
        start.wait()
        try:
            staffed.change(name, active=False)
        except AccessError:
            refused.append(name)

    threads = [threading.Thread(target=leave, args=(name,)) for name in ("Ada", "Bo")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 1 and staffed.person(refused[0]).active


def test_a_visitor(staffed):
    staffed.begin(a_sign_in(name="BO"))
    assert staffed.visitor("d", hours(7.9)) == (BO, a_sign_in())
    assert staffed.visitor("d", hours(8)) is None
    assert staffed.visitor("other", NOW) is None
    staffed.extend("d", hours(20))
    assert staffed.visitor("d", hours(19)) == (BO, a_sign_in(until=20))
    staffed.change("Bo", role="analyst")
    assert staffed.visitor("d", NOW)[0].role == "analyst"  # at once, and the sign-in goes on
    staffed.end("d")
    staffed.end("d")
    assert staffed.visitor("d", NOW) is None


@pytest.mark.parametrize("change", [{"password_hash": "new"}, {"active": False}])
def test_what_ends_sign_ins(staffed, change):
    for digest, name in (("1", "Bo"), ("2", "Bo"), ("3", "Ada")):
        staffed.begin(a_sign_in(digest, name))
    staffed.change("Bo", **change)
    staffed.change("Bo", active=True)
    assert [staffed.visitor(digest, NOW) is None for digest in "123"] == [True, True, False]


def test_nobody_who_left_signs_in(staffed):
    staffed.change("Bo", active=False)
    for name in ("Bo", "Eve"):
        with pytest.raises(AccessError, match=f"{name} can no longer sign in"):
            staffed.begin(a_sign_in(name=name))


def test_expired_sign_ins_are_cleared_away(staffed):
    staffed.begin(a_sign_in("old", until=1))
    staffed.begin(replace(a_sign_in("young"), created_at=hours(1)))   # the clock may have been ahead
    assert staffed.visitor("old", NOW) and staffed.visitor("old", hours(1)) is None
    staffed.begin(replace(a_sign_in("new"), created_at=hours(1 + 7 * 24)))
    staffed.extend("old", hours(9))  # it is gone, not only hidden
    assert staffed.visitor("old", NOW) is None and staffed.visitor("new", NOW)


def test_invitations(staffed):
    staffed.invite(an_invitation("a", uses=2))
    staffed.invite(an_invitation("b", until=2, made=1))
    assert staffed.invitations(NOW) == (an_invitation("b", until=2, made=1), an_invitation("a", uses=2))
    assert staffed.invitation("b", hours(2)) is None and staffed.invitations(hours(2)) == (an_invitation("a", uses=2),)
    cy = Person("Cy", "annotator", "hash-c", True, NOW)
    staffed.accept("a", cy, NOW)
    assert staffed.person("cy") == cy and staffed.invitation("a", NOW).uses_left == 1
    with pytest.raises(AccessError, match="'Cy' is already taken"):
        staffed.accept("a", cy, NOW)
    assert staffed.invitation("a", NOW).uses_left == 1  # neither
    staffed.accept("a", replace(cy, name="Di"), NOW)
    assert staffed.invitation("a", NOW) is None
    for digest in ("a", "b", "forged"):
        with pytest.raises(AccessError, match="can no longer be used"):
            staffed.accept(digest, replace(cy, name="Eve"), hours(3))
    assert staffed.person("Eve") is None


def test_a_withdrawn_invitation_is_gone(staffed):
    staffed.invite(an_invitation("a"))
    staffed.invite(an_invitation("b"))
    assert staffed.withdraw("a") and not staffed.withdraw("a") and not staffed.withdraw("")
    assert staffed.invitation("a", NOW) is None and staffed.invitations(NOW) == (an_invitation("b"),)
    with pytest.raises(AccessError, match="can no longer be used"):
        staffed.accept("a", replace(BO, name="Cy"), NOW)
    assert staffed.person("Cy") is None


def test_the_last_use_goes_to_one_of_two(staffed):
    staffed.invite(an_invitation())
    start, refused = threading.Barrier(2), []

    def accept(name):
        start.wait()
        try:
            staffed.accept("i", replace(BO, name=name), NOW)
        except AccessError:
            refused.append(name)

    threads = [threading.Thread(target=accept, args=(name,)) for name in ("Cy", "Di")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 1 and len(staffed.people()) == 3


@pytest.mark.parametrize("change", [{"active": False}, {"role": "researcher"}])
def test_who_invites_no_more_has_no_open_invitation_left(staffed, change):
    staffed.change("Bo", role="admin")
    for digest, uses, until in (("1" * 64, 5, 8), ("2" * 64, 1, 9), ("3" * 64, 1, 2)):
        staffed.invite(replace(an_invitation(digest, uses, until), created_by="bo", role="admin"))
    staffed.invite(an_invitation("4" * 64))
    staffed.invite(replace(an_invitation("5" * 64), created_by="local"))
    assert {one.created_by for one in staffed.invitations(NOW)} == {"Ada", "Bo", "local"}   # as the account has it
    assert staffed.change("Bo", **change, by="Ada", at=hours(3)).withdrawn == 2   # one was too old by then
    assert {one.digest[0] for one in staffed.invitations(NOW)} == {"4", "5"}
    for digest in ("1" * 64, "2" * 64, "3" * 64):
        with pytest.raises(AccessError, match="can no longer be used"):
            staffed.accept(digest, replace(BO, name="Bo again", role="admin"), NOW)
    noted = [one.act for one in SqlAuditLog(staffed.engine).acts(limit=2)]
    assert {(act.kind, act.by, act.about, act.details["made_by"]) for act in noted} == {
        ("invitation.withdrawn", "Ada", digit * 8, "Bo") for digit in "12"}
    with pytest.raises(AccessError, match="Only admins can invite"):   # a click that was on its way
        staffed.invite(replace(an_invitation("6" * 64), created_by="Bo"))
    staffed.change("Bo", role="admin", active=True)
    assert {one.digest[0] for one in staffed.invitations(NOW)} == {"4", "5"}   # they do not come back


def test_an_invitation_needs_an_admin_behind_it_whatever_happened_before(staffed):
    """A database in which somebody was deactivated without that."""
    staffed.change("Bo", role="admin")
    staffed.invite(replace(an_invitation(), created_by="Bo"))
    with writing(staffed.engine) as connection:
        connection.execute(tables.people.update().where(tables.people.c.name == "Bo").values(active=False))
    assert staffed.invitation("i", NOW) is None and staffed.invitations(NOW) == ()
    with pytest.raises(AccessError, match="can no longer be used"):
        staffed.accept("i", replace(BO, name="Cy"), NOW)
    staffed.change("Bo", active=True)
    assert staffed.invitation("i", NOW) is None


def test_who_invites_and_is_deactivated_at_once_leaves_no_invitation(staffed):
    staffed.change("Bo", role="admin")
    start = threading.Barrier(5)

    def invite(number):
        start.wait()
        with suppress(AccessError):
            staffed.invite(replace(an_invitation(str(number)), created_by="Bo"))

    threads = [threading.Thread(target=invite, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    start.wait()
    staffed.change("Bo", active=False, at=NOW)
    for thread in threads:
        thread.join()
    with staffed.engine.connect() as connection:
        assert connection.execute(tables.invitations.select()).all() == []   # not only hidden


def test_a_name_that_looks_like_anothers_is_taken(staffed):
    staffed.invite(an_invitation())
    for same in ("\u0410da", "Ad\u200da", "\u0410D\u0410"):
        with pytest.raises(AccessError, match="looks like 'Ada'"):
            staffed.add(replace(BO, name=same))
        with pytest.raises(AccessError, match="looks like 'Ada'"):
            staffed.accept("i", replace(BO, name=same), NOW)
    assert staffed.people() == (ADA, BO) and staffed.invitation("i", NOW)


def test_where_somebody_has_signed_in_from(staffed):
    for digest, name, address in (("1", "Bo", "10.0.0.1"), ("2", "BO", "10.0.0.1"), ("3", "Bo", "2001:db8::1"),
                                  ("4", "Bo", ""), ("5", "Ada", "10.0.0.9")):
        staffed.begin(a_sign_in(digest, name), address)
    staffed.note(AuditEvent("sign-in.failed", "", "Bo", details={"address": "198.51.100.1"}))
    long_ago, later = datetime(2020, 1, 1, tzinfo=UTC), datetime.now(UTC) + timedelta(hours=1)
    assert set(staffed.signed_in_from("bo", long_ago)) == {"10.0.0.1", "2001:db8::1"}
    assert not staffed.signed_in_from("Bo", later) and not staffed.signed_in_from("Eve", long_ago)
