"""Rank composed queries against a searcher's images, in batches."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from cir_core.methods.soft_filter import soft_score
from cir_core.search.prepare import Composed
from cir_core.search.searcher import Searcher
from cir_core.types.composition import Constraints
from cir_core.types.records import Hit


@dataclass(frozen=True)
class Ranked:
    """``ranks`` of the requested images, in their order; ``hits`` are the best."""

    ranks: tuple[int, ...]
    hits: tuple[Hit, ...]


def rank_composed(
    searcher: Searcher, made: Sequence[Composed], wanted: Sequence[Sequence[str]],
    excluded: Sequence[Collection[str]], k: int,
) -> list[Ranked]:
    """For each of ``made`` the ranks of its ``wanted`` images and its ``k`` best, without ``excluded``.

    Queries without a soft filter are ranked as a batch (:meth:`FlatIndex.rank_many`), with the
    same result as one by one. Raises ``UnknownImage`` for a wanted image that is not
    ranked, ``SearchError`` for one that is excluded.
    """
    index = searcher.index
    plain = [place for place, one in enumerate(made) if one.composition.soft_filter is None]
    found: dict[int, Ranked] = {}
    if plain:
        many = index.rank_many(
            np.stack([made[place].query.vector for place in plain]),
            [index.rows_of(wanted[place]) for place in plain], k=k,
            exclude_rows=[index.rows_of(image_id for image_id in excluded[place] if image_id in index)
                          for place in plain],
        )
        for place, one in zip(plain, many, strict=True):
            best = zip(one.top.tolist(), one.scores.tolist(), strict=True)
            hits = tuple(Hit(index.ids[row], score, rank) for rank, (row, score) in enumerate(best, start=1))
            found[place] = Ranked(one.ranks, hits)
    for place, filtered in enumerate(made):
        if place not in found:
            found[place] = _filtered(searcher, filtered, wanted[place], excluded[place], k)
    return [found[place] for place in range(len(made))]


def _filtered(
    searcher: Searcher, made: Composed, wanted: Sequence[str], excluded: Collection[str], k: int
) -> Ranked:
    soft_filter = made.composition.soft_filter
    assert soft_filter is not None
    # Not through the searcher, which encodes only texts missing in its cache: the composition
    # of an encoder batch must not depend on earlier queries.
    soft = soft_score(
        made.query.vector, made.composition.constraints or Constraints(), soft_filter, searcher.encoder)
    hits, ranks = searcher.index.search_and_rank_scored(soft, k, excluded, wanted)
    return Ranked(ranks, tuple(hits))
