"""Comparisons and votes in dictionaries."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.records import MethodVote
from cir_core.errors import UnknownSession
from cir_core.sessions.store import Comparison


class InMemoryComparisonStore:
    def __init__(self) -> None:
        self._kept: dict[str, Comparison] = {}

    def add_comparison(self, comparison: Comparison) -> Comparison:
        self._kept[comparison.comparison_id] = comparison
        return comparison

    def comparison(self, comparison_id: str) -> Comparison:
        try:
            return self._kept[comparison_id]
        except KeyError:
            raise UnknownSession(f"No comparison {comparison_id!r}.") from None


class InMemoryVoteStore:
    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], MethodVote] = {}

    def put_vote(self, vote: MethodVote) -> MethodVote:
        self._kept[vote.comparison_id, vote.annotator] = vote
        return vote

    def votes(self, comparison_id: str | None = None, annotator: str | None = None) -> Sequence[MethodVote]:
        return [vote for vote in self._kept.values()
                if comparison_id in (None, vote.comparison_id) and annotator in (None, vote.annotator)]
