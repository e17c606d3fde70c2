"""Balanced, seeded choice of the two methods to compare in each question of a preference study."""

from __future__ import annotations

import random
from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from cir_core.errors import StudyError

Pair = tuple[str, str]
Results = Mapping[str, Sequence[str]]
"""Method to its image ids for one query, without methods that found too few."""


@dataclass(frozen=True)
class DrawnPairs:
    """``methods``: query key to the methods of its stored sets 1 and 2, in the given order of queries. ``counts`` per
    pair of methods, sorted by name, including zeros."""

    methods: Mapping[str, Pair]
    counts: Mapping[Pair, int]
    ruled_out: int                 # pairs of one query whose sets have the same images
    identical: tuple[str, ...]     # queries without a question: all sets have the same images
    lacking: tuple[str, ...]       # queries without a question: fewer than two methods found enough


def draw_pairs(queries: Mapping[str, Results], methods: Sequence[str], seed: int) -> DrawnPairs:
    """Two different methods for each query, whose sets have different images.

    The choice is optimally balanced: if every pair is possible for every query, the counts of pairs
    differ by one at most. Within a pair, each method is stored as set 1 equally often, up to one. The
    result does not depend on the order of the queries.

    Raises ``StudyError`` unless there are two methods.
    """
    names = sorted(set(methods))
    if len(names) < 2:
        raise StudyError("A question compares two different methods. Name at least two.")
    pairs = list(combinations(names, 2))
    met = {key: [pair for pair in pairs if set(pair) <= set(results)] for key, results in queries.items()}
    possible = {key: [pair for pair in met[key] if set(queries[key][pair[0]]) != set(queries[key][pair[1]])]
                for key in queries}
    rng = random.Random(f"{seed}/method pairs")
    chosen = _assign({key: possible[key] for key in sorted(queries) if possible[key]}, pairs, rng)
    while path := _cost_reducing_path(chosen, possible, pairs):
        for from_pair, to_pair in path:
            movable = [key for key, pair in chosen.items() if pair == from_pair and to_pair in possible[key]]
            chosen[rng.choice(movable)] = to_pair
    stored, counts = _stored(chosen, pairs, rng), Counter(chosen.values())
    return DrawnPairs(
        {key: stored[key] for key in queries if key in stored},
        {pair: counts[pair] for pair in pairs},
        sum(len(met[key]) - len(possible[key]) for key in queries),
        tuple(key for key in queries if met[key] and not possible[key]),
        tuple(key for key in queries if not met[key]),
    )


def _assign(possible: Mapping[str, Sequence[Pair]], pairs: Sequence[Pair], rng: random.Random) -> dict[str, Pair]:
    """Assign each query to the least used of its possible pairs."""
    counts = dict.fromkeys(pairs, 0)
    order, chosen = list(possible), dict[str, Pair]()
    rng.shuffle(order)
    for key in order:
        least = min(counts[pair] for pair in possible[key])
        chosen[key] = rng.choice([pair for pair in possible[key] if counts[pair] == least])
        counts[chosen[key]] += 1
    return {key: chosen[key] for key in possible}


def _cost_reducing_path(
    chosen: Mapping[str, Pair], possible: Mapping[str, Sequence[Pair]], pairs: Sequence[Pair]
) -> list[tuple[Pair, Pair]]:
    """Cost-reducing path: moves of one query each, last first, from a pair to one with at least two queries fewer;
    empty if there is none. Without such a path an assignment is optimal (Harvey, Ladner, Lovász and Tamir,
    Semi-matchings for bipartite graphs, 2006)."""
    counts = dict.fromkeys(pairs, 0)
    moves: dict[Pair, dict[Pair, None]] = defaultdict(dict)
    for key, pair in chosen.items():
        counts[pair] += 1
        moves[pair].update(dict.fromkeys(other for other in possible[key] if other != pair))
    for start in sorted(pairs, key=lambda pair: (-counts[pair], pair)):
        came: dict[Pair, Pair] = {start: start}
        waiting = deque([start])
        while waiting:
            pair = waiting.popleft()
            if counts[pair] <= counts[start] - 2:
                path = []
                while pair != start:
                    path.append((came[pair], pair))
                    pair = came[pair]
                return path
            for other in sorted(moves[pair]):
                if other not in came:
                    came[other] = pair
                    waiting.append(other)
    return []


def _stored(chosen: Mapping[str, Pair], pairs: Sequence[Pair], rng: random.Random) -> dict[str, Pair]:
    """Choose which method of a pair is stored as set 1: each for half of the queries."""
    stored: dict[str, Pair] = {}
    for pair in pairs:
        keys = [key for key, one in chosen.items() if one == pair]
        rng.shuffle(keys)
        turn = rng.random() < 0.5
        for place, key in enumerate(keys):
            stored[key] = pair if (place % 2 == 0) == turn else (pair[1], pair[0])
    return stored
