"""What one pool of a benchmark is ranked by: a searcher within its images, and their rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from cir_core.audit.records import Ranking
from cir_core.composing import Composed
from cir_core.composition import Constraints
from cir_core.datasets.records import BenchmarkQuery
from cir_core.methods.soft_filter import soft_score
from cir_core.search import Searcher


class RankedPool:
    def __init__(self, searcher: Searcher) -> None:
        self.searcher = searcher

    def __len__(self) -> int:
        return len(self.searcher.index)

    def __contains__(self, image_id: object) -> bool:
        return image_id in self._rows

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {image_id: row for row, image_id in enumerate(self.searcher.index.ids)}

    def rankings(self, queries: Sequence[BenchmarkQuery], made: Sequence[Composed], k: int) -> list[Ranking]:
        """The ranks of each query's targets, which must be in this pool, and its ``k`` best. All
        plain queries are ranked together, filtered ones each by itself."""
        plain = [place for place, one in enumerate(made) if one.composition.soft_filter is None]
        found: dict[int, Ranking] = {}
        if plain:
            ranked = self.searcher.index.rank_many(
                np.stack([made[place].query.vector for place in plain]),
                [[self._rows[target] for target in queries[place].target_ids] for place in plain], k=k,
            )
            for place, one in zip(plain, ranked, strict=True):
                top = tuple(self.searcher.index.ids[row] for row in one.top.tolist())
                found[place] = Ranking(one.ranks, top)
        return [found.get(place) or self._filtered(query, one, k)
                for place, (query, one) in enumerate(zip(queries, made, strict=True))]

    def _filtered(self, query: BenchmarkQuery, made: Composed, k: int) -> Ranking:
        index, soft_filter = self.searcher.index, made.composition.soft_filter
        assert soft_filter is not None
        # Not through the searcher, which encodes only texts it has not met: what goes through
        # the encoder together must not depend on the queries before.
        constraints = made.composition.constraints or Constraints()
        soft = soft_score(made.query.vector, constraints, soft_filter, self.searcher.encoder)
        first, *others = query.target_ids
        hits, rank = index.search_and_rank(soft, k, (), first)
        ranks = (rank, *(index.rank_scored(soft, target) for target in others))
        return Ranking(ranks, tuple(hit.image_id for hit in hits))
