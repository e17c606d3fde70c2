"""Some of many, spread over strata, the same ones for the same seed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

from annotation.sources.queries import StudyQuery
from cir_core.errors import StudyError

Stratify = Literal["hidden_category", "dataset", "none"]
_One = TypeVar("_One")


def sample(queries: Sequence[StudyQuery], size: int | None, stratify: Stratify, seed: int) -> list[StudyQuery]:
    """``size`` queries in the order of their source; all of them for None.

    Strata get equal numbers as far as each has them, as in CIRCUS (1,000 queries that need
    composition and 1,000 that no retriever solves), not in proportion. With "hidden_category" a
    stratum is a category of one data set. Raises ``StudyError`` where there are too few queries.
    """
    if size is None:
        return list(queries)
    if not 0 < size <= len(queries):
        raise StudyError(f"A sample of {size:,} cannot be drawn from {len(queries):,} queries. Ask for 1 to "
                         f"{len(queries):,}.")
    stratum: Callable[[StudyQuery], str] = {
        "hidden_category": lambda query: query.stratum, "dataset": lambda query: query.dataset,
        "none": lambda query: "",
    }[stratify]
    return spread(queries, size, stratum=stratum, key=lambda query: query.key, seed=seed, purpose="sample")


def spread(
    things: Sequence[_One], size: int, *, stratum: Callable[[_One], str], key: Callable[[_One], str], seed: int,
    purpose: str,
) -> list[_One]:
    """``size`` of ``things``, in their order; equal numbers of each stratum as far as it has them.

    Which ones depends on seed, purpose and keys alone, not on the order: another order of the source
    gives the same ones, and of one stratum a larger draw holds the smaller one.
    """
    def drawn(thing: _One) -> bytes:
        return hashlib.sha256(f"{seed}\n{purpose}\n{key(thing)}".encode()).digest()

    strata: dict[str, list[_One]] = {}
    for thing in sorted(things, key=drawn):
        strata.setdefault(stratum(thing), []).append(thing)
    quota = quotas({name: len(of) for name, of in strata.items()}, size)
    taken = {key(thing) for name, of in strata.items() for thing in of[:quota[name]]}
    return [thing for thing in things if key(thing) in taken]


def quotas(available: dict[str, int], size: int) -> dict[str, int]:
    """How many of each stratum: equal, what a small one lacks going to the others, and what does not
    divide to the larger ones. Adds up to ``size``, or to all there are."""
    quota: dict[str, int] = {}
    left = min(size, sum(available.values()))
    # The smallest first: what it cannot give is known before the others are asked.
    for number, name in enumerate(sorted(available, key=lambda name: (available[name], name))):
        quota[name] = min(available[name], left // (len(available) - number))
        left -= quota[name]
    return quota
