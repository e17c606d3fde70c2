"""Row → dataclass with the same names; vectors ↔ bytes: float32, little-endian, concatenated. Lossless row ↔
dataclass mapping of studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeVar, cast

import numpy as np
from sqlalchemy import Result, Row

from annotation.records import Assignment, Decision, GoldRole, Item, Judgement, Study, StudyEvent, StudyPlan, name_key
from cir_core.types.records import Vector

Values = dict[str, Any]
_Record = TypeVar("_Record")
_AT_ONCE = 1_000    # rows


def record_from(kind: type[_Record], row: Row[Any], **other: Any) -> _Record:
    """The dataclass ``kind`` of a row's columns of the names of its fields; ``other``: fields that differ."""
    return kind(**{name: getattr(row, name) for name in _names(cast(Any, kind)) if name not in other}, **other)


def records_from(kind: type[_Record], found: Result[Any]) -> tuple[_Record, ...]:
    values = attrgetter(*_names(cast(Any, kind)))   # by position: twice as fast for thousands of rows
    return tuple(kind(*values(row)) for rows in found.partitions(_AT_ONCE) for row in rows)


@lru_cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def pack_vectors(vectors: Sequence[Vector]) -> bytes:
    return b"".join(vector.astype("<f4", copy=False).tobytes() for vector in vectors)


def unpack_vectors(block: bytes, count: int) -> tuple[Vector, ...]:
    """``count`` vectors of equal length, bit-exact and read-only."""
    matrix = np.frombuffer(block, dtype="<f4").astype(np.float32, copy=False).reshape(count, -1)
    matrix.setflags(write=False)
    return tuple(matrix)


def study_values(study: Study) -> Values:
    return vars(study) | {"name_key": name_key(study.name), "plan": asdict(study.plan),
                          "settings": dict(study.settings), "source": dict(study.source)}


def study_from(row: Row[Any]) -> Study:
    return record_from(Study, row, plan=StudyPlan(**row.plan))


def item_values(item: Item) -> Values:
    return vars(item) | {"shown": dict(item.shown), "hidden": dict(item.hidden)}


def assignment_values(
    study_id: str, item_id: str, seat: int, position: int, extra: Mapping[str, Any] | None = None,
    dealt: GoldRole | None = None,
) -> Values:
    return {"item_id": item_id, "seat": seat, "study_id": study_id, "position": position, "state": "open",
            "extra": dict(extra) if extra else None, "dealt": dealt}


def assignments_from(found: Result[Any]) -> tuple[Assignment, ...]:
    """Of rows with the seat's ``annotator``."""
    values = attrgetter("item_id", "seat", "position", "state", "annotator", "extra", "dealt")
    return tuple(Assignment(item_id, seat, position, state, annotator, extra or {}, dealt)
                 for rows in found.partitions(_AT_ONCE)
                 for item_id, seat, position, state, annotator, extra, dealt in map(values, rows))


def assignment_from(row: Row[Any], annotator: str | None) -> Assignment:
    return record_from(Assignment, row, annotator=annotator, extra=row.extra or {})


def judgement_values(judgement: Judgement, seat: int, *, current: bool = True) -> Values:
    return vars(judgement) | {"seat": seat, "current": current, "answer": dict(judgement.answer),
                              "seconds": float(judgement.seconds), "extra": dict(judgement.extra)}


def decision_values(decision: Decision) -> Values:
    return vars(decision) | {"current": True, "answer": dict(decision.answer)}


def event_values(event: StudyEvent, seat: int, number: int) -> Values:
    return vars(event) | {"seat": seat, "number": number, "payload": dict(event.payload)}
