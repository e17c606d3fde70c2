"""Composition ↔ a JSON value and one block of vectors, exactly.

The block holds ``base``, the terms in their order, then the vectors of what the steps keep, in the order of their
table; in the JSON value a field that may hold a vector is true where it does. Both are None for a turn that was stored
before there were compositions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, replace
from functools import lru_cache
from typing import Any, get_args, get_type_hints

from cir_core.methods.steps import STEPS
from cir_core.types.composition import Composition, Cut, Marks, Usage, Wording
from cir_core.types.parts import tuples
from cir_core.types.vectors import Vector
from storage.mapping.records import Values, pack_vectors, unpack_vectors


def pack_composition(composition: Composition | None) -> Values:
    """The columns ``composition`` and ``composition_vectors``."""
    if composition is None:
        return {"composition": None, "composition_vectors": None}
    return {
        "composition": {
            "terms": [name for name, _ in composition.terms],
            **{name: _values(composition.part(name)) for name, _ in _kept()
               if name in _ALWAYS or composition.part(name) is not None},
            "marks": asdict(composition.marks),
            "usage": asdict(composition.usage),
            **({"edited": asdict(composition.edited)} if composition.edited else {}),
            **({"read_as": composition.read_as} if composition.read_as else {}),
            **({"further": list(composition.further)} if composition.further else {}),
            **({"cuts": [asdict(cut) for cut in composition.cuts]} if composition.cuts else {}),
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
    return asdict(replace(value, **dict.fromkeys(held))) | held


def _record(value: Any, kind: Any, vectors: Iterator[Vector]) -> Any:
    if isinstance(value, list):
        return tuple(_record(one, kind, vectors) for one in value)
    held = {name: next(vectors) if value[name] else None for name in _vector_fields(kind)}
    return kind(**tuples(value) | held)


@lru_cache
def _vector_fields(kind: Any) -> tuple[str, ...]:
    """Fields of type ``Vector`` or ``Vector | None``."""
    return tuple(name for name, hint in get_type_hints(kind).items() if Vector in (hint, *get_args(hint)))
