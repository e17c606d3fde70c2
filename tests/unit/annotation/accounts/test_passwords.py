"""Passwords: hashed, checked, renewed; and waiting after wrong ones."""

from __future__ import annotations

import re

import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.profiles import RFC_9106_LOW_MEMORY

from annotation.accounts.passwords import Passwords
from cir_core.errors import AccessError
from tests.fakes.people import LIGHT, PASSWORD

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
    monkeypatch.setattr("annotation.accounts.passwords.PasswordHasher", PasswordHasher)   # tests hash lightly
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
