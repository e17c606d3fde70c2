"""Lossless row ↔ dataclass mapping of search sessions, with bit-exact vectors. Composition ↔ a JSON value and one
block of vectors, exactly.

The block holds ``base``, the terms in their order, then the vectors of what the steps keep, in the order of their
table; in the JSON value a field that may hold a vector is true where it does. Both are None for a turn that was stored
before there were compositions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, get_args, get_type_hints

import numpy as np
from sqlalchemy import Row

from cir_core.methods.steps import STEPS, method_from_dict
from cir_core.search.protocol import card_from_dict, card_to_dict
from cir_core.sessions.store import MethodColumn, SessionSummary
from cir_core.types.composition import Composition, Cut, Marks, Usage, Wording
from cir_core.types.methods import method_to_dict, tuples
from cir_core.types.records import Branch, Hit, SearchSession, Thumb, Turn
from cir_core.types.vectors import Vector
from storage.mapping.records import Values, pack_vectors, record_from, unpack_vectors


def pack_composition(composition: Composition | None) -> Values:
    """The columns ``composition`` and ``composition_vectors``."""
    if composition is None:
        return {"composition": None, "composition_vectors": None}
    return {
        "composition": {
            "terms": [name for name, _ in composition.terms],
            **{name: _values(composition.part(name)) for name, _ in _kept()
               if name in _ALWAYS or composition.part(name) is not None},
            "marks": _plain(composition.marks),
            "usage": _plain(composition.usage),
            **({"edited": _plain(composition.edited)} if composition.edited else {}),
            **({"read_as": composition.read_as} if composition.read_as else {}),
            **({"further": list(composition.further)} if composition.further else {}),
            **({"cuts": [_plain(cut) for cut in composition.cuts]} if composition.cuts else {}),
        },
        "composition_vectors": pack_vectors(list(vectors_of(composition))),
    }


def unpack_composition(content: Mapping[str, Any] | None, block: bytes | None) -> Composition | None:
    """The inverse of :func:`pack_composition`; fields that older versions did not write take their defaults."""
    if content is None or block is None:
        return None
    terms = content["terms"]
    kept = [(name, kind, content[name]) for name, kind in _kept() if content.get(name) is not None]
    count = 1 + len(terms) + sum(record[name] for _, kind, value in kept for record in _listed(value)
                                 for name in _vector_fields(kind))
    vectors = iter(unpack_vectors(block, count))
    return Composition(
        base=next(vectors),
        terms=tuple((name, next(vectors)) for name in terms),
        marks=Marks(**tuples(content["marks"])),
        usage=Usage(**tuples(content["usage"])),
        edited=Wording(**content["edited"]) if content.get("edited") else None,
        read_as=content.get("read_as", ""),
        further=tuple(content.get("further", ())),
        cuts=tuple(Cut(**tuples(cut)) for cut in content.get("cuts", ())),
    ).with_parts({name: _record(value, kind, vectors) for name, kind, value in kept})


def vectors_of(composition: Composition) -> Iterator[Vector]:
    """All of them, in the order of the block."""
    yield composition.base
    yield from (vector for _, vector in composition.terms)
    for name, kind in _kept():
        for record in _listed(composition.part(name)):
            yield from (vector for field in _vector_fields(kind) if (vector := getattr(record, field)) is not None)


_ALWAYS = frozenset(field.name for field in fields(Composition))   # other steps show only where they are used


def _kept() -> Iterator[tuple[str, Any]]:
    for step in STEPS.values():
        yield from step.keeps.items()


def _listed(value: Any) -> tuple[Any, ...]:
    """The records of one part: there are one, several or none."""
    return () if value is None else tuple(value) if isinstance(value, tuple | list) else (value,)


def _values(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_values(one) for one in value]
    if value is None:
        return None
    held = {name: getattr(value, name) is not None for name in _vector_fields(value.__class__)}
    return _plain(replace(value, **dict.fromkeys(held))) | held


def _plain(value: Any) -> Any:
    """As ``dataclasses.asdict``, which copies every text and number, and takes four times as long."""
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return {key: _plain(one) for key, one in value.items()} if isinstance(value, dict) else value


def _record(value: Any, kind: Any, vectors: Iterator[Vector]) -> Any:
    if isinstance(value, list):
        return tuple(_record(one, kind, vectors) for one in value)
    held = {name: next(vectors) if value[name] else None for name in _vector_fields(kind)}
    return kind(**tuples(value) | held)


@lru_cache
def _vector_fields(kind: Any) -> tuple[str, ...]:
    """Fields of type ``Vector`` or ``Vector | None``."""
    return tuple(name for name, hint in get_type_hints(kind).items() if Vector in (hint, *get_args(hint)))


def session_values(session: SearchSession, created_at: datetime) -> Values:
    values = vars(session) | {
        "method": method_to_dict(session.method), "protocol": card_to_dict(session.protocol),
        "protocol_digest": session.protocol.digest, "created_at": created_at, "updated_at": created_at}
    return {name: value for name, value in values.items() if name not in ("branches", "turns", "thumbs")}


def session_from(
    row: Row[Any], branches: Sequence[Branch], turns: Sequence[Turn], thumbs: Sequence[Thumb] = (),
) -> SearchSession:
    return record_from(
        SearchSession, row, method=method_from_dict(row.method), protocol=card_from_dict(row.protocol),
        branches=tuple(branches), turns=tuple(turns), thumbs=tuple(thumbs))


def summary_from(row: Row[Any]) -> SessionSummary:
    return record_from(
        SessionSummary, row, turns=row.turn_count, branches=row.branch_count, last_text=row.last_text or "",
        has_target=row.target_id is not None)


def turn_values(turn: Turn) -> Values:
    """All but ``seq``."""
    return vars(turn) | ranked_values(turn) | {
        "vector": pack_vectors([turn.vector]), "excluded_ids": list(turn.excluded_ids),
        "target_rank": None if turn.target_rank is None else int(turn.target_rank)}


def turn_from(row: Row[Any]) -> Turn:
    return record_from(Turn, row, vector=unpack_vectors(row.vector, 1)[0], excluded_ids=tuple(row.excluded_ids),
                       **ranked_parts(row))


def ranked_values(ranked: Turn | MethodColumn) -> Values:
    """What a turn and a column of a comparison store alike: notes, hits, times and composition."""
    hits, hit_numbers = pack_hits(ranked.hits)
    return {"notes": list(ranked.notes), "hits": hits, "hit_numbers": hit_numbers,
            "timings_ms": {stage: float(ms) for stage, ms in ranked.timings_ms.items()},
            **pack_composition(ranked.composition)}


def ranked_parts(row: Row[Any]) -> Values:
    """The inverse of :func:`ranked_values`."""
    return {"notes": tuple(row.notes), "hits": unpack_hits(row.hits, row.hit_numbers),
            "composition": unpack_composition(row.composition, row.composition_vectors)}


def pack_hits(hits: Sequence[Hit]) -> tuple[Values, bytes]:
    """Hits in columns, which is smaller than an object per hit and several times faster to read.

    The numbers are float64: all scores, then all score parts. ``labels`` holds each distinct
    tuple of part names once, and ``which`` is each hit's index into it.
    """
    labels: dict[tuple[str, ...], int] = {}
    which = [labels.setdefault(tuple(name for name, _ in hit.parts), len(labels)) for hit in hits]
    columns = {"ids": [hit.image_id for hit in hits], "ranks": [int(hit.rank) for hit in hits],
               "labels": [list(names) for names in labels], "which": which}
    numbers = [hit.score for hit in hits] + [value for hit in hits for _, value in hit.parts]
    return columns, np.array(numbers, dtype="<f8").tobytes()


def unpack_hits(columns: Mapping[str, Any], numbers: bytes) -> tuple[Hit, ...]:
    ids, labels = columns["ids"], columns["labels"]
    values = np.frombuffer(numbers, dtype="<f8").tolist()
    parts = iter(values[len(ids):])
    # Not strict: zip stops at the end of a hit's labels, before it consumes the next hit's value.
    return tuple(
        Hit(image_id, score, rank, tuple(zip(labels[which], parts)))  # noqa: B905
        for image_id, score, rank, which in zip(ids, values, columns["ranks"], columns["which"])  # noqa: B905
    )
