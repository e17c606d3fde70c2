"""Completion codes, for studies of every kind: a participant shows one to whoever pays."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from annotation.records import name_key

CODE_LENGTH = 8   # hex digits


def new_secret() -> str:
    """A secret for codes. Not derived from a study's seed, from which codes could be forged."""
    return secrets.token_hex(32)


def person_code(secret: str, study_id: str, annotator: str) -> str:
    """The code of a person in a study: the same whenever it is asked for."""
    digest = hmac.new(secret.encode(), f"{study_id}/{name_key(annotator)}".encode(), hashlib.sha256)
    return digest.hexdigest()[:CODE_LENGTH].upper()
