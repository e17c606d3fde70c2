"""Reproducible stratified sampling."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

from annotation.sources.queries import StudyQuery
from cir_core.errors import StudyError

Stratify = Literal["hidden_category", "dataset", "none"]
_One = TypeVar("_One")


def sample(queries: Sequence[StudyQuery], size: int | None, stratify: Stratify, seed: int) -> list[StudyQuery]:
    """Sample ``size`` queries, in source order; None: all.

    Strata get equal numbers where possible, not in proportion, as in CIRCUS (1,000 queries that need
    composition and 1,000 that no retriever solves). With "hidden_category" a stratum is a category of one
    data set. Raises ``StudyError`` if there are too few queries.
    """
    if size is None:
        return list(queries)
    if not 0 < size <= len(queries):
        raise StudyError(f"Cannot sample {size:,} of {len(queries):,} queries. Choose 1 to {len(queries):,}.")
    stratum: Callable[[StudyQuery], str] = {
        "hidden_category": lambda query: query.stratum, "dataset": lambda query: query.dataset,
        "none": lambda query: "",
    }[stratify]
    return spread(queries, size, stratum=stratum, key=lambda query: query.key, seed=seed, purpose="sample")


def spread(
    things: Sequence[_One], size: int, *, stratum: Callable[[_One], str], key: Callable[[_One], str], seed: int,
    purpose: str,
) -> list[_One]:
    """Sample ``size`` of ``things``, in their order, with equal numbers per stratum where possible.

    The sample depends only on seed, purpose and keys, not on the order of the source; within a stratum, a
    larger sample contains the smaller one.
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
    """Sample size per stratum: equal, except that the shortfall of small strata goes to the others, and remainders to
    the larger ones. The sum is ``size``, or all available."""
    quota: dict[str, int] = {}
    left = min(size, sum(available.values()))
    # Smallest first, so that its shortfall is known before the others are allocated.
    for number, name in enumerate(sorted(available, key=lambda name: (available[name], name))):
        quota[name] = min(available[name], left // (len(available) - number))
        left -= quota[name]
    return quota
