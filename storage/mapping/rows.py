"""Lossless row ↔ dataclass mapping of search sessions, with bit-exact vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import Row

from cir_core.methods.steps import method_from_dict
from cir_core.search.protocol import card_from_dict, card_to_dict
from cir_core.sessions.comparisons import MethodColumn
from cir_core.sessions.store import SessionSummary
from cir_core.types.methods import method_to_dict
from cir_core.types.records import Branch, Hit, SearchSession, Turn
from storage.mapping.compositions import pack_composition, unpack_composition
from storage.mapping.records import Values, pack_vectors, record_from, unpack_vectors


def session_values(session: SearchSession, created_at: datetime) -> Values:
    values = vars(session) | {
        "method": method_to_dict(session.method), "protocol": card_to_dict(session.protocol),
        "protocol_digest": session.protocol.digest, "created_at": created_at, "updated_at": created_at}
    return {name: value for name, value in values.items() if name not in ("branches", "turns")}


def session_from(row: Row[Any], branches: Sequence[Branch], turns: Sequence[Turn]) -> SearchSession:
    return record_from(
        SearchSession, row, method=method_from_dict(row.method), protocol=card_from_dict(row.protocol),
        branches=tuple(branches), turns=tuple(turns))


def summary_from(row: Row[Any]) -> SessionSummary:
    return record_from(
        SessionSummary, row, turns=row.turn_count, branches=row.branch_count, last_text=row.last_text or "",
        has_target=row.target_id is not None)


def turn_values(turn: Turn, seq: int) -> Values:
    return vars(turn) | ranked_values(turn) | {
        "seq": seq, "vector": pack_vectors([turn.vector]), "excluded_ids": list(turn.excluded_ids),
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
