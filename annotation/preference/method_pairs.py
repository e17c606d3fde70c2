"""Which two methods meet in each question of a preference study: each pair equally often, drawn from a seed."""

from __future__ import annotations

import random
from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from cir_core.errors import StudyError

Pair = tuple[str, str]
Results = Mapping[str, Sequence[str]]
"""Method to the image ids it found for one query. A method that found too few is left out."""


@dataclass(frozen=True)
class DrawnPairs:
    """``methods``: query key to the methods of its stored sets 1 and 2, in the order that queries were given.
    ``counts`` has every pair of methods, sorted by name, also those that never meet."""

    methods: Mapping[str, Pair]
    counts: Mapping[Pair, int]
    ruled_out: int                 # pairs of one query whose two sets hold the same images
    identical: tuple[str, ...]     # queries without a question: all their sets hold the same images
    lacking: tuple[str, ...]       # queries without a question: fewer than two methods found enough


def draw_pairs(queries: Mapping[str, Results], methods: Sequence[str], seed: int) -> DrawnPairs:
    """Two different methods for each query, whose sets hold different images.

    No other choice makes pairs meet more evenly: where every query may take every pair, any two
    pairs differ by one query at most. Within a pair, each method is stored as set 1 equally often,
    one apart at most. The same queries in another order give the same pairs.

    Raises ``StudyError`` unless there are two methods.
    """
    names = sorted(set(methods))
    if len(names) < 2:
        raise StudyError("Two sets of images come of two different methods. Name two methods at least.")
    pairs = list(combinations(names, 2))
    met = {key: [pair for pair in pairs if set(pair) <= set(results)] for key, results in queries.items()}
    possible = {key: [pair for pair in met[key] if set(queries[key][pair[0]]) != set(queries[key][pair[1]])]
                for key in queries}
    rng = random.Random(f"{seed}/method pairs")
    chosen = _deal({key: possible[key] for key in sorted(queries) if possible[key]}, pairs, rng)
    while path := _evener(chosen, possible, pairs):
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


def _deal(possible: Mapping[str, Sequence[Pair]], pairs: Sequence[Pair], rng: random.Random) -> dict[str, Pair]:
    """Each query to the pair that has fewest, of those it may take."""
    counts = dict.fromkeys(pairs, 0)
    order, chosen = list(possible), dict[str, Pair]()
    rng.shuffle(order)
    for key in order:
        least = min(counts[pair] for pair in possible[key])
        chosen[key] = rng.choice([pair for pair in possible[key] if counts[pair] == least])
        counts[chosen[key]] += 1
    return {key: chosen[key] for key in possible}


def _evener(
    chosen: Mapping[str, Pair], possible: Mapping[str, Sequence[Pair]], pairs: Sequence[Pair]
) -> list[tuple[Pair, Pair]]:
    """Moves of one query each that take one from a pair and give one to a pair with two fewer or less, the last
    first; none where that cannot be done. Without such a path an assignment is as even as can be (Harvey, Ladner,
    Lovász and Tamir, Semi-matchings for bipartite graphs, 2006)."""
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
    """Which method of a pair is stored as set 1, for half of its queries the one and for half the other."""
    stored: dict[str, Pair] = {}
    for pair in pairs:
        keys = [key for key, one in chosen.items() if one == pair]
        rng.shuffle(keys)
        turn = rng.random() < 0.5
        for place, key in enumerate(keys):
            stored[key] = pair if (place % 2 == 0) == turn else (pair[1], pair[0])
    return stored
