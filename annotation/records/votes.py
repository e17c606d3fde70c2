"""Votes on methods, from side-by-side comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class MethodVote:
    """One person's choice among the columns of a comparison.

    ``shown``: methods in the order of the columns; ``chosen``: one of them, or None for "no
    difference". One vote per annotator and comparison: voting again revises it.
    """

    vote_id: str
    comparison_id: str
    annotator: str            # without sign-in a random id of the browser
    shown: tuple[str, ...]
    chosen: str | None
    blind: bool               # names were hidden until the vote
    seconds: float            # from showing to voting
    created_at: datetime
