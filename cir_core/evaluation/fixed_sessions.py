"""Sessions with fixed references and texts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class FixedTurn:
    reference_id: str
    text: str


@dataclass(frozen=True)
class FixedSession:
    category: str
    target_id: str
    turns: tuple[FixedTurn, ...]


def digest_of(sessions: Sequence[FixedSession]) -> str:
    """16 hex digits over the content of the sessions."""
    text = json.dumps([asdict(session) for session in sessions], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
