"""Passwords: Argon2id hashes (RFC 9106) by argon2-cffi."""

from __future__ import annotations

import secrets
import unicodedata
from dataclasses import dataclass
from functools import cached_property

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from cir_core.errors import AccessError

MIN_PASSWORD = 8
MAX_PASSWORD = 1024   # bounds the work a stranger can ask for


@dataclass(frozen=True)
class Checked:
    """``renewed``: the same password hashed with today's parameters, where those of the stored hash
    are older; to be kept in its place."""

    right: bool
    renewed: str | None = None


class Passwords:
    """Hashes and checks passwords. Thread-safe; each call takes a core for some tens of milliseconds."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()

    def hash(self, password: object) -> str:
        """The hash to store, with its salt and parameters. Raises ``AccessError`` for a password that
        is too short or too long."""
        if not isinstance(password, str) or len(password) < MIN_PASSWORD:
            raise AccessError(f"Take a password of at least {MIN_PASSWORD} characters. A few words are easy to keep "
                              "in mind.")
        if len(password) > MAX_PASSWORD:
            raise AccessError(f"The password has {len(password)} characters; the limit is {MAX_PASSWORD}.")
        return self._hasher.hash(_bytes(password))

    def check(self, password: object, stored: str) -> Checked:
        """Whether ``password`` is the one that was hashed to ``stored``. ``stored`` may be empty (no such
        person, no password yet): that takes as long, and is wrong."""
        given = password if isinstance(password, str) and len(password) <= MAX_PASSWORD else ""
        try:
            self._hasher.verify(stored or self._nobody, _bytes(given))
        except (VerificationError, InvalidHashError):
            return Checked(False)
        if not stored:
            return Checked(False)
        return Checked(True, self._hasher.hash(_bytes(given)) if self._hasher.check_needs_rehash(stored) else None)

    @cached_property
    def _nobody(self) -> str:
        return self._hasher.hash(secrets.token_bytes(32))


def _bytes(password: str) -> bytes:
    # The same letters are typed as different code points on different systems.
    return unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")
