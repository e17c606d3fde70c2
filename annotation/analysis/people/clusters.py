"""Who judges alike: average linkage of people by the share of units on which two of them agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.analysis.statistics.matrix import Values


@dataclass(frozen=True)
class Tree:
    """``joins``: two clusters and the height at which they become one; a cluster is the place of a person, or the
    number of people and the place of an earlier join, as in scipy's linkage. ``order``: people as leaves, from the
    top."""

    joins: tuple[tuple[int, int, float], ...]
    order: tuple[int, ...]


def tree_of(pairs: Iterable[tuple[int, int, float | None]], people: int) -> Tree:
    """UPGMA of people by 1 less the share on which two agree. ``pairs``: places of two people and the share; two
    without a share are as far apart as any two that have one."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if people < 2:
        return Tree((), tuple(range(people)))
    apart: Values = np.full((people, people), np.nan)
    for one, other, share in pairs:
        apart[one, other] = apart[other, one] = np.nan if share is None else 1 - share
    apart = np.where(np.isnan(apart), 1.0 if np.isnan(apart).all() else np.nanmax(apart), apart)
    np.fill_diagonal(apart, 0)
    found = linkage(squareform(apart, checks=False), "average", optimal_ordering=True)
    return Tree(tuple((int(row[0]), int(row[1]), float(row[2])) for row in found),
                tuple(int(one) for one in leaves_list(found)))


def segments(tree: Tree) -> Sequence[Sequence[tuple[float, float]]]:
    """For each join the four points (height, place) of its bracket; leaves stand at 0, 1, … in ``order``."""
    people = len(tree.order)
    at: dict[int, tuple[float, float]] = {person: (0.0, float(place)) for place, person in enumerate(tree.order)}
    found = []
    for number, (one, other, height) in enumerate(tree.joins):
        (low, first), (high, second) = at[one], at[other]
        found.append(((low, first), (height, first), (height, second), (high, second)))
        at[people + number] = (height, (first + second) / 2)
    return found
