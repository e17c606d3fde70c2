"""CIRR's subset: the rank of the target among the five images of its set.

The ranking is that of the whole gallery, restricted to the members of the query's image
set, without the reference. R_subset@k is the share of queries with rank ≤ k.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from cir_core.support.texts import quoted


@dataclass(frozen=True, slots=True)
class SubsetRank:
    """``rank`` is None if the list ends before the target; ``before`` members are in the
    list then, so that the true rank is at least ``before`` + 1."""

    rank: int | None
    before: int

    def hit(self, k: int) -> bool:
        return self.rank is not None and self.rank <= k

    def known(self, k: int) -> bool:
        """Whether the list is long enough to decide if the target is among the first ``k``."""
        return self.rank is not None or self.before >= k


def subset_rank(ranking: Sequence[str], subset_ids: Collection[str], target_id: str) -> SubsetRank:
    """Rank of the target among ``subset_ids``. Raises ``ValueError`` if it is none of them."""
    if target_id not in subset_ids:
        raise ValueError(f"target {quoted(target_id)} is not a member of its image set")
    before = 0
    for image_id in ranking:
        if image_id == target_id:
            return SubsetRank(before + 1, before)
        before += image_id in subset_ids
    return SubsetRank(None, before)
