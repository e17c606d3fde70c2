"""Votes on the better method in side-by-side comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from annotation.records import MethodVote
from cir_core.errors import SearchError
from cir_core.support.texts import quoted
from cir_core.types.records import new_id


class VoteStore(Protocol):
    """Committed on return."""

    def put_vote(self, vote: MethodVote) -> MethodVote:
        """Save ``vote``, replacing the same annotator's vote on the same comparison."""

    def votes(self, comparison_id: str | None = None, annotator: str | None = None) -> Sequence[MethodVote]:
        """Votes on one comparison, of one annotator, or all of them, oldest first."""


@dataclass(frozen=True)
class Tally:
    """Votes per method. ``wins + losses + ties`` is the number of votes on comparisons with it."""

    method: str
    wins: int
    losses: int
    ties: int


@dataclass(frozen=True)
class Agreement:
    """Of the pairs of a chosen method and one that was shown beside it: those that a metric orders as the person did,
    those that it orders the other way round, and those that it does not tell apart. Votes for "no difference" order
    nothing and do not count."""

    agreed: int = 0
    disagreed: int = 0
    tied: int = 0

    @property
    def n(self) -> int:
        """Pairs that the metric orders."""
        return self.agreed + self.disagreed


def agreement(judged: Iterable[tuple[MethodVote, Mapping[str, float]]]) -> Agreement:
    """Votes, each with the metric's scores by method; methods without a score are left out."""
    agreed = disagreed = tied = 0
    for vote, scores in judged:
        if vote.chosen is None or vote.chosen not in scores:
            continue
        best = scores[vote.chosen]
        for method in dict.fromkeys(vote.shown):
            if method != vote.chosen and method in scores:
                agreed += best > scores[method]
                disagreed += best < scores[method]
                tied += best == scores[method]
    return Agreement(agreed, disagreed, tied)


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
