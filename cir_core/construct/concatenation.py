"""Simple Concat, the last source of CIRCLED's Table 5: single-turn queries put one after the other.

The paper says no more than that. ``random`` takes any queries of a subset; ``chain`` lets the next query start from the
image that the one before asks for, as Multi-turn FashionIQ does.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Literal, get_args

from cir_core.construct.sessions.subsets import subset_name
from cir_core.datasets.readers.circled import CircledSession, CircledTurn
from cir_core.datasets.records import Benchmark, BenchmarkQuery

Rule = Literal["random", "chain"]
RULES: tuple[Rule, ...] = get_args(Rule)


def concatenated(
    benchmark: Benchmark, *, sessions: int, turns: int, rule: Rule = "random", seed: int = 0,
) -> dict[str, tuple[CircledSession, ...]]:
    """By subset at most so many sessions, of two to ``turns`` turns each, as many of each length on average. A query is
    in one session at most; the targets are those of the last one. Queries without a text or a target are left out."""
    found = {}
    for pool in benchmark.pools:
        name = subset_name(benchmark, pool)
        queries = [one for one in benchmark.queries
                   if one.pool == pool and one.target_ids and one.modification_text.strip()]
        random = Random(f"{seed}/{name}")
        random.shuffle(queries)
        made = (_random if rule == "random" else _chains)(queries, turns, random)
        found[name] = tuple(_session(name, number, one) for number, one in enumerate(made[:sessions]))
    return found


def _random(queries: Sequence[BenchmarkQuery], turns: int, random: Random) -> list[list[BenchmarkQuery]]:
    made, place = [], 0
    while place + 2 <= len(queries):
        length = min(random.randint(2, turns), len(queries) - place)
        made.append(list(queries[place:place + length]))
        place += length
    return made


def _chains(queries: Sequence[BenchmarkQuery], turns: int, random: Random) -> list[list[BenchmarkQuery]]:
    """Each query begins a chain, unless it is in one; the first query that fits goes on with it."""
    starting: dict[str, list[BenchmarkQuery]] = {}
    for one in reversed(queries):
        starting.setdefault(one.reference_id, []).append(one)
    used, made = set[str](), []
    for first in queries:
        if first.query_id in used:
            continue
        chain, length = [first], random.randint(2, turns)
        seen = {first.reference_id}
        while len(chain) < length:
            after = next((one for target in chain[-1].target_ids for one in reversed(starting.get(target, ()))
                          if one.query_id not in used and one.reference_id not in seen), None)
            if after is None:
                break
            chain.append(after)
            seen.add(after.reference_id)
        if len(chain) > 1:
            made.append(chain)
            used.update(one.query_id for one in chain)
    return made


def _session(subset: str, number: int, queries: Sequence[BenchmarkQuery]) -> CircledSession:
    return CircledSession(f"{subset}_{number:04d}", subset, queries[-1].target_ids,
                          tuple(CircledTurn(one.reference_id, one.modification_text) for one in queries))
