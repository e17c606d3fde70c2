"""Votes on the better method in side-by-side comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from annotation.records import MethodVote
from cir_core.errors import SearchError
from cir_core.support.texts import quoted
from cir_core.types.ids import new_id


class VoteStore(Protocol):
    """Committed on return."""

    def put_vote(self, vote: MethodVote) -> MethodVote:
        """Save ``vote``, replacing the same annotator's vote on the same comparison."""

    def votes(self, comparison_id: str | None = None) -> Sequence[MethodVote]:
        """Votes on one comparison, or all of them, oldest first."""


@dataclass(frozen=True)
class Tally:
    """Votes per method. ``wins + losses + ties`` is the number of votes on comparisons with it."""

    method: str
    wins: int
    losses: int
    ties: int


def make_vote(
    comparison_id: str, annotator: str, shown: Sequence[str], chosen: str | None, *, blind: bool, seconds: float
) -> MethodVote:
    """Create a validated vote, without storing it. ``shown``: the methods with results. Raises ``SearchError`` when
    ``chosen`` was not shown, or fewer than two were."""
    if len(shown) < 2:
        raise SearchError("Fewer than two methods had results, so there is nothing to choose between.")
    if chosen is not None and chosen not in shown:
        raise SearchError(f"{quoted(chosen)} is not one of the methods in this comparison. Reload the page.")
    return MethodVote(
        new_id(), comparison_id, annotator, tuple(shown), chosen, blind, max(0.0, seconds), datetime.now(UTC))


def tally(votes: Iterable[MethodVote]) -> list[Tally]:
    """Wins, losses and ties of every method, most wins first, then by name."""
    counts: dict[str, list[int]] = {}
    for vote in votes:
        for method in dict.fromkeys(vote.shown):
            count = counts.setdefault(method, [0, 0, 0])
            count[2 if vote.chosen is None else 0 if vote.chosen == method else 1] += 1
    rows = [Tally(method, *count) for method, count in counts.items()]
    return sorted(rows, key=lambda row: (-row.wins, row.method))
