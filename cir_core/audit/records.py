"""The records of a shortcut audit (CIRCUS): every query ranked three times by every retriever.

Ranks start at 1 and are over the whole pool, ties by the pool's order.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal

Variant = Literal["multimodal", "text_only", "image_only"]
VARIANTS: tuple[Variant, ...] = ("multimodal", "text_only", "image_only")
Ablation = Literal["black", "drop"]
"""How an input is taken away.

"black" (CIRCUS): the retriever is what it is, and gets an all-black image of the same size
beside the text, or the empty text beside the image. "drop": the text alone through the text
encoder, or the image's own vector; only for retrievers that can do without an input.
"""
Label = Literal["composition_required", "unresolved", "shortcut_solvable"]
Detail = Literal["composition_required", "unresolved", "both_unimodal", "text_only", "image_only"]
Legacy = Literal["either", "text_only", "image_only", "multimodal_needed"]
Rule = Literal["majority", "single-kept"]
"""Whether a query that several annotators judged is well-formed: more than half of their votes
(CIRCUS's page), or the first vote (CIRCUS's code)."""
CUTOFF = 10
TOP_K = 20


@dataclass(frozen=True, slots=True)
class Ranking:
    """One query under one variant. ``ranks`` are those of the query's ``target_ids``, in their
    order; ``top`` holds the best image ids, () where ranks came from a file without them."""

    ranks: tuple[int, ...]
    top: tuple[str, ...] = ()

    @property
    def best(self) -> int:
        return min(self.ranks)


@dataclass(frozen=True, slots=True)
class QueryAudit:
    """What one retriever did with one query. ``problem`` says why there are no rankings."""

    query_id: str
    rankings: Mapping[Variant, Ranking]
    problem: str = ""


@dataclass(frozen=True)
class RunCard:
    """Everything a retriever's ranks depend on; ``digest`` is its address in the store."""

    dataset: str                    # Benchmark.name
    dataset_digest: str
    pools_digest: str               # of the ranked image ids, in order
    retriever: str                  # as shown and as ties between retrievers are broken: by name
    identity: Mapping[str, Any]     # method, encoder spec and revision, language model, file hash, …; plain JSON
    ablation: Ablation | str        # another text is the signature of a file made elsewhere
    instruction: str | None         # None: the retriever takes none
    caption_mode: str
    top_k: int = TOP_K
    k: int = field(default=CUTOFF, compare=False)   # of the file's own hits_at_k; labels recompute

    @cached_property
    def digest(self) -> str:
        content = asdict(self)
        del content["k"]
        canonical = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:32]


def pools_digest(pools: Mapping[str, Sequence[str] | None]) -> str:
    """16 hex digits over the ranked image ids, in their order, for :attr:`RunCard.pools_digest`.

    A pool that is None (all a gallery holds) must have been looked up before, or runs over two
    different galleries would seem to agree; left None it counts as "*".
    """
    sha = hashlib.sha256()
    for name, pool in pools.items():
        sha.update(f"{name}\n{'*' if pool is None else len(pool)}\n".encode())
        for image_id in pool or ():
            sha.update(image_id.encode() + b"\0")
    return sha.hexdigest()[:16]


@dataclass(frozen=True)
class RetrieverRun:
    """A finished run: one entry for each query of the benchmark, in its order."""

    card: RunCard
    queries: Sequence[QueryAudit] = field(repr=False)


@dataclass(frozen=True, slots=True)
class QueryLabel:
    """What a pool of retrievers says of one query (CIRCUS's aggregate).

    ``ranks`` are the best over the retrievers, ``best_retriever`` whose they are (the first by
    name among equals; a label read from a file made elsewhere may lack one), ``support`` how many
    retrievers have rank ≤ K under each variant, and under "either_unimodal" at least one of the two.
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
