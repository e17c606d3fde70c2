"""SQL store of comparisons."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, Row, insert, select

from cir_core.errors import UnknownSession
from cir_core.search.protocol import card_from_dict, card_to_dict
from cir_core.sessions.comparisons import Comparison, MethodColumn
from cir_core.support.texts import quoted
from storage.checks import check_comparison
from storage.engine.database import reading, writing
from storage.mapping import tables
from storage.mapping.compositions import Values, pack_composition, unpack_composition
from storage.mapping.rows import pack_hits, unpack_hits


class SqlComparisonStore:
    """``cir_core.sessions.comparisons.ComparisonStore`` over an engine of ``open_database``. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def add_comparison(self, comparison: Comparison) -> Comparison:
        check_comparison(comparison)
        with writing(self.engine) as connection:
            connection.execute(insert(tables.comparisons).values(_comparison_values(comparison)))
            for position, column in enumerate(comparison.columns):
                connection.execute(insert(tables.comparison_columns).values(
                    comparison_id=comparison.comparison_id, position=position, **_column_values(column)))
        return comparison

    def comparison(self, comparison_id: str) -> Comparison:
        comparisons, columns = tables.comparisons, tables.comparison_columns
        with reading(self.engine) as connection:
            row = connection.execute(
                select(comparisons).where(comparisons.c.comparison_id == comparison_id)).first()
            if row is None:
                raise unknown_comparison(comparison_id)
            shown = connection.execute(
                select(columns).where(columns.c.comparison_id == comparison_id)
                .order_by(columns.c.position)).all()
        return Comparison(
            comparison_id=row.comparison_id, gallery=row.gallery, reference_id=row.reference_id,
            modification_text=row.modification_text, columns=tuple(map(_column_from, shown)),
            blind=row.blind, seed=row.seed, created_at=row.created_at, session_id=row.session_id,
            parent_id=row.parent_id,
        )


def unknown_comparison(comparison_id: str) -> UnknownSession:
    return UnknownSession(f"No comparison {quoted(comparison_id)} here. Compare the methods again from its "
                          "search.")


def _comparison_values(comparison: Comparison) -> Values:
    return {
        "comparison_id": comparison.comparison_id,
        "gallery": comparison.gallery,
        "reference_id": comparison.reference_id,
        "modification_text": comparison.modification_text,
        "session_id": comparison.session_id,
        "parent_id": comparison.parent_id,
        "blind": comparison.blind,
        "seed": int(comparison.seed),
        "created_at": comparison.created_at,
    }


def _column_values(column: MethodColumn) -> Values:
    hits, hit_numbers = pack_hits(column.hits)
    return {
        "method": column.method,
        "protocol": card_to_dict(column.protocol),
        "protocol_digest": column.protocol.digest,
        "caption": column.caption,
        "merged_text": column.merged_text,
        "notes": list(column.notes),
        "hits": hits,
        "hit_numbers": hit_numbers,
        "timings_ms": {stage: float(ms) for stage, ms in column.timings_ms.items()},
        **pack_composition(column.composition),
        "problem": column.problem,
    }


def _column_from(row: Row[Any]) -> MethodColumn:
    return MethodColumn(
        method=row.method, protocol=card_from_dict(row.protocol), caption=row.caption,
        merged_text=row.merged_text, notes=tuple(row.notes), hits=unpack_hits(row.hits, row.hit_numbers),
        timings_ms=row.timings_ms,
        composition=unpack_composition(row.composition, row.composition_vectors), problem=row.problem,
    )
