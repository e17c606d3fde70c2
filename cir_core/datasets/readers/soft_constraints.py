"""SoFT's constraint cache: a language model's answers, one entry per query of a data set; also in its place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from cir_core.datasets.content import Content, Source
from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import read_object, validated
from cir_core.datasets.records import Benchmark, group_of
from cir_core.errors import DatasetError
from cir_core.support.files import write_atomically
from cir_core.support.texts import quoted, shortened
from cir_core.types.composition import Constraints

_KIND = "Check that it is SoFT's file of constraints"


@dataclass(frozen=True)
class ConstraintCache:
    """``constraints`` are in query order; an entry without any text is a failed request
    and filters nothing. Tokens are totals over all requests, None if the file has no count."""

    model: str
    input_tokens: int | None
    output_tokens: int | None
    constraints: tuple[Constraints, ...]


def read_constraints(path: Path, faults: ValidationIssues = RAISE) -> ConstraintCache:
    """Read the whole file. A faulty entry becomes empty, so that the others stay aligned. Raises ``DatasetError``, or
    collects into ``faults``."""
    before = faults.count
    content = read_object(path, faults)
    if faults.count > before:
        return ConstraintCache("", None, None, ())
    queries, attributes = (_list(path, content, key, faults) for key in ("all_queries", "all_attributes"))
    if len(queries) != len(attributes):
        problem = f"it has {len(queries)} all_queries and {len(attributes)} all_attributes"
        faults.add(path, "", problem, "Both are in the order of the queries: give each query one of each")
    entries = []
    for number, (query, attribute) in enumerate(zip(queries, attributes, strict=False)):
        texts = _entry(_Texts, path, f"all_queries[{number}]", query, faults)
        chips = _entry(_Attributes, path, f"all_attributes[{number}]", attribute, faults)
        entries.append(Constraints(
            tuple(chips.keep), tuple(chips.add), tuple(chips.remove),
            _side(texts.prescriptive_query), _side(texts.proscriptive_query),
        ))
    return ConstraintCache(
        str(content.get("model_name", "")), _count(path, content, "input_token", faults),
        _count(path, content, "output_token", faults), tuple(entries),
    )


def content(source: Source) -> Content:
    cache = read_constraints(source.path, source.faults)
    entries = cache.constraints
    tokens = {"input tokens": cache.input_tokens, "output tokens": cache.output_tokens}
    return Content({
        "model": cache.model or "not named",
        "queries": len(entries),
        "queries with a prescriptive text": sum(bool(entry.prescriptive) for entry in entries),
        "queries with a proscriptive text": sum(bool(entry.proscriptive) for entry in entries),
        "queries without any text": sum(not entry.prescriptive and not entry.proscriptive for entry in entries),
        **{name: number for name, number in tokens.items() if number is not None},
    })


@dataclass(frozen=True)
class StoredConstraints:
    """Constraints of a benchmark's queries, by query id. ``model`` wrote them; ``digest`` is 16 hex over all."""

    by_query: Mapping[str, Constraints]
    model: str
    digest: str
    empty: int   # entries without any text


def constraints_of(benchmark: Benchmark, paths: Sequence[Path]) -> StoredConstraints:
    """The entries of ``paths``, in the order of the benchmark's queries: one file for all of them, or one for each part
    (FashionIQ's categories) in the benchmark's order.

    Raises ``DatasetError`` for a faulty file, and where the numbers of entries and queries differ.
    """
    caches = [read_constraints(path) for path in paths]
    members: dict[str, list[str]] = {group_of(name): [] for name in benchmark.pools}
    for query in benchmark.queries:
        members[group_of(query.pool)].append(query.query_id)
    groups = list(members.values()) if len(paths) > 1 else [[query.query_id for query in benchmark.queries]]
    found, wanted = [len(cache.constraints) for cache in caches], [len(ids) for ids in groups]
    if found != wanted:
        parts = ", ".join(f"{name} {len(ids)}" for name, ids in members.items() if name and len(members) > 1)
        raise DatasetError(
            f"The constraint files have {' + '.join(map(str, found))} entries, and {benchmark.name} has "
            f"{len(benchmark.queries)} queries{f' ({parts})' if parts else ''}. They go together by their order: give "
            "one file for all queries, or one for each part in this order, made for this split and caption mode.")
    entries = {query_id: entry for ids, cache in zip(groups, caches, strict=True)
               for query_id, entry in zip(ids, cache.constraints, strict=True)}
    content = json.dumps([[query_id, astuple(entry)] for query_id, entry in entries.items()])
    return StoredConstraints(
        entries, "+".join(dict.fromkeys(cache.model or "unnamed" for cache in caches)),
        hashlib.sha256(content.encode()).hexdigest()[:16],
        sum(not entry.prescriptive and not entry.proscriptive for entry in entries.values()))


def write_constraints(
    path: Path, constraints: Iterable[Constraints], *, model: str,
    input_tokens: int | None = None, output_tokens: int | None = None,
) -> None:
    """Write the released format, one entry per query in their order."""
    entries = list(constraints)
    tokens = {"input_token": input_tokens, "output_token": output_tokens}
    content = {
        "model_name": model,
        **{key: count for key, count in tokens.items() if count is not None},
        "all_queries": [
            {"prescriptive_query": _released(entry.prescriptive), "proscriptive_query": _released(entry.proscriptive)}
            for entry in entries
        ],
        "all_attributes": [
            {"keep": list(entry.keep), "add": list(entry.add), "remove": list(entry.remove)} for entry in entries
        ],
    }
    write_atomically(path, json.dumps(content, indent=2).encode())


def write_cache(path: Path, cache: ConstraintCache) -> None:
    write_constraints(path, cache.constraints, model=cache.model, input_tokens=cache.input_tokens,
                      output_tokens=cache.output_tokens)


class _Texts(BaseModel):
    model_config = ConfigDict(strict=True)
    prescriptive_query: str | list[str] = ""
    proscriptive_query: str | list[str] = ""


class _Attributes(BaseModel):
    model_config = ConfigDict(strict=True)
    keep: list[str] = []
    add: list[str] = []
    remove: list[str] = []


def _list(path: Path, content: dict[str, Any], key: str, faults: ValidationIssues) -> list[Any]:
    value = content.get(key)
    if isinstance(value, list):
        return value
    faults.add(path, f"key {quoted(key)}", "it is missing" if key not in content else "it is not a list", _KIND)
    return []


def _entry(model: type[Any], path: Path, where: str, value: Any, faults: ValidationIssues) -> Any:
    if not isinstance(value, dict):
        faults.add(path, where, f"it is not an object but {shortened(json.dumps(value), 40)}", _KIND)
        return model()
    return validated(model, value, path, where, faults) or model()


def _count(path: Path, content: dict[str, Any], key: str, faults: ValidationIssues) -> int | None:
    value = content.get(key)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    faults.add(path, f"key {quoted(key)}", f"it is {quoted(value)}",
               "It counts tokens: give a whole number, or leave it out")
    return None


def _side(value: str | list[str]) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    return tuple(text for text in texts if text.strip())


def _released(texts: tuple[str, ...]) -> str | list[str]:
    return list(texts) if len(texts) > 1 else "".join(texts)
