"""``cirque user``, as a person types it."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from annotation.accounts.service import PeopleService
from cir_core.errors import AccessError
from cli.main import app
from tests.integration.homes import command_home, command_stores  # noqa: F401

PASSWORD = "correct horse"


@pytest.fixture
def cirque(home, monkeypatch):
    monkeypatch.setenv("CIRQUE_HOST", "127.0.0.1")
    monkeypatch.setenv("CIRQUE_PORT", "7861")
    return lambda *arguments, typed=None: CliRunner().invoke(app, ["user", *arguments], input=typed)


@pytest.fixture
def people(cirque, stores):
    return PeopleService(stores.people)


def test_from_the_first_admin_to_an_invitation(cirque, people):
    assert "cirque user add NAME --role admin" in cirque("list").stdout
    added = cirque("add", "Ada", "--role", "admin", "--password-stdin", typed=PASSWORD + "\n")
    assert added.stdout == "Ada may sign in as admin.\n"
    assert cirque("add", "Bob", "--role", "annotator", "--password-stdin", typed=PASSWORD).exit_code == 0
    assert people.visitor(people.sign_in("ada", PASSWORD)).role == "admin"

    assert cirque("role", "bob", "analyst").stdout == "Bob now has the role analyst.\n"
    secret = people.sign_in("Bob", PASSWORD)
    cirque("password", "bob", "--password-stdin", typed="another horse\r\n")
    assert people.visitor(secret) is None
    assert people.sign_in("Bob", "another horse")
    assert cirque("deactivate", "bob").stdout == "Bob can no longer sign in.\n"
    assert re.search(r"Bob +analyst +no ", cirque("list").stdout)
    assert cirque("activate", "bob").stdout == "Bob may sign in again.\n"

    printed = cirque("invite", "--role", "annotator", "--days", "2", "--uses", "3").stdout
    path, _, address = printed.splitlines()
    assert address.endswith(f" http://127.0.0.1:7861{path}")
    assert people.invitation(path.removeprefix("/join/")).uses_left == 3
    assert re.search(r"annotator +3 +local +20", cirque("list").stdout)


def test_an_invitation_is_withdrawn(cirque, people):
    cirque("add", "Ada", "--role", "admin", "--password-stdin", typed=PASSWORD)
    assert cirque("invitations").stdout.startswith("No open invitation. ")
    secret = cirque("invite", "--role", "annotator").stdout.splitlines()[0].removeprefix("/join/")
    other = people.invite("analyst", 7, 2, "Ada")
    handle, = re.findall(r"^ ?([0-9a-f]{8}) +annotator +1 +local ", cirque("invitations").stdout, re.M)
    assert cirque("withdraw", handle).stdout == (
        f"Withdrawn: the invitation {handle} (annotator) can no longer be used.\n")
    with pytest.raises(AccessError, match="can no longer be used"):
        people.accept(secret, "Bob", PASSWORD)
    assert people.invitation(other).uses_left == 2
    assert handle not in cirque("invitations").stdout and handle not in cirque("list").stdout
    again = cirque("withdraw", handle)
    assert isinstance(again.exception, AccessError) and f"no usable invitation '{handle}'" in str(again.exception)


def test_who_is_no_admin_any_more_loses_their_invitations(cirque, people):
    for name in ("Ada", "Eve", "Bob"):
        cirque("add", name, "--role", "admin", "--password-stdin", typed=PASSWORD)
    for name in ("Eve", "Bob", "Bob"):
        people.invite("admin", 365, 1000, name)
    gone = cirque("deactivate", "Eve").stdout
    assert gone.startswith("Eve can no longer sign in.\nTheir open invitation was withdrawn. ")
    gone = cirque("role", "Bob", "analyst").stdout
    assert gone.startswith("Bob now has the role analyst.\nTheir 2 open invitations were withdrawn. ")
    assert cirque("invitations").stdout.startswith("No open invitation. ")


def test_a_name_that_passes_for_another_is_refused_before_a_password_is_asked_for(cirque):
    cirque("add", "Ada", "--role", "admin", "--password-stdin", typed=PASSWORD)
    for name, said in (("\u0410da", "mixes Cyrillic and Latin"), ("Ada\u3164", "invisible")):
        assert said in str(cirque("add", name, "--role", "admin").exception)
    refused = cirque("add", "\ua4ee\ua4d3\ua4ee", "--role", "analyst", "--password-stdin", typed=PASSWORD)   # Lisu
    assert isinstance(refused.exception, AccessError) and "looks like “Ada”" in str(refused.exception)


@pytest.mark.parametrize(("arguments", "typed", "said"), [
    (("add", "Bob", "--role", "annotator", "--password-stdin"), PASSWORD, "must be an admin's"),
    (("add", "Bob", "--role", "boss"), None, "There is no role 'boss'"),
    (("add", "local", "--role", "admin", "--password-stdin"), PASSWORD, "is reserved for"),
    (("add", "Ada", "--role", "admin", "--password-stdin"), "short", "at least 8 characters"),
    (("add", "Ada", "--role", "admin"), PASSWORD, "--password-stdin"),
    (("invite", "--role", "annotator"), None, "admin account first"),
    (("role", "Eve", "admin"), None, "Eve"), (("password", "Eve"), None, "There is no account named “Eve”"),
    (("deactivate", "Eve"), None, "Eve"),
])
def test_what_cannot_be_done_is_a_sentence(cirque, arguments, typed, said):
    result = cirque(*arguments, typed=typed)
    assert isinstance(result.exception, AccessError), result.output
    assert said in str(result.exception)


def test_the_last_admin_stays(cirque):
    cirque("add", "Ada", "--role", "admin", "--password-stdin", typed=PASSWORD)
    for arguments in (("deactivate", "Ada"), ("role", "Ada", "analyst")):
        assert isinstance(cirque(*arguments).exception, AccessError)


def test_at_a_terminal_the_password_is_asked_for_twice(cirque, people, monkeypatch):
    monkeypatch.setattr("cli.admin.users._at_a_terminal", lambda: True)
    result = cirque("add", "Ada", "--role", "admin", typed=f"{PASSWORD}\nmistyped\n{PASSWORD}\n{PASSWORD}\n")
    assert result.exit_code == 0, result.output
    assert PASSWORD not in result.output and result.output.count("Repeat the password") == 2
    assert people.sign_in("Ada", PASSWORD)
