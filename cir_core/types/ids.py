"""Opaque ids."""

from __future__ import annotations

import secrets

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford base 32: no i, l, o, u


def new_id(length: int = 16) -> str:
    """A random id for URLs: 5 bits per character, no ambiguous letters."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))
