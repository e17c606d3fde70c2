"""Which of two sets stands first, for each person: balanced by construction, drawn from a seed.

A preference for what stands first cannot be told from a preference for a method that stood first
more often. Chance alone would leave such a surplus; here it is one showing at most.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Showing:
    """One question before one person. ``pair`` names the two methods, the same for all questions they meet in."""

    seat: int
    pair: str
    item_id: str


def draw_sides(showings: Sequence[Showing], seed: int) -> tuple[bool, ...]:
    """For each showing whether the first-named method of its pair stands first.

    That is so for half of the showings of each person, of each pair of methods, of each pair before
    each person, of each question that several people have, and of all together: in each of these
    groups the two numbers differ by one at most.

    How: showings are matched in twos within people, and once more within pairs of methods, both from
    the smallest group upwards, so that a group never keeps more than one to itself. Both matchings
    together are paths and even circles; going along each, sides take turns.
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
    """A partner for each index but one at most: from its own smallest group, else from the one around it.

    ``groups``: for each index its groups from the largest to the smallest, all of one length.
    """
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
