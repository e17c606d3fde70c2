"""The records of a shortcut audit (CIRCUS): every query ranked three times by every retriever. Storage interface of
audits, so that no query is ranked twice.

Ranks start at 1 and are over the whole pool, ties by the pool's order.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, Protocol

from pydantic import PositiveInt

Variant = Literal["multimodal", "text_only", "image_only"]
VARIANTS: tuple[Variant, ...] = ("multimodal", "text_only", "image_only")
Ablation = Literal["black", "drop"]
"""How an input is ablated.

"black" (CIRCUS): the retriever is unchanged, and gets an all-black image of the same size
with the text, or the empty text with the image. "drop": the text alone through the text
encoder, or the image's own vector; only for retrievers that support a single input.
"""
Label = Literal["composition_required", "unresolved", "shortcut_solvable"]
Detail = Literal["composition_required", "unresolved", "both_unimodal", "text_only", "image_only"]
Legacy = Literal["either", "text_only", "image_only", "multimodal_needed"]
Rule = Literal["majority", "single-kept"]
"""Rule for well-formedness of a query judged by several annotators: more than half of their votes
(CIRCUS's page), or the first vote (CIRCUS's code)."""
CUTOFF = 10
TOP_K = 20


@dataclass(frozen=True, slots=True)
class Ranking:
    """One query under one variant. ``ranks`` are those of the query's ``target_ids``, in their
    order; ``top`` has the best image ids, () if ranks came from a file without them."""

    ranks: tuple[int, ...]
    top: tuple[str, ...] = ()

    @property
    def best(self) -> int:
        return min(self.ranks)


@dataclass(frozen=True, slots=True)
class QueryAudit:
    """Rankings of one query by one retriever. ``problem`` is the reason if there are none."""

    query_id: str
    rankings: Mapping[Variant, Ranking]
    problem: str = ""


@dataclass(frozen=True)
class RunCard:
    """Everything a retriever's ranks depend on; ``digest`` is its key in the store."""

    dataset: str                    # Benchmark.name
    dataset_digest: str
    pools_digest: str               # of the ranked image ids, in order
    retriever: str                  # display name, which also breaks ties between retrievers
    identity: Mapping[str, Any]     # method, encoder spec and revision, language model, file hash, …; plain JSON
    ablation: Ablation | str        # any other text is the signature of an external file
    instruction: str | None         # None: the retriever takes none
    caption_mode: str
    top_k: PositiveInt = TOP_K
    k: PositiveInt = field(default=CUTOFF, compare=False)   # of the file's own hits_at_k; labels recompute

    @cached_property
    def digest(self) -> str:
        content = asdict(self)
        del content["k"]
        canonical = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:32]


def pools_digest(pools: Mapping[str, Sequence[str] | None]) -> str:
    """16 hex digits over the ranked image ids, in their order, for :attr:`RunCard.pools_digest`. Resolve a pool that is
    None (the whole gallery) before, or runs over two different galleries would seem to agree; None counts as "*"."""
    sha = hashlib.sha256()
    for name, pool in pools.items():
        sha.update(f"{name}\n{'*' if pool is None else len(pool)}\n".encode())
        for image_id in pool or ():
            sha.update(image_id.encode() + b"\0")
    return sha.hexdigest()[:16]


@dataclass(frozen=True)
class RetrieverRun:
    """A finished run: one entry per query of the benchmark, in its order."""

    card: RunCard
    queries: Sequence[QueryAudit] = field(repr=False)


@dataclass(frozen=True, slots=True)
class QueryLabel:
    """Label of one query by a pool of retrievers (CIRCUS's aggregate).

    ``ranks`` are the best over the retrievers, ``best_retriever`` the retrievers that have them (ties: the
    first by name; missing in some external files), ``support`` the number of
    retrievers with rank ≤ K under each variant, and under "either_unimodal" at least one of the two.
    """

    query_id: str
    label: Label
    detail: Detail
    legacy: Legacy
    ranks: Mapping[Variant, int]
    best_retriever: Mapping[Variant, str]
    support: Mapping[str, int]

    @property
    def shortcut_free(self) -> bool:
        return self.label != "shortcut_solvable"


@dataclass(frozen=True)
class Aggregate:
    """Labels of all queries that every retriever ranked, in the benchmark's order; ``skipped``
    has the others, with the reason."""

    retrievers: tuple[str, ...]
    k: int
    min_support: int                 # M: retrievers that must succeed with both inputs
    labels: Sequence[QueryLabel]
    skipped: Mapping[str, str]


@dataclass(frozen=True)
class StoredRun:
    """Row of the list of audits. ``done`` of ``total`` queries are stored, ``problems`` of them
    without rankings; ``finished_at`` is None until all are."""

    card: RunCard
    total: int
    done: int
    problems: int
    begun_at: datetime
    finished_at: datetime | None


class AuditStore(Protocol):
    """Runs by :attr:`RunCard.digest`: audits with the same card share one run. All methods raise ``StorageError``;
    writes are durable on return."""

    def begin(self, card: RunCard, total: int) -> None:
        """Create a run for ``card`` over ``total`` queries; an existing one is unchanged."""

    def stored(self, card: RunCard) -> Mapping[int, QueryAudit]:
        """Stored queries by their position in the benchmark; {} for an unknown card."""

    def put(self, card: RunCard, first: int, queries: Sequence[QueryAudit]) -> None:
        """Store the queries at positions ``first`` and following, replacing existing ones."""

    def finish(self, card: RunCard) -> None:
        """Mark the run as complete."""

    def runs(self) -> Sequence[StoredRun]:
        """All runs, the latest first."""
