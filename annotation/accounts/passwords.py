"""Password hashing with Argon2id (RFC 9106), by argon2-cffi."""

from __future__ import annotations

import secrets
import unicodedata
from dataclasses import dataclass
from functools import cached_property

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from cir_core.errors import AccessError

MIN_PASSWORD = 8
MAX_PASSWORD = 1024   # limits the work that an anonymous request can cause


@dataclass(frozen=True)
class Checked:
    """Result of a check. ``renewed``: new hash to store, if the stored hash has outdated parameters."""

    right: bool
    renewed: str | None = None


class Passwords:
    """Hashes and checks passwords. Thread-safe; each call takes a core for some tens of milliseconds."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()

    def hash(self, password: object) -> str:
        """Hash with salt and parameters, to store. Raises ``AccessError`` for a password that is too short or too
        long."""
        if not isinstance(password, str) or len(password) < MIN_PASSWORD:
            raise AccessError(f"Choose a password of at least {MIN_PASSWORD} characters. A few words are easy to "
                              "remember.")
        if len(password) > MAX_PASSWORD:
            raise AccessError(f"The password has {len(password)} characters; the limit is {MAX_PASSWORD}.")
        return self._hasher.hash(_bytes(password))

    def check(self, password: object, stored: str) -> Checked:
        """Whether ``password`` matches the hash ``stored``. An empty hash (unknown person, no password yet) takes as
        long, and never matches."""
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
    # Systems differ in the code points that they produce for the same letters.
    return unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")
