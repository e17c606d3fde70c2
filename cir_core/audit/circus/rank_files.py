"""External ranks, in the smallest file format that can be pooled::

    {"retriever": "GME-Qwen2VL", "dataset": "cirr-val",
     "ranks": {"12": {"multimodal": 3, "text_only": 40, "image_only": 812},
               "13": {"problem": "the image could not be read"}},
     "top": {"12": {"multimodal": ["dev-2-0-img1", "dev-7-1-img0"]}},
     "instruction": "Retrieve the image that …", "ablation": "black"}

Ranks start at 1, over the whole pool including the reference. A query with several targets has a list in the order of
its targets, or its best target's rank alone. ``top``, ``instruction`` and ``ablation`` are optional: no panel, no
instruction, and "black" by default (see :data:`cir_core.audit.records.Ablation`).
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from pydantic import Field

from cir_core.audit.circus.circus_files import read_run
from cir_core.audit.circus.circus_form import file_sha256
from cir_core.audit.circus.circus_samples import Strict, names_of
from cir_core.audit.records import (
    VARIANTS,
    Ablation,
    QueryAudit,
    Ranking,
    RetrieverRun,
    RunCard,
    Variant,
    pools_digest,
)
from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import read_object, validated
from cir_core.datasets.records import Benchmark, BenchmarkQuery, caption_mode_of
from cir_core.support.texts import quoted

_AGAIN = "Export the ranks again, from 1, for every query"


class _Head(Strict):
    retriever: str = Field(min_length=1)
    dataset: str
    ranks: dict[str, object]
    top: dict[str, dict[Variant, list[str]]] = Field(default_factory=dict)
    instruction: str | None = None
    ablation: Ablation = "black"


class _Problem(Strict):
    problem: str = Field(min_length=1)


_KEYS = frozenset(VARIANTS)


def read_ranks(path: Path, benchmark: Benchmark, faults: ValidationIssues = RAISE) -> RetrieverRun:
    """Read a retriever's ranks from a file of the format above, or from a per-retriever file of CIRCUS's format.

    The card names this file as the source (by SHA-256); data set and pools are the
    benchmark's, whose pools must be known so that ranks and images can be checked.

    Raises ``DatasetError`` naming file and record: unknown or missing queries, a rank that is not
    a whole number from 1 to the pool's size, more or fewer ranks than targets.
    """
    document = read_object(path, faults, constants=True)  # a NaN rank is reported with its query
    if "samples" in document:
        return read_run(path, faults, benchmark=benchmark)
    head = validated(_Head, document, path, "", faults)
    if head is None:
        head = _Head(retriever=path.stem, dataset=benchmark.name, ranks={})
    elif head.dataset.casefold() not in names_of(benchmark):
        faults.add(path, "key 'dataset'", f"it is of {quoted(head.dataset)}, not of {quoted(benchmark.name)}",
                   "Name the data set and split that the ranks were made on")
    known = {query.query_id for query in benchmark.queries}
    for query_id in [*head.ranks, *head.top]:
        if query_id not in known:
            faults.add(path, f"query {quoted(query_id)}", f"{benchmark.name} has no such query",
                       "Use the query ids of the data set's files")
    pools = {name: None if pool is None else frozenset(pool) for name, pool in benchmark.pools.items()}
    answers = []
    for query in benchmark.queries:
        answer = _answer(path, query, head, pools.get(query.pool), faults)
        answers.append(answer or QueryAudit(query.query_id, {}, f"not usable in {path.name}"))
    card = RunCard(
        dataset=benchmark.name, dataset_digest=benchmark.digest, pools_digest=pools_digest(benchmark.pools),
        retriever=head.retriever, identity={"file_form": "ranks", "file_sha256": file_sha256(path)},
        ablation=head.ablation, instruction=head.instruction, caption_mode=caption_mode_of(benchmark.queries),
    )
    return RetrieverRun(card, tuple(answers))


def _answer(
    path: Path, query: BenchmarkQuery, head: _Head, pool: Collection[str] | None, faults: ValidationIssues,
) -> QueryAudit | None:
    """None after a fault."""
    where = f"query {quoted(query.query_id)}"
    record = head.ranks.get(query.query_id)
    if not isinstance(record, dict):
        problem = "it is missing" if record is None else f"its ranks must be an object, not {quoted(record)}"
        faults.add(path, where, problem, 'Add it, or say {"problem": "why there are no ranks"}')
        return None
    if "problem" in record:
        found = validated(_Problem, record, path, where, faults)
        return QueryAudit(query.query_id, {}, found.problem) if found else None
    if unknown := [key for key in record if key not in _KEYS]:
        faults.add(path, where, f"{quoted(unknown[0])} is none of {', '.join(VARIANTS)}",
                   "Correct the key, or leave it out")
        return None
    top = head.top.get(query.query_id, {})
    rankings: dict[Variant, Ranking] = {}
    for variant in VARIANTS:
        value = record.get(variant)
        ranks: list[Any] = value if isinstance(value, list) else [value]
        ranking = Ranking(tuple(ranks), tuple(top.get(variant, ())))
        problem = next((_no_rank(rank) for rank in ranks if _no_rank(rank)), "")
        if problem := problem or _misfit(query, ranking, not isinstance(value, list), pool):
            faults.add(path, f"{where}, {variant}", problem, _AGAIN)
            return None
        rankings[variant] = ranking
    return QueryAudit(query.query_id, rankings)


def _no_rank(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return ""
    return "it has no rank" if value is None else f"{quoted(value)} is not a rank: those are whole numbers from 1 on"


def _misfit(query: BenchmarkQuery, ranking: Ranking, best_only: bool, pool: Collection[str] | None) -> str:
    ranks, targets = ranking.ranks, len(query.target_ids)
    if not targets:
        return "the data set hides this query's target, so nothing can have a rank"
    if not best_only and len(ranks) != targets:
        return f"it has {len(ranks)} ranks for {targets} targets"
    if len(set(ranks)) < len(ranks):
        return f"two targets share a rank ({', '.join(map(str, ranks))})"
    if pool is not None and max(ranks) > len(pool):
        return f"rank {max(ranks)} is beyond the {len(pool)} images that are ranked"
    if len(set(ranking.top)) < len(ranking.top):
        return "an image occurs twice in its results"
    for target, rank in zip(query.target_ids, () if best_only and targets > 1 else ranks, strict=False):
        at = ranking.top.index(target) + 1 if target in ranking.top else None
        if ranking.top and at != rank and (at is not None or rank <= len(ranking.top)):
            there = f"at {at}" if at else "nowhere"
            return f"its results have the target {quoted(target)} {there}, not at its rank {rank}"
    unknown = [image_id for image_id in ranking.top if pool is not None and image_id not in pool]
    return f"its results contain {quoted(unknown[0])}, which is not among the images that are ranked" if unknown else ""
