"""Records of adjudication: what an adjudicator answered before seeing the judges' answers, and what is said of an item
between adjudicators and judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

Why = Literal["unsure", "tie", "split", "flags", "agreement"]
"""Reason why an item needs a decision: see :mod:`annotation.adjudication.needs`."""
WHYS: tuple[Why, ...] = ("unsure", "tie", "split", "flags", "agreement")
"""The most urgent first."""
Speaker = Literal["adjudicator", "judge"]


@dataclass(frozen=True)
class FirstAnswer:
    """An adjudicator's own answer to an item, given before seeing those of the judges. It is never changed."""

    study_id: str
    item_id: str
    adjudicator: str
    answer: Mapping[str, Any]          # in the canonical form of the kind
    created_at: datetime


@dataclass(frozen=True)
class Message:
    """A contribution to the discussion on an item."""

    message_id: str
    study_id: str
    item_id: str
    author: str
    role: Speaker
    token: str                         # idempotency token of the client
    text: str
    created_at: datetime
