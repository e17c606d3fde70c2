"""Composition ↔ a JSON value and one block of vectors, exactly.

The block holds ``base``, the terms in their order, then the vectors of those rounds that
have one. Both are None for a turn that was stored before there were compositions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from cir_core.types.composition import Composition, Constraints, Marks, ReflectionRound, Usage
from cir_core.types.methods import SoftFilter
from storage.mapping.vectors import pack_vectors, unpack_vectors

Values = dict[str, Any]


def pack_composition(composition: Composition | None) -> Values:
    """The columns ``composition`` and ``composition_vectors``."""
    if composition is None:
        return {"composition": None, "composition_vectors": None}
    constraints, soft_filter = composition.constraints, composition.soft_filter
    vectors = [composition.base, *(vector for _, vector in composition.terms),
               *(one.vector for one in composition.rounds if one.vector is not None)]
    return {
        "composition": {
            "terms": [name for name, _ in composition.terms],
            "rounds": [_round_values(one) for one in composition.rounds],
            "marks": asdict(composition.marks),
            "constraints": asdict(constraints) if constraints is not None else None,
            "soft_filter": asdict(soft_filter) if soft_filter is not None else None,
            "usage": asdict(composition.usage),
        },
        "composition_vectors": pack_vectors(vectors),
    }


def unpack_composition(content: Mapping[str, Any] | None, block: bytes | None) -> Composition | None:
    """The inverse of :func:`pack_composition`; fields that older versions did not write take
    their defaults."""
    if content is None or block is None:
        return None
    terms, rounds = content["terms"], content["rounds"]
    count = 1 + len(terms) + sum(one["vector"] for one in rounds)
    vectors = iter(unpack_vectors(block, count))
    base = next(vectors)
    constraints, soft_filter = content["constraints"], content["soft_filter"]
    return Composition(
        base=base,
        terms=tuple((name, next(vectors)) for name in terms),
        rounds=tuple(
            ReflectionRound(**{**_tuples(one), "vector": next(vectors) if one["vector"] else None})
            for one in rounds),
        marks=Marks(**_tuples(content["marks"])),
        constraints=Constraints(**_tuples(constraints)) if constraints is not None else None,
        soft_filter=SoftFilter(**soft_filter) if soft_filter is not None else None,
        usage=Usage(**_tuples(content["usage"])),
    )


def _round_values(one: ReflectionRound) -> Values:
    return {**asdict(replace(one, vector=None)), "vector": one.vector is not None}


def _tuples(content: Mapping[str, Any]) -> Values:
    """Lists as the tuples that they were before JSON."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in content.items()}
