"""Left/right counterbalancing of the two sets, per person, by construction and seeded.

Position bias cannot be distinguished from a preference for a method that was shown first more often.
Randomisation alone would leave such an imbalance; here it is one showing at most.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Showing:
    """One question shown to one person. ``pair`` identifies the two methods."""

    seat: int
    pair: str
    item_id: str


def draw_sides(showings: Sequence[Showing], seed: int) -> tuple[bool, ...]:
    """For each showing, whether the first-named method of its pair is shown first.

    This is the case for half of the showings (up to one) of each person, of each pair of methods, of each pair
    per person, of each shared question, and overall.

    Algorithm: showings are matched in pairs within people, and again within pairs of methods, both from the
    smallest group upwards, so that a group leaves at most one unmatched. The union of both matchings consists
    of paths and even cycles, along which sides alternate.
    """
    rng = random.Random(f"{seed}/sides")
    of_people = _partners([(one.seat, one.pair) for one in showings], rng)
    of_pairs = _partners([(one.pair, one.item_id) for one in showings], rng)
    sides: dict[int, bool] = {}
    for start in range(len(showings)):
        if start in sides:
            continue
        sides[start] = rng.random() < 0.5
        waiting = [start]
        while waiting:
            here = waiting.pop()
            for partners in (of_people, of_pairs):
                there = partners.get(here)
                if there is not None and there not in sides:
                    sides[there] = not sides[here]
                    waiting.append(there)
    return tuple(sides[index] for index in range(len(showings)))


def _partners(groups: Sequence[tuple[Hashable, ...]], rng: random.Random) -> Mapping[int, int]:
    """A partner for each index but at most one: from its smallest group if possible, else from the enclosing one.
    ``groups``: per index its nested groups from largest to smallest, all of the same length."""
    partners: dict[int, int] = {}
    alone = list(range(len(groups)))
    for depth in range(len(groups[0]) if groups else 0, -1, -1):
        members: dict[tuple[Hashable, ...], list[int]] = defaultdict(list)
        for index in alone:
            members[groups[index][:depth]].append(index)
        alone = []
        for indices in members.values():   # in the order of the showings
            rng.shuffle(indices)
            for one, other in zip(indices[::2], indices[1::2], strict=False):
                partners[one], partners[other] = other, one
            alone += indices[-1:] if len(indices) % 2 else []
    return partners
