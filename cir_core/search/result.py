"""Search result of one turn, before it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cir_core.errors import SearchError
from cir_core.types.composition import Composition
from cir_core.types.records import Hit, MethodSettings, Turn, Vector


@dataclass(frozen=True)
class TurnResult:
    """Result of one turn (see :class:`~cir_core.types.records.Turn` for the fields). ``method``: what it was searched
    with, if that is known."""

    caption: str
    merged_text: str
    notes: tuple[str, ...]
    vector: Vector = field(compare=False, repr=False)
    hits: tuple[Hit, ...]
    excluded_ids: tuple[str, ...]
    target_rank: int | None
    timings_ms: Mapping[str, float]
    composition: Composition
    method: MethodSettings | None = None

    @classmethod
    def of(cls, turn: Turn) -> TurnResult:
        """A stored turn. Raises ``SearchError`` for one stored before methods were recorded."""
        if turn.composition is None:
            raise SearchError("This turn was made by an earlier version, which kept too little to change it. "
                              "Search once more to get one that can be changed.")
        return cls(turn.caption, turn.merged_text, turn.notes, turn.vector, turn.hits, turn.excluded_ids,
                   turn.target_rank, turn.timings_ms, turn.composition)
