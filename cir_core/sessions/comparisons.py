"""Records of comparisons: the same turn under several methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from cir_core.types.composition import Composition
from cir_core.types.records import Hit, MethodSettings, ProtocolCard


@dataclass(frozen=True)
class MethodColumn:
    """Result of one method for the turn; ``problem`` is the reason if there is none."""

    method: str                # its name; its settings are in ``protocol``
    protocol: ProtocolCard
    caption: str = ""
    merged_text: str = ""
    notes: tuple[str, ...] = ()
    hits: tuple[Hit, ...] = field(default=(), repr=False)
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    composition: Composition | None = field(default=None, repr=False)
    problem: str = ""

    @property
    def settings(self) -> MethodSettings:
        return self.protocol.method


@dataclass(frozen=True)
class Comparison:
    """``columns`` are in display order, which ``blind`` comparisons shuffle by ``seed``. It continues from a turn
    (``parent_id``) or starts afresh. Never changed once stored."""

    comparison_id: str
    gallery: str
    reference_id: str
    modification_text: str
    columns: tuple[MethodColumn, ...]
    blind: bool
    seed: int
    created_at: datetime
    session_id: str | None = None
    parent_id: str | None = None


class ComparisonStore(Protocol):
    """Every write is committed on return. Unknown ids raise ``UnknownSession``, a full disk ``StorageError``."""

    def add_comparison(self, comparison: Comparison) -> Comparison: ...

    def comparison(self, comparison_id: str) -> Comparison: ...
