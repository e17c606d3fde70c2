"""Votes on methods, from searches side by side."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class MethodVote:
    """One person's choice among the columns of a comparison.

    ``shown`` are the methods in the order they stood on the screen; ``chosen`` is one of
    them, or None for "no difference". One vote for each annotator and comparison: voting again
    revises it.
    """

    vote_id: str
    comparison_id: str
    annotator: str            # who voted; without sign-in a random id of the browser
    shown: tuple[str, ...]
    chosen: str | None
    blind: bool               # the names were hidden until after the vote
    seconds: float            # from showing to voting
    created_at: datetime
