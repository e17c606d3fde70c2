"""Lossless row ↔ dataclass mapping of search sessions, with bit-exact vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import Row

from cir_core.methods.steps import method_from_dict
from cir_core.search.protocol import card_from_dict, card_to_dict
from cir_core.sessions.store import SessionSummary
from cir_core.types.methods import method_to_dict
from cir_core.types.records import Branch, Hit, SearchSession, Turn
from storage.mapping.compositions import Values, pack_composition, unpack_composition
from storage.mapping.vectors import pack_vectors, unpack_vectors


def session_values(session: SearchSession, created_at: datetime) -> Values:
    return {
        "session_id": session.session_id,
        "gallery": session.gallery,
        "method": method_to_dict(session.method),
        "protocol": card_to_dict(session.protocol),
        "protocol_digest": session.protocol.digest,
        "target_id": session.target_id,
        "target_live": session.target_live,
        "target_revealed": session.target_revealed,
        "title": session.title,
        "created_at": created_at,
        "updated_at": created_at,
    }


def session_from(row: Row[Any], branches: Sequence[Branch], turns: Sequence[Turn]) -> SearchSession:
    return SearchSession(
        session_id=row.session_id, gallery=row.gallery, method=method_from_dict(row.method),
        protocol=card_from_dict(row.protocol), target_id=row.target_id, target_live=row.target_live,
        target_revealed=row.target_revealed, title=row.title, created_at=row.created_at,
        branches=tuple(branches), turns=tuple(turns),
    )


def summary_from(row: Row[Any]) -> SessionSummary:
    return SessionSummary(
        session_id=row.session_id, gallery=row.gallery, title=row.title, turns=row.turn_count,
        branches=row.branch_count, first_reference_id=row.first_reference_id, last_text=row.last_text or "",
        has_target=row.target_id is not None, target_revealed=row.target_revealed,
        created_at=row.created_at, updated_at=row.updated_at,
    )


def branch_from(row: Row[Any]) -> Branch:
    return Branch(row.branch_id, row.session_id, row.number, row.name)


def turn_values(turn: Turn, seq: int) -> Values:
    hits, hit_numbers = pack_hits(turn.hits)
    return {
        "turn_id": turn.turn_id,
        "session_id": turn.session_id,
        "branch_id": turn.branch_id,
        "parent_id": turn.parent_id,
        "number": turn.number,
        "seq": seq,
        "reference_id": turn.reference_id,
        "modification_text": turn.modification_text,
        "caption": turn.caption,
        "merged_text": turn.merged_text,
        "notes": list(turn.notes),
        "vector": pack_vectors([turn.vector]),
        "hits": hits,
        "hit_numbers": hit_numbers,
        "excluded_ids": list(turn.excluded_ids),
        "target_rank": None if turn.target_rank is None else int(turn.target_rank),
        "timings_ms": {stage: float(ms) for stage, ms in turn.timings_ms.items()},
        "protocol_digest": turn.protocol_digest,
        "created_at": turn.created_at,
        **pack_composition(turn.composition),
    }


def turn_from(row: Row[Any]) -> Turn:
    return Turn(
        turn_id=row.turn_id, session_id=row.session_id, branch_id=row.branch_id, parent_id=row.parent_id,
        number=row.number, reference_id=row.reference_id, modification_text=row.modification_text,
        caption=row.caption, merged_text=row.merged_text, notes=tuple(row.notes),
        vector=unpack_vectors(row.vector, 1)[0], hits=unpack_hits(row.hits, row.hit_numbers),
        excluded_ids=tuple(row.excluded_ids),
        target_rank=row.target_rank, timings_ms=row.timings_ms, protocol_digest=row.protocol_digest,
        created_at=row.created_at,
        composition=unpack_composition(row.composition, row.composition_vectors),
    )


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
